//! The tree: branches, names, moves.

use agent_core::{Journal, JournalRecord, RawJson, RecordBody};
use agent_session::{EntryId, JsonlFolder, MemorySessions, SessionError, SessionStore};

use crate::given::{block_on, folder, ids, in_memory, note, run, texts};

#[test]
fn what_was_appended_is_read_back_in_order() {
    block_on(async {
        let session = in_memory().await;
        assert_eq!((session.len(), session.head()), (0, None));
        let records: Vec<JournalRecord> = (0..700).map(note).collect();
        let first = session.append(records[..300].to_vec()).await.unwrap();
        let second = session.append(records[300..].to_vec()).await.unwrap();
        assert_eq!(session.journal().load().await.unwrap().records(), records);
        let path: Vec<EntryId> = session.path().iter().map(|entry| entry.id).collect();
        assert_eq!(path, [first, second].concat());
        assert_eq!(session.head(), path.last().copied());
        assert_eq!(session.record(path[3]).await.unwrap(), Some(note(3)));
        assert!(session.append(Vec::new()).await.unwrap().is_empty());
    });
}

#[test]
fn a_branch_begins_where_the_head_was_moved_to() {
    block_on(async {
        let session = in_memory().await;
        let ids = session.append((0..4).map(note).collect()).await.unwrap();
        session.seek(ids[1]).await.unwrap();
        assert_eq!(session.head(), Some(ids[1]));
        let other = session.append(vec![note(10)]).await.unwrap();
        assert_eq!(texts(&session).await, ["number 0", "number 1", "number 10"]);
        let tips: Vec<EntryId> = session.branch_tips().iter().map(|entry| entry.id).collect();
        assert_eq!(tips, [ids[3], other[0]]);
        assert_eq!(session.path_to(ids[3]).unwrap().len(), 4);
        assert_eq!(session.entry(other[0]).unwrap().parent, Some(ids[1]));
        // To where it is already is no record.
        let records = session.len();
        session.seek(other[0]).await.unwrap();
        assert_eq!(session.len(), records);
        let unknown = EntryId::from_bits(5);
        assert!(matches!(session.seek(unknown).await, Err(SessionError::UnknownEntry { id }) if id == unknown));
        assert!(matches!(session.path_to(unknown), Err(SessionError::UnknownEntry { .. })));
    });
}

#[test]
fn two_journals_on_two_branches_keep_out_of_each_other() {
    block_on(async {
        let session = in_memory().await;
        let ids = session.append((0..2).map(note).collect()).await.unwrap();
        let (trunk, fork) = (session.journal(), session.fork(ids[0]).unwrap());
        assert_eq!(session.head(), Some(ids[1]), "a fork does not move the head");
        for turn in 0..3 {
            trunk.append(vec![note(10 + turn)]).await.unwrap();
            fork.append(vec![note(20 + turn)]).await.unwrap();
        }
        let loaded = |branch: agent_core::Branch| branch.records().to_vec();
        assert_eq!(loaded(trunk.load().await.unwrap()), [0, 1, 10, 11, 12].map(note));
        assert_eq!(loaded(fork.load().await.unwrap()), [0, 20, 21, 22].map(note));
        assert_eq!(session.head(), fork.tip(), "the head follows whoever wrote last");
        // A move of the head does not move a journal.
        session.seek(ids[1]).await.unwrap();
        trunk.append(vec![note(13)]).await.unwrap();
        assert_eq!(loaded(trunk.load().await.unwrap()).len(), 6);
    });
}

#[test]
fn a_checkpoint_is_a_name_and_the_latest_wins() {
    block_on(async {
        let session = in_memory().await;
        assert!(matches!(session.checkpoint("none").await, Err(SessionError::UnknownCheckpoint { .. })));
        let ids = session.append((0..2).map(note).collect()).await.unwrap();
        assert_eq!(session.checkpoint("here").await.unwrap(), ids[1]);
        let later = session.append(vec![note(2)]).await.unwrap();
        session.label("first", ids[0]).await.unwrap();
        assert_eq!(session.labels(), [("first".to_owned(), ids[0]), ("here".to_owned(), ids[1])]);
        assert_eq!(session.seek_checkpoint("here").await.unwrap(), ids[1]);
        assert_eq!(session.head(), Some(ids[1]));
        session.label("here", later[0]).await.unwrap();
        assert_eq!(session.seek_checkpoint("here").await.unwrap(), later[0]);
        session.unlabel("here").await.unwrap();
        let gone = session.seek_checkpoint("here").await;
        assert!(matches!(gone, Err(SessionError::UnknownCheckpoint { name }) if name == "here"));
        assert!(session.unlabel("here").await.is_err());
        assert!(session.label("x", EntryId::from_bits(1)).await.is_err());
        assert_eq!(texts(&session).await, ["number 0", "number 1", "number 2"]);
    });
}

#[test]
fn names_and_moves_are_found_again() {
    block_on(async {
        let sessions = MemorySessions::new();
        let session = sessions.create().await.unwrap();
        let ids = session.append((0..3).map(note).collect()).await.unwrap();
        session.label("first", ids[0]).await.unwrap();
        session.seek(ids[1]).await.unwrap();
        let (id, entries) = (session.id(), session.entries());
        session.close().await.unwrap();
        let session = sessions.open(id).await.unwrap();
        assert_eq!(session.head(), Some(ids[1]));
        assert_eq!(session.labels(), [("first".to_owned(), ids[0])]);
        assert_eq!(session.entries(), entries);
    });
}

