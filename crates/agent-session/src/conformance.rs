//! What holds for every store of sessions, as a suite: for the stores in here, and for yours.

use std::fmt;

use agent_core::{BoxFuture, IdSource, Journal, JournalRecord, MessageId, RawJson, RecordBody, UserMessage, ViewEdit};

use crate::{EntryId, Session, SessionError, SessionId, SessionStore};

/// Something that does not hold for a store.
#[derive(Debug)]
#[non_exhaustive]
pub struct Nonconformance {
    /// The case.
    pub case: &'static str,
    /// What does not hold.
    pub what: String,
    /// The error of the store, where there is one.
    pub source: Option<SessionError>,
}

impl fmt::Display for Nonconformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.case, self.what)
    }
}

impl std::error::Error for Nonconformance {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

type Outcome = Result<(), Problem>;
type Check = fn(&dyn SessionStore) -> BoxFuture<'_, Outcome>;

enum Problem {
    What(String),
    Error(SessionError),
}

impl From<SessionError> for Problem {
    fn from(error: SessionError) -> Self {
        Self::Error(error)
    }
}

fn ensure(holds: bool, what: impl Into<String>) -> Outcome {
    if holds { Ok(()) } else { Err(Problem::What(what.into())) }
}

fn same<T: PartialEq + fmt::Debug>(found: &T, expected: &T, what: &str) -> Outcome {
    ensure(found == expected, format!("{what}: {found:?} is not {expected:?}"))
}

/// Runs all cases and returns their names, in order. The store may hold other sessions; those of the cases stay in it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let passed = agent_session::conformance::check(&agent_session::MemorySessions::new()).await?;
/// assert_eq!(passed.len(), 13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).map_err(|e| e.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first [`Nonconformance`].
pub async fn check(store: &dyn SessionStore) -> Result<Vec<&'static str>, Nonconformance> {
    for (case, check) in CASES {
        check(store).await.map_err(|problem| match problem {
            Problem::What(what) => Nonconformance { case, what, source: None },
            Problem::Error(source) => Nonconformance { case, what: "the store failed".into(), source: Some(source) },
        })?;
    }
    Ok(CASES.iter().map(|(case, _)| *case).collect())
}

const CASES: &[(&str, Check)] = &[
    ("a new session is empty and keeps its header", |store| Box::pin(new_session(store))),
    ("records come back in order, byte for byte, also after opening again", |store| Box::pin(records(store))),
    ("accepted records can be read before they are acknowledged", |store| Box::pin(read_at_once(store))),
    ("records are written though nobody waits for them", |store| Box::pin(nobody_waits(store))),
    ("many appends at once keep their order", |store| Box::pin(many_at_once(store))),
    ("branches, moves and names are found again", |store| Box::pin(tree(store))),
    ("a compaction and its undoing are found again", |store| Box::pin(compaction(store))),
    ("an append that expects another length is refused", |store| Box::pin(expected_length(store))),
    ("a second writer is refused until the first closes", |store| Box::pin(second_writer(store))),
    ("long strings come back from blobs, kept once", |store| Box::pin(blobs(store))),
    ("what is too large is refused and changes nothing", |store| Box::pin(too_large(store))),
    ("a text is found in any case, in the newest session first", |store| Box::pin(search(store))),
    ("sessions are listed newest first, and deleted", |store| Box::pin(list_and_delete(store))),
];

fn text(number: u64, text: &str) -> JournalRecord {
    let message = UserMessage::text(MessageId::from_bits(u128::from(number) + 1), text);
    JournalRecord::conversation(RecordBody::MessageAppended(message.into()))
}

fn texts(numbers: impl IntoIterator<Item = u64>) -> Vec<JournalRecord> {
    numbers.into_iter().map(|number| text(number, &format!("number {number}"))).collect()
}

