//! Lists of sessions: what people choose from.

use agent_core::{JournalRecord, RecordBody, UserMessage};
use agent_session::{JsonlFolder, MemorySessions, SessionError, SessionStore};

use crate::given::{block_on, folder, ids, run};

async fn in_every_store(check: impl AsyncFn(&dyn SessionStore)) {
    let path = folder("list");
    check(&MemorySessions::new()).await;
    check(&JsonlFolder::new(path.join("folder"))).await;
    #[cfg(feature = "sqlite")]
    {
        let file = path.join("sessions.sqlite");
        check(&agent_session::SqliteSessions::open(file, agent_session::SyncPolicy::Os).await.unwrap()).await;
    }
}

#[test]
fn a_session_is_called_by_its_first_input() {
    block_on(in_every_store(async |store| {
        let (session, mut ids) = (store.create().await.unwrap(), ids());
        let (.., records) = run(&mut ids, "\n  Fix the parser\nand its tests", "Done");
        session.append(records).await.unwrap();
        let (.., records) = run(&mut ids, "Another thing", "Done");
        session.append(records).await.unwrap();
        session.close().await.unwrap();
        let empty = store.create().await.unwrap();
        let long = store.create().await.unwrap();
        let message = UserMessage::text(ids.message(0), "x".repeat(100_000));
        long.append(vec![JournalRecord::conversation(RecordBody::MessageAppended(message.into()))]).await.unwrap();

        let listed = store.list().await.unwrap();
        let titled = |id| listed.iter().find(|one| one.header.id == id).unwrap().title.clone();
        assert_eq!(titled(session.id()).as_deref(), Some("Fix the parser"));
        assert_eq!(titled(empty.id()), None);
        assert_eq!(titled(long.id()), None, "it is in a blob");
        assert!(listed.iter().all(|one| one.changed_ms + 2_000 >= one.header.created_ms));
    }));
}

#[test]
fn a_part_of_an_id_finds_a_session_and_no_other() {
    block_on(in_every_store(async |store| {
        let sessions = [store.create().await.unwrap(), store.create().await.unwrap()];
        for session in &sessions {
            let id = session.id().to_string();
            for part in [id.as_str(), &id.to_lowercase(), id.split_at(10).1, &format!(" {id} ")] {
                assert_eq!(store.find(part).await.unwrap().header.id, session.id(), "{part}");
            }
        }
        let both = store.find("0").await;
        assert!(matches!(both, Err(SessionError::Ambiguous { sessions: 2, .. })), "{both:?}");
        for part in ["", "   ", "!", "01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
            let none = store.find(part).await;
            assert!(matches!(none, Err(SessionError::NotFound { .. })), "{part}: {none:?}");
        }
    }));
}
