//! Events and items as they stand in the bytes. Every field may be missing, null or wrong
//! (<https://platform.openai.com/docs/api-reference/responses-streaming>).

use agent_core::json_lenient as lenient;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<&'a RawValue>,
    /// The whole response, at the beginning and the end.
    #[serde(borrow)]
    pub(super) response: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) item_id: Option<&'a RawValue>,
    #[serde(deserialize_with = "lenient")]
    pub(super) output_index: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) content_index: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) summary_index: Option<u64>,
    #[serde(borrow)]
    pub(super) delta: Option<&'a RawValue>,
    /// What a `done` event says whole.
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
}

/// A response, at its beginning or its end.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Response<'a> {
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) model: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) status: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) output: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) incomplete_details: Option<Incomplete<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Incomplete<'a> {
    #[serde(borrow)]
    pub(super) reason: Option<&'a RawValue>,
}

/// An item of the output.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) status: Option<&'a RawValue>,
    /// Of a message: whether it is a remark or the answer.
    #[serde(borrow)]
    pub(super) phase: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    /// Of a custom tool's call.
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) content: Option<Vec<ItemPart<'a>>>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) summary: Option<Vec<ItemPart<'a>>>,
    #[serde(borrow)]
    pub(super) encrypted_content: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct ItemPart<'a> {
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) annotations: Option<&'a RawValue>,
}