async fn loaded(session: &Session) -> Result<Vec<JournalRecord>, Problem> {
    let branch = session.journal().load().await;
    let branch = branch.map_err(|error| Problem::What(format!("the branch cannot be read: {error:?}")))?;
    Ok(branch.records().to_vec())
}

async fn again(store: &dyn SessionStore, session: Session) -> Result<Session, SessionError> {
    session.close().await?;
    store.open(session.id()).await
}

async fn new_session(store: &dyn SessionStore) -> Outcome {
    let header = store.new_header().cwd("/some/where");
    let session = store.create_with(header.clone()).await?;
    same(session.header(), &header, "the header")?;
    ensure(session.is_empty() && session.head().is_none(), "a new session holds something")?;
    let session = again(store, session).await?;
    same(session.header(), &header, "the header after opening again")?;
    same(&session.len(), &0, "the length")?;
    session.close().await?;
    let twice = store.create_with(header).await;
    ensure(matches!(twice, Err(SessionError::Exists { .. })), format!("one id was given twice: {twice:?}"))
}

async fn records(store: &dyn SessionStore) -> Outcome {
    let session = store.create().await?;
    let odd = RawJson::parse("{\"b\": 1e0,\n\t\"a\":[1.50, \"\\u00e9\"],\r\n\"c\":{}}");
    let odd = odd.map_err(|error| Problem::What(error.to_string()))?;
    let mut written = texts(0..300);
    written.push(JournalRecord::conversation(RecordBody::Opaque { kind: "later".into(), data: odd.clone() }));
    session.append(written.clone()).await?;
    let entry = session.append_entry("suite.entry", odd.clone()).await?;
    same(&loaded(&session).await?, &written, "the records")?;
    let entries = session.entries();
    let session = again(store, session).await?;
    same(&session.entries(), &entries, "the entries after opening again")?;
    same(&loaded(&session).await?, &written, "the records after opening again")?;
    same(&session.payload(entry).await?, &odd, "the application's entry")?;
    session.append(texts([300])).await?;
    same(&session.len(), &303, "the length")?;
    Ok(session.close().await?)
}

async fn read_at_once(store: &dyn SessionStore) -> Outcome {
    let session = store.create().await?;
    let written = session.append(texts(0..3));
    same(&loaded(&session).await?, &texts(0..3), "what was accepted")?;
    written.await?;
    Ok(session.close().await?)
}

async fn nobody_waits(store: &dyn SessionStore) -> Outcome {
    let session = store.create().await?;
    for number in 0..20 {
        drop(session.append(texts([number])));
    }
    let session = again(store, session).await?;
    same(&loaded(&session).await?, &texts(0..20), "what nobody waited for")?;
    Ok(session.close().await?)
}

async fn many_at_once(store: &dyn SessionStore) -> Outcome {
    let session = store.create().await?;
    let written: Vec<_> = (0..200).map(|number| session.append(texts([2 * number, 2 * number + 1]))).collect();
    for one in written {
        one.await?;
    }
    let session = again(store, session).await?;
    same(&loaded(&session).await?, &texts(0..400), "the order")?;
    Ok(session.close().await?)
}

async fn tree(store: &dyn SessionStore) -> Outcome {
    let session = store.create().await?;
    let trunk = session.append(texts(0..4)).await?;
    let [first, second, .., last] = trunk.as_slice() else { return Err(Problem::What("no entries".into())) };
    session.label("first", *first).await?;
    session.label("gone", *last).await?;
    session.unlabel("gone").await?;
    session.seek(*second).await?;
    session.append(texts([10])).await?;
    session.checkpoint("branch").await?;
    session.seek(*last).await?;
    let session = again(store, session).await?;
    same(&session.head(), &Some(*last), "the head")?;
    let names: Vec<String> = session.labels().into_iter().map(|(name, _)| name).collect();
    same(&names, &vec!["branch".to_owned(), "first".to_owned()], "the names")?;
    same(&session.branch_tips().len(), &2, "the branches")?;
    same(&loaded(&session).await?, &texts(0..4), "the path")?;
    session.seek_checkpoint("branch").await?;
    same(&loaded(&session).await?, &texts([0, 1, 10]), "the other path")?;
    let fork = session.fork(*first)?;
    fork.append(texts([20])).await.map_err(|error| Problem::What(error.to_string()))?;
    same(&loaded(&session).await?, &texts([0, 20]), "the fork")?;
    Ok(session.close().await?)
}

