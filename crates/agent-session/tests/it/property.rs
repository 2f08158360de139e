//! Random sessions: what is done to them in any order is found again.

use agent_core::{IdSource, RawJson};
use agent_session::{EntryId, JsonlFile, JsonlFolder, MemorySessions, Session, SessionStore, Settings};
use proptest::{collection::vec, prelude::*};

use crate::given::{block_on, folder, note};

#[derive(Debug, Clone)]
enum Do {
    Append(u64),
    Seek(prop::sample::Index),
    Fork(prop::sample::Index, u64),
    Label(u8, prop::sample::Index),
    Unlabel(u8),
    Reopen,
}

fn anything() -> impl Strategy<Value = Do> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        4 => (1..5u64).prop_map(Do::Append),
        2 => index().prop_map(Do::Seek),
        1 => (index(), 1..3u64).prop_map(|(at, count)| Do::Fork(at, count)),
        1 => (0..4u8, index()).prop_map(|(name, at)| Do::Label(name, at)),
        1 => (0..4u8).prop_map(Do::Unlabel),
        1 => Just(Do::Reopen),
    ]
}

/// What a session is, told in the plainest way.
#[derive(Debug, Default)]
struct Model {
    /// Id, place of the parent, and the number in the note.
    entries: Vec<(EntryId, Option<usize>, u64)>,
    head: Option<usize>,
    labels: std::collections::BTreeMap<String, EntryId>,
}

impl Model {
    fn grow(&mut self, ids: Vec<EntryId>, mut below: Option<usize>, first: u64) {
        for (id, number) in ids.into_iter().zip(first..) {
            self.entries.push((id, below, number));
            below = Some(self.entries.len() - 1);
        }
        self.head = below;
    }

    fn path(&self) -> Vec<(EntryId, u64)> {
        let steps = std::iter::successors(self.head, |at| self.entries[*at].1);
        let mut path: Vec<_> = steps.map(|at| (self.entries[at].0, self.entries[at].2)).collect();
        path.reverse();
        path
    }

    fn tips(&self) -> Vec<EntryId> {
        let followed = |at: usize| self.entries.iter().any(|(_, parent, _)| *parent == Some(at));
        (0..self.entries.len()).filter(|at| !followed(*at)).map(|at| self.entries[at].0).collect()
    }
}

async fn compare(session: &Session, model: &Model) {
    let path: Vec<EntryId> = session.path().into_iter().map(|entry| entry.id).collect();
    assert_eq!(path, model.path().into_iter().map(|(id, _)| id).collect::<Vec<_>>());
    let records = match session.head() {
        Some(head) => session.branch(head).await.unwrap().records().to_vec(),
        None => Vec::new(),
    };
    assert_eq!(records, model.path().into_iter().map(|(_, number)| note(number)).collect::<Vec<_>>());
    assert_eq!(session.branch_tips().into_iter().map(|entry| entry.id).collect::<Vec<_>>(), model.tips());
    assert_eq!(session.labels(), model.labels.clone().into_iter().collect::<Vec<_>>());
    assert_eq!(session.entries().len(), model.entries.len());
}

async fn check(store: &dyn SessionStore, steps: Vec<Do>) {
    let mut session = store.create().await.unwrap();
    let (mut model, mut next) = (Model::default(), 0);
    for step in steps {
        let some = |at: prop::sample::Index, model: &Model| {
            (!model.entries.is_empty()).then(|| at.index(model.entries.len())).map(|at| (at, model.entries[at].0))
        };
        match step {
            Do::Append(count) => {
                let ids = session.append((next..next + count).map(note).collect()).await.unwrap();
                model.grow(ids, model.head, next);
                next += count;
            }
            Do::Seek(at) => {
                let Some((at, id)) = some(at, &model) else { continue };
                session.seek(id).await.unwrap();
                model.head = Some(at);
            }
            Do::Fork(at, count) => {
                let Some((at, id)) = some(at, &model) else { continue };
                let fork = session.fork(id).unwrap();
                agent_core::Journal::append(&fork, (next..next + count).map(note).collect()).await.unwrap();
                let path = session.path_to(fork.tip().unwrap()).unwrap();
                let ids = path.into_iter().rev().take(usize::try_from(count).unwrap()).map(|entry| entry.id);
                let mut ids: Vec<_> = ids.collect();
                ids.reverse();
                model.grow(ids, Some(at), next);
                next += count;
            }
            Do::Label(name, at) => {
                let Some((_, id)) = some(at, &model) else { continue };
                session.label(&format!("name {name}"), id).await.unwrap();
                model.labels.insert(format!("name {name}"), id);
            }
            Do::Unlabel(name) => {
                let name = format!("name {name}");
                assert_eq!(session.unlabel(&name).await.is_ok(), model.labels.remove(&name).is_some());
            }
            Do::Reopen => {
                session.close().await.unwrap();
                session = store.open(session.id()).await.unwrap();
                compare(&session, &model).await;
            }
        }
    }
    compare(&session, &model).await;
    session.close().await.unwrap();
    compare(&store.open(session.id()).await.unwrap(), &model).await;
}

