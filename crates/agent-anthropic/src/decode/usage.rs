//! The vendor's token counts, sorted into core's buckets.
//!
//! The counts of a `message_delta` are cumulative; what it leaves out, sets to null or to 0 keeps what was known.
//! `input_tokens` holds neither the tokens read from a cache nor those written to one
//! (<https://docs.claude.com/en/docs/build-with-claude/prompt-caching>).

use agent_core::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::event::Number;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Counts<'a> {
    input_tokens: Number,
    output_tokens: Number,
    cache_read_input_tokens: Number,
    cache_creation_input_tokens: Number,
    #[serde(borrow)]
    cache_creation: Option<&'a RawValue>,
    #[serde(borrow)]
    output_tokens_details: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Split {
    ephemeral_5m_input_tokens: Number,
    ephemeral_1h_input_tokens: Number,
    thinking_tokens: Number,
}

/// The counts so far.
#[derive(Default)]
pub(super) struct Tally {
    input: u64,
    output: u64,
    thinking: u64,
    read: u64,
    written: u64,
    written_1h: u64,
}

impl Tally {
    /// Takes a report; what is not there stays as it was.
    pub(super) fn report(&mut self, raw: &RawValue) {
        let counts: Counts<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
        let split = |raw: Option<&RawValue>| -> Split {
            raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
        };
        let known = |new: Number, old: u64| new.0.filter(|count| *count > 0).unwrap_or(old);
        let by_lifetime = split(counts.cache_creation);
        let (short, long) = (by_lifetime.ephemeral_5m_input_tokens.0, by_lifetime.ephemeral_1h_input_tokens.0);
        self.input = known(counts.input_tokens, self.input);
        self.output = known(counts.output_tokens, self.output);
        self.thinking = known(split(counts.output_tokens_details).thinking_tokens, self.thinking);
        self.read = known(counts.cache_read_input_tokens, self.read);
        self.written = known(counts.cache_creation_input_tokens, self.written);
        self.written_1h = known(Number(long), self.written_1h);
        // Where only the split is told, the sum is its sum.
        self.written = self.written.max(short.unwrap_or(0).saturating_add(self.written_1h));
    }

    pub(super) fn usage(&self) -> Usage {
        let mut usage = Usage::new(self.input, self.output.saturating_sub(self.thinking));
        usage.reasoning = self.thinking.min(self.output);
        usage.cache_read = self.read;
        usage.cache_write_1h = self.written_1h;
        usage.cache_write_5m = self.written.saturating_sub(self.written_1h);
        usage
    }
}
