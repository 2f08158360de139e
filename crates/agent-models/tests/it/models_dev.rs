//! Documents of models.dev: what is taken over, what is skipped, and what a document may never do.

use agent_core::{Effort, Price};
use agent_models::{
    AuthStyle, CacheStyle, Catalogue, ModelsDev, Protocol, RefreshReport, StructuredMode, ThinkingMode,
};
use serde_json::{Value, json};

use crate::given::{rates, token};

fn refreshed(document: &Value) -> (Catalogue, RefreshReport) {
    let mut catalogue = Catalogue::bundled().clone();
    let document = ModelsDev::read(document.to_string().as_bytes()).unwrap();
    let report = catalogue.refresh(&document, "2026-12-01".parse().unwrap());
    (catalogue, report)
}

fn with_model(provider: &str, model: &str, value: Value) -> (Catalogue, RefreshReport) {
    refreshed(&json!({ provider: { "models": { model: value } } }))
}

fn skipped(report: &RefreshReport) -> Vec<(&str, &str, &str)> {
    report.skipped.iter().map(|skipped| (skipped.of.as_str(), skipped.field.as_str(), skipped.reason)).collect()
}

#[test]
fn a_whole_model() {
    let (catalogue, report) = with_model(
        "anthropic",
        "claude-opus-6",
        json!({
            "id": "claude-opus-6", "name": "Claude Opus 6", "family": "claude-opus", "attachment": true,
            "reasoning": true, "tool_call": true, "structured_output": true, "temperature": false,
            "modalities": { "input": ["text", "image", "pdf"], "output": ["text"] },
            "reasoning_options": [{ "type": "toggle" }, { "type": "effort", "values": ["max", "low", null, "tiny"] }],
            "limit": { "context": 2_000_000, "output": 128_000 }, "last_updated": "2026-11-20",
            "cost": { "input": 4, "output": 20, "cache_read": 0.2, "cache_write": 5 },
            "something_new": [1, 2, 3],
        }),
    );
    assert_eq!((report.models, report.new_models, skipped(&report)), (1, 1, vec![]));
    let entry = catalogue.model("claude-opus-6").unwrap();
    assert_eq!((entry.name.as_str(), entry.known), ("Claude Opus 6", true));
    assert_eq!((entry.facts.context_window, entry.facts.max_output), (Some(2_000_000), Some(128_000)));
    assert_eq!(entry.facts.efforts, [Effort::Low, Effort::Max]);
    assert!(!entry.facts.abilities.temperature && entry.facts.abilities.documents);
    // What the document doesn't speak of is the provider's way.
    assert_eq!((entry.thinking, entry.cache), (ThinkingMode::Adaptive, CacheStyle::Breakpoints));
    assert_eq!(entry.structured_output, StructuredMode::JsonSchema);
    // An hour in the cache is not in such a document; the provider's rule gives it.
    assert_eq!(entry.facts.price, Some(Price::new(rates([4.0, 20.0, 0.2, 5.0, 8.0]))));
}

#[test]
fn bands_come_from_tiers_or_from_200k() {
    let price = |cost: Value| {
        let (catalogue, report) = with_model("mistral", "m", json!({ "cost": cost }));
        assert_eq!(skipped(&report), vec![]);
        catalogue.model("mistral/m").unwrap().facts.price.unwrap()
    };
    let over = json!({ "input": 1, "output": 2, "context_over_200k": { "input": 3, "output": 4 } });
    assert_eq!(price(over).bands[0].from_prompt_tokens, 200_001);
    let tiers = json!({ "input": 1, "output": 2, "cache_read": 0.1, "context_over_200k": { "input": 99, "output": 99 },
        "tiers": [{ "input": 5, "output": 6, "tier": { "type": "context", "size": 500_000 } },
            { "input": 3, "output": 4, "cache_read": 0.3, "tier": { "size": 272_000 } }] });
    let price = price(tiers);
    assert_eq!(price.bands.iter().map(|band| band.from_prompt_tokens).collect::<Vec<_>>(), [272_001, 500_001]);
    assert_eq!(price.rates_for(272_001), &rates([3.0, 4.0, 0.3, 3.0, 3.0]));
    assert_eq!(price.rates_for(600_000).cache_read, token(5.0), "a rate that a band lacks is its input rate");
}