async fn compaction(store: &dyn SessionStore) -> Outcome {
    let session = store.create().await?;
    session.append(texts(0..3)).await?;
    let at = |number: u128| MessageId::from_bits(number + 1);
    let id = session.compact(ViewEdit::Hide { first: at(0), last: at(1) }).await?;
    let shown = async |session: &Session| -> Result<usize, Problem> {
        let head = session.head().unwrap_or(EntryId::from_bits(0));
        Ok(session.view(head).await?.1.len())
    };
    same(&shown(&session).await?, &1, "the messages shown")?;
    session.undo_compaction(id).await?;
    let session = again(store, session).await?;
    same(&shown(&session).await?, &3, "the messages shown again")?;
    Ok(session.close().await?)
}

async fn expected_length(store: &dyn SessionStore) -> Outcome {
    let session = store.create().await?;
    session.append_expecting(0, texts([0])).await?;
    let late = session.append_expecting(0, texts([1])).await;
    let refused = matches!(late, Err(SessionError::Diverged { expected: 0, found: 1 }));
    ensure(refused, format!("an append at a length that has passed: {late:?}"))?;
    let session = again(store, session).await?;
    same(&loaded(&session).await?, &texts([0]), "the records")?;
    Ok(session.close().await?)
}

async fn second_writer(store: &dyn SessionStore) -> Outcome {
    let session = store.create().await?;
    session.append(texts([0])).await?;
    let second = store.open(session.id()).await;
    ensure(matches!(second, Err(SessionError::Locked { .. })), format!("a second writer: {second:?}"))?;
    let deleted = store.delete(session.id()).await;
    ensure(matches!(deleted, Err(SessionError::Locked { .. })), format!("deleted while open: {deleted:?}"))?;
    session.close().await?;
    let late = session.append(texts([1])).await;
    ensure(matches!(late, Err(SessionError::Closed)), format!("an append after closing: {late:?}"))?;
    let second = store.open(session.id()).await?;
    same(&loaded(&second).await?, &texts([0]), "the records")?;
    second.append(texts([1])).await?;
    Ok(second.close().await?)
}

async fn blobs(store: &dyn SessionStore) -> Outcome {
    let session = store.create().await?;
    let long = "é\"\\\n".repeat(20_000);
    let written = vec![text(0, &long), text(1, &long), text(2, "short")];
    session.append(written.clone()).await?;
    let handle = session.put_blob("output", vec![0, 255, 10]).await?;
    let session = again(store, session).await?;
    same(&(loaded(&session).await? == written), &true, "the long strings came back")?;
    same(&session.blob(handle).await?, &vec![0, 255, 10], "the named blob")?;
    let swept = session.collect_garbage().await?;
    same(&swept.blobs, &0, "blobs in use that were removed")?;
    ensure(loaded(&session).await? == written, "a blob in use was removed")?;
    let unknown = session.blob(crate::BlobId::of(b"nothing")).await;
    ensure(matches!(unknown, Err(SessionError::Blob { .. })), format!("a blob that is not there: {unknown:?}"))?;
    Ok(session.close().await?)
}

async fn too_large(store: &dyn SessionStore) -> Outcome {
    let session = store.create().await?;
    let refused = session.put_blob("large", vec![0; 65 << 20]).await;
    ensure(matches!(refused, Err(SessionError::TooLarge { .. })), "65 MiB were accepted as a blob")?;
    session.append(texts([0])).await?;
    let session = again(store, session).await?;
    same(&session.len(), &1, "the length")?;
    Ok(session.close().await?)
}