/// JSON with strings of all lengths, and white space where it may stand.
fn json() -> impl Strategy<Value = String> {
    let text = prop_oneof!["[ -~]{0,30}", "\\PC{0,12}", "[a-z\\\\\"\\n]{10,40}", Just("é\u{7}".repeat(9))];
    let string = (text, any::<bool>()).prop_map(|(text, escaped)| {
        let plain = serde_json::to_string(&text).unwrap();
        // Another spelling of the same string.
        if escaped { plain.replace('a', "\\u0061") } else { plain }
    });
    let leaf = prop_oneof![string.clone(), Just("1e0".to_owned()), Just("null".to_owned())];
    leaf.prop_recursive(3, 20, 4, move |inner| {
        let space = prop_oneof![Just(""), Just(" "), Just("\n"), Just("\r\n\t")];
        let list = (vec(inner.clone(), 0..4), space.clone())
            .prop_map(|(items, space)| format!("[{space}{}]", items.join(&format!(",{space}"))));
        let map = (vec((string.clone(), inner), 0..4), space).prop_map(|(fields, space)| {
            let fields: Vec<_> = fields.iter().map(|(key, value)| format!("{key}{space}:{space}{value}")).collect();
            format!("{{{}{space}}}", fields.join(","))
        });
        prop_oneof![list, map]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_session_is_what_was_done_to_it(steps in vec(anything(), 0..25)) {
        block_on(async {
            check(&MemorySessions::new(), steps.clone()).await;
            check(&JsonlFolder::new(folder("property")), steps).await;
        });
    }

    #[test]
    fn a_payload_comes_back_byte_for_byte(payloads in vec(json(), 1..6), inline in 0..40u64) {
        block_on(async {
            let file = JsonlFile::new(folder("payload").join("s.jsonl"));
            let file = file.settings(Settings::default().inline(inline));
            let session = file.open_or_create().await.unwrap();
            let mut ids = Vec::new();
            for payload in &payloads {
                ids.push(session.append_entry("a.b", RawJson::parse(payload.clone()).unwrap()).await.unwrap());
            }
            session.close().await.unwrap();
            let session = file.open().await.unwrap();
            assert_eq!(session.recovered().torn, None);
            for (id, payload) in ids.iter().zip(&payloads) {
                assert_eq!(session.payload(*id).await.unwrap().get(), payload);
            }
        });
    }

    #[test]
    fn no_bytes_make_a_panic(bytes in vec(any::<u8>(), 0..200), at in any::<prop::sample::Index>(), cut in any::<bool>()) {
        block_on(async {
            let path = folder("bytes").join("s.jsonl");
            let session = JsonlFile::new(&path).open_or_create().await.unwrap();
            session.append((0..5).map(note).collect()).await.unwrap();
            session.close().await.unwrap();
            let mut whole = std::fs::read(&path).unwrap();
            let at = at.index(whole.len());
            if cut {
                whole.truncate(at);
                whole.extend(&bytes);
            } else {
                whole.splice(at..at, bytes);
            }
            std::fs::write(&path, &whole).unwrap();
            if let Ok(session) = JsonlFile::new(&path).open().await {
                assert!(session.len() <= 5, "a record was made of nothing");
                let path = session.path();
                assert!(path.iter().zip(1..).all(|(entry, seq)| entry.seq == seq));
            }
        });
    }
}

#[test]
fn ids_that_do_not_grow_are_found_too() {
    block_on(async {
        // Two writers with the same seed and a clock that stands: the second has to look for free ids, and its clock is
        // behind the first one's.
        let path = folder("ids").join("s.jsonl");
        let mut all = Vec::new();
        for now_ms in [5_000, 1_000, 5_000] {
            let timer = std::sync::Arc::new(agent_testkit::PausedTimer::at(now_ms));
            let file = JsonlFile::new(&path).settings(Settings::default().seeded(1).timer(timer));
            let session = file.open_or_create().await.unwrap();
            all.extend(session.append((0..3).map(note).collect()).await.unwrap());
            for (id, seq) in all.iter().zip(1..) {
                assert_eq!(session.entry(*id).unwrap().seq, seq);
            }
            let unknown = IdSource::seeded(9).message(1_000);
            assert_eq!(session.entry(EntryId::from_bits(unknown.bits())), None);
            session.close().await.unwrap();
        }
        assert_eq!(JsonlFile::new(&path).open().await.unwrap().len(), 9);
    });
}

proptest::proptest! {
    #[test]
    fn ids_are_read_as_core_reads_them(text in "[0-9A-Za-zé]{24,28}|[0-7][0-9A-HJKMNP-TV-Z]{25}", bits in proptest::prelude::any::<u128>()) {
        let ours = text.parse::<agent_session::EntryId>().ok().map(agent_session::EntryId::bits);
        assert_eq!(ours, text.parse::<agent_core::MessageId>().ok().map(agent_core::MessageId::bits), "{text}");
        let id = agent_session::EntryId::from_bits(bits);
        assert_eq!(id.to_string().parse(), Ok(id));
    }
}
