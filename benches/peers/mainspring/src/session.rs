//! A session of messages in a file.

use std::{path::Path, time::Instant};

use agent_session::JsonlFile;
use mainspring::core::{IdSource, JournalRecord, RecordBody, UserMessage};
use peers_meter::{Meter, least, message};

use crate::Any;

/// How often an append is made of which the average is told.
const APPENDS: u64 = 1_000;

pub(crate) async fn measure(meter: &Meter, path: &Path, entries: u64) -> Result<(), Any> {
    let mut ids = IdSource::seeded(1);
    let mut record = || {
        let message = UserMessage::text(ids.message(0), message());
        JournalRecord::conversation(RecordBody::MessageAppended(message.into()))
    };
    let file = JsonlFile::new(path);
    let session = file.open_or_create().await?;
    for _ in 0..entries {
        session.append(vec![record()]).await?;
    }
    let branch = least(9, || session.path());
    // With their payloads, which nobody needs who only looks at the tree.
    let mut messages = u64::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        let head = session.head().ok_or("no entries")?;
        std::hint::black_box(session.branch(head).await?);
        messages = messages.min(nanoseconds(start));
    }
    let mut append = u64::MAX;
    for _ in 0..5 {
        let records: Vec<_> = (0..APPENDS).map(|_| record()).collect();
        let start = Instant::now();
        for record in records {
            session.append(vec![record]).await?;
        }
        append = append.min(nanoseconds(start) / APPENDS);
    }
    session.close().await?;
    let mut load = u64::MAX;
    for _ in 0..9 {
        let start = Instant::now();
        let session = file.open().await?;
        load = load.min(nanoseconds(start));
        session.close().await?;
    }
    std::fs::remove_file(path)?;
    let figures = [("entries", entries), ("branch_ns", branch), ("append_ns", append), ("load_ns", load)];
    meter.report(&[&figures[..], &[("messages_ns", messages)]].concat());
    Ok(())
}

fn nanoseconds(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
