//! The table of refusals: each row fails when its rule is gone.

use agent_core::{
    Billed, CallOptions, CancelToken, ContentBlock, ContextView, DocumentBlock, IdSource, ImageBlock, MediaSource,
    Message, ModelCall, NoteMessage, OpaqueBlock, Origin, Provider, ProviderErrorKind, RawJson, ThinkingBlock,
    ToolCall, ToolChoice, ToolResultMessage, ToolSet, UserMessage,
};
use agent_testkit::{Asked, Refusal, Reply, ScriptedProvider, refusal};

use crate::support::{Tested, assistant, calls, results, tools, user, view};

/// Judges with tool `add` on offer and nothing else known.
fn check(messages: &[Message], expected: Option<Refusal>) -> Tested {
    let tools = tools(&["add"])?;
    let messages: Vec<&Message> = messages.iter().collect();
    assert_eq!(refusal(&messages, &tools), expected);
    Ok(())
}

fn check_asked(messages: &[Message], asked: Asked<'_>, expected: Option<Refusal>) {
    let messages: Vec<&Message> = messages.iter().collect();
    assert_eq!(refusal(&messages, asked), expected);
}

fn us() -> Origin {
    Origin::new("toy", "toy", "toy-1")
}

fn file(id: &str) -> MediaSource {
    MediaSource::FileId(id.to_owned())
}

#[test]
fn what_a_real_api_takes() -> Tested {
    let mut ids = IdSource::seeded(1);
    check(&[user(&mut ids, "Hi")], None)?;
    let note = NoteMessage::new(ids.message(0), "nudge").content(vec!["Go on".into()]);
    check(&[note.into()], None)?;

    let (first, second) = (calls(&mut ids, &["add", "add"]), calls(&mut ids, &["add"]));
    let mut whole = vec![user(&mut ids, "Hi"), first.clone().into()];
    // Results may come in any order.
    whole.extend(results(&mut ids, &first).into_iter().rev());
    whole.push(second.clone().into());
    whole.extend(results(&mut ids, &second));
    whole.push(assistant(&mut ids, vec!["Done".into()]).into());
    whole.push(user(&mut ids, "Thanks"));
    // An answer may be empty, and so may a result.
    whole.push(assistant(&mut ids, vec![]).into());
    whole.push(user(&mut ids, "Bye"));
    check(&whole, None)
}

#[test]
fn order() -> Tested {
    let mut ids = IdSource::seeded(1);
    check(&[], Some(Refusal::Empty))?;
    let hello = || assistant(&mut IdSource::seeded(9), vec!["Hello".into()]).into();
    check(&[hello(), user(&mut ids, "Hi")], Some(Refusal::AssistantFirst))?;
    let last = Some(Refusal::AssistantLast { message: 1 });
    check(&[user(&mut ids, "Hi"), hello()], last)
}

#[test]
fn results_and_calls() -> Tested {
    let mut ids = IdSource::seeded(1);
    let (hi, next) = (user(&mut ids, "Hi"), user(&mut ids, "Next"));
    let two = calls(&mut ids, &["add", "add"]);
    let of_two = results(&mut ids, &two);
    let [(a, _), (b, _)] = two.tool_calls().collect::<Vec<_>>()[..] else {
        return Err("two calls".into());
    };
    let (two, [r0, r1]) = (Message::from(two), [of_two[0].clone(), of_two[1].clone()]);
    let orphan =
        |message, call: agent_core::CallId| Some(Refusal::ResultWithoutCall { message, call: call.to_string() });
    let open = |message, block| Some(Refusal::UnansweredCall { message, block, tool: "add".to_owned() });
    // No call at all; a call that is not directly before.
    check(&[hi.clone(), r0.clone()], orphan(1, a))?;
    let late = [hi.clone(), two.clone(), r0.clone(), r1.clone(), next.clone(), r1.clone()];
    check(&late, orphan(5, b))?;
    // Without an answer at the end, before another message, in part.
    check(&[hi.clone(), two.clone()], open(1, 0))?;
    check(&[hi.clone(), two.clone(), r0.clone()], open(1, 1))?;
    check(&[hi.clone(), two.clone(), r1.clone(), next.clone(), r0.clone()], open(1, 0))?;
    let mut other = IdSource::seeded(5);
    let following = calls(&mut other, &["add"]);
    check(&[hi.clone(), two.clone(), following.into()], open(1, 0))?;
    // A message that stands there twice needs its results twice.
    let again = [hi.clone(), two.clone(), r0.clone(), r1.clone(), two.clone(), r0.clone()];
    check(&again, open(4, 1))?;
    // Twice.
    let twice = Some(Refusal::DuplicateResult { message: 3, call: a.to_string() });
    check(&[hi, two, r0.clone(), r0, r1], twice)
}

