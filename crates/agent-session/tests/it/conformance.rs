//! The suite for all stores, and stores that it must refuse.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex},
};

use agent_core::BoxFuture;
use agent_session::{
    Acknowledged, Batch, BlobId, Header, Hit, Index, JsonlFolder, MemorySessions, Opened, Record, Session,
    SessionError, SessionId, SessionLog, SessionStore, Settings, Stored, Summary, Swept, SyncPolicy, conformance,
};

use crate::given::{block_on, folder};

#[test]
fn memory() {
    block_on(async { conformance::check(&MemorySessions::new()).await }).unwrap();
}

#[test]
fn jsonl() {
    for sync in [SyncPolicy::Os, SyncPolicy::Always] {
        let store = JsonlFolder::new(folder("conformance").join("made/by/itself")).sync(sync);
        block_on(async { conformance::check(&store).await }).unwrap();
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite() {
    for sync in [SyncPolicy::Os, SyncPolicy::Always] {
        let path = folder("conformance").join("sessions.db");
        block_on(async {
            let store = agent_session::SqliteSessions::open(&path, sync).await.unwrap();
            conformance::check(&store).await
        })
        .unwrap();
    }
}

/// A store as a user might write it, with a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    ForgetsTheLastRecord,
    SwapsPayloads,
    LetsTwoWrite,
    LosesBlobs,
    IgnoresTheHeader,
    ListsOldestFirst,
    KeepsWhatWasDeleted,
}

type Sessions = BTreeMap<SessionId, (Header, Arc<Kept>)>;

#[derive(Clone)]
struct Toy {
    fault: Fault,
    sessions: Arc<Mutex<Sessions>>,
}

#[derive(Debug, Default)]
struct Kept {
    records: Mutex<Vec<Record>>,
    blobs: Mutex<BTreeMap<BlobId, Vec<u8>>>,
    open: Mutex<bool>,
}

#[derive(Debug)]
struct Writer(Arc<Kept>, Fault, Mutex<bool>);

impl Toy {
    fn open_now(&self, id: SessionId) -> Result<Session, SessionError> {
        let sessions = self.sessions.lock().unwrap();
        let place = id.to_string();
        let (header, kept) = sessions.get(&id).ok_or(SessionError::NotFound { place: place.clone() })?.clone();
        if std::mem::replace(&mut *kept.open.lock().unwrap(), true) && self.fault != Fault::LetsTwoWrite {
            return Err(SessionError::Locked { place });
        }
        let mut index = Index::new();
        let mut records = kept.records.lock().unwrap();
        if self.fault == Fault::ForgetsTheLastRecord {
            records.pop();
        }
        for record in &*records {
            index.push(&record.head(), record.data.get()).unwrap();
        }
        drop(records);
        let header = if self.fault == Fault::IgnoresTheHeader { Header::new(id) } else { header };
        let writer = Arc::new(Writer(kept, self.fault, Mutex::new(false)));
        Ok(Session::new(Opened::new(header, index, writer), Settings::default()))
    }
}

fn ready<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

impl SessionLog for Writer {
    fn append(&self, batch: &Batch) -> Result<Acknowledged, SessionError> {
        if *self.2.lock().unwrap() {
            return Err(SessionError::Closed);
        }
        self.0.records.lock().unwrap().extend(batch.records.iter().cloned());
        if self.1 != Fault::LosesBlobs {
            let blobs = batch.blobs.iter().map(|blob| (blob.id, blob.content.to_vec()));
            self.0.blobs.lock().unwrap().extend(blobs);
        }
        Ok(Acknowledged::now(Ok(())))
    }

    fn read(&self, mut seqs: Vec<u64>) -> BoxFuture<'static, Result<Vec<Stored>, SessionError>> {
        if self.1 == Fault::SwapsPayloads {
            seqs.reverse();
        }
        let records = self.0.records.lock().unwrap();
        let stored = |seq: u64| {
            let record = &records[usize::try_from(seq).unwrap() - 1];
            Stored::new(record.data.clone(), record.blobs.clone())
        };
        ready(Ok(seqs.into_iter().map(stored).collect()))
    }

    fn blob(&self, id: BlobId) -> BoxFuture<'static, Result<Vec<u8>, SessionError>> {
        ready(self.0.blobs.lock().unwrap().get(&id).cloned().ok_or(SessionError::Blob { id }))
    }

    fn sweep(&self, keep: HashSet<BlobId>) -> BoxFuture<'static, Result<Swept, SessionError>> {
        self.0.blobs.lock().unwrap().retain(|id, _| keep.contains(id));
        ready(Ok(Swept::default()))
    }

    fn close(&self) -> BoxFuture<'static, Result<(), SessionError>> {
        *self.2.lock().unwrap() = true;
        *self.0.open.lock().unwrap() = false;
        ready(Ok(()))
    }
}

