//! Names: providers, models, aliases, dates, families, and what is assumed of the unknown.

use agent_core::Effort;
use agent_models::{
    Assumed, CacheStyle, Catalogue, Fact, Filter, InstructionsRole, LookupError, Order, Protocol, StructuredMode,
    ThinkingMode, TokenField,
};

use crate::given::{model, token};

#[test]
fn names() {
    for (name, id) in [
        ("anthropic/claude-opus-5", "anthropic/claude-opus-5"),
        (" Anthropic/claude-opus-5 ", "anthropic/claude-opus-5"),
        ("claude/claude-opus-5", "anthropic/claude-opus-5"),
        ("claude-opus-5", "anthropic/claude-opus-5"),
        ("opus", "anthropic/claude-opus-5-5"),
        ("anthropic/sonnet", "anthropic/claude-sonnet-5-5"),
        ("gemini/gemini-3.8-flash", "google/gemini-3.8-flash"),
        ("x-ai/grok-4.7-latest", "xai/grok-4.7"),
        ("groq/openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"),
        ("minimax-m3", "minimax/MiniMax-M3"),
        // A date is kept: it is what the vendor is asked for.
        ("anthropic/claude-opus-5-20260701", "anthropic/claude-opus-5-20260701"),
        ("anthropic/claude-haiku-4-5@20251001", "anthropic/claude-haiku-4-5@20251001"),
        ("anthropic/claude-opus-4-8[1m]", "anthropic/claude-opus-4-8[1m]"),
        ("anthropic/claude-opus-4-8-v1:0", "anthropic/claude-opus-4-8-v1:0"),
    ] {
        let entry = model(name);
        assert_eq!((entry.id().as_str(), entry.known), (id, true), "{name}");
        assert!(entry.facts.price.is_some(), "{name}");
    }
}

#[test]
fn names_that_say_too_little() {
    let catalogue = Catalogue::bundled();
    let unknown = LookupError::NoProvider { model: "no-such-model".into() };
    assert_eq!(catalogue.model("no-such-model"), Err(unknown));
    let providers = vec!["openai".into(), "openai-decisions".into()];
    let ambiguous = LookupError::Ambiguous { model: "gpt-6-luna".into(), providers };
    assert_eq!(catalogue.model("gpt-6-luna"), Err(ambiguous.clone()));
    let said = "several providers have the model `gpt-6-luna`: openai, openai-decisions; write `provider/model`";
    assert_eq!(ambiguous.to_string(), said);
    assert!(catalogue.model("").is_err() && catalogue.model("/").is_err() && catalogue.model("openai/").is_err());
}

#[test]
fn ids_are_exact_in_their_case() {
    assert!(!model("anthropic/Claude-Opus-5").known);
}

#[test]
fn known_models_have_their_own_limits() {
    assert_eq!(model("openai/gpt-6-sol").facts.max_output, Some(64_000));
    assert_eq!(model("mistral/mistral-large-4").facts.max_output, Some(32_768));
    assert_eq!(model("mistral/some-other").facts.max_output, Some(4_096));
}

#[test]
fn what_is_assumed_is_said() {
    let entry = model("xai/grok-99");
    assert!(!entry.known);
    assert_eq!((entry.facts.context_window, entry.facts.max_output), (Some(131_072), Some(4_096)));
    assert_eq!(entry.assumed(Fact::Window), Some(Assumed::Provider));
    assert_eq!(entry.source(Fact::Window).map(|source| source.date.is_some()), Some(true));
    assert_eq!(entry.facts.profile.as_deref(), Some("xai"));

    let entry = model("nobody/nothing");
    assert_eq!((entry.facts.context_window, entry.facts.max_output), (Some(128_000), Some(4_096)));
    assert_eq!((entry.protocol, entry.facts.profile.as_deref()), (Protocol::OpenAiChat, None));
    assert_eq!(entry.assumed(Fact::Window), Some(Assumed::Library));
    assert_eq!(entry.source(Fact::Window), None);
    assert!(entry.facts.abilities.tools && !entry.facts.abilities.images && !entry.facts.abilities.reasoning);
    assert!(entry.assumed.iter().all(|assumption| assumption.fact != Fact::Price));

    let known = model("anthropic/claude-opus-5");
    assert_eq!((known.assumed(Fact::Window), known.assumed(Fact::Images)), (None, Some(Assumed::Provider)));
}

