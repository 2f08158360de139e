//! Records pass through the format; cuts and crashes are where they are told to be.

use agent_core::{IdSource, Journal, JournalError, JournalRecord, RecordBody, RunEnding, UserMessage};
use agent_testkit::{Crash, Gate, MemoryJournal};
use futures_util::FutureExt;

use crate::support::Tested;

fn records() -> Vec<JournalRecord> {
    let mut ids = IdSource::seeded(1);
    let run = ids.run(0);
    let hi = UserMessage::text(ids.message(0), "Hi");
    vec![
        JournalRecord::conversation(RecordBody::ConversationStarted { version: 0 }),
        JournalRecord::new(run, RecordBody::RunStarted),
        JournalRecord::new(run, RecordBody::MessageAppended(hi.into())),
        JournalRecord::new(run, RecordBody::RunEnded(RunEnding::Completed)),
    ]
}

#[tokio::test]
async fn records_come_back_from_their_lines() -> Tested {
    let (journal, all) = (MemoryJournal::new(), records());
    journal.append(all[..1].to_vec()).await?;
    journal.append(all[1..].to_vec()).await?;
    assert_eq!((journal.records()?, journal.len()), (all.clone(), 4));
    assert_eq!(journal.load().await?.records(), all);
    assert!(journal.lines()[3].contains(r#""body":{"runEnded":"completed"}"#), "{}", journal.lines()[3]);
    assert_eq!(MemoryJournal::from_lines(journal.lines()).records()?, all);

    let damaged = MemoryJournal::from_lines([journal.lines()[0].as_str(), r#"{"kind":"#]);
    assert!(matches!(damaged.load().await, Err(JournalError::Read { .. })));
    assert!(matches!(damaged.records(), Err(JournalError::Read { .. })));
    Ok(())
}

#[tokio::test]
async fn every_cut_is_another_journal() -> Tested {
    let (journal, all) = (MemoryJournal::new(), records());
    journal.append(all.clone()).await?;
    journal.crash_after(4, Crash::Fail);
    for count in 0..=5 {
        let cut = journal.cut_after(count);
        assert_eq!(cut.records()?, all[..count.min(4)]);
        // The copy has neither the fault nor a way back.
        cut.append(all[..1].to_vec()).await?;
    }
    assert_eq!(journal.len(), 4);
    Ok(())
}

#[tokio::test]
async fn after_a_crash_nothing_is_written() -> Tested {
    let all = records();
    for (crash, fails) in [(Crash::Fail, true), (Crash::Hang, false)] {
        let journal = MemoryJournal::new();
        journal.crash_after(2, crash);
        journal.append(all[..1].to_vec()).await?;
        // All or none: one of the two would still fit.
        for batch in [&all[1..3], &all[1..2]] {
            let ended = journal.append(batch.to_vec()).now_or_never();
            assert_eq!(matches!(ended, Some(Err(JournalError::Closed))), fails);
            assert_eq!(ended.is_none(), !fails);
        }
        assert_eq!(journal.records()?, all[..1]);
    }
    let journal = MemoryJournal::new();
    journal.crash_after(2, Crash::Fail);
    journal.append(all[..2].to_vec()).await?;
    assert!(journal.append(all[2..3].to_vec()).await.is_err());
    Ok(())
}

#[tokio::test]
async fn it_fails_when_told_to() -> Tested {
    let (journal, all) = (MemoryJournal::new(), records());
    journal.fail_append(JournalError::Locked);
    journal.fail_append(JournalError::Closed);
    journal.fail_load(JournalError::Locked);
    assert!(matches!(journal.append(all.clone()).await, Err(JournalError::Locked)));
    assert!(matches!(journal.append(all.clone()).await, Err(JournalError::Closed)));
    assert!(matches!(journal.load().await, Err(JournalError::Locked)));
    assert!(journal.is_empty());
    journal.append(all.clone()).await?;
    assert_eq!(journal.load().await?.records(), all);
    Ok(())
}

#[tokio::test]
async fn appends_are_accepted_at_the_call() -> Tested {
    let (journal, all, gate) = (MemoryJournal::new(), records(), Gate::new());
    let first = journal.append(all[..1].to_vec());
    let second = journal.append(all[1..2].to_vec());
    second.await?;
    drop(first);
    assert_eq!(journal.records()?, all[..2]);

    journal.hold(&gate);
    let mut held = journal.append(all[2..3].to_vec());
    assert!(held.as_mut().now_or_never().is_none());
    assert_eq!(journal.len(), 3);
    gate.open();
    held.await?;
    Ok(())
}
