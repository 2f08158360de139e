//! Compactions: they hide, and can be undone.

use agent_core::{Journal, NoteMessage, RecordBody, ViewEdit};
use agent_session::{Session, SessionError};

use crate::given::{block_on, ids, in_memory, run, run_with_tool, texts};

async fn shown(session: &Session) -> Vec<String> {
    let (_, view) = session.view(session.head().unwrap()).await.unwrap();
    view.messages().map(|message| message.text()).collect()
}

#[test]
fn a_span_is_hidden_and_shown_again() {
    block_on(async {
        let (session, mut ids) = (in_memory().await, ids());
        let (first, last, records) = run(&mut ids, "One", "1");
        session.append(records).await.unwrap();
        let (.., records) = run(&mut ids, "Two", "2");
        session.append(records).await.unwrap();
        let summary = NoteMessage::new(ids.message(0), "summary").content(vec!["You counted.".into()]);
        let edit = ViewEdit::Summarise { first, last, summary };
        let id = session.compact(edit.clone()).await.unwrap();
        assert_eq!(shown(&session).await, ["You counted.", "Two", "2"]);
        assert_eq!(texts(&session).await, ["One", "1", "Two", "2"], "the tree keeps everything");

        session.undo_compaction(id).await.unwrap();
        assert_eq!(shown(&session).await, ["One", "1", "Two", "2"]);
        let branch = session.journal().load().await.unwrap();
        assert!(!branch.records().iter().any(|record| matches!(record.body, RecordBody::ViewEdited(_))));
        assert!(!session.compactions().await.unwrap()[0].is_shown);

        session.redo_compaction(id).await.unwrap();
        assert_eq!(shown(&session).await, ["You counted.", "Two", "2"]);
        let records = session.len();
        session.redo_compaction(id).await.unwrap();
        assert_eq!(session.len(), records, "what is so already is no record");
        let compactions = session.compactions().await.unwrap();
        assert_eq!((compactions.len(), compactions[0].id, &compactions[0].edit), (1, id, &edit));
    });
}

#[test]
fn what_a_later_compaction_needs_is_not_undone() {
    block_on(async {
        let (session, mut ids) = (in_memory().await, ids());
        let (first, last, records) = run(&mut ids, "One", "1");
        session.append(records).await.unwrap();
        let (_, end, records) = run(&mut ids, "Two", "2");
        session.append(records).await.unwrap();
        let summary = NoteMessage::new(ids.message(0), "summary").content(vec!["A".into()]);
        let inner = summary.id;
        let below = session.compact(ViewEdit::Summarise { first, last, summary }).await.unwrap();
        let summary = NoteMessage::new(ids.message(0), "summary").content(vec!["B".into()]);
        let above = session.compact(ViewEdit::Summarise { first: inner, last: end, summary }).await.unwrap();
        let refused = session.undo_compaction(below).await;
        assert!(matches!(refused, Err(SessionError::View { id, .. }) if id == above), "{refused:?}");
        session.undo_compaction(above).await.unwrap();
        session.undo_compaction(below).await.unwrap();
        assert_eq!(shown(&session).await, ["One", "1", "Two", "2"]);
    });
}

#[test]
fn an_undo_holds_on_its_branch_only() {
    block_on(async {
        let (session, mut ids) = (in_memory().await, ids());
        let (first, last, records) = run(&mut ids, "One", "1");
        session.append(records).await.unwrap();
        let (.., records) = run(&mut ids, "Two", "2");
        session.append(records).await.unwrap();
        let id = session.compact(ViewEdit::Hide { first, last }).await.unwrap();
        session.undo_compaction(id).await.unwrap();
        let undone = session.head().unwrap();
        session.seek(id).await.unwrap();
        assert_eq!(shown(&session).await, ["Two", "2"]);
        session.seek(undone).await.unwrap();
        assert_eq!(shown(&session).await, ["One", "1", "Two", "2"]);
    });
}

#[test]
fn a_compaction_that_is_not_valid_is_refused_before_it_is_written() {
    block_on(async {
        let (session, mut ids) = (in_memory().await, ids());
        session.append(run_with_tool(&mut ids, "Look")).await.unwrap();
        let (transcript, _) = session.view(session.head().unwrap()).await.unwrap();
        let at: Vec<_> = transcript.messages().iter().map(|message| message.id()).collect();
        let records = session.len();
        let split = session.compact(ViewEdit::Hide { first: at[0], last: at[1] }).await;
        assert!(matches!(split, Err(SessionError::View { .. })), "{split:?}");
        assert_eq!(session.len(), records);
        let not_one = session.undo_compaction(session.head().unwrap()).await;
        assert!(matches!(not_one, Err(SessionError::NotACompaction { .. })));
    });
}
