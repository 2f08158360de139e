//! Token counts (<https://ai.google.dev/api/generate-content#UsageMetadata>).

use agent_core::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::lenient;

/// The counts so far: a report that leaves a field out does not take it back.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Tally {
    #[serde(deserialize_with = "lenient")]
    prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    cached_content_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    candidates_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    thoughts_token_count: Option<u64>,
    /// What the vendor's own tools put into the prompt, beside the prompt's count.
    #[serde(deserialize_with = "lenient")]
    tool_use_prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    total_token_count: Option<u64>,
}

impl Tally {
    /// Adds a report; `None` where it has no counts.
    pub(super) fn report(&mut self, raw: &RawValue) -> Option<Usage> {
        let new: Self = serde_json::from_str(raw.get()).ok()?;
        new.prompt_token_count.or(new.candidates_token_count).or(new.total_token_count)?;
        let old = *self;
        *self = Self {
            prompt_token_count: new.prompt_token_count.or(old.prompt_token_count),
            cached_content_token_count: new.cached_content_token_count.or(old.cached_content_token_count),
            candidates_token_count: new.candidates_token_count.or(old.candidates_token_count),
            thoughts_token_count: new.thoughts_token_count.or(old.thoughts_token_count),
            tool_use_prompt_token_count: new.tool_use_prompt_token_count.or(old.tool_use_prompt_token_count),
            total_token_count: new.total_token_count.or(old.total_token_count),
        };
        Some(self.usage())
    }

    fn usage(&self) -> Usage {
        let count = |count: Option<u64>| count.unwrap_or(0);
        let tools = count(self.tool_use_prompt_token_count);
        let prompt = count(self.prompt_token_count).saturating_add(tools);
        let cached = count(self.cached_content_token_count);
        let (said, thought) = (count(self.candidates_token_count), count(self.thoughts_token_count));
        // Beside what was said, unless the total proves that it is among it.
        let among = thought > 0 && self.total_token_count == Some(prompt.saturating_add(said));
        let output = if among { said.saturating_sub(thought) } else { said };
        let mut usage = Usage::new(prompt.saturating_sub(cached), output);
        (usage.reasoning, usage.cache_read) = (thought, cached.min(prompt));
        usage
    }
}
