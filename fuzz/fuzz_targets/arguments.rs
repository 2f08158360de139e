//! Tool arguments: partial fields never go back, and at the end they are what serde_json reads.
#![no_main]

use agent_core::{Arguments, PartialArguments};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

fuzz_target!(|text: &str| {
    let mut partial = PartialArguments::new();
    let mut longest = 0;
    for c in text.chars() {
        partial.push(c.encode_utf8(&mut [0; 4]));
        let now = partial.fields().next().and_then(|field| field.text()).map_or(0, str::len);
        assert!(now >= longest, "text of a field shrank");
        longest = now;
    }
    let mut whole = PartialArguments::new();
    whole.push(text);
    let of = |p: &PartialArguments| {
        p.fields().map(|f| format!("{} {} {:?} {}", f.name(), f.raw(), f.text(), f.is_complete())).collect::<Vec<_>>()
    };
    assert_eq!(of(&partial), of(&whole));

    let arguments = Arguments::from_text(text);
    assert!(serde_json::from_str::<Map<String, Value>>(&arguments.replay()).is_ok() || text.len() > 100);
    if let Some(Ok(object)) = arguments.as_object().map(|o| serde_json::from_str::<Map<String, Value>>(o.get())) {
        for (name, value) in &object {
            let last = whole.fields().filter(|field| field.name() == name).last();
            if let (Value::String(text), Some(field)) = (value, last) {
                assert_eq!(field.text(), Some(text.as_str()));
            }
        }
    }
});
