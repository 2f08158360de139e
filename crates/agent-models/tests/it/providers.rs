//! Providers: where they are, what they speak, and whose key goes where.

use std::collections::BTreeMap;

use agent_models::{AuthStyle, Catalogue, Fact, Protocol, ProviderRow};

use crate::given::model;

/// Provider, protocol, address, window and output of a model that nobody has heard of.
#[test]
fn addresses_and_limits() {
    use Protocol::{AnthropicMessages, Azure, Bedrock, Gemini, OpenAiChat, OpenAiResponses, Vertex};
    for (id, protocol, url, window, output) in [
        ("anthropic", AnthropicMessages, "https://api.anthropic.com/v1", 200_000, 16_000),
        ("openai", OpenAiResponses, "https://api.openai.com/v1", 128_000, 16_000),
        ("google", Gemini, "https://generativelanguage.googleapis.com", 1_000_000, 8_192),
        ("xai", OpenAiChat, "https://api.x.ai/v1", 131_072, 4_096),
        ("groq", OpenAiChat, "https://api.groq.com/openai/v1", 128_000, 4_096),
        ("deepseek", OpenAiChat, "https://api.deepseek.com", 1_000_000, 384_000),
        ("mistral", OpenAiChat, "https://api.mistral.ai/v1", 128_000, 4_096),
        ("minimax", OpenAiChat, "https://api.minimax.io/v1", 1_000_000, 4_096),
        ("meta", OpenAiChat, "https://api.meta.ai/v1", 1_048_576, 131_072),
        ("zai", OpenAiChat, "https://api.z.ai/api/paas/v4", 128_000, 4_096),
        ("qwen", OpenAiChat, "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", 128_000, 4_096),
        ("ollama", OpenAiChat, "http://localhost:11434/v1", 128_000, 4_096),
        ("opencode-zen", OpenAiChat, "https://opencode.ai/zen/v1", 128_000, 16_000),
        ("opencode-go", OpenAiChat, "https://opencode.ai/zen/go/v1", 128_000, 16_000),
        ("azure", Azure, "", 128_000, 16_000),
        ("bedrock", Bedrock, "", 128_000, 16_000),
        ("vertex", Vertex, "", 1_000_000, 8_192),
        ("local", OpenAiChat, "", 128_000, 4_096),
    ] {
        let provider = Catalogue::bundled().provider(id);
        assert_eq!((provider.protocol, provider.base_url.unwrap_or_default().as_str()), (protocol, url), "{id}");
        let facts = model(&format!("{id}/unheard-of")).facts;
        assert_eq!((facts.context_window, facts.max_output), (Some(window), Some(output)), "{id}");
    }
}

