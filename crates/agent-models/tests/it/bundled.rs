//! The file that comes with the crate: valid, sorted, and every fact with a source and a day.

use agent_models::{Catalogue, Fact, Filter, ModelKind, PriceSheet, SheetRates};

const TEXT: &str = include_str!("../../data/catalogue.json");

fn all() -> Vec<agent_models::ModelEntry> {
    let catalogue = Catalogue::bundled();
    let kinds = ModelKind::ALL.iter().flat_map(|kind| catalogue.models(&Filter::new().kind(*kind)));
    kinds.collect()
}

#[test]
fn it_is_valid() {
    let mut read = Catalogue::empty();
    read.overlay(TEXT).unwrap();
    assert_eq!(read.providers(), Catalogue::bundled().providers());
    let ids = |catalogue: &Catalogue| catalogue.models(&Filter::new());
    assert_eq!(ids(&read), ids(Catalogue::bundled()));
    assert_eq!(read.providers().len(), 23);
    assert_eq!(all().len(), 44);
}

#[test]
fn it_is_sorted() {
    // Rows of the same kind begin at the same indentation; a list of families is no map.
    for (from, to, indentation) in [("sources", "otherSecrets", 4), ("providers", "models", 4), ("models", "", 4)] {
        let start = TEXT.find(&format!("\n  \"{from}\": {{")).unwrap();
        let end = if to.is_empty() { TEXT.len() } else { TEXT.find(&format!("\n  \"{to}\":")).unwrap() };
        let names = TEXT.get(start..end).unwrap().lines().filter_map(|line| {
            let rest = line.strip_prefix(&" ".repeat(indentation))?.strip_prefix('"')?;
            rest.split_once("\": ").map(|(name, _)| name)
        });
        let names: Vec<_> = names.collect();
        assert!(names.len() > 10, "{from}: {names:?}");
        assert!(names.is_sorted_by(|one, next| one < next), "{from}: {names:?}");
    }
}

#[test]
fn every_fact_has_a_source_and_a_day() {
    let mut facts = 0;
    for entry in all() {
        assert!(entry.known, "{}", entry.id());
        for fact in Fact::ALL {
            let Some(source) = entry.source(*fact) else {
                assert_eq!(entry.assumed(*fact), None, "{}: nobody states {}", entry.id(), fact.word());
                continue;
            };
            assert!(source.date.is_some() && source.what.len() > 20, "{} {}: {source:?}", entry.id(), fact.word());
            facts += 1;
        }
    }
    assert!(facts > 44 * 15, "{facts}");
}

#[test]
fn every_provider_has_a_source() {
    let file: serde_json::Value = serde_json::from_str(TEXT).unwrap();
    for (id, row) in file["providers"].as_object().unwrap() {
        let source = row["source"].as_str().unwrap();
        assert!(file["sources"][source]["date"].is_string(), "{id}");
    }
    for provider in Catalogue::bundled().providers() {
        assert!(provider.source.is_some_and(|source| source.date.is_some()), "{}", provider.id);
    }
    for (id, row) in file["models"].as_object().unwrap() {
        assert!(row["source"].is_string(), "{id}");
    }
}

#[test]
fn no_period_is_dearer_than_the_list_price() {
    let mut periods = 0;
    let every = |rates: &SheetRates| {
        let rates = rates.rates();
        [rates.input, rates.output, rates.cache_read, rates.cache_write_5m, rates.cache_write_1h]
    };
    for entry in all() {
        let Some(PriceSheet { rates, periods: of_entry, .. }) = &entry.price else { continue };
        for period in of_entry {
            let pairs = every(&period.rates).into_iter().zip(every(rates));
            assert!(pairs.into_iter().all(|(then, list)| then <= list), "{}", entry.id());
            periods += 1;
        }
    }
    assert_eq!(periods, 6);
}
