//! The file: what a crash, a flipped byte, a second writer and a full disk leave.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
};

use agent_core::{Journal, JournalError, RawJson};
use agent_session::{Fault, Header, JsonlFile, Medium, Session, SessionError, SyncPolicy};

use crate::given::{block_on, folder, ids, note, texts, user};

const RECORDS: u64 = 50;

/// A session of 50 records: branches, names, entries of an application.
async fn fifty(path: &Path) -> Vec<u8> {
    let session = JsonlFile::new(path).open_or_create().await.unwrap();
    let first = session.append((0..20).map(note).collect()).await.unwrap();
    session.checkpoint("twenty").await.unwrap();
    session.seek(first[9]).await.unwrap();
    session.append((20..47).map(note).collect()).await.unwrap();
    session.append_entry("test.entry", RawJson::parse("{\n\"a\": 1}").unwrap()).await.unwrap();
    assert_eq!(session.len(), RECORDS);
    session.close().await.unwrap();
    fs::read(path).unwrap()
}

fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).collect()
}

#[test]
fn cut_at_every_byte_it_loads_with_every_whole_record() {
    block_on(async {
        let path = folder("cut").join("s.jsonl");
        let whole = fifty(&path).await;
        let starts = line_starts(&whole);
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            // A line is whole when its last brace is there.
            let lines = starts.iter().skip(1).filter(|end| **end <= cut + 1).count();
            let read = JsonlFile::new(&path).read().await;
            let Some(records) = lines.checked_sub(1) else {
                assert!(matches!(read, Err(SessionError::NoHeader { .. })), "cut at {cut}: {read:?}");
                continue;
            };
            let read = read.unwrap();
            assert_eq!(read.len(), u64::try_from(records).unwrap(), "cut at {cut}");
            assert_eq!(fs::read(&path).unwrap().len(), cut, "reading changes nothing");
            let torn = read.recovered().torn.clone();
            let clean = cut + 1 == starts[lines] || cut == starts[lines];
            assert_eq!(torn.is_none(), clean, "cut at {cut}: {torn:?}");
            if let Some(torn) = torn {
                assert_eq!((torn.offset, torn.line), (u64::try_from(starts[lines]).unwrap(), records as u64 + 2));
                assert_eq!(torn.bytes, u64::try_from(cut - starts[lines]).unwrap());
            }
            // Opening for writing takes longer, so at some places of each line.
            if cut % 41 == 0 || clean {
                let session = JsonlFile::new(&path).open().await.unwrap();
                session.append(vec![note(1_000)]).await.unwrap();
                session.close().await.unwrap();
                let session = JsonlFile::new(&path).open().await.unwrap();
                assert_eq!((session.len(), &session.recovered().torn), (records as u64 + 1, &None), "cut at {cut}");
                assert_eq!(texts(&session).await.last().unwrap(), "number 1000");
                session.close().await.unwrap();
            }
        }
    });
}

#[test]
fn a_flipped_byte_is_reported_with_its_place() {
    block_on(async {
        let path = folder("flip").join("s.jsonl");
        let whole = fifty(&path).await;
        let starts = line_starts(&whole);
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 7);
            fs::write(&path, &bytes).unwrap();
            let line = starts.partition_point(|start| *start <= at) - 1;
            let last = starts.len() - 2;
            let found = JsonlFile::new(&path).read().await;
            match found {
                Err(SessionError::Damaged { line: found, offset, .. }) => {
                    assert_eq!((found, offset), (line as u64 + 1, starts[line] as u64), "flipped at {at}");
                }
                Err(SessionError::NoHeader { .. }) => assert_eq!(line, 0, "flipped at {at}"),
                // Without its line feed the line before is one with the last.
                Ok(session) if line == last || at + 1 == starts[last] => {
                    // Behind the last record nothing shows whether it was ever whole, so it is cut, and kept aside; or
                    // only its line feed was hit.
                    let torn = session.recovered().torn.clone().expect("a flipped byte is reported");
                    assert_eq!((torn.line, torn.offset), (line as u64 + 1, starts[line] as u64), "flipped at {at}");
                }
                other => panic!("flipped at {at}: {other:?}"),
            }
        }
    });
}

