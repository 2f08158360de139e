//! A chunk of a streamed answer, or a whole one, as it stands in the bytes. Every field may be missing, null or wrong
//! (<https://platform.openai.com/docs/api-reference/chat-streaming>).

use agent_core::json_lenient as lenient;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) model: Option<&'a RawValue>,
    /// A list of [`Choice`].
    #[serde(borrow)]
    pub(super) choices: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    /// Groq's own place for usage.
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) x_groq: Option<Groq<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Groq<'a> {
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Choice<'a> {
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) delta: Option<Delta<'a>>,
    /// Of a whole answer.
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<&'a RawValue>,
    /// Moonshot's own place for usage.
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Delta<'a> {
    /// A string, or Mistral's list of parts.
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) reasoning_content: Option<&'a RawValue>,
    /// The same at Groq, Cerebras, OpenRouter and others.
    #[serde(borrow)]
    pub(super) reasoning: Option<&'a RawValue>,
    /// OpenRouter's, to be sent back.
    #[serde(borrow)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) refusal: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct CallDelta<'a> {
    #[serde(deserialize_with = "lenient")]
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) function: Option<FunctionDelta<'a>>,
    /// What Google's compatible endpoint attaches and wants back: a thought signature.
    #[serde(borrow)]
    pub(super) extra_content: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow)]
    pub(super) name: Option<&'a RawValue>,
    /// JSON in a string, or an object at once.
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// A part of Mistral's lists.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct ListPart<'a> {
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) thinking: Option<Vec<ListPart<'a>>>,
}
