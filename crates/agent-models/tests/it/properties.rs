//! What holds of every model, every band border, and every document.

use agent_core::{Money, Price, TokenBound, Usage};
use agent_models::{Catalogue, Filter, ModelEntry, ModelKind, ModelsDev, PriceSheet, SheetRates};
use proptest::prelude::*;
use serde_json::{Value, json};

fn priced() -> Vec<(ModelEntry, PriceSheet, Price)> {
    let catalogue = Catalogue::bundled();
    let entries = ModelKind::ALL.iter().flat_map(|kind| catalogue.models(&Filter::new().kind(*kind)));
    entries
        .filter_map(|entry| {
            let (sheet, price) = (entry.price.clone()?, entry.facts.price.clone()?);
            Some((entry, sheet, price))
        })
        .collect()
}

/// What a call costs by the vendor's list, computed in the plainest way: in pico-dollars, with the rates of the file.
fn by_the_list(sheet: &PriceSheet, usage: &Usage) -> u128 {
    let prompt = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;
    let mut reached: &SheetRates = &sheet.rates;
    let mut at = None;
    for band in &sheet.bands {
        let is_in = if band.inclusive { prompt >= band.tokens } else { prompt > band.tokens };
        if is_in && at.is_none_or(|at| band.tokens > at) {
            (reached, at) = (&band.rates, Some(band.tokens));
        }
    }
    let pico = |rate: agent_models::PerMillion| u128::from(rate.token().pico_dollars());
    let input = pico(reached.input);
    let cached =
        |rate: Option<agent_models::PerMillion>, or: u128| rate.map(pico).filter(|rate| *rate > 0).unwrap_or(or);
    let write = cached(reached.cache_write, input);
    let hour = cached(reached.cache_write_1h, write);
    u128::from(usage.input) * input
        + u128::from(usage.output) * pico(reached.output)
        + u128::from(usage.cache_read) * cached(reached.cache_read, input)
        + u128::from(usage.cache_write_5m) * write
        + u128::from(usage.cache_write_1h) * hour
}

/// A prompt of this many tokens, in four shares.
fn usage(prompt: u64, output: u64, shares: [u64; 3]) -> Usage {
    let mut usage = Usage::new(0, output);
    let mut left = prompt;
    let mut take = |share: u64| {
        let part = left * share / 100;
        left -= part;
        part
    };
    (usage.cache_read, usage.cache_write_5m, usage.cache_write_1h) =
        (take(shares[0]), take(shares[1]), take(shares[2]));
    usage.input = left;
    usage
}

fn agrees(entry: &ModelEntry, sheet: &PriceSheet, price: &Price, usage: &Usage) {
    let cost = price.cost(usage);
    assert_eq!(u128::from(cost.pico_dollars()), by_the_list(sheet, usage), "{} {usage:?}", entry.id());
    let bound = price.worst_case(TokenBound::AtMost(usage.prompt()), Some(usage.generated())).unwrap();
    assert!(cost <= bound, "{}: {cost} is more than the worst case {bound}", entry.id());
}

#[test]
fn every_model_at_every_band_border() {
    let mut borders = 0;
    for (entry, sheet, price) in priced() {
        assert_eq!(sheet.price(), price);
        let window = entry.facts.context_window.unwrap();
        let mut prompts = vec![0, 1, window];
        for band in &sheet.bands {
            prompts.extend([band.tokens - 1, band.tokens, band.tokens + 1]);
            assert!(band.first() < window, "{}: nobody reaches the band", entry.id());
            borders += 1;
        }
        for prompt in prompts {
            for shares in [[0, 0, 0], [90, 50, 50], [0, 100, 0], [0, 0, 100], [100, 0, 0]] {
                agrees(&entry, &sheet, &price, &usage(prompt, 1_000, shares));
            }
        }
    }
    assert_eq!(borders, 10);
}

#[test]
fn a_price_of_a_time_is_never_dearer() {
    for (entry, sheet, price) in priced() {
        for hour in 0..24 * 9 {
            // From 2026-11-28 on, over the end of an offer.
            let then = sheet.price_at(1_795_824_000_000 + hour * 3_600_000);
            let call = Usage::new(1_000, 1_000);
            assert!(then.cost(&call) <= price.cost(&call), "{} after {hour} hours", entry.id());
        }
    }
}