#[test]
fn a_last_line_that_was_damaged_is_kept_aside() {
    block_on(async {
        let path = folder("aside").join("s.jsonl");
        let mut whole = fifty(&path).await;
        let starts = line_starts(&whole);
        let last = starts[starts.len() - 2];
        whole[last + 100] ^= 1;
        fs::write(&path, &whole).unwrap();
        let session = JsonlFile::new(&path).open().await.unwrap();
        let kept = session.recovered().torn.clone().unwrap().kept.unwrap();
        assert_eq!(fs::read(kept).unwrap(), &whole[last..]);
        assert_eq!(fs::read(&path).unwrap(), &whole[..last]);
        assert!(session.recovered().to_string().starts_with("49 records; the last "), "{}", session.recovered());
    });
}

#[test]
fn what_is_whole_of_a_damaged_file_can_be_salvaged() {
    block_on(async {
        let folder = folder("salvage");
        let (path, to) = (folder.join("s.jsonl"), folder.join("t.jsonl"));
        let mut whole = fifty(&path).await;
        // Record 5 of the first branch, and its descendants in both branches.
        let at = line_starts(&whole)[5] + 80;
        whole[at] ^= 1;
        fs::write(&path, &whole).unwrap();
        let refused = JsonlFile::new(&path).open().await;
        let Err(SessionError::Damaged { line: 6, source: Fault::Checksum, .. }) = refused else {
            panic!("{refused:?}")
        };
        let salvaged = JsonlFile::new(&path).salvage(&to).await.unwrap();
        assert_eq!(salvaged.records, 4);
        assert_eq!(salvaged.lost[0], (6, Fault::Checksum));
        assert_eq!(salvaged.lost[1], (7, Fault::UnknownParent { parent: 5 }));
        assert_eq!(fs::read(&path).unwrap(), whole, "the damaged file stays");
        let session = JsonlFile::new(&to).open().await.unwrap();
        assert_eq!(texts(&session).await, ["number 0", "number 1", "number 2", "number 3"]);
        let twice = JsonlFile::new(&path).salvage(&to).await;
        assert!(matches!(twice, Err(SessionError::Exists { .. })), "{twice:?}");
    });
}