#[test]
fn claude_versions() {
    let of = |id: &str| {
        let entry = model(&format!("anthropic/{id}"));
        (entry.thinking, entry.structured_output, entry.facts.efforts.contains(&Effort::XHigh))
    };
    let current = (ThinkingMode::Adaptive, StructuredMode::JsonSchema, true);
    let budget = (ThinkingMode::Budget, StructuredMode::JsonSchema, false);
    let old = (ThinkingMode::Budget, StructuredMode::ForcedTool, false);
    for (id, expected) in [
        ("claude-opus-5-5", current),
        ("claude-opus-4-7", current),
        // These two have no xhigh.
        ("claude-opus-4-6", (ThinkingMode::Adaptive, StructuredMode::JsonSchema, false)),
        ("claude-sonnet-4-6-20260101", (ThinkingMode::Adaptive, StructuredMode::JsonSchema, false)),
        ("claude-opus-4-5", budget),
        ("claude-haiku-4-5-20251001", budget),
        ("claude-sonnet-4-5[1m]", budget),
        ("claude-opus-4-1-20250805", old),
        // A date is never a minor version.
        ("claude-sonnet-4-20250514", old),
        ("claude-sonnet-4-0514", old),
        ("claude-opus-4@20250514", old),
        ("claude-3-7-sonnet-latest", old),
        ("claude-opus-4-10", current),
        ("claude-unreadable", current),
    ] {
        assert_eq!(of(id), expected, "{id}");
    }
}

#[test]
fn claude_deviations() {
    let has = |id: &str, quirk: &str| model(id).facts.quirks.iter().any(|own| own == quirk);
    for id in ["claude-fable-5-1", "claude-opus-5-5"] {
        assert!(has(id, "no-forced-tool-choice") && has(id, "prefix-bound-thinking"), "{id}");
        assert_eq!(model(id).structured_output, StructuredMode::JsonSchema, "{id}");
    }
    assert!(!has("claude-fable-5", "no-forced-tool-choice"));
    assert!(!model("claude-opus-5-5").facts.abilities.temperature && has("claude-opus-5-5", "no-sampling"));
    let always = |id: &str| (model(id).always_thinks, model(id).default_effort);
    assert_eq!(always("claude-fable-5-1"), (true, Some(Effort::High)));
    assert_eq!(always("claude-opus-5-5"), (true, Some(Effort::Medium)));
    assert_eq!(always("claude-sonnet-5-5"), (true, Some(Effort::High)));
    assert_eq!(always("claude-opus-5"), (false, None));
    assert_eq!(model("claude-sonnet-4-5").retires.map(|day| day.to_string()).as_deref(), Some("2026-11-30"));
}

#[test]
fn gemini_levels() {
    use Effort::{High, Low, Medium, Minimal};
    for (id, thinking, efforts) in [
        ("gemini-4-argon", ThinkingMode::Level, vec![Low, Medium, High]),
        ("gemini-3.8-flash", ThinkingMode::Level, vec![Low, Medium, High]),
        ("gemini-3.7-flash", ThinkingMode::Level, vec![Low, Medium, High]),
        ("gemini-3.1-pro-preview", ThinkingMode::Level, vec![Low, Medium, High]),
        ("gemini-3-flash-preview", ThinkingMode::Level, vec![Minimal, Low, Medium, High]),
        ("gemini-3.5-flash", ThinkingMode::Level, vec![Minimal, Low, Medium, High]),
        ("gemini-3.8-flash-lite", ThinkingMode::Level, vec![Minimal, Low, Medium, High]),
        ("gemini-3.1-flash-image", ThinkingMode::Level, vec![Minimal, High]),
        ("gemini-3-pro-image", ThinkingMode::Level, vec![High]),
        ("gemini-3.8-flash-tts", ThinkingMode::None, vec![]),
        ("gemini-2.5-pro", ThinkingMode::Budget, vec![]),
        ("gemini-flash-latest", ThinkingMode::Level, vec![Low, Medium, High]),
        ("gemini-flash-lite-latest", ThinkingMode::Budget, vec![]),
    ] {
        for provider in ["google", "vertex"] {
            let entry = model(&format!("{provider}/{id}"));
            assert_eq!((entry.thinking, entry.facts.efforts), (thinking, efforts.clone()), "{provider}/{id}");
        }
    }
}

#[test]
fn effort_ladders() {
    let nearest = |name: &str, wanted: Effort| model(name).facts.nearest_effort(wanted);
    assert_eq!(nearest("openai/gpt-5.5", Effort::Max), Some(Effort::XHigh));
    assert_eq!(nearest("openai/gpt-6-sol", Effort::Max), Some(Effort::Max));
    assert_eq!(nearest("xai/grok-4.7", Effort::Max), Some(Effort::XHigh));
    assert_eq!(nearest("deepseek/deepseek-v4-pro", Effort::XHigh), Some(Effort::High));
    assert_eq!(nearest("deepseek/deepseek-v4-pro", Effort::Max), Some(Effort::Max));
    assert_eq!(nearest("openai/gpt-6-sol", Effort::Minimal), Some(Effort::Low));
    assert_eq!(nearest("mistral/mistral-large-4", Effort::High), None);
}

