//! Encoding the request of a further turn, on real wires: what it costs must not depend on how many turns are old.

use std::{hint::black_box, sync::Arc};

use agent_anthropic::AnthropicWire;
use agent_core::{
    Arguments, AssistantMessage, CallOptions, ContextView, IdSource, ImageBlock, MediaSource, Message, ModelCall,
    ModelFacts, PieceCache, RawJson, StopReason, ThinkingBlock, ToolCall, ToolResultMessage, ToolSet, ToolSpec,
    Transcript, UserMessage, Wire,
};
use agent_openai::{ChatWire, Profile};

use super::{Case, PerUnit, VersusFloor};

macro_rules! after {
    ($name:ident, $wire:expr, $turns:literal, $case:literal, $max:expr, $floor:expr) => {
        pub(super) const $name: Case = Case {
            name: $case,
            unit: concat!("further turn with thinking, a tool and an image, after ", $turns),
            run: |n| turns(&$wire, $turns, n),
            per_unit: PerUnit { lo: 8, hi: 24, max: $max },
            growth: None,
            floor: $floor,
        };
    };
}

const fn at_most(name: &'static str) -> Option<VersusFloor> {
    Some(VersusFloor { name, max_tenths: 12, routine: true })
}

after!(ANTHROPIC_50, anthropic(), 50, "encode-anthropic-after-50", Some(90_000), None);
after!(ANTHROPIC_1000, anthropic(), 1_000, "encode-anthropic-after-1000", None, at_most("encode-anthropic-after-50"));
after!(OPENAI_50, openai(), 50, "encode-openai-after-50", Some(90_000), None);
after!(OPENAI_1000, openai(), 1_000, "encode-openai-after-1000", None, at_most("encode-openai-after-50"));

fn seeing(provider: &str) -> ModelFacts {
    let mut facts = ModelFacts::new(provider, "m");
    (facts.abilities.images, facts.abilities.tool_images, facts.abilities.reasoning) = (true, true, true);
    facts
}

fn anthropic() -> AnthropicWire {
    AnthropicWire::new().model(seeing("anthropic"))
}

/// A vendor that wants its reasoning back.
fn openai() -> ChatWire {
    ChatWire::of(Profile::named("deepseek").unwrap_or(Profile::compatible())).model(seeing("deepseek"))
}

fn turns<W: Wire>(wire: &W, old: u64, n: u64) {
    let schema = RawJson::parse(r#"{"type":"object","properties":{"path":{"type":"string"}}}"#);
    let spec = schema.ok().and_then(|schema| ToolSpec::new("look", "Looks at a picture.", schema).ok());
    let Some(Ok(tools)) = spec.map(|spec| ToolSet::new(vec![spec])) else { return };
    let (mut ids, mut transcript, mut view) = (IdSource::seeded(1), Transcript::new(), ContextView::default());
    let options = Arc::new(CallOptions::new("m").system("You are measured.").max_output(1_000));
    let cache = PieceCache::new();
    assert!(transcript.append(Message::from(UserMessage::text(ids.message(0), "Look at all pictures."))).is_ok());
    for turn in 0..old + n {
        append(wire, &mut ids, &mut transcript);
        if turn + 1 < old {
            continue;
        }
        assert!(view.catch_up(&transcript).is_ok(), "the history is whole");
        let call = ModelCall::new(options.clone(), view.clone()).tools(tools.clone()).cache(cache.clone());
        let encoded = wire.encode(&call);
        assert!(encoded.is_ok(), "the wire takes it");
        black_box(encoded.ok());
    }
}

fn append<W: Wire>(wire: &W, ids: &mut IdSource, transcript: &mut Transcript) {
    let origin = wire.origin("m");
    let thought = ThinkingBlock::new("What may be on the next one?").signature("c2lnbmF0dXJl").origin(origin.clone());
    let call = ToolCall::new("look", Arguments::from_text(r#"{"path":"next.png"}"#));
    let blocks = vec![thought.into(), "Let me look.".into(), call.into()];
    let mut answer = AssistantMessage::new(ids.message(0), blocks, StopReason::ToolUse);
    answer.origin = origin;
    let call = answer.tool_calls().next().map(|(id, _)| id);
    let image = ImageBlock::new(MediaSource::Base64("aGVsbG8=".repeat(64))).media_type("image/png");
    let content = vec!["A picture.".into(), image.into()];
    let result = call.map(|call| ToolResultMessage::new(ids.message(0), call, "look", content));
    for message in [Some(Message::from(answer)), result.map(Message::from)].into_iter().flatten() {
        assert!(transcript.append(message).is_ok(), "the history is whole");
    }
}