#[test]
fn a_file_that_is_not_a_session_is_left_alone() {
    block_on(async {
        let path = folder("other").join("notes.txt");
        for text in ["Dear diary", "Dear\ndiary\n", "{\"a\":1}\n", &"x".repeat(5_000)] {
            fs::write(&path, text).unwrap();
            let file = JsonlFile::new(&path);
            let opened = file.open().await;
            assert!(matches!(opened, Err(SessionError::NoHeader { .. })), "{text:?}: {opened:?}");
            let created = file.create(file_header()).await;
            assert!(matches!(created, Err(SessionError::Exists { .. })), "{text:?}: {created:?}");
            assert!(file.open_or_create().await.is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::remove_file(&path).unwrap();
        let missing = JsonlFile::new(&path).open().await;
        assert!(matches!(missing, Err(SessionError::NotFound { .. })), "{missing:?}");
        let no_folder = JsonlFile::new(path.join("deeper/s.jsonl")).open_or_create().await;
        assert!(matches!(no_folder, Err(SessionError::Io { .. })), "{no_folder:?}");
    });
}

fn file_header() -> Header {
    agent_session::Settings::default().new_header()
}

#[test]
fn a_making_that_was_broken_off_is_made_anew() {
    block_on(async {
        let path = folder("unmade").join("s.jsonl");
        let file = JsonlFile::new(&path);
        file.create(file_header()).await.unwrap().close().await.unwrap();
        let header = fs::read(&path).unwrap();
        for cut in 0..header.len() - 1 {
            fs::write(&path, &header[..cut]).unwrap();
            let session = file.open_or_create().await.unwrap();
            session.append(vec![note(0)]).await.unwrap();
            session.close().await.unwrap();
            assert_eq!(file.open().await.unwrap().len(), 1, "cut at {cut}");
        }
    });
}

#[test]
fn a_second_writer_gets_a_clear_error_and_a_reader_does_not() {
    block_on(async {
        let path = folder("lock").join("s.jsonl");
        let file = JsonlFile::new(&path);
        let session = file.open_or_create().await.unwrap();
        session.append(vec![note(0)]).await.unwrap();
        let error = file.open().await.unwrap_err();
        let text = format!("another writer holds the session {}", path.display());
        assert!(error.to_string().starts_with(&text), "{error}");
        let reader = file.read().await.unwrap();
        assert_eq!(texts(&reader).await, ["number 0"]);
        let written = reader.append(vec![note(1)]).await;
        assert!(matches!(written, Err(SessionError::ReadOnly)), "{written:?}");
        assert!(matches!(reader.collect_garbage().await, Err(SessionError::ReadOnly)));
        // Dropped, not closed: its last write may still be on its way.
        drop(session.append(vec![note(1)]));
        drop(session);
        let session = file.open().await.unwrap();
        assert_eq!(texts(&session).await, ["number 0", "number 1"]);
    });
}

#[test]
fn writers_that_fight_for_a_file_never_damage_it() {
    let path = folder("fight").join("s.jsonl");
    block_on(async { JsonlFile::new(&path).open_or_create().await.unwrap().close().await.unwrap() });
    let written = Arc::new(AtomicU64::new(0));
    let fighters: Vec<_> = (0..4)
        .map(|_| {
            let (path, written) = (path.clone(), written.clone());
            std::thread::spawn(move || {
                block_on(async {
                    for _ in 0..25 {
                        match JsonlFile::new(&path).open().await {
                            Ok(session) => {
                                for _ in 0..5 {
                                    session.append(vec![note(written.fetch_add(1, Ordering::Relaxed))]).await.unwrap();
                                }
                                session.close().await.unwrap();
                            }
                            Err(SessionError::Locked { .. }) => {}
                            Err(other) => panic!("{other:?}"),
                        }
                    }
                });
            })
        })
        .collect();
    fighters.into_iter().for_each(|fighter| fighter.join().unwrap());
    let session = block_on(async { JsonlFile::new(&path).open().await }).unwrap();
    assert!(session.len() >= 5, "somebody wrote");
    assert_eq!(session.len(), written.load(Ordering::Relaxed));
    assert_eq!(session.recovered().torn, None);
}

#[test]
fn somebody_who_writes_past_the_lock_is_noticed() {
    block_on(async {
        let path = folder("past").join("s.jsonl");
        let session = JsonlFile::new(&path).open_or_create().await.unwrap();
        session.append(vec![note(0)]).await.unwrap();
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"hello\n").unwrap();
        let error = session.append(vec![note(1)]).await.unwrap_err();
        let SessionError::Failed { source } = error else { panic!("{error:?}") };
        assert!(matches!(*source, SessionError::Changed { .. }), "{source:?}");
        assert!(fs::read(&path).unwrap().ends_with(b"hello\n"), "nothing was written behind it");
    });
}

/// What goes wrong, and when.
#[derive(Clone, Copy)]
struct Faults {
    /// The bytes that the disk has room for.
    room: u64,
    truncate: bool,
    sync: bool,
}

struct Faulty {
    under: Box<dyn Medium>,
    faults: Faults,
}

fn full() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "no space left on device")
}

impl Medium for Faulty {
    fn size(&mut self) -> io::Result<u64> {
        self.under.size()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.under.read_at(offset, buffer)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let size = self.under.size()?;
        let left = usize::try_from(self.faults.room.saturating_sub(size)).unwrap();
        if bytes.len() > left {
            // What fits is written, as a disk does.
            self.under.append(&bytes[..left])?;
            return Err(full());
        }
        self.under.append(bytes)
    }

