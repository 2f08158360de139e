//! Rows over rows: the application's files and code, over fetched documents, over the bundled file.

use std::error::Error;

use agent_core::Effort;
use agent_models::{Catalogue, Fact, ModelRow, ModelsDev, PriceSheet, Source};

use crate::given::{sheet_rates, token};

const DOCUMENT: &str = r#"{ "anthropic": { "models": { "claude-opus-5": {
    "limit": { "context": 2000000, "output": 128000 }, "cost": { "input": 7, "output": 35 } } } } }"#;

fn overlaid(text: &str) -> Catalogue {
    let mut catalogue = Catalogue::bundled().clone();
    catalogue.overlay(text).unwrap();
    catalogue
}

#[test]
fn a_row_states_what_it_wants_to() {
    let catalogue = overlaid(
        r#"{ "format": 1, "models": { "anthropic/claude-opus-5": { "window": 300000, "efforts": ["max", "low"] } } }"#,
    );
    let entry = catalogue.model("claude-opus-5").unwrap();
    assert_eq!((entry.facts.context_window, entry.facts.max_output), (Some(300_000), Some(64_000)));
    assert_eq!(entry.facts.efforts, [Effort::Low, Effort::Max], "least first");
    assert_eq!(entry.facts.price.unwrap().rates.input, token(5.0));
    // The bundled catalogue is everybody's and stays.
    assert_eq!(Catalogue::bundled().model("claude-opus-5").unwrap().facts.context_window, Some(1_000_000));
}

#[test]
fn a_price_counts_whole() {
    let catalogue = overlaid(
        r#"{ "format": 1, "models": { "openai/gpt-6-sol": { "price": { "rates": { "input": 1, "output": 2 } } } } }"#,
    );
    let price = catalogue.model("openai/gpt-6-sol").unwrap().facts.price.unwrap();
    assert_eq!((price.bands.len(), price.rates.cache_read), (0, token(1.0)));
}

#[test]
fn the_application_counts_most() {
    let document = ModelsDev::read(DOCUMENT.as_bytes()).unwrap();
    let day = "2026-12-01".parse().unwrap();
    let input = |catalogue: &Catalogue| catalogue.model("claude-opus-5").unwrap().facts.price.unwrap().rates.input;
    let mut catalogue = Catalogue::bundled().clone();
    catalogue.refresh(&document, day);
    assert_eq!(input(&catalogue), token(7.0), "a document over the bundled file");
    catalogue.set_price("anthropic", "claude-opus-5", PriceSheet::new(sheet_rates(1.0, 2.0)));
    assert_eq!(input(&catalogue), token(1.0));
    catalogue.refresh(&document, day);
    assert_eq!(input(&catalogue), token(1.0), "what is fetched later doesn't count more");
    let entry = catalogue.model("claude-opus-5").unwrap();
    assert_eq!(entry.facts.context_window, Some(2_000_000));
    assert_eq!(entry.source(Fact::Price).unwrap().what, "the application");
    assert_eq!(entry.source(Fact::Window).unwrap().what, "https://models.dev/api.json");
    assert_eq!(catalogue.fetched("anthropic", "claude-opus-5"), Some(day));
}

#[test]
fn facts_keep_their_sources() {
    let mut catalogue = Catalogue::bundled().clone();
    catalogue.add_source("ours", Source::new("measured by us", None));
    let mut row = ModelRow::default();
    (row.window, row.source) = (Some(1_000), Some("ours".into()));
    catalogue.set_model("local", "mine", &row);
    let mut row = ModelRow::default();
    (row.max_output, row.source) = (Some(100), Some("a letter of the vendor".into()));
    catalogue.set_model("local", "mine", &row);
    let entry = catalogue.model("mine").unwrap();
    let what = |fact| entry.source(fact).unwrap().what.clone();
    assert_eq!((what(Fact::Window), what(Fact::MaxOutput)), ("measured by us".into(), "a letter of the vendor".into()));
}

#[test]
fn a_dated_row_lies_over_that_of_its_model() {
    let catalogue = overlaid(
        r#"{ "format": 1, "models": {
            "local/m": { "window": 1000, "maxOutput": 10 }, "local/m-20260101": { "window": 2000 } } }"#,
    );
    let limits = |name: &str| {
        let facts = catalogue.model(name).unwrap().facts;
        (facts.context_window, facts.max_output)
    };
    assert_eq!(limits("local/m-20260101"), (Some(2_000), Some(10)));
    assert_eq!(limits("local/m-20260202"), (Some(1_000), Some(10)));
}