impl SessionStore for Toy {
    fn create_with(&self, header: Header) -> BoxFuture<'_, Result<Session, SessionError>> {
        let id = header.id;
        let mut sessions = self.sessions.lock().unwrap();
        if sessions.contains_key(&id) {
            return ready(Err(SessionError::Exists { place: id.to_string() }));
        }
        sessions.insert(id, (header, Arc::default()));
        drop(sessions);
        ready(self.open_now(id))
    }

    fn new_header(&self) -> Header {
        Settings::default().new_header()
    }

    fn open(&self, id: SessionId) -> BoxFuture<'_, Result<Session, SessionError>> {
        ready(self.open_now(id))
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Summary>, SessionError>> {
        let sessions = self.sessions.lock().unwrap();
        let mut listed: Vec<_> = sessions.values().map(|(header, _)| Summary::new(header.clone(), 1)).collect();
        if self.fault != Fault::ListsOldestFirst {
            listed.reverse();
        }
        ready(Ok(listed))
    }

    fn search(&self, text: &str, limit: usize) -> BoxFuture<'_, Result<Vec<Hit>, SessionError>> {
        // By the memory store, which passed.
        let (text, store) = (text.to_owned(), MemorySessions::new());
        let records = |kept: &Kept| kept.records.lock().unwrap().clone();
        let sessions = self.sessions.lock().unwrap();
        let all: Vec<_> = sessions.values().map(|(header, kept)| (header.clone(), records(kept))).collect();
        drop(sessions);
        Box::pin(async move {
            let mut ids = BTreeMap::new();
            for (header, records) in all {
                let session = store.create_with(header).await?;
                for record in records.iter().filter(|record| !record.kind.contains('.')) {
                    let copied = session.append(vec![record.data.read().unwrap()]).await?;
                    ids.insert((session.id(), copied[0]), record.id);
                }
            }
            let mut hits = store.search(&text, limit).await?;
            hits.iter_mut().for_each(|hit| hit.entry = ids[&(hit.session, hit.entry)]);
            Ok(hits)
        })
    }

    fn delete(&self, id: SessionId) -> BoxFuture<'_, Result<(), SessionError>> {
        let mut sessions = self.sessions.lock().unwrap();
        let place = id.to_string();
        ready(match sessions.get(&id).map(|(_, kept)| *kept.open.lock().unwrap()) {
            None => Err(SessionError::NotFound { place }),
            Some(true) => Err(SessionError::Locked { place }),
            Some(false) => {
                if self.fault != Fault::KeepsWhatWasDeleted {
                    sessions.remove(&id);
                }
                Ok(())
            }
        })
    }
}

#[test]
fn a_store_with_a_fault_does_not_pass() {
    let faults = [
        (Fault::None, None),
        (Fault::ForgetsTheLastRecord, Some("records come back in order, byte for byte, also after opening again")),
        (Fault::SwapsPayloads, Some("records come back in order, byte for byte, also after opening again")),
        (Fault::LetsTwoWrite, Some("a second writer is refused until the first closes")),
        (Fault::LosesBlobs, Some("long strings come back from blobs, kept once")),
        (Fault::IgnoresTheHeader, Some("a new session is empty and keeps its header")),
        (Fault::ListsOldestFirst, Some("sessions are listed newest first, and deleted")),
        (Fault::KeepsWhatWasDeleted, Some("sessions are listed newest first, and deleted")),
    ];
    for (fault, expected) in faults {
        let store = Toy { fault, sessions: Arc::default() };
        let found = block_on(async { conformance::check(&store).await });
        assert_eq!(found.as_ref().err().map(|error| error.case), expected, "{fault:?}: {found:?}");
    }
}
