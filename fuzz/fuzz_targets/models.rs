//! Catalogues and documents of models.dev: nothing panics, and no document moves a known provider.
#![no_main]

use agent_models::{Catalogue, Date, Filter, ModelsDev};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let bundled = Catalogue::bundled();
    let mut catalogue = bundled.clone();
    if let (Ok(document), Ok(day)) = (ModelsDev::read(data), Date::new(2026, 12, 1)) {
        let _ = catalogue.refresh(&document, day);
        for provider in bundled.providers() {
            assert_eq!(catalogue.provider(&provider.id), provider);
        }
        let _ = catalogue.models(&Filter::new());
    }
    let _ = catalogue.overlay(data);
    if let Ok(name) = std::str::from_utf8(data) {
        let _ = catalogue.model(name);
    }
});
