//! Sessions: an append, a branch, a load, each beside what the least would cost.
#![expect(clippy::disallowed_methods, reason = "real files")]

use std::{
    fs::{self, OpenOptions},
    hint::black_box,
    io::Write,
    path::PathBuf,
};

use agent_core::{IdSource, JournalRecord, RecordBody, UserMessage};
use agent_session::{JsonlFile, MemorySessions, Session, SessionStore};

use super::{Case, Growth, PerUnit, VersusFloor};
use crate::session::{Floor, payload};

pub(super) const APPEND: Case = Case {
    name: "session-append",
    unit: "append of a message of 300 bytes to a file, acknowledged",
    run: |n| _ = block_on(append(n)),
    per_unit: PerUnit { lo: 2_000, hi: 4_000, max: Some(15_000) },
    growth: Some(Growth { n: 4_000, n_dev: 1_000, max_tenths: 23 }),
    floor: None,
};

pub(super) const FLOOR_APPEND: Case = Case {
    name: "session-floor-append",
    unit: "message of 300 bytes encoded, with a checksum, written",
    run: |n| _ = least(n),
    per_unit: PerUnit { lo: 2_000, hi: 4_000, max: None },
    growth: None,
    floor: None,
};

pub(super) const BRANCH: Case = Case {
    name: "session-branch",
    unit: "reading of a branch of 2,000 entries",
    run: |n| {
        let walk = async {
            let session = MemorySessions::new().create().await?;
            fill(&session, BRANCH_ENTRIES).await?;
            for _ in 0..n {
                assert_eq!(black_box(session.path()).len(), 2_000, "every entry");
            }
            Ok(())
        };
        _ = block_on(walk);
    },
    per_unit: PerUnit { lo: 50, hi: 100, max: None },
    growth: None,
    floor: Some(VersusFloor { name: "session-floor-branch", max_tenths: 20, routine: false }),
};

const BRANCH_ENTRIES: u64 = 2_000;

pub(super) const FLOOR_BRANCH: Case = Case {
    name: "session-floor-branch",
    unit: "walk through an index of 2,000 entries",
    run: |n| {
        let floor = Floor::new(BRANCH_ENTRIES);
        for _ in 0..n {
            assert_eq!(black_box(floor.path()).len(), 2_000, "every entry");
        }
    },
    per_unit: PerUnit { lo: 50, hi: 100, max: None },
    growth: None,
    floor: None,
};

/// What a session of `n` entries costs from its making to its being read: all of it grows as `n` does.
pub(super) const WHOLE: Case = Case {
    name: "session-whole",
    unit: "entry written, loaded, walked and read",
    run: |n| _ = block_on(whole(n)),
    per_unit: PerUnit { lo: 4_000, hi: 8_000, max: None },
    growth: Some(Growth { n: 16_000, n_dev: 2_000, max_tenths: 22 }),
    floor: None,
};

pub(super) const LOAD: Case = Case {
    name: "session-load",
    unit: "loading of a file of 2,000 entries",
    run: |n| _ = block_on(load(n)),
    per_unit: PerUnit { lo: 20, hi: 40, max: None },
    growth: None,
    floor: Some(VersusFloor { name: "session-floor-load", max_tenths: 30, routine: false }),
};

pub(super) const FLOOR_LOAD: Case = Case {
    name: "session-floor-load",
    unit: "newline index and checksums of a file of 2,000 entries",
    run: |n| {
        let scan = async {
            let file = file("floor-load");
            let session = JsonlFile::new(&file).open_or_create().await?;
            fill(&session, 2_000).await?;
            session.close().await?;
            for _ in 0..n {
                assert_eq!(crate::session::scan(&file), 2_001, "the header too");
            }
            Ok(fs::remove_file(&file)?)
        };
        _ = block_on(scan);
    },
    per_unit: PerUnit { lo: 20, hi: 40, max: None },
    growth: None,
    floor: None,
};

type Done = Result<(), Box<dyn std::error::Error>>;

fn block_on(work: impl Future<Output = Done>) -> Done {
    tokio::runtime::Builder::new_current_thread().build()?.block_on(work).inspect_err(|error| {
        assert!(error.to_string().is_empty(), "a case that fails measures nothing: {error}");
    })
}

fn file(name: &str) -> PathBuf {
    let file = std::env::temp_dir().join(format!("mainspring-counts-{name}-{}.jsonl", std::process::id()));
    _ = fs::remove_file(&file);
    file
}

fn record(ids: &mut IdSource) -> JournalRecord {
    let message = UserMessage::text(ids.message(0), payload());
    JournalRecord::conversation(RecordBody::MessageAppended(message.into()))
}

async fn fill(session: &Session, entries: u64) -> Done {
    let mut ids = IdSource::seeded(1);
    for _ in 0..entries {
        session.append(vec![record(&mut ids)]).await?;
    }
    Ok(())
}

async fn append(n: u64) -> Done {
    let file = file("append");
    let session = JsonlFile::new(&file).open_or_create().await?;
    fill(&session, n).await?;
    session.close().await?;
    Ok(fs::remove_file(&file)?)
}

fn least(n: u64) -> Done {
    let path = file("least");
    let (mut file, mut ids) = (OpenOptions::new().append(true).create(true).open(&path)?, IdSource::seeded(1));
    for _ in 0..n {
        let mut line = serde_json::to_vec(&record(&mut ids))?;
        let sum = xxhash_rust::xxh3::xxh3_64(&line);
        line.extend(sum.to_le_bytes());
        file.write_all(&line)?;
    }
    Ok(fs::remove_file(&path)?)
}

async fn load(n: u64) -> Done {
    let file = file("load");
    let session = JsonlFile::new(&file).open_or_create().await?;
    fill(&session, 2_000).await?;
    session.close().await?;
    for _ in 0..n {
        let session = JsonlFile::new(&file).read().await?;
        assert_eq!(black_box(session.len()), 2_000, "every entry");
    }
    Ok(fs::remove_file(&file)?)
}

async fn whole(n: u64) -> Done {
    let file = file("whole");
    let session = JsonlFile::new(&file).open_or_create().await?;
    fill(&session, n).await?;
    session.close().await?;
    let session = JsonlFile::new(&file).open().await?;
    black_box(session.path());
    if let Some(head) = session.head() {
        black_box(session.branch(head).await?);
    }
    session.close().await?;
    Ok(fs::remove_file(&file)?)
}