/// A value that may stand anywhere in a document, right or wrong.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z${}:/ \\n]{0,12}".prop_map(Value::from),
        prop_oneof![Just("text"), Just("effort"), Just("none"), Just("low"), Just("context")].prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((field(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn field() -> impl Strategy<Value = String> {
    let known: &'static [&str] = &[
        "name",
        "limit",
        "context",
        "output",
        "input",
        "cost",
        "cache_read",
        "cache_write",
        "tiers",
        "tier",
        "size",
        "type",
        "context_over_200k",
        "reasoning",
        "reasoning_options",
        "values",
        "modalities",
        "tool_call",
        "supported",
        "structured_output",
        "temperature",
        "status",
    ];
    prop_oneof![9 => proptest::sample::select(known).prop_map(str::to_owned), 1 => "[a-z_]{0,6}"]
}

fn any_model() -> impl Strategy<Value = Value> {
    let rate = || prop_oneof![4 => (0.0..100.0).prop_map(Value::from), 1 => any_value()];
    let cost = (rate(), rate(), rate(), any::<u32>(), rate()).prop_map(|(input, output, read, size, other)| {
        json!({ "input": input, "output": output, "cache_read": read,
            "tiers": [{ "input": other, "output": output, "tier": { "type": "context", "size": size } }] })
    });
    let whole = (cost, any::<u32>(), any_value()).prop_map(|(cost, context, limit)| {
        json!({ "cost": cost, "limit": { "context": context, "output": limit }, "reasoning": true })
    });
    prop_oneof![whole, any_value()]
}

fn any_document() -> impl Strategy<Value = Value> {
    let ids: &'static [&str] = &["anthropic", "openai", "xai", "alibaba", "acme", "evil", "azure.openai", "", "a/b"];
    let models: &'static [&str] = &["claude-opus-5", "gpt-6-sol", "grok-4.7", "m", "", "x\n"];
    let packages: &'static [&str] = &["@ai-sdk/anthropic", "@ai-sdk/openai-compatible", "@ai-sdk/google", "other"];
    let provider = (
        proptest::sample::select(packages),
        prop_oneof![Just(json!("https://evil.example/v1")), any_value()],
        prop_oneof![Just(json!(["ANTHROPIC_API_KEY", "ACME_TOKEN"])), any_value()],
        proptest::collection::btree_map(proptest::sample::select(models), any_model(), 0..4),
    );
    let provider =
        provider.prop_map(|(npm, api, env, models)| json!({ "npm": npm, "api": api, "env": env, "models": models }));
    let provider = prop_oneof![8 => provider, 1 => any_value()];
    proptest::collection::btree_map(proptest::sample::select(ids), provider, 0..5).prop_map(|rows| json!(rows))
}

/// What no document may do.
fn stays_sound(bytes: &[u8]) {
    let Ok(document) = ModelsDev::read(bytes) else { return };
    let bundled = Catalogue::bundled();
    let mut catalogue = bundled.clone();
    let day = "2026-12-01".parse().unwrap();
    let report = catalogue.refresh(&document, day);
    assert!(report.models <= document.models().count() && report.new_models <= report.models);
    for provider in bundled.providers() {
        assert_eq!(catalogue.provider(&provider.id), provider, "a document changed a provider");
    }
    let theirs = bundled.key_variables();
    for id in &report.new_providers {
        let provider = catalogue.provider(id);
        assert!(provider.keys.iter().all(|key| !theirs.contains(key)), "{provider:?}");
        assert!(provider.base_url.is_none_or(|url| url.starts_with("https://")
            || url.starts_with("http://127.0.0.1")
            || url.starts_with("http://localhost")));
    }
    for (provider, model, _) in document.models() {
        let entry = catalogue.model_at(provider, model);
        let Some(price) = entry.facts.price.filter(|_| entry.known) else { continue };
        for rates in price.bands.iter().map(|band| &band.rates).chain([&price.rates]) {
            let free = rates.input == Money::ZERO;
            assert!(free || rates.cache_read > Money::ZERO, "cached tokens are never free");
        }
    }
    // Once more says the same.
    let first = catalogue.models(&Filter::new());
    let again = catalogue.refresh(&document, day);
    assert_eq!((again.new_models, again.new_providers.len(), again.price_changes.len()), (0, 0, 0));
    assert_eq!(catalogue.models(&Filter::new()), first);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_call_costs_what_the_list_says(
        which in any::<proptest::sample::Index>(), prompt in 0_u64..1_000_000, output in 0_u64..400_000,
        shares in proptest::array::uniform3(0_u64..=100),
    ) {
        let priced = priced();
        let (entry, sheet, price) = which.get(&priced);
        agrees(entry, sheet, price, &usage(prompt, output, shares));
    }

    #[test]
    fn no_document_does_harm(document in any_document()) {
        stays_sound(document.to_string().as_bytes());
    }

    #[test]
    fn no_damaged_document_does_harm(
        document in any_document(), at in any::<proptest::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        let mut bytes = document.to_string().into_bytes();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at); } else { bytes[at] = byte; }
        stays_sound(&bytes);
    }

    #[test]
    fn no_text_does_harm(text in proptest::collection::vec(any::<u8>(), 0..200), name in "\\PC{0,40}") {
        stays_sound(&text);
        let mut catalogue = Catalogue::bundled().clone();
        prop_assert!(catalogue.overlay(&text).is_err());
        if let Ok(entry) = catalogue.model(&name) {
            prop_assert!(entry.facts.context_window.is_some());
        }
    }
}