    fn truncate(&mut self, size: u64) -> io::Result<()> {
        if self.faults.truncate { Err(full()) } else { self.under.truncate(size) }
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.faults.sync { Err(io::Error::other("the disk is gone")) } else { self.under.sync() }
    }
}

/// Writes until it fails; how many were acknowledged.
async fn until_it_fails(session: &Session) -> u64 {
    for number in 0.. {
        match session.append(vec![note(number)]).await {
            Ok(_) => {}
            Err(SessionError::Failed { .. }) => return number,
            Err(other) => panic!("{other:?}"),
        }
    }
    0
}

#[test]
fn a_full_disk_gives_an_error_and_a_file_that_loads() {
    block_on(async {
        for (room, truncate) in (500..1_500).step_by(37).flat_map(|room| [(room, false), (room, true)]) {
            let path = folder("full").join("s.jsonl");
            let file = JsonlFile::new(&path);
            file.open_or_create().await.unwrap().close().await.unwrap();
            let faults = Faults { room, truncate, sync: false };
            let faulty = file.clone().wrap(move |under| Box::new(Faulty { under, faults }));
            let session = faulty.open().await.unwrap();
            let acknowledged = until_it_fails(&session).await;
            // Behind a failure nothing is written, also by a conversation.
            let error = session.journal().append(vec![note(0)]).await.unwrap_err();
            assert!(matches!(error, JournalError::Write { .. }), "{error:?}");
            assert!(matches!(session.close().await, Err(SessionError::Failed { .. })));
            let session = file.open().await.unwrap();
            assert_eq!(session.len(), acknowledged, "room for {room}");
            let torn = session.recovered().torn.is_some();
            assert!(!torn || truncate, "what failed was cut at once, room for {room}");
            session.append(vec![note(9)]).await.unwrap();
            session.close().await.unwrap();
        }
    });
}

#[test]
fn a_sync_that_fails_acknowledges_nothing() {
    block_on(async {
        let path = folder("sync").join("s.jsonl");
        let file = JsonlFile::new(&path).sync(SyncPolicy::Always);
        file.open_or_create().await.unwrap().close().await.unwrap();
        let faults = Faults { room: u64::MAX, truncate: false, sync: true };
        let session = file.clone().wrap(move |under| Box::new(Faulty { under, faults })).open().await.unwrap();
        assert_eq!(until_it_fails(&session).await, 0);
        session.close().await.unwrap_err();
        assert_eq!(file.open().await.unwrap().len(), 0);
    });
}

/// Counts, and waits for a word before its first write.
struct Counted {
    under: Box<dyn Medium>,
    appends: Arc<AtomicUsize>,
    syncs: Arc<AtomicUsize>,
    wait: Option<mpsc::Receiver<()>>,
}

impl Medium for Counted {
    fn size(&mut self) -> io::Result<u64> {
        self.under.size()
    }
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.under.read_at(offset, buffer)
    }
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(wait) = self.wait.take() {
            wait.recv().unwrap();
        }
        self.appends.fetch_add(1, Ordering::SeqCst);
        self.under.append(bytes)
    }
    fn truncate(&mut self, size: u64) -> io::Result<()> {
        self.under.truncate(size)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        self.under.sync()
    }
}