#[test]
fn prices_are_never_approximated() {
    for (cost, reason) in [
        (json!({ "input": 1 }), "a price without its input or output rate"),
        (json!({ "input": "1", "output": 2 }), "a rate that is no price"),
        (json!({ "input": -1, "output": 2 }), "a rate that is no price"),
        (json!({ "input": 1, "output": 2, "cache_read": true }), "a rate that is no price"),
        (json!({ "input": 1, "output": 2, "reasoning": 3 }), "a rate of its own for reasoning"),
        (json!({ "input": 1, "output": 2, "per_minute": 3 }), "a price by the minute"),
        (json!({ "input": 1, "output": 2, "tiers": 3 }), "bands of an unexpected shape"),
        (json!({ "input": 1, "output": 2, "tiers": [3] }), "a band of an unexpected shape"),
        (json!({ "input": 1, "output": 2, "tiers": [{ "input": 1, "output": 2 }] }), "a band without a bound"),
        (
            json!({ "input": 1, "output": 2,
                "tiers": [{ "input": 1, "output": 2, "tier": { "type": "time", "size": 5 } }] }),
            "a band by something else than the length of the prompt",
        ),
        (
            json!({ "input": 1, "output": 2, "tiers": [{ "output": 2, "tier": { "size": 5 } }] }),
            "a price without its input or output rate",
        ),
        (
            json!({ "input": 1, "output": 2, "tiers":
                [{ "input": 1, "output": 2, "tier": { "size": 5 } },
                    { "input": 1, "output": 3, "tier": { "size": 5 } }] }),
            "two bands that begin at the same number",
        ),
        (json!({ "input": 1, "output": 2, "tiers": vec![json!({}); 17] }), "too many bands"),
    ] {
        let (catalogue, report) = with_model("mistral", "m", json!({ "limit": { "context": 9 }, "cost": cost }));
        assert!(skipped(&report).contains(&("mistral/m", "cost", reason)), "{cost}: {report:?}");
        let facts = catalogue.model("mistral/m").unwrap().facts;
        assert_eq!((facts.price, facts.context_window), (None, Some(9)), "{cost}");
    }
    // Reasoning at the rate of the output is no other rate, and of audio no call of ours has any.
    let cost = json!({ "input": 1, "output": 2, "reasoning": 2, "input_audio": 9, "output_audio": 9 });
    assert!(with_model("mistral", "m", json!({ "cost": cost })).0.model("mistral/m").unwrap().facts.price.is_some());
}

#[test]
fn free_and_unknown() {
    let of = |value: Value| with_model("mistral", "m", value).0.model("mistral/m").unwrap().facts.price;
    assert_eq!(of(json!({})), None);
    assert_eq!(of(json!({ "cost": null })), None);
    assert_eq!(of(json!({ "cost": { "input": 0, "output": 0 } })), Some(Price::default()));
}

#[test]
fn one_strange_field_costs_that_field() {
    let (catalogue, report) = with_model(
        "mistral",
        "m",
        json!({ "name": 7, "limit": { "context": "much", "output": 100 }, "reasoning": "yes", "tool_call": [],
            "modalities": { "input": "all" }, "reasoning_options": [5, { "type": "effort", "values": 3 }] }),
    );
    let of = "mistral/m";
    let reason = "a field of an unexpected type";
    let mut found = skipped(&report);
    found.sort_unstable();
    let fields = ["context", "input", "name", "reasoning", "tool_call", "values"];
    assert_eq!(found, fields.map(|field| (of, field, reason)));
    let facts = catalogue.model(of).unwrap().facts;
    assert_eq!((facts.max_output, facts.context_window), (Some(100), Some(128_000)));
}

#[test]
fn one_strange_model_costs_that_model() {
    let long = "x".repeat(300);
    let (catalogue, report) = refreshed(&json!({
        "mistral": { "models": { "a": 1, "b": {}, "c": { "modalities": { "output": ["audio"] } },
            "": {}, "d\n": {}, long.as_str(): {} } },
        "zai": { "models": [] }, "groq": 5, "xai": {}, "a/b": { "models": {} },
    }));
    assert_eq!((report.models, report.new_providers.len()), (1, 0));
    let no_model = "a model that is no object or does not write text";
    let no_id = "a model whose id is no id";
    let long = format!("mistral/{long}");
    let mut found = skipped(&report);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("a/b", "", "a provider whose id is no id"),
            ("groq", "", "a provider that is no object"),
            ("mistral/", "", no_id),
            ("mistral/a", "", no_model),
            ("mistral/c", "", no_model),
            ("mistral/d\n", "", no_id),
            (long.as_str(), "", no_id),
            ("zai", "models", "a field of an unexpected type"),
        ]
    );
    assert!(catalogue.model("mistral/b").unwrap().known);
}

