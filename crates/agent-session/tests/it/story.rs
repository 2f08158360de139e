//! A session with everything that a page can show.

use agent_core::{
    ApprovalAnswer, Arguments, AssistantMessage, CallEnd, CallId, CallIntent, CallStart, ContentBlock, Effects,
    IdSource, ImageBlock, JournalRecord, MediaSource, MessageId, Money, NoteMessage, Origin, RawJson, RecordBody,
    RunEnding, RunId, StopReason, ThinkingBlock, ToolCall, ToolIntent, ToolOutput, Usage, UserMessage, Verdict,
    ViewEdit,
};
use agent_session::Session;

/// A minute of the paused clock.
const MINUTE: u64 = 60_000;

/// Writes turns of a run, one after the other.
pub(crate) struct Story<'a> {
    pub(crate) session: &'a Session,
    pub(crate) ids: IdSource,
    run: RunId,
    prompt: u64,
}

impl<'a> Story<'a> {
    pub(crate) fn new(session: &'a Session) -> Self {
        let mut ids = IdSource::seeded(11);
        let run = ids.run(0);
        Self { session, ids, run, prompt: 1_800 }
    }

    pub(crate) async fn write(&mut self, bodies: Vec<RecordBody>) {
        let records = bodies.into_iter().map(|body| JournalRecord::new(self.run, body)).collect();
        self.session.append(records).await.unwrap();
    }

    pub(crate) async fn asked(&mut self, content: Vec<ContentBlock>) -> MessageId {
        self.run = self.ids.run(MINUTE);
        let id = self.ids.message(MINUTE);
        let message = UserMessage::new(id, content).into();
        self.write(vec![RecordBody::RunStarted, RecordBody::MessageAppended(message)]).await;
        id
    }

    /// An answer; returns its calls.
    pub(crate) async fn answered(&mut self, content: Vec<ContentBlock>) -> Vec<CallId> {
        let (id, attempt) = (self.ids.message(MINUTE), self.ids.attempt(MINUTE));
        let mut answer = AssistantMessage::new(id, content, StopReason::EndTurn);
        answer.origin = Origin::new("anthropic-messages", "anthropic", "claude-sonnet-5");
        let calls: Vec<CallId> = answer.tool_calls().map(|(id, _)| id).collect();
        if !calls.is_empty() {
            answer.stop_reason = StopReason::ToolUse;
        }
        let mut end = CallEnd::new(attempt);
        end.usage = Usage::new(420, 260);
        end.usage.cache_read = self.prompt;
        end.usage.cache_write_5m = 700;
        end.cost = Some(Money::from_micro_dollars(3 * 1_120 + self.prompt / 3 + 15 * 260));
        self.prompt += 1_500;
        answer.usage = end.usage;
        end.message = Some(answer.into());
        self.write(vec![RecordBody::CallStarted(CallStart::new(attempt, id)), RecordBody::CallSettled(end)]).await;
        calls
    }

    pub(crate) async fn did(&mut self, call: CallId, output: ToolOutput) {
        let message = self.ids.message(MINUTE);
        self.write(vec![RecordBody::ToolSettled { call, message, output }]).await;
    }

    pub(crate) async fn ended(&mut self, ending: RunEnding) {
        self.write(vec![RecordBody::RunEnded(ending)]).await;
    }
}

pub(crate) fn call(name: &str, arguments: &str) -> ContentBlock {
    ToolCall::new(name, Arguments::from_text(arguments)).into()
}

const DIFF: &str = "--- src/parser.rs\n+++ src/parser.rs\n@@ -41,7 +41,9 @@\n     fn number(&mut self) -> u64 {\n-        self.digits().parse().unwrap()\n+        // A number may be longer than 64 bits.\n+        let digits = self.digits();\n+        digits.parse().unwrap_or(u64::MAX)\n     }\n";
/// One blue pixel.
pub(crate) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg==";

