//! A piece of a streamed answer, or a whole one, as it stands in the bytes. Every field may be missing, null or wrong
//! (<https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse>).

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::lenient;

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Chunk<'a> {
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) prompt_feedback: Option<Feedback<'a>>,
    #[serde(borrow)]
    pub(super) usage_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) model_version: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) response_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Feedback<'a> {
    #[serde(borrow)]
    pub(super) block_reason: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) block_reason_message: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) content: Option<Content<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) finish_message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) grounding_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) url_context_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) citation_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) logprobs_result: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Content<'a> {
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) parts: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(deserialize_with = "lenient")]
    pub(super) thought: Option<bool>,
    #[serde(borrow)]
    pub(super) thought_signature: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) function_call: Option<Call<'a>>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) inline_data: Option<Blob<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) args: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) partial_args: Option<Vec<PartialArg<'a>>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) will_continue: Option<bool>,
}

/// A piece of the arguments of a call, by its place
/// (<https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling#streaming-fc>).
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PartialArg<'a> {
    #[serde(borrow)]
    pub(super) json_path: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) string_value: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) number_value: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) bool_value: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) null_value: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Blob<'a> {
    #[serde(borrow)]
    pub(super) mime_type: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) data: Option<&'a RawValue>,
}
