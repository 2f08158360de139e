//! Session files of pi.

use agent_core::{ContentBlock, Message, StopReason, Usage};
use agent_session::{ExchangeError, PiFile, Session};

use crate::given::{block_on, in_memory};

const FILE: &str = include_str!("../fixtures/pi-version-3.jsonl");

async fn imported(text: &str) -> (Session, Vec<String>) {
    let session = in_memory().await;
    let losses = PiFile::parse(text).unwrap().import_into(&session).await.unwrap();
    (session, losses.iter().map(ToString::to_string).collect())
}

async fn shown(session: &Session) -> Vec<String> {
    let (_, view) = session.view(session.head().unwrap()).await.unwrap();
    view.messages().map(|message| format!("{}: {}", message.role(), message.text())).collect()
}

#[test]
fn a_file_becomes_a_session_with_its_tree() {
    block_on(async {
        let pi = PiFile::parse(FILE).unwrap();
        assert_eq!((pi.cwd(), pi.created_ms()), (Some("/home/me/project"), Some(1_735_689_600_000)));
        let (session, losses) = imported(FILE).await;
        assert_eq!(
            losses,
            [
                "line 14: the signature of reasoning of openai-responses",
                "the file: the prices of 3 answers, which are no part of a message here",
            ]
        );
        // The head is where pi was: on the second branch, behind a compaction.
        assert_eq!(
            shown(&session).await,
            [
                "note: They talked about the parser.",
                "user: Rather return an error",
                "assistant: Then the signature changes.",
                "note: The other branch saturated.",
                "user: Go on",
            ]
        );
        assert_eq!(session.branch_tips().len(), 2);
        let labels = session.labels();
        assert_eq!(labels.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["before the fork"]);
        let kinds: Vec<_> =
            session.entries().iter().map(|entry| entry.kind.to_string()).filter(|kind| kind.contains('.')).collect();
        assert_eq!(kinds, ["pi.model_change", "pi.custom", "pi.session_info"]);
        // Entries keep their times.
        assert_eq!(session.entry(labels[0].1).unwrap().id.made_ms() / 1000, 1_735_689_604);
    });
}