/// Fixes a bug: reads, edits, tests, asks, fails, is compacted, forks.
pub(crate) async fn everything(session: &Session) {
    let mut story = Story::new(session);
    story.write(vec![RecordBody::ConversationStarted { version: 0 }]).await;
    let first = story
        .asked(vec![
            "The parser panics on long numbers. Please fix it and add a test.\n\nThis is what I see:".into(),
            ContentBlock::Image(ImageBlock::new(MediaSource::Base64(PIXEL.into())).media_type("image/png")),
        ])
        .await;
    let thought = ThinkingBlock::new("The digits are parsed with unwrap. I should look at the file first.");
    let calls = story
        .answered(vec![
            ContentBlock::Thinking(thought),
            "I will look at the parser and at its tests.".into(),
            call("read", r#"{"path":"src/parser.rs"}"#),
            call("search", r#"{"pattern":"fn number","path":"src"}"#),
        ])
        .await;
    story.did(calls[0], "fn number(&mut self) -> u64 {\n    self.digits().parse().unwrap()\n}".into()).await;
    story.did(calls[1], "src/parser.rs:41:    fn number(&mut self) -> u64 {".into()).await;
    let calls = story
        .answered(vec![
            "`parse` fails for more than 64 bits. I will **saturate** instead.".into(),
            call("edit", r#"{"path":"src/parser.rs","edits":[{"old":"a","new":"b"}]}"#),
        ])
        .await;
    let details = RawJson::of(&serde_json::json!({"diff": DIFF, "path": "src/parser.rs"})).unwrap();
    story.did(calls[0], ToolOutput::from("Replaced 1 place in src/parser.rs").details(details)).await;
    let calls = story.answered(vec![call("shell", r#"{"command":"cargo test -p parser","timeout":120}"#)]).await;
    let arguments = RawJson::parse(r#"{"command":"cargo test -p parser","timeout":120}"#).unwrap();
    let mut intent = CallIntent::new(calls[0], "shell", arguments, Effects::exclusive("shell"));
    intent.reason = Some("the shell needs somebody's agreement".into());
    let mut decided = ToolIntent::new(intent.clone(), "1");
    decided.verdict = Verdict::Approved;
    let given = RecordBody::ApprovalGiven { call: calls[0], answer: ApprovalAnswer::Allow };
    story.write(vec![RecordBody::ApprovalAsked(intent), given, RecordBody::ToolIntents(vec![decided])]).await;
    let failed = "running 3 tests\ntest long_numbers ... FAILED\n\nassertion `left == right` failed\n  left: 1\n right: 18446744073709551615";
    story.did(calls[0], ToolOutput::from(failed).as_error()).await;
    let calls = story
        .answered(vec![
            "The test itself expects the wrong value.".into(),
            call("edit", r#"{"path":"tests/numbers.rs","old":"fn a() {\n    let x = 1;\n}","new":"fn a() {\n    let x = 2;\n}"}"#),
        ])
        .await;
    story.did(calls[0], "Replaced 1 place".into()).await;
    story
        .answered(vec![
            "Long numbers now saturate, and a test holds that:\n\n```rust\nassert_eq!(parse(\"1e99\"), u64::MAX);\n```"
                .into(),
        ])
        .await;
    story.ended(RunEnding::Completed).await;
    session.checkpoint("fixed").await.unwrap();
    let fixed = session.head().unwrap();
    let second = story.asked(vec!["Now write a changelog line.".into()]).await;
    for turn in 0..14 {
        let calls = story.answered(vec![call("read", &format!(r#"{{"path":"docs/part-{turn}.md"}}"#))]).await;
        story.did(calls[0], format!("Part {turn} says nothing new.").into()).await;
    }
    story.answered(vec!["- Long numbers saturate instead of ending the program.".into()]).await;
    story.ended(RunEnding::Completed).await;
    let summary = NoteMessage::new(story.ids.message(MINUTE), "summary").content(vec!["The parser was fixed.".into()]);
    let (transcript, _) = session.view(session.head().unwrap()).await.unwrap();
    let ids: Vec<MessageId> = transcript.messages().iter().map(|message| message.id()).collect();
    let last = ids[ids.iter().position(|id| *id == second).unwrap() - 1];
    session.compact(ViewEdit::Summarise { first, last, summary }).await.unwrap();
    story.asked(vec!["Thanks. What would you do next?".into()]).await;
    story.answered(vec!["I would fuzz the parser.".into()]).await;
    story.ended(RunEnding::Completed).await;
    let end = session.head().unwrap();
    session.seek(fixed).await.unwrap();
    story.asked(vec!["Rather return an error for long numbers.".into()]).await;
    story.answered(vec!["That changes the signature of `number`. Shall I?".into()]).await;
    story.ended(RunEnding::Stopped("budget".into())).await;
    session.checkpoint("with errors").await.unwrap();
    session.seek(end).await.unwrap();
}