#[test]
fn keys_in_their_order() {
    let catalogue = Catalogue::bundled();
    let keys: BTreeMap<String, Vec<String>> = catalogue.providers().into_iter().map(|row| (row.id, row.keys)).collect();
    for (id, expected) in [
        ("anthropic", vec!["ANTHROPIC_API_KEY"]),
        ("openai", vec!["OPENAI_API_KEY"]),
        ("google", vec!["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
        ("xai", vec!["XAI_API_KEY"]),
        ("groq", vec!["GROQ_API_KEY"]),
        ("deepseek", vec!["DEEPSEEK_API_KEY"]),
        ("mistral", vec!["MISTRAL_API_KEY"]),
        ("zai", vec!["ZAI_API_KEY"]),
        ("minimax", vec!["MINIMAX_API_KEY"]),
        ("openrouter", vec!["OPENROUTER_API_KEY"]),
        ("cerebras", vec!["CEREBRAS_API_KEY"]),
        ("meta", vec!["META_API_KEY", "MODEL_API_KEY"]),
        ("qwen", vec!["DASHSCOPE_API_KEY"]),
        ("opencode-zen", vec!["OPENCODE_API_KEY"]),
        ("opencode-go", vec!["OPENCODE_API_KEY"]),
        ("azure", vec!["AZURE_OPENAI_API_KEY"]),
        ("bedrock", vec!["AWS_BEARER_TOKEN_BEDROCK"]),
        ("vertex", vec![]),
        ("local", vec![]),
        ("ollama", vec![]),
    ] {
        assert_eq!(keys[id], expected, "{id}");
    }
}

#[test]
fn every_key_variable_is_listed() {
    let all = Catalogue::bundled().key_variables();
    assert!(all.is_sorted());
    for provider in Catalogue::bundled().providers() {
        assert!(provider.keys.iter().all(|key| all.contains(key)), "{}", provider.id);
    }
    for other in [
        "API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "CLOUDFLARE_API_TOKEN",
        "CLOUDFLARE_AUTH_TOKEN",
        "TYPESAFE_API_KEY",
    ] {
        assert!(all.iter().any(|key| key == other), "{other}");
    }
}

#[test]
fn no_key_goes_to_another_provider() {
    let catalogue = Catalogue::bundled();
    let keys = |id: &str| catalogue.provider(id).keys;
    assert_eq!(keys("my-host"), ["MY_HOST_API_KEY"]);
    // Ids that would make the variable of somebody else.
    assert_eq!(keys("azure.openai"), Vec::<String>::new());
    assert_eq!(keys("dashscope!"), ["DASHSCOPE__API_KEY"]);
    assert_eq!(catalogue.provider("ANTHROPIC").id, "anthropic");
    // Variables that are nobody's go to nobody, least of all to AWS.
    assert!(catalogue.providers().iter().all(|provider| !provider.keys.contains(&"API_KEY".to_owned())));
    // Providers that share a variable are one company's.
    let mut owners: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for provider in catalogue.providers() {
        provider.keys.iter().for_each(|key| owners.entry(key.clone()).or_default().push(provider.id.clone()));
    }
    owners.retain(|_, ids| ids.len() > 1);
    let shared: Vec<Vec<String>> = owners.into_values().collect();
    assert_eq!(shared, [["openai", "openai-decisions"], ["opencode-go", "opencode-zen"]]);
}

#[test]
fn opencode_goes_by_family() {
    use Protocol::{AnthropicMessages, OpenAiChat, OpenAiResponses, Other};
    for (name, protocol) in [
        ("opencode-zen/gpt-6-sol", OpenAiResponses),
        ("opencode-zen/grok-4.7", OpenAiResponses),
        ("opencode-zen/muse-spark-1.3", OpenAiResponses),
        ("opencode-zen/claude-opus-5", AnthropicMessages),
        ("opencode-zen/qwen3.8-max", AnthropicMessages),
        ("opencode-zen/kimi-k2.7-code", OpenAiChat),
        ("opencode-zen/minimax-m3", OpenAiChat),
        ("opencode-zen/gemini-3.8-flash", Other),
        ("opencode-zen/jev-1", Other),
        ("opencode-go/gpt-6-sol", OpenAiResponses),
        ("opencode-go/minimax-m3", AnthropicMessages),
        ("opencode-go/qwen3.8-max", AnthropicMessages),
        ("opencode-go/glm-5.2", OpenAiChat),
    ] {
        assert_eq!(model(name).protocol, protocol, "{name}");
    }
    assert_eq!(Catalogue::bundled().provider("opencode").auth, AuthStyle::Bearer);
}

#[test]
fn profiles() {
    let named: Vec<_> = Catalogue::bundled().providers().into_iter().filter_map(|provider| provider.profile).collect();
    let expected = [
        "cerebras",
        "deepseek",
        "groq",
        "meta",
        "minimax",
        "mistral",
        "ollama",
        "openai",
        "openrouter",
        "qwen",
        "xai",
        "zai",
    ];
    assert_eq!(named, expected);
    assert_eq!(model("ollama/x").facts.quirks, ["assistant-after-tool-result"]);
    assert_eq!(model("deepseek/x").facts.quirks, ["replays-reasoning-content"]);
}

#[test]
fn a_provider_by_code() {
    let mut catalogue = Catalogue::bundled().clone();
    let mut row = ProviderRow::default();
    row.base_url = Some("https://dashscope-us.aliyuncs.com/compatible-mode/v1".into());
    catalogue.set_provider("alibaba", &row);
    let provider = catalogue.provider("qwen");
    assert_eq!(provider.base_url, row.base_url);
    assert_eq!(provider.source.unwrap().what, "the application");
    // What the row doesn't state has the source that it had.
    let entry = catalogue.model("qwen/qwen3.8-max").unwrap();
    assert!(entry.source(Fact::Protocol).unwrap().date.is_some());
    assert_eq!((provider.keys, provider.protocol), (vec!["DASHSCOPE_API_KEY".to_owned()], Protocol::OpenAiChat));
    assert_eq!(catalogue.model("qwen/qwen3.8-max").unwrap().facts.max_output, Some(131_072));
}