#[test]
fn an_input_is_changed_and_run_again() {
    block_on(async {
        let session = in_memory().await;
        let mut ids = ids();
        let (_, _, first) = run(&mut ids, "One", "1");
        let (asked, answered, second) = run(&mut ids, "Two", "2");
        session.append(first).await.unwrap();
        let before = session.head();
        session.append(second).await.unwrap();
        let rewound = session.rewind(asked).await.unwrap();
        assert_eq!((rewound.message.text().as_str(), rewound.head), ("Two", before));
        assert_eq!(session.head(), before, "the run that it began went with it");
        let (_, _, again) = run(&mut ids, "Two!", "2!");
        session.append(again).await.unwrap();
        assert_eq!(texts(&session).await, ["One", "1", "Two!", "2!"]);
        assert_eq!(session.branch_tips().len(), 2);
        let error = session.rewind(answered).await;
        assert!(matches!(error, Err(SessionError::UnknownMessage { .. })), "an answer is no input: {error:?}");
    });
}

#[test]
fn the_first_input_is_changed_at_the_beginning() {
    block_on(async {
        let session = in_memory().await;
        let (asked, _, records) = run(&mut ids(), "One", "1");
        session.append(records).await.unwrap();
        assert_eq!(session.rewind(asked).await.unwrap().head, None);
        assert_eq!(session.head(), None);
        assert_eq!(texts(&session).await, Vec::<String>::new());
        let entry = session.append(vec![note(1)]).await.unwrap();
        assert_eq!(session.entry(entry[0]).unwrap().parent, None);
    });
}

#[test]
fn an_entry_of_an_application_is_kept_and_no_conversation_sees_it() {
    block_on(async {
        let session = in_memory().await;
        session.append(vec![note(0)]).await.unwrap();
        let data = RawJson::parse(r#"{"page": 1e0}"#).unwrap();
        let entry = session.append_entry("reader.bookmark", data.clone()).await.unwrap();
        session.append(vec![note(1)]).await.unwrap();
        assert_eq!(texts(&session).await, ["number 0", "number 1"]);
        assert_eq!(session.path().len(), 3);
        assert_eq!(session.payload(entry).await.unwrap(), data);
        assert_eq!(session.record(entry).await.unwrap(), None);
        for kind in ["session.head", "bookmark", ""] {
            let refused = session.append_entry(kind, data.clone()).await;
            assert!(matches!(refused, Err(SessionError::Kind { .. })), "{kind}: {refused:?}");
        }
    });
}

#[test]
fn a_record_of_a_newer_version_is_kept_byte_for_byte() {
    block_on(async {
        let session = in_memory().await;
        let data = RawJson::parse("{\"b\": 1e0,\n \"a\":[1.50]}").unwrap();
        let record = JournalRecord::conversation(RecordBody::Opaque { kind: "dreamt".into(), data });
        session.append(vec![record.clone()]).await.unwrap();
        assert_eq!(session.journal().load().await.unwrap().records(), [record]);
    });
}

#[test]
fn an_append_that_expects_another_length_is_refused() {
    block_on(async {
        let session = in_memory().await;
        let seen = session.len();
        session.append_expecting(seen, vec![note(0)]).await.unwrap();
        let late = session.append_expecting(seen, vec![note(1)]).await;
        assert!(matches!(late, Err(SessionError::Diverged { expected: 0, found: 1 })), "{late:?}");
        assert_eq!(session.len(), 1);
    });
}

#[test]
fn a_path_is_copied_with_its_blobs_and_names() {
    block_on(async {
        let session = in_memory().await;
        let long = "long ".repeat(20_000);
        let trunk = session.append((0..600).map(note).collect()).await.unwrap();
        session.label("early", trunk[5]).await.unwrap();
        session.label("late", trunk[500]).await.unwrap();
        session.seek(trunk[299]).await.unwrap();
        let question = crate::given::user(agent_core::MessageId::from_bits(9_999), &long);
        let tip = session.append(vec![question.clone(), note(1_000)]).await.unwrap()[1];
        let store = JsonlFolder::new(folder("copy"));
        let copy = store.create_with(store.new_header().copy_of(session.id())).await.unwrap();
        assert_eq!(session.copy_to(tip, &copy).await.unwrap(), 302);
        let again = session.copy_to(tip, &copy).await;
        assert!(matches!(again, Err(SessionError::NotEmpty { .. })), "{again:?}");
        copy.close().await.unwrap();
        let copy = store.open(copy.id()).await.unwrap();
        assert_eq!(copy.header().copy_of, Some(session.id()));
        assert_eq!(copy.head(), Some(tip));
        assert_eq!(copy.labels(), [("early".to_owned(), trunk[5])]);
        let expected = [(0..300).map(note).collect(), vec![question, note(1_000)]].concat();
        assert_eq!(copy.journal().load().await.unwrap().records(), expected);
        let ids: Vec<EntryId> = copy.path().iter().map(|entry| entry.id).collect();
        assert_eq!(ids[..300], trunk[..300]);
    });
}
