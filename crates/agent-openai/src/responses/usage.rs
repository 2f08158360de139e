//! Token counts.

use agent_core::{Usage, json_lenient as lenient};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Counts {
    #[serde(deserialize_with = "lenient")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    input_tokens_details: Option<Details>,
    #[serde(deserialize_with = "lenient")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    output_tokens_details: Option<Details>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Details {
    #[serde(deserialize_with = "lenient")]
    cached_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    cache_write_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    reasoning_tokens: Option<u64>,
}

/// Sorts the vendor's counts into core's buckets; `None` where there are none.
pub(super) fn read(raw: &RawValue) -> Option<Usage> {
    let counts: Counts = serde_json::from_str(raw.get()).ok().filter(|_| raw.get() != "null")?;
    let details = counts.input_tokens_details.unwrap_or_default();
    let (read, written) = (details.cached_tokens.unwrap_or(0), details.cache_write_tokens.unwrap_or(0));
    let output = counts.output_tokens.unwrap_or(0);
    let reasoning = counts.output_tokens_details.and_then(|details| details.reasoning_tokens).unwrap_or(0).min(output);
    let input = counts.input_tokens.unwrap_or(0).saturating_sub(read).saturating_sub(written);
    let mut usage = Usage::new(input, output.saturating_sub(reasoning));
    (usage.cache_read, usage.cache_write_5m, usage.reasoning) = (read, written, reasoning);
    Some(usage)
}