#[test]
fn aliases_of_the_application() {
    let text = r#"{ "format": 1,
        "providers": { "gateway": { "aliases": ["gw"],
            "families": [{ "ids": ["big-*"], "from": "2.1", "row": { "images": true } }] } },
        "models": { "gw/big-3": { "aliases": ["big"] } } }"#;
    let catalogue = overlaid(text);
    let entry = catalogue.model("gw/big").unwrap();
    assert_eq!((entry.id().as_str(), entry.facts.abilities.images), ("gateway/big-3", true));
    let images = |name: &str| catalogue.model(name).unwrap().facts.abilities.images;
    assert_eq!(["gw/big-2", "gw/big-2.1", "gw/big-x", "gw/small-3"].map(images), [false, true, false, false]);
}

/// A file that is wrong, and what is said of it.
#[test]
fn faults_of_a_file() {
    for (text, said) in [
        ("", "the catalogue cannot be read: EOF while parsing a value at line 1 column 0"),
        (
            "[]",
            "the catalogue cannot be read: invalid length 0, expected struct File with 5 elements at line 1 column 2",
        ),
        (r#"{ "format": 2 }"#, "the catalogue has format 2; this version reads format 1"),
        (
            r#"{ "format": 1, "models": { "a/b": { "windwo": 1 } } }"#,
            "the catalogue cannot be read: unknown field `windwo`",
        ),
        (r#"{ "format": 1, "models": { "b": {} } }"#, "the model `b` has no provider; write `provider/model`"),
        (
            r#"{ "format": 1, "models": { "a/b": {}, "a/b": {} } }"#,
            "the catalogue cannot be read: `a/b` is there twice",
        ),
        (
            r#"{ "format": 1, "models": { "a/b": { "source": "x" } } }"#,
            "`a/b` names the source `x`, which is not listed under `sources`",
        ),
        (
            r#"{ "format": 1, "sources": { "survey-env": { "what": "else" } } }"#,
            "the source `survey-env` is there already and says something else; choose another id",
        ),
        (
            r#"{ "format": 1, "sources": { "x": { "what": "y", "date": "2026-02-29" } } }"#,
            "the catalogue cannot be read: not a day; write it as `2026-12-01`",
        ),
        (
            r#"{ "format": 1, "models": { "a/b": { "price": { "rates": { "input": -1, "output": 1 } } } } }"#,
            "the catalogue cannot be read: -0.000001 is no amount of money",
        ),
        (
            r#"{ "format": 1, "models": { "a/b": { "price": { "rates": { "input": 1, "output": 1 },
                "bands": [{ "rates": { "input": 1, "output": 1 } }] } } } }"#,
            "the catalogue cannot be read: a band has either `above` (exclusive) or `from` (inclusive)",
        ),
        (
            r#"{ "format": 1, "models": { "a/b": { "price": { "rates": { "input": 1, "output": 1 },
                "bands": [{ "above": 5, "rates": { "input": 1, "output": 1 } }],
                "periods": [{ "until": "2026-12-31", "rates": { "input": 1, "output": 1 } }] } } } }"#,
            "the price of `a/b` has bands and periods; state one of them",
        ),
    ] {
        let mut catalogue = Catalogue::bundled().clone();
        let error = catalogue.overlay(text).unwrap_err();
        let chained = error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
        assert!(chained.starts_with(said), "{text}\n{chained}");
        assert!(!catalogue.model("a/b").unwrap().known, "nothing is changed");
    }
}

#[test]
fn long_files_are_refused_before_they_are_read() {
    let text = vec![b' '; (16 << 20) + 1];
    let error = Catalogue::empty().overlay(text).unwrap_err();
    assert_eq!(error.to_string(), "the catalogue has 16777217 bytes; at most 16777216 are read");
}

#[test]
fn rows_survive_being_written() {
    let file: serde_json::Value = serde_json::from_str(include_str!("../../data/catalogue.json")).unwrap();
    let mut rows = 0;
    for value in file["models"].as_object().unwrap().values() {
        let row: ModelRow = serde_json::from_value(value.clone()).unwrap();
        let written = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<ModelRow>(&written).unwrap(), row);
        rows += 1;
    }
    assert_eq!(rows, 44);
}

#[test]
fn days() {
    for (text, ms) in [
        ("1970-01-01", 0),
        ("2000-03-01", 951_868_800_000),
        ("2024-02-29", 1_709_164_800_000),
        ("2026-12-01", 1_796_083_200_000),
    ] {
        let day: agent_models::Date = text.parse().unwrap();
        assert_eq!((day.starts_ms(), day.to_string().as_str()), (ms, text));
        assert_eq!(day.ends_ms(), ms + 86_400_000);
    }
    for text in [
        "",
        "2026-2-1",
        "2026-13-01",
        "2026-00-01",
        "2100-02-29",
        "1969-12-31",
        "+026-12-01",
        "2026-12-01x",
        "2026/12/01",
    ] {
        assert!(text.parse::<agent_models::Date>().is_err(), "{text}");
    }
}
