//! Content blocks as the vendor has them (<https://docs.claude.com/en/api/messages>).

use std::borrow::Cow;

use agent_core::{Block, JsonMembers, ModelFacts, ProviderError, RawJson, TokenBound};
use serde::{Serialize, Serializer, ser::Error};
use serde_json::value::RawValue;

use crate::json::write;

/// What an image costs at most in tokens, where no facts say so: high resolution, 4,784 tokens
/// (<https://docs.claude.com/en/docs/build-with-claude/vision>).
const IMAGE_TOKENS: u64 = 5_000;
/// What a document costs at most: no prompt is larger than the window.
const WINDOW: u64 = 1_000_000;
/// What the frame of a block in a tool result costs at most.
const FRAME: usize = 128;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Out<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        citations: Option<&'a RawValue>,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: JsonText<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        toolset_name: Option<&'a RawValue>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<Content<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        toolset_name: Option<&'a str>,
    },
    #[serde(untagged)]
    Opaque(&'a RawJson),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
    File { file_id: &'a str },
    Text { media_type: &'static str, data: String },
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Out<'a>>),
}

/// JSON text that is written as it is.
pub(super) struct JsonText<'a>(pub(super) Cow<'a, str>);

impl Serialize for JsonText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'a> Out<'a> {
    pub(super) fn text(text: &'a str) -> Self {
        Self::Text { text: text.into(), citations: None }
    }

    /// Whether a cache marker may stand on the block: never on thinking
    /// (<https://docs.claude.com/en/docs/build-with-claude/prompt-caching>), and not on what is kept as it is.
    fn takes_marker(&self) -> bool {
        !matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. } | Self::Opaque(_))
    }

    /// The block as a piece; one that takes a marker is open at its end.
    pub(super) fn encode(&self, facts: &ModelFacts) -> Result<Block, ProviderError> {
        let mut bytes = write(self)?;
        let open = self.takes_marker() && bytes.last() == Some(&b'}');
        if open {
            bytes.pop();
        }
        let block = Block::new(bytes).close(if open { "}" } else { "" });
        Ok(match self.bound(facts) {
            Some(bound) => block.bound(bound),
            None => block,
        })
    }

    /// What the block costs at most, where its bytes don't say.
    fn bound(&self, facts: &ModelFacts) -> Option<TokenBound> {
        match self {
            Self::Image { source: Source::Url { .. } } | Self::Document { source: Source::Url { .. }, .. } => {
                Some(TokenBound::Unknown)
            }
            Self::Image { .. } => Some(TokenBound::AtMost(facts.max_image_tokens.unwrap_or(IMAGE_TOKENS))),
            Self::Document { source: Source::Text { .. }, .. } => None,
            Self::Document { .. } => Some(TokenBound::AtMost(facts.context_window.unwrap_or(WINDOW))),
            Self::Opaque(raw) => {
                let kind = JsonMembers::read(raw.get()).and_then(|members| members.text("type")).unwrap_or_default();
                matches!(&*kind, "image" | "document" | "container_upload").then_some(TokenBound::Unknown)
            }
            Self::ToolResult { content: Some(Content::Blocks(blocks)), .. } => {
                let of = |block: &Out<'a>| {
                    let frame = TokenBound::bytes(FRAME);
                    match (block.bound(facts), block) {
                        (Some(bound), _) => bound.plus(frame),
                        (None, Self::Text { text, .. }) => TokenBound::bytes(text.len()).plus(frame),
                        (None, Self::Document { source: Source::Text { data, .. }, .. }) => {
                            TokenBound::bytes(data.len()).plus(frame)
                        }
                        (None, Self::Opaque(raw)) => TokenBound::bytes(raw.get().len()).plus(frame),
                        (None, _) => TokenBound::Unknown,
                    }
                };
                Some(blocks.iter().map(of).fold(TokenBound::bytes(FRAME), TokenBound::plus))
            }
            _ => None,
        }
    }
}