#[test]
fn blocks() -> Tested {
    let mut ids = IdSource::seeded(1);
    let hi = user(&mut ids, "Hi");
    for blank in ["", " ", "\n\t"] {
        let message = UserMessage::new(ids.message(0), vec!["a".into(), blank.into()]);
        check(&[message.into()], Some(Refusal::EmptyText { message: 0, block: 1 }))?;
        let answer = assistant(&mut ids, vec![blank.into()]).into();
        let after = Some(Refusal::EmptyText { message: 1, block: 0 });
        check(&[hi.clone(), answer, user(&mut ids, "a")], after)?;
    }
    let call = calls(&mut ids, &["add"]);
    let id = call.tool_calls().next().ok_or("a call")?.0;
    let result = ToolResultMessage::new(ids.message(0), id, "add", vec!["".into()]);
    let in_result = Some(Refusal::EmptyText { message: 2, block: 0 });
    check(&[hi.clone(), call.clone().into(), result.into()], in_result)?;

    let empty = UserMessage::new(ids.message(0), vec![]).into();
    let nothing = |message, role| Some(Refusal::EmptyContent { message, role });
    check(&[hi.clone(), empty], nothing(1, "user"))?;
    let note = NoteMessage::new(ids.message(0), "n").into();
    check(&[hi.clone(), note], nothing(1, "note"))?;

    let misplaced = UserMessage::new(ids.message(0), call.content.clone()).into();
    let place = Refusal::MisplacedCall { message: 0, block: 0, role: "user" };
    check(&[misplaced], Some(place))
}

#[test]
fn names_and_ids_of_calls() -> Tested {
    let mut ids = IdSource::seeded(1);
    let (longest, long) = ("a".repeat(64), "a".repeat(65));
    for (name, taken) in [("a-Z_9", true), (&longest, true), ("", false), ("a b", false), ("ä", false), (&long, false)]
    {
        let call = calls(&mut ids, &[name]);
        let mut all = vec![user(&mut ids, "Hi"), call.clone().into()];
        all.extend(results(&mut ids, &call));
        let tool = name.to_owned();
        let bad = Refusal::BadToolName { message: 1, block: 0, tool };
        check(&all, (!taken).then_some(bad))?;
    }
    for (first, second, taken) in [("a", "b", true), ("a", "a", false)] {
        let mut all = vec![user(&mut ids, "Hi")];
        for id in [first, second] {
            let call = ToolCall::new("add", agent_core::Arguments::empty()).vendor_id(id);
            let answer = assistant(&mut ids, vec!["I add".into(), ContentBlock::ToolCall(call)]);
            all.push(answer.clone().into());
            all.extend(results(&mut ids, &answer));
        }
        let twice = Refusal::DuplicateVendorId { message: 3, block: 1, id: "a".to_owned() };
        check(&all, (!taken).then_some(twice))?;
    }
    Ok(())
}

#[test]
fn tools_and_choices() -> Tested {
    let mut ids = IdSource::seeded(1);
    let (none, add) = (ToolSet::default(), tools(&["add"])?);
    let hi = [user(&mut ids, "Hi")];
    let required = || ToolChoice::Required;
    let named = |tool: &str| ToolChoice::Tool(tool.to_owned());
    let unknown = |tool: &str| Some(Refusal::UnknownToolChoice { tool: tool.to_owned() });
    check_asked(&hi, Asked::new(&none), None);
    check_asked(&hi, Asked::new(&none).choice(ToolChoice::Never), None);
    check_asked(&hi, Asked::new(&none).choice(required()), Some(Refusal::RequiredWithoutTools));
    check_asked(&hi, Asked::new(&add).choice(required()), None);
    check_asked(&hi, Asked::new(&add).choice(named("add")), None);
    check_asked(&hi, Asked::new(&add).choice(named("sub")), unknown("sub"));
    check_asked(&hi, Asked::new(&none).choice(named("add")), unknown("add"));

    let call = calls(&mut ids, &["add"]);
    let mut all = vec![user(&mut ids, "Hi"), call.clone().into()];
    all.extend(results(&mut ids, &call));
    check_asked(&all, Asked::new(&add), None);
    check_asked(&all, Asked::new(&none), Some(Refusal::CallsWithoutTools { message: 1 }));
    Ok(())
}