#[test]
fn openai_families() {
    for (id, protocol, reasoning) in [
        ("gpt-6-sol", Protocol::OpenAiResponses, true),
        ("gpt-7-unheard-of", Protocol::OpenAiResponses, true),
        ("gpt-4.1", Protocol::OpenAiChat, false),
        ("chatgpt-4o-latest", Protocol::OpenAiChat, false),
        ("gpt-5-chat-latest", Protocol::OpenAiChat, false),
    ] {
        let entry = model(&format!("openai/{id}"));
        assert_eq!((entry.protocol, entry.facts.abilities.reasoning), (protocol, reasoning), "{id}");
    }
    let astra = model("openai/gpt-6-astra");
    assert!(astra.always_thinks && !astra.facts.abilities.temperature);
    assert_eq!(astra.facts.quirks, ["no-functions-on-chat"]);
    let chat = model("openai/gpt-5.5");
    assert_eq!(
        (chat.protocol, chat.instructions, chat.token_field, chat.cache),
        (Protocol::OpenAiChat, InstructionsRole::Developer, TokenField::MaxCompletionTokens, CacheStyle::Key)
    );
}

#[test]
fn structured_output_by_provider() {
    for (name, mode, held) in [
        ("deepseek/deepseek-v4-pro", StructuredMode::JsonObject, false),
        ("qwen/qwen3.8-omni-flash", StructuredMode::None, false),
        ("qwen/qwen3.8-max", StructuredMode::JsonSchema, true),
        ("google/gemini-4-argon", StructuredMode::OpenApiSchema, true),
        ("bedrock/amazon.nova-pro-v1:0", StructuredMode::ForcedTool, true),
        ("openai/gpt-6-sol", StructuredMode::JsonSchema, true),
    ] {
        let entry = model(name);
        assert_eq!((entry.structured_output, entry.facts.abilities.structured_output), (mode, held), "{name}");
    }
}

#[test]
fn the_cache_key_goes_where_it_is_known() {
    let keyed = Catalogue::bundled()
        .providers()
        .into_iter()
        .filter(|provider| Catalogue::bundled().model_at(&provider.id, "x").cache == CacheStyle::Key);
    let keyed: Vec<_> = keyed.map(|provider| provider.id).collect();
    assert_eq!(keyed, ["azure", "openai"]);
    assert_eq!(model("claude-opus-5").cache, CacheStyle::Breakpoints);
    assert_eq!(model("bedrock/amazon.nova-pro-v1:0").cache, CacheStyle::CachePoints);
}

#[test]
fn ids_of_the_documentation() {
    for (name, known) in [
        ("anthropic/claude-haiku-4-5", true),
        ("google/gemini-3.1-pro-preview", true),
        ("groq/openai/gpt-oss-120b", true),
        ("minimax/MiniMax-M3", true),
        ("ollama/llama3.1:8b", false),
        ("opencode-zen/kimi-k2.7-code", false),
        ("opencode-zen/glm-5.2", false),
        ("qwen/qwen3.6-plus", false),
    ] {
        let entry = model(name);
        assert_eq!((entry.id().as_str(), entry.known), (name, known));
        assert!(entry.facts.abilities.tools, "{name}");
    }
}

#[test]
fn listings() {
    let catalogue = Catalogue::bundled();
    let ids = |filter: Filter| -> Vec<String> { catalogue.models(&filter).iter().map(|entry| entry.id()).collect() };
    let all = ids(Filter::new());
    assert_eq!((all.len(), all.is_sorted()), (40, true));
    assert_eq!(ids(Filter::new().text("GROK")), ["xai/grok-4.7"]);
    assert_eq!(ids(Filter::new().text("opus").priced()).len(), 3);
    assert_eq!(ids(Filter::new().provider("zai").reasoning()), ["zai/glm-5.3"]);
    assert_eq!(ids(Filter::new().protocol(Protocol::Gemini).order(Order::OutputPrice))[0], "google/gemini-3.8-flash");
    let cheap = ids(Filter::new().tools().max_input_price(token(0.15)).order(Order::InputPrice));
    assert_eq!(cheap[..2], ["anthropic/claude-haiku-5-5", "openai/gpt-6-luna"]);
    assert!(cheap.iter().all(|id| id != "anthropic/claude-opus-4-5"), "no price is not cheap");
    let windows = catalogue.models(&Filter::new().min_window(1_050_000).order(Order::Window));
    assert_eq!((windows.len(), windows[0].facts.context_window), (5, Some(1_050_000)));
    let alive = ids(Filter::new().provider("anthropic").alive_on("2026-12-01".parse().unwrap()));
    assert!(
        alive.contains(&"anthropic/claude-opus-4-5".into()) && !alive.contains(&"anthropic/claude-sonnet-4-5".into())
    );
    let on = |day: &str| ids(Filter::new().text("sonnet-4-5").alive_on(day.parse().unwrap())).len();
    assert_eq!((on("2026-11-29"), on("2026-11-30")), (1, 0));
    assert_eq!(ids(Filter::new().documents().structured_output().protocol(Protocol::AnthropicMessages)).len(), 13);
    let unpriced_last = ids(Filter::new().provider("anthropic").order(Order::InputPrice));
    assert_eq!(unpriced_last.last().unwrap(), "anthropic/claude-sonnet-4-5");
}