async fn search(store: &dyn SessionStore) -> Outcome {
    let (word, mut ids, mut made) =
        (SessionId::new(&mut IdSource::from_hash_keys(), 1), IdSource::from_hash_keys(), vec![]);
    for now_ms in [5_000, 6_000] {
        let session = store.create_with(crate::Header::new(SessionId::new(&mut ids, now_ms))).await?;
        let texts = [format!("before {word} \"after\" % it"), "nothing".into(), format!("Ünder {word}")];
        let records = (0..).zip(texts).map(|(number, one)| text(number, &one)).collect();
        made.push((session.id(), session.append(records).await?));
        session.close().await?;
    }
    made.reverse();
    let both = |places: &[usize]| -> Vec<_> {
        let hits = made.iter().flat_map(|(id, entries)| places.iter().filter_map(|at| Some((*id, *entries.get(*at)?))));
        hits.collect()
    };
    let found = async |wanted: &str, limit| -> Result<Vec<_>, Problem> {
        let hits = store.search(wanted, limit).await?.into_iter();
        let ours = hits.filter(|hit| made.iter().any(|(id, _)| *id == hit.session));
        Ok(ours.map(|hit| (hit.session, hit.entry)).collect())
    };
    let word = word.to_string();
    same(&found(&word.to_lowercase(), 100).await?, &both(&[0, 2]), "the hits")?;
    same(&found(&format!("{word} \"AFTER\" %"), 100).await?, &both(&[0]), "the hits with quotes")?;
    same(&found(&format!("üNDER {word}"), 100).await?, &both(&[2]), "the hits beyond ASCII")?;
    same(&found(&word, 3).await?.len(), &3, "the hits up to a limit")?;
    same(&found(&format!("{word}?"), 100).await?, &Vec::new(), "the hits of what is not there")?;
    let short = store.search("%", 1_000).await?;
    ensure(short.iter().all(|hit| hit.excerpt.contains('%')), "a short text was found where it is not")?;
    ensure(short.len() >= 2, "a short text was not found")
}

async fn list_and_delete(store: &dyn SessionStore) -> Outcome {
    let mut ids = IdSource::from_hash_keys();
    let mut made = Vec::new();
    for now_ms in [1_000, 3_000, 2_000] {
        let header = crate::Header::new(SessionId::new(&mut ids, now_ms));
        let session = store.create_with(header.clone()).await?;
        session.append(texts([now_ms])).await?;
        session.close().await?;
        made.push(header);
    }
    made.sort_by_key(|header| std::cmp::Reverse(header.id));
    let ours = async || -> Result<Vec<_>, Problem> {
        let listed = store.list().await?.into_iter().filter(|one| made.contains(&one.header));
        Ok(listed.collect())
    };
    let listed = ours().await?;
    same(&listed.iter().map(|one| &one.header).collect::<Vec<_>>(), &made.iter().collect(), "the list")?;
    ensure(listed.iter().all(|one| one.bytes > 0), "a session of no size")?;
    ensure(
        listed.iter().all(|one| one.changed_ms >= one.header.created_ms),
        "a session that changed before it was made",
    )?;
    for one in &listed {
        let begins = |title: &String| title.starts_with("number ");
        ensure(one.title.as_ref().is_none_or(begins), "a title that is not how the session begins")?;
        same(&store.find(&one.header.id.to_string().to_lowercase()).await?.header, &one.header, "what was looked for")?;
    }
    let Some(gone) = made.first().map(|header| header.id) else { return Ok(()) };
    store.delete(gone).await?;
    same(&ours().await?.len(), &2, "the list after deleting")?;
    let opened = store.open(gone).await;
    ensure(matches!(opened, Err(SessionError::NotFound { .. })), format!("a deleted session: {opened:?}"))?;
    let twice = store.delete(gone).await;
    ensure(matches!(twice, Err(SessionError::NotFound { .. })), format!("deleted twice: {twice:?}"))
}
