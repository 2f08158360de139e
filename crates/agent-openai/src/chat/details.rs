//! OpenRouter's `reasoning_details`: reasoning in pieces, which it wants back as it sent them
//! (<https://openrouter.ai/docs/use-cases/reasoning-tokens>).

use agent_core::{JsonMembers, RawJson, json_string};
use serde_json::value::RawValue;

/// The details of an answer, put together from their fragments.
#[derive(Default)]
pub(super) struct Details(Vec<Detail>);

struct Detail {
    index: Option<String>,
    kind: String,
    /// The other members, as JSON text in their order.
    members: Vec<(String, String)>,
}

/// What is put together from fragments; everything else is said once, or again.
const GROWING: [&str; 3] = ["text", "summary", "data"];

impl Details {
    /// Takes the fragments of a chunk, and returns the readable text in them.
    pub(super) fn take(&mut self, raw: &RawValue) -> String {
        let mut readable = String::new();
        for fragment in serde_json::from_str::<Vec<&RawValue>>(raw.get()).unwrap_or_default() {
            let Some(members) = JsonMembers::read(fragment.get()) else { continue };
            for text in ["text", "summary"].into_iter().filter_map(|name| members.text(name)) {
                readable.push_str(&text);
            }
            self.add(members);
        }
        readable
    }

    fn add(&mut self, members: JsonMembers<'_>) {
        let index = members.value("index").map(|raw| raw.get().to_owned());
        let kind = members.text("type").unwrap_or_default().into_owned();
        let known = self.0.last_mut().filter(|last| last.kind == kind && last.index == index && index.is_some());
        let Some(known) = known else {
            let all = members.pairs().iter().map(|(name, raw)| (name.to_string(), raw.get().to_owned()));
            return self.0.push(Detail { index, kind, members: all.collect() });
        };
        for (name, raw) in members.pairs() {
            match known.members.iter_mut().find(|(known, _)| known == name) {
                None => known.members.push((name.to_string(), raw.get().to_owned())),
                Some((_, value)) if GROWING.contains(&&**name) => {
                    let Some(more) = json_string(raw) else { continue };
                    let before: String = serde_json::from_str(value).unwrap_or_default();
                    *value = serde_json::to_string(&(before + &more)).unwrap_or_default();
                }
                Some(_) if raw.get() == "null" => {}
                Some((_, value)) => raw.get().clone_into(value),
            }
        }
    }

    /// The details as the vendor wants them back; `None` where there were none.
    pub(super) fn finish(&self) -> Option<RawJson> {
        let objects = self.0.iter().map(|detail| {
            let members = detail.members.iter().map(|(name, value)| {
                let name = serde_json::to_string(name).unwrap_or_default();
                format!("{name}:{value}")
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        });
        let all = objects.collect::<Vec<_>>().join(",");
        (!all.is_empty()).then(|| RawJson::parse(format!("{{\"reasoning_details\":[{all}]}}")).ok())?
    }
}
