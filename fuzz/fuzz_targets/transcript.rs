//! Files of others: what can be read becomes a valid transcript, and what was written is read again.
#![no_main]

use agent_core::{ContextView, IdSource, JournalRecord, Message, Transcript};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(record) = serde_json::from_str::<JournalRecord>(text) {
        let written = serde_json::to_string(&record).expect("what was read can be written");
        assert_eq!(serde_json::from_str::<JournalRecord>(&written).expect("what was written can be read"), record);
    }
    let messages: Vec<Message> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut ids = IdSource::seeded(1);
    let (transcript, _) = Transcript::load(messages, &mut ids, 0);
    assert!(transcript.open_turn().is_none());
    ContextView::of(&transcript).expect("a loaded transcript can be shown");
    let again: Vec<Message> = transcript.messages().iter().map(|m| (**m).clone()).collect();
    let (same, repairs) = Transcript::load(again, &mut ids, 0);
    assert!(repairs.is_empty() && same == transcript);
});