#[test]
fn calls_results_images_and_usage_are_carried() {
    block_on(async {
        let (session, _) = imported(FILE).await;
        let (transcript, _) = session.view(session.labels()[0].1).await.unwrap();
        let messages: Vec<&Message> = transcript.messages().iter().map(|message| &**message).collect();
        assert!(matches!(messages[0].content()[1], ContentBlock::Image(_)));
        let Message::Assistant(answer) = messages[1] else { panic!("an answer") };
        assert_eq!(answer.origin.model, "claude-sonnet-4-5");
        assert_eq!((&answer.stop_reason, answer.timestamp_ms), (&StopReason::ToolUse, 1_735_689_602_000));
        let mut usage = Usage::new(10, 20);
        (usage.cache_read, usage.cache_write_5m) = (30, 40);
        assert_eq!(answer.usage, usage);
        let ContentBlock::Thinking(thinking) = &answer.content[0] else { panic!("reasoning") };
        assert_eq!((thinking.text.as_str(), thinking.signature.as_deref()), ("Look first.", Some("c2ln")));
        let (id, call) = answer.tool_calls().next().unwrap();
        assert_eq!((call.name.as_str(), call.arguments.text()), ("read", r#"{"path":"a.rs","from":1e0}"#));
        let Message::ToolResult(result) = messages[2] else { panic!("a result") };
        assert_eq!((result.call, result.is_error), (id, true));
        assert_eq!(result.details.as_ref().unwrap().get(), r#"{"lines":3}"#);
    });
}

#[test]
fn the_first_version_had_no_tree() {
    block_on(async {
        let text = r#"{"type":"session","id":"x","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/a","provider":"anthropic","modelId":"m"}
{"type":"message","timestamp":"2024-12-03T14:00:01.000Z","message":{"role":"user","content":"Hello"}}
{"type":"message","timestamp":"2024-12-03T14:00:02.000Z","message":{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":0}}
{"type":"message","timestamp":"2024-12-03T14:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Hi"}],"stopReason":"stop"}}
"#;
        let (session, losses) = imported(text).await;
        assert_eq!(losses, [""; 0]);
        assert_eq!(shown(&session).await, ["user: Hello", "note: The user ran `ls`:\na\nb", "assistant: Hi"]);
    });
}

#[test]
fn what_does_not_follow_is_mended_and_said() {
    block_on(async {
        let message = |id: &str, parent: &str, message: &str| {
            format!("{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"message\":{message}}}\n")
        };
        let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"f","arguments":{}}],"stopReason":"toolUse"}"#;
        let text = [
            "{\"type\":\"session\",\"version\":3,\"id\":\"x\"}\n".to_owned(),
            message("1", "null", call),
            message("2", "\"1\"", r#"{"role":"toolResult","toolCallId":"none","toolName":"f","content":[]}"#),
            message("3", "\"2\"", r#"{"role":"user","content":"Stop"}"#),
            message("4", "\"3\"", r#"{"role":"oracle","content":"?"}"#),
            message("5", "\"1\"", r#"{"role":"toolResult","toolCallId":"c1","toolName":"f","content":"ok"}"#),
        ]
        .concat();
        let (session, losses) = imported(&text).await;
        assert_eq!(losses.len(), 4, "{losses:?}");
        assert!(losses[0].contains("line 2: a note was put before"), "{losses:?}");
        assert!(losses[1].contains("line 3: the result of `none`"), "{losses:?}");
        assert!(losses[2].contains("had no result"), "{losses:?}");
        assert!(losses[3].contains("line 5: a message of the role `oracle`"), "{losses:?}");
        let shown = shown(&session).await;
        assert_eq!(shown[1..], ["assistant: ", "toolResult: ok"], "the head is at the last line");
        assert_eq!(session.branch_tips().len(), 2);
    });
}

#[test]
fn files_that_are_damaged_are_refused_with_the_line() {
    block_on(async {
        let line = |text: &str| match PiFile::parse(text) {
            Err(ExchangeError::Line { line, .. } | ExchangeError::Order { line }) => line,
            other => panic!("{other:?}"),
        };
        assert_eq!(line("{\"type\":\"session\"}\nnonsense"), 2);
        assert_eq!(line("{\"type\":\"session\",\"version\":3}\n{\"type\":\"a\",\"id\":\"1\",\"parentId\":\"2\"}"), 2);
        assert_eq!(line("{\"type\":\"a\",\"id\":\"1\"}\n\n{\"type\":\"a\",\"id\":\"1\"}"), 3);
        let newer = PiFile::parse("{\"type\":\"session\",\"version\":4}");
        assert!(matches!(newer, Err(ExchangeError::Version { found: 4, known: 3 })), "{newer:?}");
        let (session, _) = imported(FILE).await;
        let twice = PiFile::parse(FILE).unwrap().import_into(&session).await;
        assert!(matches!(twice, Err(ExchangeError::Session(_))), "{twice:?}");
    });
}

#[test]
fn many_forks_are_no_burden() {
    block_on(async {
        let mut text = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"x\"}\n");
        for at in 0..3_000 {
            let parent = if at == 0 { "null".to_owned() } else { format!("\"{}\"", at - 1 - usize::from(at % 7 == 6)) };
            text += &format!(
                "{{\"type\":\"message\",\"id\":\"{at}\",\"parentId\":{parent},\"message\":{{\"role\":\"user\",\"content\":\"{at}\"}}}}\n"
            );
        }
        let (session, losses) = imported(&text).await;
        assert_eq!(losses, [""; 0]);
        assert_eq!(session.entries().len(), 3_001);
        let shown = shown(&session).await;
        assert_eq!(shown.last().unwrap(), "user: 2999");
    });
}