#[test]
fn appends_of_one_moment_are_written_and_synced_together() {
    // What a disk need not have is written at once.
    for (sync, writes, syncs_at_most) in [(SyncPolicy::Os, 500, 0), (SyncPolicy::Always, 2, 2)] {
        block_on(async {
            let path = folder("group").join("s.jsonl");
            let file = JsonlFile::new(&path).sync(sync);
            file.open_or_create().await.unwrap().close().await.unwrap();
            let (appends, syncs) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let (go, wait) = mpsc::sync_channel(1);
            let wait = std::sync::Mutex::new(Some(wait));
            let counted = file.clone().wrap({
                let (appends, syncs) = (appends.clone(), syncs.clone());
                move |under| {
                    let (appends, syncs) = (appends.clone(), syncs.clone());
                    let wait = wait.lock().unwrap().take().filter(|_| sync == SyncPolicy::Always);
                    Box::new(Counted { under, appends, syncs, wait })
                }
            });
            let session = counted.open().await.unwrap();
            let written: Vec<_> = (0..500).map(|number| session.append(vec![note(number)])).collect();
            // Nobody waits under `Os`.
            _ = go.send(());
            for one in written {
                one.await.unwrap();
            }
            // The first may be on its way alone; all others waited for it.
            assert!(appends.load(Ordering::SeqCst) <= writes, "{} writes", appends.load(Ordering::SeqCst));
            assert!(syncs.load(Ordering::SeqCst) <= syncs_at_most, "{} syncs", syncs.load(Ordering::SeqCst));
            session.close().await.unwrap();
            assert_eq!(file.open().await.unwrap().len(), 500);
        });
    }
}

#[test]
fn appends_of_many_threads_stand_in_the_order_in_which_they_were_accepted() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    runtime.block_on(async {
        for sync in [SyncPolicy::Os, SyncPolicy::Always] {
            let file = JsonlFile::new(folder("threads").join("s.jsonl")).sync(sync);
            let session = file.open_or_create().await.unwrap();
            let first = session.append(vec![note(0)]).await.unwrap()[0];
            let tasks = (0..8u64).map(|task| {
                let session = session.clone();
                runtime.spawn(async move {
                    for number in 0..150 {
                        // Reads and blobs are the thread's; short appends come in between.
                        match (task + number) % 5 {
                            0 => _ = session.payload(first).await.unwrap(),
                            1 => _ = session.put_blob("b", format!("{task} {number}").into_bytes()).await.unwrap(),
                            _ => _ = session.append(vec![note(task * 1_000 + number)]).await.unwrap(),
                        }
                    }
                })
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
            let (len, path) = (session.len(), session.path());
            session.close().await.unwrap();
            let again = file.open().await.unwrap();
            assert_eq!((again.len(), again.recovered().torn.is_none()), (len, true));
            assert_eq!(again.path(), path);
            assert_eq!(texts(&again).await.len(), 1 + 8 * 90);
        }
    });
}

#[test]
fn a_file_that_panics_in_a_write_ends_the_session_and_not_the_program() {
    struct Panics(Box<dyn Medium>);
    impl Medium for Panics {
        fn size(&mut self) -> io::Result<u64> {
            self.0.size()
        }
        fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read_at(offset, buffer)
        }
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            assert!(!bytes.windows(4).any(|word| word == b"boom"), "as it is told");
            self.0.append(bytes)
        }
        fn truncate(&mut self, size: u64) -> io::Result<()> {
            self.0.truncate(size)
        }
        fn sync(&mut self) -> io::Result<()> {
            self.0.sync()
        }
    }

    block_on(async {
        for sync in [SyncPolicy::Os, SyncPolicy::Always] {
            let file = JsonlFile::new(folder("panics").join("s.jsonl")).sync(sync);
            let session = file.clone().wrap(|under| Box::new(Panics(under))).open_or_create().await.unwrap();
            session.append(vec![note(0)]).await.unwrap();
            let boom = user(ids().message(0), "boom");
            assert!(session.append(vec![boom]).await.is_err());
            assert!(session.append(vec![note(1)]).await.is_err(), "{sync:?}: nobody knows how far it came");
            _ = session.close().await;
            let again = file.open().await.unwrap();
            assert_eq!(texts(&again).await, ["number 0"]);
        }
    });
}

