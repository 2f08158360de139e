//! The vendor's parts as they are sent, and the signatures that stand in our blocks
//! (<https://ai.google.dev/api/caching#Part>).

use std::borrow::Cow;

use agent_core::{Block, DocumentBlock, ImageBlock, MediaSource, ModelFacts, ProviderError, RawJson, TokenBound};
use serde::{Deserialize, Serialize};

use crate::json::write;

/// What stands beside the parts of an answer, and is kept as blocks that are never sent back.
pub(crate) const METADATA: [&str; 4] =
    ["groundingMetadata", "urlContextMetadata", "citationMetadata", "logprobsResult"];

/// What the vendor takes in place of the signature of a call that it did not make
/// (<https://ai.google.dev/gemini-api/docs/thought-signatures#faqs>).
pub(super) const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// What an image costs at most in tokens, where no facts say so.
const IMAGE_TOKENS: u64 = 5_000;

/// A signed range of a text, in bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) signature: String,
}

/// The signatures of a text, as its metadata holds them.
#[derive(Deserialize)]
pub(crate) struct Marks {
    #[serde(rename = "thoughtSignatures")]
    pub(crate) marks: Vec<Mark>,
}

impl Marks {
    pub(crate) fn of(marks: &[Mark]) -> Result<RawJson, ProviderError> {
        let text = format!("{{\"thoughtSignatures\":{}}}", write(marks)?);
        RawJson::parse(text).map_err(|e| crate::error::protocol("a signature cannot be kept").with_source(e))
    }
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inline_data: Option<Blob<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_data: Option<File<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function_call: Option<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function_response: Option<Response<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought_signature: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Blob<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct File<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    file_uri: &'a str,
}

#[derive(Serialize)]
pub(super) struct Call<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: &'a str,
    pub(super) args: RawJson,
}

#[derive(Serialize)]
pub(super) struct Response<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: &'a str,
    pub(super) response: Outcome<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<Part<'a>>,
}

/// What a function gave, under the names that the vendor knows (<https://ai.google.dev/api/caching#FunctionResponse>).
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

impl<'a> Part<'a> {
    pub(super) fn text(text: &'a str) -> Self {
        Self { text: Some(text), ..Self::default() }
    }

    pub(super) fn signed(self, signature: Option<Cow<'a, str>>) -> Self {
        Self { thought_signature: signature, ..self }
    }

    /// An image, and what it costs at most; `None` where the vendor takes none from such a source.
    pub(super) fn image(image: &'a ImageBlock, facts: &ModelFacts) -> Option<(Self, TokenBound)> {
        let kind = image.media_type.as_deref();
        let bound = TokenBound::AtMost(facts.max_image_tokens.unwrap_or(IMAGE_TOKENS));
        Self::media(&image.source, kind, "image/png", bound)
    }

    /// The same of a document.
    pub(super) fn document(file: &'a DocumentBlock, facts: &ModelFacts) -> Option<(Self, TokenBound)> {
        let bound = facts.context_window.map_or(TokenBound::Unknown, TokenBound::AtMost);
        Self::media(&file.source, file.media_type.as_deref(), "application/pdf", bound)
    }

    fn media(
        source: &'a MediaSource,
        kind: Option<&'a str>,
        otherwise: &'static str,
        bound: TokenBound,
    ) -> Option<(Self, TokenBound)> {
        Some(match source {
            MediaSource::Base64(data) => {
                let blob = Blob { mime_type: kind.unwrap_or(otherwise), data };
                (Self { inline_data: Some(blob), ..Self::default() }, bound)
            }
            MediaSource::Url(uri) | MediaSource::FileId(uri) => {
                let file = File { mime_type: kind, file_uri: uri };
                (Self { file_data: Some(file), ..Self::default() }, TokenBound::Unknown)
            }
            _ => return None,
        })
    }
}

/// Some parts as one block of the body. Media cost what they cost, however long they are.
pub(super) fn block(parts: &[Part<'_>], media: TokenBound) -> Result<Block, ProviderError> {
    let texts = parts.iter().map(write).collect::<Result<Vec<_>, _>>()?;
    let text = texts.join(",");
    let words = text.len().saturating_sub(parts.iter().map(data_len).sum());
    Ok(Block::new(text).bound(TokenBound::bytes(words).plus(media)))
}

/// How many bytes of a part are no text.
fn data_len(part: &Part<'_>) -> usize {
    let own = part.inline_data.as_ref().map_or(0, |blob| blob.data.len());
    let nested = part.function_response.iter().flat_map(|response| &response.parts).map(data_len);
    own.saturating_add(nested.sum())
}
