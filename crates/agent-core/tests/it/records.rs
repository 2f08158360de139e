//! Journal records in their file form.

use agent_core::{
    ApprovalAnswer, Arguments, AssistantMessage, CallEnd, CallId, CallIntent, CallStart, ContentBlock, Effects,
    IdSource, JournalRecord, RawJson, RecordBody, RunEnding, StopReason, ToolCall, ToolIntent, ToolOutput, UserMessage,
    ViewEdit,
};

const OPAQUE: &str = r#"{"run":"00000000000000000000000007","body":{"headMoved":{"b":1e0, "a":[1.50]}}}"#;

fn bodies() -> Vec<RecordBody> {
    let mut ids = IdSource::seeded(1);
    let (message, attempt) = (ids.message(0), ids.attempt(0));
    let call = CallId::new(message, 0);
    let arguments = RawJson::parse(r#"{"b":1e0, "a":[1.50]}"#).unwrap();
    let tool = ContentBlock::ToolCall(ToolCall::new("read", Arguments::from(arguments.clone())));
    let mut end = CallEnd::new(attempt);
    end.message = Some(AssistantMessage::new(message, vec![tool], StopReason::ToolUse).into());
    let intent = CallIntent::new(call, "read", arguments.clone(), Effects::shared());
    let output = ToolOutput::text("done").details(arguments.clone());
    vec![
        RecordBody::ConversationStarted { version: 0 },
        RecordBody::RunStarted,
        RecordBody::MessageAppended(UserMessage::text(message, "hi").into()),
        RecordBody::CallStarted(CallStart::new(attempt, message)),
        RecordBody::CallSettled(end),
        RecordBody::ToolIntents(vec![ToolIntent::new(intent.clone(), "1")]),
        RecordBody::ToolSettled { call, message, output },
        RecordBody::ApprovalAsked(intent),
        RecordBody::ApprovalGiven { call, answer: ApprovalAnswer::AllowWith(arguments.clone()) },
        RecordBody::ApprovalExpired { call },
        RecordBody::QueuePut { queue: "steer".to_owned(), message: UserMessage::text(message, "hi").into() },
        RecordBody::QueueTaken { message },
        RecordBody::ViewEdited(ViewEdit::Hide { first: message, last: message }),
        RecordBody::RunEnded(RunEnding::Failed("out of luck".to_owned())),
        RecordBody::Opaque { kind: "labelled".to_owned(), data: arguments },
    ]
}

#[test]
fn every_kind_comes_back_and_is_named_in_the_file() {
    let mut ids = IdSource::seeded(2);
    let parent = CallId::new(ids.message(0), 3);
    for body in bodies() {
        for record in [
            JournalRecord::conversation(body.clone()),
            JournalRecord::new(ids.run(0), body.clone()),
            JournalRecord::new(ids.run(0), body.clone()).parent(parent),
        ] {
            let text = serde_json::to_string(&record).unwrap();
            assert!(text.contains(&format!(r#""body":{{"{}":"#, body.kind())), "{text}");
            assert_eq!(serde_json::from_str::<JournalRecord>(&text).unwrap(), record, "{text}");
            assert_eq!(serde_json::from_reader::<_, JournalRecord>(text.as_bytes()).unwrap(), record, "{text}");
        }
    }
}

#[test]
fn arguments_in_a_record_keep_their_bytes() {
    for body in bodies().iter().filter(|body| matches!(body.kind(), "toolIntents" | "toolSettled" | "callSettled")) {
        let text = serde_json::to_string(&JournalRecord::conversation(body.clone())).unwrap();
        let back: JournalRecord = serde_json::from_str(&text).unwrap();
        assert!(text.contains(r#"{"b":1e0, "a":[1.50]}"#), "{text}");
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }
}

#[test]
fn an_unknown_kind_is_kept_byte_for_byte() {
    let record: JournalRecord = serde_json::from_str(OPAQUE).unwrap();
    assert_eq!(record.body.kind(), "headMoved");
    assert_eq!(serde_json::to_string(&record).unwrap(), OPAQUE);
}

#[test]
fn a_broken_record_is_an_error() {
    let check = |text: &str, expected: &str| {
        let error = serde_json::from_str::<JournalRecord>(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    };
    check("{}", "`body`");
    check(r#"{"body":[]}"#, "journal record");
    check(r#"{"body":{}}"#, "");
    check(r#"{"body":{"a":1,"b":2}}"#, "");
    check(r#"{"body":{"a":1,"a":2}}"#, "the field `a` stands there twice");
    check(r#"{"body":{"queueTaken":{}}}"#, "`message`");
    check(r#"{"run":7,"body":{"runStarted":null}}"#, "");
}

#[test]
fn a_newer_version_s_fields_are_written_back() {
    let call =
        r#""intent":{"call":"00000000000000000000000007_0","tool":"read","arguments":{ },"effects":{"access":"shared"#;
    let rest = r#"","idempotent":true,"irreversible":false,"approval":"notNeeded","replay":"rerun","endsTurn":false}"#;
    let tail = r#","note":{"b":1e0, "a":[1.50]}},"verdict":"allowed","toolVersion":"1","cost":0.10}"#;
    let text = format!(r#"{{"body":{{"toolIntents":[{{"idempotencyKey":"k",{call}{rest}{tail}]}},"host":"a"}}"#);
    let record: JournalRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&record).unwrap(), text);
}

#[test]
fn an_error_deep_in_a_record_names_its_cause() {
    let text = r#"{"body":{"messageAppended":{"role":"user","id":"00000000000000000000000007","content":[{"type":"text","text":7}]}}}"#;
    let error = serde_json::from_str::<JournalRecord>(text).unwrap_err().to_string();
    for part in ["journal record: the field `body`", "text block: the field `text`", "invalid type: integer `7`"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn stop_reasons_have_one_name() {
    let names = "endTurn toolUse maxTokens stopSequence refusal contextWindow paused cancelled error somethingNew";
    for name in names.split(' ') {
        let read: StopReason = serde_json::from_value(name.into()).unwrap();
        assert_eq!(read, StopReason::from_name(name));
        assert_eq!(serde_json::to_value(&read).unwrap(), name);
        assert_eq!((read.as_str(), matches!(read, StopReason::Other(_))), (name, name == "somethingNew"));
    }
}