#[test]
fn too_much_that_waits_is_refused_and_changes_nothing() {
    block_on(async {
        let path = folder("backlog").join("s.jsonl");
        let file = JsonlFile::new(&path).sync(SyncPolicy::Always);
        file.open_or_create().await.unwrap().close().await.unwrap();
        let (go, wait) = mpsc::sync_channel(1);
        let wait = std::sync::Mutex::new(Some(wait));
        let counted = file.clone().wrap(move |under| {
            let (appends, syncs) = (Arc::default(), Arc::default());
            Box::new(Counted { under, appends, syncs, wait: wait.lock().unwrap().take() })
        });
        let session = counted.open().await.unwrap();
        let (mut written, mut refused) = (Vec::new(), None);
        for number in 0..10_000 {
            let length = session.len();
            let append = session.append(vec![note(number)]);
            if session.len() == length {
                refused = append.await.err();
                break;
            }
            written.push(append);
        }
        assert!(matches!(refused, Some(SessionError::Backlog { what: "jobs", limit: 4096 })), "{refused:?}");
        go.send(()).unwrap();
        let accepted = written.len() as u64;
        for one in written {
            one.await.unwrap();
        }
        session.append(vec![note(0)]).await.unwrap();
        session.close().await.unwrap();
        assert_eq!(file.open().await.unwrap().len(), accepted + 1);
    });
}

fn blobs(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path.with_extension("blobs")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_long_string_lies_once_beside_the_file_and_garbage_is_removed() {
    block_on(async {
        let path = folder("blobs").join("s.jsonl");
        let file = JsonlFile::new(&path);
        let session = file.open_or_create().await.unwrap();
        let long = "long ".repeat(20_000);
        let records = vec![crate::given::user(agent_core::MessageId::from_bits(1), &long), note(1)];
        session.append(records.clone()).await.unwrap();
        session.append(vec![crate::given::user(agent_core::MessageId::from_bits(9), &long)]).await.unwrap();
        assert_eq!(blobs(&path).len(), 1);
        assert_eq!(fs::read_to_string(&blobs(&path)[0]).unwrap(), long, "a blob is the string itself");
        assert!(fs::metadata(&path).unwrap().len() < 2_000);
        assert_eq!(texts(&session).await[0], long);
        // What a crash between a blob and its record leaves, before and after it has its name.
        let folder = path.with_extension("blobs");
        let orphan = agent_session::BlobId::of(b"orphan").to_string();
        fs::write(folder.join(&orphan), "orphan").unwrap();
        fs::write(folder.join(format!("{orphan}.new")), "orph").unwrap();
        let swept = session.collect_garbage().await.unwrap();
        assert_eq!((swept.blobs, swept.bytes), (2, 10));
        assert_eq!(texts(&session).await[0], long);
        // Another content under the name is not taken for it.
        fs::write(&blobs(&path)[0], "other").unwrap();
        let error = session.journal().load().await.unwrap_err();
        assert!(matches!(error, JournalError::Read { .. }), "{error:?}");
    });
}

#[test]
fn caps_on_blobs_are_kept_and_refuse_without_harm() {
    block_on(async {
        let path = folder("caps").join("s.jsonl");
        let settings = agent_session::Settings::default().inline(100).blob(2_000).blobs(3_000);
        let file = JsonlFile::new(&path).settings(settings);
        let session = file.open_or_create().await.unwrap();
        let put = async |bytes: usize, fill: u8| session.put_blob("x", vec![fill; bytes]).await;
        assert!(matches!(put(2_001, 0).await, Err(SessionError::TooLarge { what: "a blob", limit: 2_000, .. })));
        put(2_000, 1).await.unwrap();
        let full = put(1_001, 2).await;
        assert!(matches!(full, Err(SessionError::TooLarge { bytes: 3_001, limit: 3_000, .. })), "{full:?}");
        put(2_000, 1).await.unwrap();
        put(1_000, 3).await.unwrap();
        assert_eq!(blobs(&path).len(), 2);
        session.close().await.unwrap();
        let session = file.open().await.unwrap();
        let full = session.put_blob("x", vec![4]).await;
        assert!(matches!(full, Err(SessionError::TooLarge { bytes: 3_001, .. })), "{full:?}");
    });
}