#[test]
fn what_others_made() -> Tested {
    let mut ids = IdSource::seeded(1);
    let none = ToolSet::default();
    let other = Origin::new("toy", "elsewhere", "toy-1");
    let thinking = || ThinkingBlock::new("hm");
    let raw = RawJson::parse("{}")?;
    let (sealed, opaque) = ("signed or encrypted reasoning", "an opaque block");
    let think = ContentBlock::Thinking;
    for (block, what) in [
        (think(thinking()), None),
        (think(thinking().origin(other.clone())), None),
        (think(thinking().signature("s").origin(us())), None),
        (think(thinking().signature("s").origin(other.clone())), Some(sealed)),
        (think(thinking().encrypted("e").origin(other.clone())), Some(sealed)),
        (think(thinking().signature("s")), Some(sealed)),
        (ContentBlock::Opaque(OpaqueBlock::new(us(), raw.clone())), None),
        (ContentBlock::Opaque(OpaqueBlock::new(other, raw)), Some(opaque)),
    ] {
        let answer = assistant(&mut ids, vec![block]);
        let all = [user(&mut ids, "Hi"), answer.into(), user(&mut ids, "And?")];
        let foreign = what.map(|what| Refusal::ForeignBlock { message: 1, block: 0, what });
        check_asked(&all, Asked::new(&none).origin(us()), foreign);
        check_asked(&all, Asked::new(&none), None);
    }
    Ok(())
}

#[test]
fn files() {
    let mut ids = IdSource::seeded(1);
    let (none, kept) = (ToolSet::default(), ["here".to_owned()]);
    for (block, missing) in [
        (ContentBlock::Image(ImageBlock::new(file("here"))), None),
        (ContentBlock::Image(ImageBlock::new(file("there"))), Some("there")),
        (ContentBlock::Document(DocumentBlock::new(file("gone"))), Some("gone")),
        (ContentBlock::Image(ImageBlock::new(MediaSource::Url("https://x/y".to_owned()))), None),
    ] {
        let all = [UserMessage::new(ids.message(0), vec![block]).into()];
        let unknown = missing.map(|id| Refusal::UnknownFile { message: 0, block: 0, file: id.to_owned() });
        check_asked(&all, Asked::new(&none).files(&kept), unknown);
        check_asked(&all, Asked::new(&none), None);
    }
}

#[tokio::test]
async fn a_refused_request_is_noted_and_uses_up_no_reply() -> Tested {
    let provider = ScriptedProvider::new([Reply::text("Hello")]);
    let ids = &mut IdSource::seeded(1);
    let foreign = ThinkingBlock::new("hm").signature("s").origin(Origin::new("a", "b", "c"));
    let thought = assistant(ids, vec![ContentBlock::Thinking(foreign)]).into();
    let file = UserMessage::new(ids.message(0), vec![ContentBlock::Image(ImageBlock::new(file("f")))]);
    let required = CallOptions::new("toy-1").tool_choice(ToolChoice::Required);
    let plain = || CallOptions::new("toy-1");
    let hi = user(ids, "Hi");
    let expected = [
        "the conversation is empty; it needs a user message",
        "block 0 of message 1 is signed or encrypted reasoning of another origin, \
         which nobody can check",
        "block 0 of message 0 names the file `f`, which the provider has not",
        "the tool choice is `required` and the request defines no tools",
    ];
    let refused = [
        ModelCall::new(plain(), ContextView::default()),
        ModelCall::new(plain(), view(vec![hi.clone(), thought, user(ids, "And?")])?),
        ModelCall::new(plain(), view(vec![file.clone().into()])?),
        ModelCall::new(required, view(vec![hi])?),
    ];
    for (call, expected) in refused.into_iter().zip(expected) {
        let error = provider.prepare(call).await?.send(CancelToken::new()).await;
        let error = error.err().ok_or("it was taken")?;
        let facts = (error.kind(), error.status(), error.billed(), error.message());
        assert_eq!(facts, (ProviderErrorKind::InvalidRequest, Some(400), Billed::No, expected));
    }
    assert_eq!((provider.sent().len(), provider.remaining()), (4, 1));

    provider.keep_file("f");
    let call = ModelCall::new(plain(), view(vec![file.into()])?);
    provider.prepare(call).await?.send(CancelToken::new()).await?;
    assert_eq!(provider.remaining(), 0);
    Ok(())
}
