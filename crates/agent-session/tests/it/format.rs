//! The format: the fixture of version 1, and what other writers may leave in a file.

use std::{fs, path::Path, sync::Arc};

use agent_core::{
    ApprovalAnswer, CallId, CallIntent, Effects, IdSource, Journal, JournalRecord, NoteMessage, RawJson, RecordBody,
    RunEnding, ToolIntent, UserMessage, ViewEdit,
};
use agent_session::{EntryId, Fault, Header, JsonlFile, Session, SessionError, SessionId, Settings};
use agent_testkit::PausedTimer;
use xxhash_rust::xxh3::xxh3_64;

use crate::given::{block_on, folder, ids, run, run_with_tool, texts};

fn fixture() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/version-1.jsonl"))
}

/// A session with everything in it, the same in every run.
async fn everything(path: &Path) {
    let settings = Settings::default().inline(200).seeded(1).timer(Arc::new(PausedTimer::at(1_700_000_000_000)));
    let header = Header::new(SessionId::from_bits(1_700_000_000_000 << 80 | 1)).cwd("/home/user/project");
    let session = JsonlFile::new(path).settings(settings).create(header).await.unwrap();
    let mut ids = ids();
    let begun = JournalRecord::conversation(RecordBody::ConversationStarted { version: 0 });
    session.append(vec![begun]).await.unwrap();
    let (first, last, records) = run(&mut ids, "One", "1");
    session.append(records).await.unwrap();
    session.checkpoint("one").await.unwrap();
    let tool = run_with_tool(&mut ids, &"A long question. ".repeat(20));
    let RecordBody::ToolSettled { call, .. } = tool.last().unwrap().body else { panic!() };
    session.append(tool[..4].to_vec()).await.unwrap();
    // As the model gave them, with its line feeds.
    let arguments = RawJson::parse("{\n  \"depth\": 1e0\n}").unwrap();
    let intent = CallIntent::new(call, "look", arguments, Effects::shared());
    let more = [
        RecordBody::ApprovalAsked(intent.clone()),
        RecordBody::ApprovalGiven { call, answer: ApprovalAnswer::Allow },
        RecordBody::ToolIntents(vec![ToolIntent::new(intent, "1")]),
    ];
    session.append(more.map(|body| JournalRecord::new(tool[0].run.unwrap(), body)).to_vec()).await.unwrap();
    session.append(tool[4..].to_vec()).await.unwrap();
    let steer = UserMessage::text(ids.message(0), "Faster");
    let more = [
        RecordBody::QueuePut { queue: "steer".into(), message: steer.clone().into() },
        RecordBody::QueueTaken { message: steer.id },
        RecordBody::MessageAppended(steer.into()),
        RecordBody::RunEnded(RunEnding::Stopped("turns".into())),
    ];
    session.append(more.map(|body| JournalRecord::new(tool[0].run.unwrap(), body)).to_vec()).await.unwrap();
    let summary = NoteMessage::new(ids.message(0), "summary").content(vec!["Counted.".into()]);
    let edit = session.compact(ViewEdit::Summarise { first, last, summary }).await.unwrap();
    session.undo_compaction(edit).await.unwrap();
    session.append_entry("reader.bookmark", RawJson::parse(r#"{"page":3}"#).unwrap()).await.unwrap();
    session.put_blob("output", b"the whole output\n".to_vec()).await.unwrap();
    session.label("gone", edit).await.unwrap();
    session.unlabel("gone").await.unwrap();
    session.seek_checkpoint("one").await.unwrap();
    let (.., records) = run(&mut ids, "Two", "2");
    session.append(records).await.unwrap();
    session.close().await.unwrap();
}

#[test]
fn the_fixture_of_version_1_is_read() {
    block_on(async {
        let session = JsonlFile::new(fixture()).read().await.unwrap();
        assert_eq!(session.header().cwd.as_deref(), Some("/home/user/project"));
        assert_eq!((session.header().version, session.header().created_ms), (1, 1_700_000_000_000));
        assert_eq!(session.recovered().to_string(), "31 records");
        assert_eq!(texts(&session).await, ["One", "1", "Two", "2"]);
        let names: Vec<String> = session.labels().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["one"]);
        let tips = session.branch_tips();
        assert_eq!(tips.len(), 2);
        // The other branch: a question that is kept in a blob, arguments with their line feeds, an undone compaction.
        let branch = session.branch(tips[0].id).await.unwrap();
        let all: Vec<String> = branch.records().iter().map(|record| record.body.kind().to_owned()).collect();
        let expected = "conversationStarted runStarted messageAppended callStarted callSettled runEnded runStarted \
                        messageAppended callStarted callSettled approvalAsked approvalGiven toolIntents toolSettled \
                        queuePut queueTaken messageAppended runEnded";
        assert_eq!(all.join(" "), expected);
        let RecordBody::MessageAppended(question) = &branch.records()[7].body else { panic!() };
        assert_eq!(question.text(), "A long question. ".repeat(20));
        let RecordBody::ToolIntents(intents) = &branch.records()[12].body else { panic!() };
        assert_eq!(intents[0].intent.arguments.get(), "{\n  \"depth\": 1e0\n}");
        assert_eq!(session.payload(tips[0].id).await.unwrap().get(), r#"{"page":3}"#);
        assert_eq!(&*tips[0].kind, "reader.bookmark");
        let output = agent_session::BlobId::of(b"the whole output\n");
        assert_eq!(session.blob(output).await.unwrap(), b"the whole output\n");
    });
}

#[test]
fn version_1_is_written_as_it_always_was() {
    block_on(async {
        let path = folder("fixture").join("version-1.jsonl");
        everything(&path).await;
        assert_eq!(fs::read_to_string(&path).unwrap(), fs::read_to_string(fixture()).unwrap());
        for blob in fs::read_dir(fixture().with_extension("blobs")).unwrap() {
            let blob = blob.unwrap();
            let written = path.with_extension("blobs").join(blob.file_name());
            assert_eq!(fs::read(blob.path()).unwrap(), fs::read(written).unwrap());
        }
    });
}

#[test]
fn a_fixture_can_be_gone_on_with() {
    block_on(async {
        let path = folder("go-on").join("s.jsonl");
        fs::copy(fixture(), &path).unwrap();
        let session = JsonlFile::new(&path).open().await.unwrap();
        let (.., records) = run(&mut IdSource::seeded(99), "Three", "3");
        session.append(records).await.unwrap();
        session.close().await.unwrap();
        let session = JsonlFile::new(&path).open().await.unwrap();
        assert_eq!(texts(&session).await, ["One", "1", "Two", "2", "Three", "3"]);
        let (new, old) = (fs::read_to_string(&path).unwrap(), fs::read_to_string(fixture()).unwrap());
        assert!(new.starts_with(&old), "nothing was rewritten");
    });
}

/// A line with the right sum: `fields` is what follows it, without the braces.
fn line(fields: &str) -> String {
    let rest = format!("\",{fields}}}");
    format!("{{\"sum\":\"{:016x}{rest}\n", xxh3_64(rest.as_bytes()))
}

fn header() -> String {
    let id = SessionId::from_bits(1);
    line(&format!(r#""format":"mainspring.session","version":1,"id":"{id}","createdMs":0"#))
}

fn record(seq: u64, id: u128, parent: Option<u64>) -> String {
    let parent = parent.map(|parent| format!(r#""parent":{parent},"#)).unwrap_or_default();
    let id = EntryId::from_bits(id);
    line(&format!(r#""seq":{seq},"id":"{id}",{parent}"kind":"runStarted","data":{{"body":{{"runStarted":null}}}}"#))
}

async fn opened(lines: &[String]) -> Result<Session, SessionError> {
    let path = folder("lines").join("s.jsonl");
    fs::write(&path, lines.concat()).unwrap();
    JsonlFile::new(&path).open().await
}

#[test]
fn duplicate_ids_and_parents_that_are_not_there_are_named() {
    let id = EntryId::from_bits(10);
    let head = |to: &str| {
        let id = EntryId::from_bits(20);
        line(&format!(r#""seq":2,"id":"{id}","kind":"session.head","data":{{"to":{to}}}"#))
    };
    let first = record(1, 10, Some(0));
    let unknown = EntryId::from_bits(99);
    let cases = [
        (vec![first.clone(), record(2, 10, Some(1))], Fault::DuplicateId { id }),
        // Not in order, so looked up otherwise.
        (vec![first.clone(), record(2, 5, Some(1)), record(3, 10, Some(2))], Fault::DuplicateId { id }),
        (vec![first.clone(), record(2, 11, Some(7))], Fault::UnknownParent { parent: 7 }),
        (vec![first.clone(), record(2, 11, Some(3))], Fault::UnknownParent { parent: 3 }),
        // A cycle needs a parent that comes later, or oneself.
        (vec![first.clone(), record(2, 11, Some(2))], Fault::UnknownParent { parent: 2 }),
        // What is not in the tree is no parent.
        (vec![first.clone(), record(2, 11, None), record(3, 12, Some(2))], Fault::UnknownParent { parent: 2 }),
        (vec![first.clone(), record(3, 11, Some(1))], Fault::Sequence { expected: 2, found: 3 }),
        (vec![first.clone(), first.clone()], Fault::Sequence { expected: 2, found: 1 }),
        (vec![first.clone(), head(&format!("\"{unknown}\""))], Fault::UnknownEntry { id: unknown }),
        (vec![first.clone(), head("7")], Fault::Syntax),
        (vec![first.clone(), line(r#""seq":2,"kind":"runStarted","data":{}"#)], Fault::Syntax),
    ];
    block_on(async {
        for (records, expected) in cases {
            let mut lines = vec![header()];
            lines.extend(records);
            match opened(&lines).await {
                Err(SessionError::Damaged { line, source, offset, .. }) => {
                    assert_eq!((source, line), (expected, lines.len() as u64), "{lines:#?}");
                    let before: usize = lines[..lines.len() - 1].iter().map(String::len).sum();
                    assert_eq!(offset, before as u64);
                }
                other => panic!("{expected:?}: {other:?}"),
            }
        }
    });
}

#[test]
fn unknown_kinds_and_fields_load_and_stay() {
    block_on(async {
        let id = |bits: u128| EntryId::from_bits(bits);
        let newer = [
            // A kind of a newer loop, of a newer session in the tree and beside it, and of an application.
            format!(
                r#""seq":2,"id":"{}","parent":1,"kind":"dreamt","data":{{"body":{{"dreamt":{{"x":1e0}}}}}}"#,
                id(11)
            ),
            format!(r#""seq":3,"id":"{}","parent":2,"kind":"session.star","data":[1]"#, id(12)),
            format!(r#""seq":4,"id":"{}","kind":"session.colour","data":"red""#, id(13)),
            format!(r#""seq":5,"id":"{}","parent":3,"kind":"app.thing","data":null"#, id(14)),
            // Fields that are not known, in another order.
            format!(
                r#""id":"{}","mood":"good","seq":6,"kind":"runStarted","parent":5,"data":{{"body":{{"runStarted":null}},"late":true}}"#,
                id(15)
            ),
            // A kind that needs an escape.
            format!(r#""seq":7,"id":"{}","parent":6,"kind":"a\"b","data":{{"body":{{"a\"b":7}}}}"#, id(16)),
        ];
        let mut lines = vec![header(), record(1, 10, Some(0))];
        lines.extend(newer.iter().map(|fields| line(fields)));
        let session = opened(&lines).await.unwrap();
        assert_eq!((session.len(), session.path().len()), (7, 6));
        let branch = session.journal().load().await.unwrap();
        let kinds: Vec<&str> = branch.records().iter().map(|record| record.body.kind()).collect();
        assert_eq!(kinds, ["runStarted", "dreamt", "runStarted", "a\"b"]);
        let RecordBody::Opaque { data, .. } = &branch.records()[1].body else { panic!() };
        assert_eq!(data.get(), r#"{"x":1e0}"#);
        assert_eq!(branch.records()[2].extra.get("late").unwrap().get(), "true");
        assert_eq!(session.payload(id(12)).await.unwrap().get(), "[1]");
        // They can be gone on from.
        session.append(vec![branch.records()[3].clone()]).await.unwrap();
        session.seek(id(14)).await.unwrap();
        assert_eq!(session.len(), 9);
    });
}

#[test]
fn a_file_of_a_newer_version_is_refused_with_both_versions() {
    block_on(async {
        let newer = line(r#""format":"mainspring.session","version":2,"name":"other fields""#);
        let refused = opened(&[newer, "{}\n".into()]).await;
        let Err(error @ SessionError::Version { found: 2, known: 1 }) = refused else { panic!("{refused:?}") };
        assert_eq!(
            error.to_string(),
            "the session has format version 2, this version reads up to 1; update to open it"
        );
        let other = line(r#""format":"something.else","version":1"#);
        assert!(opened(&[other]).await.is_err());
    });
}

#[test]
fn the_largest_numbers_do_not_frighten_it() {
    block_on(async {
        for fields in [
            format!(r#""seq":18446744073709551615,"id":"{}","parent":0,"kind":"x","data":1"#, EntryId::from_bits(1)),
            format!(r#""seq":1,"id":"{}","parent":18446744073709551615,"kind":"x","data":1"#, EntryId::from_bits(1)),
            format!(r#""seq":99999999999999999999,"id":"{}","parent":0,"kind":"x","data":1"#, EntryId::from_bits(1)),
            format!(r#""seq":1,"id":"{}","parent":-1,"kind":"x","data":1"#, EntryId::from_bits(1)),
        ] {
            let found = opened(&[header(), line(&fields)]).await;
            assert!(matches!(found, Err(SessionError::Damaged { line: 2, .. })), "{fields}: {found:?}");
        }
        // A place of a blob that is not there, and one in the middle of nowhere.
        for at in ["0", "3", "18446744073709551615"] {
            let blob = agent_session::BlobId::of(b"x");
            let id = EntryId::from_bits(1);
            let fields = format!(
                r#""seq":1,"id":"{id}","parent":0,"kind":"x.y","blobs":[{{"at":{at},"sha256":"{blob}","bytes":1}}],"data":"blob""#
            );
            let session = opened(&[header(), line(&fields)]).await.unwrap();
            assert!(session.payload(id).await.is_err());
        }
        for feeds in ["[0]", "[1]", "[9]", "[18446744073709551615]"] {
            let id = EntryId::from_bits(1);
            let fields = format!(r#""seq":1,"id":"{id}","parent":0,"kind":"x.y","lf":{feeds},"data":"a b""#);
            let session = opened(&[header(), line(&fields)]).await.unwrap();
            let found = session.payload(id).await;
            assert!(matches!(found, Err(SessionError::Damaged { source: Fault::Syntax, .. })), "{feeds}: {found:?}");
        }
    });
}

#[test]
fn every_line_is_json_that_any_tool_reads() {
    for text in fs::read_to_string(fixture()).unwrap().lines() {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        let fields = value.as_object().unwrap();
        assert!(fields.contains_key("sum") && (fields.contains_key("seq") || fields.contains_key("format")));
    }
}

#[test]
fn a_call_id_is_what_it_was() {
    // Payloads are core's serde form; this is the one place where its text is written out.
    let text = fs::read_to_string(fixture()).unwrap();
    let call = text.split("\"approvalGiven\":{\"call\":\"").nth(1).unwrap().split('"').next().unwrap();
    let call: CallId = call.parse().unwrap();
    assert_eq!(call.block(), 0);
}
