//! Token counts, in each vendor's place and way.

use agent_core::{Usage, json_lenient as lenient};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Counts {
    #[serde(deserialize_with = "lenient")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    completion_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    total_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    prompt_tokens_details: Option<Details>,
    #[serde(deserialize_with = "lenient")]
    completion_tokens_details: Option<Details>,
    /// DeepSeek.
    #[serde(deserialize_with = "lenient")]
    prompt_cache_hit_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    prompt_cache_miss_tokens: Option<u64>,
    /// Moonshot and others.
    #[serde(deserialize_with = "lenient")]
    cached_tokens: Option<u64>,
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

/// Sorts a vendor's counts into core's buckets; `None` where there are none.
pub(super) fn read(raw: &RawValue) -> Option<Usage> {
    if raw.get() == "null" {
        return None;
    }
    let counts: Counts = serde_json::from_str(raw.get()).ok()?;
    let prompt = counts.prompt_tokens.unwrap_or(0);
    let completion = counts.completion_tokens.unwrap_or(0);
    let details = counts.prompt_tokens_details.unwrap_or_default();
    let read = counts.prompt_cache_hit_tokens.or(details.cached_tokens).or(counts.cached_tokens).unwrap_or(0);
    let written = details.cache_write_tokens.unwrap_or(0);
    let reasoning = counts.completion_tokens_details.and_then(|details| details.reasoning_tokens).unwrap_or(0);
    let input = match counts.prompt_cache_miss_tokens {
        Some(missed) if counts.prompt_cache_hit_tokens.is_some() => missed,
        _ => prompt.saturating_sub(read).saturating_sub(written),
    };
    // Beside the completion only where the total proves it (xAI); else among it.
    let beside = counts
        .total_tokens
        .is_some_and(|total| reasoning > 0 && total == prompt.saturating_add(completion).saturating_add(reasoning));
    let mut usage = Usage::new(input, if beside { completion } else { completion.saturating_sub(reasoning) });
    usage.reasoning = if beside { reasoning } else { reasoning.min(completion) };
    (usage.cache_read, usage.cache_write_5m) = (read, written);
    Some(usage)
}