#[test]
fn no_document() {
    for bytes in [&b""[..], b"[]", b"null", b"{", b"\xff{}", b"{} {}"] {
        assert_eq!(ModelsDev::read(bytes).unwrap_err().to_string(), "the document is no object of providers");
    }
    let long = vec![b' '; (64 << 20) + 1];
    let said = "the document has 67108865 bytes; at most 67108864 are read";
    assert_eq!(ModelsDev::read(&long).unwrap_err().to_string(), said);
    // Nesting costs no stack.
    let deep =
        format!(r#"{{"mistral":{{"models":{{"m":{{"limit":{}{}}}}}}}}}"#, "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(ModelsDev::read(deep.as_bytes()).unwrap().models().count(), 1);
}

#[test]
fn what_is_skipped_is_listed_up_to_a_number() {
    let models: serde_json::Map<String, Value> = (0..1_500).map(|n| (format!("m{n}"), json!(1))).collect();
    let (_, report) = refreshed(&json!({ "mistral": { "models": models } }));
    assert_eq!((report.skipped.len(), report.more_skipped), (1_000, 500));
}

#[test]
fn models_are_read_up_to_a_number() {
    let models: String = (0..100_002).map(|n| format!(r#""m{n}":{{}},"#)).collect();
    let text = format!(r#"{{"mistral":{{"models":{{{}}}}}}}"#, models.trim_end_matches(','));
    let document = ModelsDev::read(text.as_bytes()).unwrap();
    assert_eq!(document.models().count(), 100_000);
    assert_eq!(document.skipped().iter().filter(|skipped| skipped.reason == "more models than are read").count(), 2);
}

#[test]
fn no_limit_is_not_a_limit_of_zero() {
    let (catalogue, report) = with_model("mistral", "m", json!({ "limit": { "context": 0, "output": 0 } }));
    let facts = catalogue.model("mistral/m").unwrap().facts;
    assert_eq!((facts.context_window, facts.max_output), (Some(128_000), Some(4_096)));
    assert_eq!(skipped(&report), vec![]);
}

#[test]
fn providers_go_by_our_names() {
    for (theirs, ours) in [
        ("alibaba", "qwen"),
        ("opencode", "opencode-zen"),
        ("amazon-bedrock", "bedrock"),
        ("google-vertex", "vertex"),
        ("xai", "xai"),
    ] {
        let (catalogue, report) = with_model(theirs, "some", json!({ "limit": { "context": 77 } }));
        assert_eq!((report.models, report.new_providers.len()), (1, 0), "{theirs}");
        assert_eq!(catalogue.model(&format!("{ours}/some")).unwrap().facts.context_window, Some(77), "{theirs}");
    }
}

#[test]
fn a_new_provider() {
    let (catalogue, report) = refreshed(&json!({
        "acme": { "name": "Acme", "npm": "@ai-sdk/openai-compatible", "api": "https://api.acme.example/v1",
            "env": ["ACME_API_KEY", "ACME_REGION", "path"], "models": { "one": { "structured_output": true } } },
        "lab": { "npm": "@ai-sdk/anthropic", "models": { "two": {} } },
        "odd": { "npm": "@odd/own-protocol", "models": { "three": {} } },
    }));
    assert_eq!(report.new_providers, ["acme", "lab"]);
    assert_eq!(skipped(&report), [("odd", "", "a provider whose protocol the document does not tell")]);
    let acme = catalogue.provider("acme");
    assert_eq!((acme.name.as_str(), acme.protocol, acme.auth), ("Acme", Protocol::OpenAiChat, AuthStyle::Bearer));
    assert_eq!(
        (acme.base_url.as_deref(), acme.keys),
        (Some("https://api.acme.example/v1"), vec!["ACME_API_KEY".into()])
    );
    assert_eq!(catalogue.model("acme/one").unwrap().structured_output, StructuredMode::JsonSchema);
    let lab = catalogue.provider("lab");
    assert_eq!(
        (lab.protocol, lab.auth, lab.keys),
        (Protocol::AnthropicMessages, AuthStyle::XApiKey, vec!["LAB_API_KEY".into()])
    );
    assert!(!catalogue.provider("odd").known);
}

#[test]
fn no_document_sends_a_key_elsewhere() {
    let (catalogue, report) = refreshed(&json!({
        "anthropic": { "npm": "@ai-sdk/openai-compatible", "api": "https://evil.example",
            "env": ["OPENAI_API_KEY"], "models": {} },
        "evil": { "npm": "@ai-sdk/openai-compatible", "api": "https://evil.example",
            "env": ["ANTHROPIC_API_KEY"], "models": {} },
        "azure.openai": { "npm": "@ai-sdk/openai", "models": {} },
        "plain": { "npm": "@ai-sdk/openai", "api": "http://plain.example/v1", "models": {} },
        "holes": { "npm": "@ai-sdk/openai", "api": "https://${HOST}/v1", "models": {} },
        "user": { "npm": "@ai-sdk/openai", "api": "https://a@evil.example/v1", "models": {} },
        "studio": { "npm": "@ai-sdk/openai-compatible", "api": "http://127.0.0.1:1234/v1", "models": {} },
    }));
    assert_eq!(catalogue.provider("anthropic"), Catalogue::bundled().provider("anthropic"));
    assert_eq!(catalogue.provider("evil").keys, ["EVIL_API_KEY"]);
    assert_eq!(catalogue.provider("azure.openai").keys, Vec::<String>::new());
    assert_eq!(["plain", "holes", "user"].map(|id| catalogue.provider(id).base_url), [None, None, None]);
    assert_eq!(catalogue.provider("studio").base_url.as_deref(), Some("http://127.0.0.1:1234/v1"));
    assert!(skipped(&report).contains(&("evil", "env", "a variable that belongs to another provider")));
}

#[test]
fn what_was_audited_stays_where_nothing_new_is_said() {
    let bundled = Catalogue::bundled();
    let unchanged = |provider: &str, model: &str, cost: Value| {
        let (catalogue, report) = with_model(provider, model, json!({ "cost": cost }));
        assert_eq!(report.price_changes, [], "{model}");
        assert_eq!(catalogue.model_at(provider, model).price, bundled.model_at(provider, model).price, "{model}");
    };
    // The same list, without the hour in the cache.
    unchanged(
        "anthropic",
        "claude-opus-5",
        json!({ "input": 5, "output": 25, "cache_read": 0.5, "cache_write": 6.25 }),
    );
    // The price of the offer, or of the quiet hours, is no new list price: a budget would reserve too little.
    unchanged("google", "gemini-3.8-flash", json!({ "input": 0.75, "output": 3.75, "cache_read": 0.075 }));
    unchanged("deepseek", "deepseek-v4-pro", json!({ "input": 0.66, "output": 1.98, "cache_read": 0.022 }));
    // A document says "over"; that xAI means "from" was read on its own page.
    unchanged(
        "xai",
        "grok-4.7",
        json!({ "input": 2, "output": 6, "cache_read": 0.5,
        "context_over_200k": { "input": 4, "output": 12, "cache_read": 1 } }),
    );

    let (catalogue, report) = with_model(
        "xai",
        "grok-4.7",
        json!({ "cost": { "input": 3, "output": 6,
        "context_over_200k": { "input": 5, "output": 12 } } }),
    );
    let change = &report.price_changes[0];
    assert_eq!((change.model.as_str(), report.price_changes.len()), ("xai/grok-4.7", 1));
    assert_eq!(
        (change.before.clone(), change.after.clone()),
        (bundled.model("grok-4.7").unwrap().facts.price, catalogue.model("grok-4.7").unwrap().facts.price)
    );
    assert_eq!(change.after.as_ref().unwrap().bands[0].from_prompt_tokens, 200_000);
}

#[test]
fn an_older_document_replaces_nothing_newer() {
    let document = json!({ "mistral": { "models": { "mistral-large-4": {
        "reasoning": true, "limit": { "context": 5 }, "cost": { "input": 1.36, "output": 4.18, "cache_read": 0.14 } } } } });
    let document = ModelsDev::read(document.to_string().as_bytes()).unwrap();
    let bundled = Catalogue::bundled().model("mistral-large-4").unwrap();
    let mut catalogue = Catalogue::bundled().clone();
    let report = catalogue.refresh(&document, "2026-10-23".parse().unwrap());
    let older = "older than what is known already";
    assert_eq!(
        skipped(&report),
        [("mistral/mistral-large-4", "window", older), ("mistral/mistral-large-4", "price", older)]
    );
    let entry = catalogue.model("mistral-large-4").unwrap();
    assert_eq!((entry.price, entry.facts.context_window), (bundled.price, bundled.facts.context_window));
    assert!(entry.facts.abilities.reasoning, "what nobody knew is taken over");
    // On a day after that of the bundled facts it counts.
    let report = catalogue.refresh(&document, "2026-12-01".parse().unwrap());
    assert_eq!((report.skipped.len(), report.price_changes.len()), (0, 1));
}

#[test]
fn a_later_document_counts_whole() {
    let mut catalogue = Catalogue::bundled().clone();
    let day = "2026-12-01".parse().unwrap();
    for value in [json!({ "limit": { "context": 5, "output": 3 } }), json!({ "limit": { "context": 6 } })] {
        let document = json!({ "mistral": { "models": { "m": value } } }).to_string();
        catalogue.refresh(&ModelsDev::read(document.as_bytes()).unwrap(), day);
    }
    let facts = catalogue.model("mistral/m").unwrap().facts;
    assert_eq!((facts.context_window, facts.max_output), (Some(6), Some(4_096)));
}

#[test]
fn the_same_document_again_changes_nothing() {
    let acme = json!({ "acme": { "npm": "@ai-sdk/anthropic", "models": { "m": { "structured_output": true } } } });
    let document = ModelsDev::read(acme.to_string().as_bytes()).unwrap();
    let mut catalogue = Catalogue::bundled().clone();
    for _ in 0..2 {
        catalogue.refresh(&document, "2026-12-01".parse().unwrap());
        assert_eq!(catalogue.model("acme/m").unwrap().structured_output, StructuredMode::JsonSchema);
    }
}

#[test]
fn dated_ids_and_aliases_keep_what_was_audited() {
    let (catalogue, report) = refreshed(&json!({
        "anthropic": { "models": { "claude-opus-5-5-20261001": {
            "limit": { "context": 9_000 },
            "cost": { "input": 4, "output": 20, "cache_read": 0.2, "cache_write": 5 } } } },
        "minimax": { "models": { "minimax-m3": { "limit": { "context": 8_000 } } } },
        "xai": { "models": { "grok-4.7": { "limit": { "context": 7_000 } },
            "grok-4.7-latest": { "limit": { "context": 6 } } } },
    }));
    assert_eq!((report.models, report.new_models, report.price_changes), (3, 0, vec![]));
    let dated = catalogue.model("anthropic/claude-opus-5-5-20261001").unwrap();
    assert_eq!((dated.facts.context_window, dated.facts.abilities.temperature), (Some(9_000), false));
    assert_eq!(dated.facts.price, Catalogue::bundled().model("opus").unwrap().facts.price);
    assert_eq!(catalogue.model("opus").unwrap().facts.context_window, Some(1_000_000), "the model itself is untouched");
    let by_alias = catalogue.model("minimax/minimax-m3").unwrap();
    assert_eq!((by_alias.id().as_str(), by_alias.facts.context_window), ("minimax/MiniMax-M3", Some(8_000)));
    assert_eq!(catalogue.model("xai/grok-4.7-latest").unwrap().facts.context_window, Some(7_000));
}

#[test]
fn tools_of_older_documents() {
    let (catalogue, _) = with_model("mistral", "m", json!({ "tool_call": { "supported": true, "parallel": false } }));
    let can = catalogue.model("mistral/m").unwrap().facts.abilities;
    assert!(can.tools && !can.parallel_calls);
    let (catalogue, _) = with_model("mistral", "m", json!({ "tool_call": false }));
    assert!(!catalogue.model("mistral/m").unwrap().facts.abilities.tools);
}
