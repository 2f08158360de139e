//! The file work of a session, done on its thread.

use std::{
    fs::{self, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{JsonlFile, Medium, SyncPolicy, load, load::Loaded};
use crate::{
    Blob, BlobId, Fault, Header, Index, SessionError, Stored, Swept,
    line::{self, payload},
    log::worker::Backend,
};

/// How often the lock is tried: a session that was dropped a moment ago may still be writing its last records.
const TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(5);
/// The most bytes that are read at a time, unless one record has more.
const READ: u64 = 4 << 20;

/// How a file is opened.
#[derive(Debug, Clone)]
pub(super) enum Open {
    Create(Header),
    Write,
    WriteOrCreate(Header),
    Read,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

impl Open {
    pub(super) fn access(&self) -> Access {
        match self {
            Self::Read => Access::Read,
            _ => Access::Write,
        }
    }
}

/// Lines for one place of the file.
pub(super) struct Lines {
    pub(super) at: u64,
    pub(super) lines: Vec<u8>,
    pub(super) blobs: Vec<Blob>,
}

/// An open file. Its lock ends with it.
pub(super) struct File {
    medium: Box<dyn Medium>,
    path: PathBuf,
    sync: SyncPolicy,
}

impl File {
    pub(super) fn open(settings: &JsonlFile, how: Open) -> Result<(Self, Loaded), SessionError> {
        let path = settings.path.clone();
        let mut options = OpenOptions::new();
        options.read(true);
        match how {
            Open::Read => {}
            Open::Write => _ = options.append(true),
            Open::Create(_) | Open::WriteOrCreate(_) => _ = options.append(true).create(true),
        }
        let file = options.open(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound
                if path.parent().is_none_or(|folder| folder.as_os_str().is_empty() || folder.exists()) =>
            {
                SessionError::NotFound { place: path.display().to_string() }
            }
            _ => SessionError::Io { what: "open", path: path.clone(), source },
        })?;
        if how.access() == Access::Write {
            lock(&file, &path)?;
        }
        let mut medium: Box<dyn Medium> = Box::new(file);
        if let Some(wrap) = &settings.wrap {
            medium = wrap(medium);
        }
        let mut this = Self { medium, path, sync: settings.sync };
        let place = this.path.display().to_string();
        let loaded = match how {
            Open::Create(header) => match this.is_unmade()? {
                true => this.make(header)?,
                false => return Err(SessionError::Exists { place }),
            },
            Open::WriteOrCreate(header) if this.is_unmade()? => this.make(header)?,
            Open::Read => load::load(&mut *this.medium, &place, super::line_limit(&settings.settings))?,
            _ => {
                let mut loaded = load::load(&mut *this.medium, &place, super::line_limit(&settings.settings))?;
                this.mend(&mut loaded)?;
                loaded
            }
        };
        Ok((this, loaded))
    }

    /// Whether the file is empty, or holds only the beginning of a header.
    fn is_unmade(&mut self) -> Result<bool, SessionError> {
        let mut begin = [0; 4096];
        let read = self.medium.read_at(0, &mut begin).map_err(SessionError::io("read", &self.path))?;
        let begin = begin.get(..read).unwrap_or_default();
        let whole = begin.contains(&b'\n') || read == 4096 || line::read_header(begin).is_ok();
        Ok(!whole && line::is_begun(begin))
    }

    fn make(&mut self, header: Header) -> Result<Loaded, SessionError> {
        let mut text = Vec::new();
        line::write_header(&header, &mut text).map_err(|source| SessionError::Encode { source: source.into() })?;
        let made = self.medium.truncate(0).and_then(|()| self.medium.append(&text));
        made.map_err(SessionError::io("write", &self.path))?;
        if self.sync == SyncPolicy::Always {
            self.medium.sync().map_err(SessionError::io("sync", &self.path))?;
            sync_folder(folder_of(&self.path))?;
        }
        let starts = vec![text.len().try_into().unwrap_or(u64::MAX)];
        Ok(Loaded { header, index: Index::new(), starts, torn: None, ending: load::Ending::LineFeed })
    }

    /// Cuts a torn end, and ends a last line that lacks its line feed.
    fn mend(&mut self, loaded: &mut Loaded) -> Result<(), SessionError> {
        if let Some(torn) = &mut loaded.torn {
            let size = usize::try_from(torn.bytes).unwrap_or(usize::MAX);
            let mut cut = vec![0; size];
            self.medium.read_at(torn.offset, &mut cut).map_err(SessionError::io("read", &self.path))?;
            // The end of one line is what a broken-off write leaves. More than that is kept for whoever wants to look.
            if cut.contains(&b'\n') {
                let mut kept = self.path.clone().into_os_string();
                kept.push(format!(".cut-{}", torn.offset));
                let kept = PathBuf::from(kept);
                fs::write(&kept, &cut).map_err(SessionError::io("write", &kept))?;
                torn.kept = Some(kept);
            }
            self.medium.truncate(torn.offset).map_err(SessionError::io("cut", &self.path))?;
        } else if loaded.ending == load::Ending::Missing {
            self.medium.append(b"\n").map_err(SessionError::io("write", &self.path))?;
        } else {
            return Ok(());
        }
        match self.sync {
            SyncPolicy::Always => self.medium.sync().map_err(SessionError::io("sync", &self.path)),
            SyncPolicy::Os => Ok(()),
        }
    }

    pub(super) fn read(
        &mut self,
        place: &str,
        seqs: &[u64],
        bounds: &[(u64, u64)],
    ) -> Result<Vec<Stored>, SessionError> {
        let (mut found, mut bytes, mut have) = (Vec::with_capacity(seqs.len()), Vec::new(), (0, 0));
        for (at, ((start, end), seq)) in bounds.iter().zip(seqs).enumerate() {
            if *start < have.0 || *end > have.1 {
                // Records that follow one another are read together.
                let following = bounds.get(at..).unwrap_or_default().windows(2).map_while(|pair| match pair {
                    [before, after] if before.1 == after.0 => Some(after.1),
                    _ => None,
                });
                let to = following.take_while(|to| to - start <= READ).last().unwrap_or(*end);
                have = (*start, to);
                bytes.clear();
                bytes.resize(usize::try_from(to - start).unwrap_or(usize::MAX), 0);
                let read = self.medium.read_at(*start, &mut bytes).map_err(SessionError::io("read", &self.path))?;
                // The last line of a session that is open for reading may lack its line feed.
                bytes.truncate(read);
            }
            let from = usize::try_from(start - have.0).unwrap_or(usize::MAX);
            let to = usize::try_from(end - have.0).unwrap_or(usize::MAX).saturating_sub(1);
            let line = bytes.get(from..to).unwrap_or_default();
            let damaged =
                |source| SessionError::Damaged { place: place.to_owned(), line: seq + 1, offset: *start, source };
            let read = line::read(line).map_err(damaged)?;
            let data = payload(&read).and_then(|data| agent_core::RawJson::parse(data).ok());
            found.push(Stored::new(data.ok_or_else(|| damaged(Fault::Syntax))?, read.blobs));
        }
        Ok(found)
    }

    pub(super) fn blob(&self, id: BlobId) -> Result<Vec<u8>, SessionError> {
        let content = fs::read(blobs_of(&self.path).join(id.to_string())).map_err(|_| SessionError::Blob { id })?;
        if BlobId::of(&content) == id { Ok(content) } else { Err(SessionError::Blob { id }) }
    }

    pub(super) fn sweep(&self, keep: &std::collections::HashSet<BlobId>) -> Result<Swept, SessionError> {
        let (folder, mut swept) = (blobs_of(&self.path), Swept::default());
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(swept),
            entries => entries.map_err(SessionError::io("list", &folder))?,
        };
        for entry in entries {
            let entry = entry.map_err(SessionError::io("list", &folder))?;
            let name = entry.file_name();
            let id = name.to_str().map(str::parse::<BlobId>);
            if id.is_some_and(|id| id.is_ok_and(|id| keep.contains(&id))) {
                continue;
            }
            let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
            fs::remove_file(entry.path()).map_err(SessionError::io("remove", entry.path()))?;
            swept = Swept::new(swept.blobs + 1, swept.bytes + bytes);
        }
        Ok(swept)
    }

    fn write_blob(&self, blob: &Blob) -> Result<(), SessionError> {
        let folder = blobs_of(&self.path);
        let path = folder.join(blob.id.to_string());
        if fs::metadata(&path).is_ok_and(|found| found.len() == blob.len()) {
            return Ok(());
        }
        fs::create_dir_all(&folder).map_err(SessionError::io("make", &folder))?;
        // Whole or not at all: another name until everything is there.
        let begun = folder.join(format!("{}.new", blob.id));
        let mut file = fs::File::create(&begun).map_err(SessionError::io("make", &begun))?;
        file.append(&blob.content).map_err(SessionError::io("write", &begun))?;
        if self.sync == SyncPolicy::Always {
            Medium::sync(&mut file).map_err(SessionError::io("sync", &begun))?;
        }
        fs::rename(&begun, &path).map_err(SessionError::io("rename", &begun))?;
        match self.sync {
            SyncPolicy::Always => sync_folder(&folder).and_then(|()| sync_folder(folder_of(&self.path))),
            SyncPolicy::Os => Ok(()),
        }
    }

    fn write_lines(&mut self, at: u64, bytes: &[u8]) -> Result<(), SessionError> {
        // The path is copied for an error only.
        let path = &self.path;
        let failed = |what| move |source| SessionError::Io { what, path: path.clone(), source };
        if self.medium.size().map_err(failed("look at"))? != at {
            return Err(SessionError::Changed { place: self.path.display().to_string() });
        }
        let written = self.medium.append(bytes).map_err(failed("write"));
        let synced = written.and_then(|()| match self.sync {
            SyncPolicy::Always => self.medium.sync().map_err(failed("sync")),
            SyncPolicy::Os => Ok(()),
        });
        if synced.is_err() {
            // What is there of it was not acknowledged. Where it cannot be cut, the next one to open the file does.
            _ = self.medium.truncate(at);
        }
        synced
    }
}

impl Backend for File {
    type Batch = Lines;

    fn write(&mut self, batches: &[Lines]) -> Result<Vec<Result<(), SessionError>>, SessionError> {
        batches.iter().flat_map(|batch| &batch.blobs).try_for_each(|blob| self.write_blob(blob))?;
        match batches {
            [] => {}
            [one] => self.write_lines(one.at, &one.lines)?,
            [first, ..] => {
                let all: Vec<&[u8]> = batches.iter().map(|batch| batch.lines.as_slice()).collect();
                self.write_lines(first.at, &all.concat())?;
            }
        }
        Ok(Vec::new())
    }
}

/// Where the blobs of a file are.
pub(super) fn blobs_of(path: &Path) -> PathBuf {
    path.with_extension("blobs")
}

/// Takes the lock of a file, which ends with it.
pub(in crate::log) fn lock(file: &fs::File, path: &Path) -> Result<(), SessionError> {
    for attempt in 1..=TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if attempt < TRIES => std::thread::sleep(BETWEEN_TRIES),
            Err(TryLockError::WouldBlock) => break,
            Err(TryLockError::Error(source)) => return Err(SessionError::io("lock", path)(source)),
        }
    }
    Err(SessionError::Locked { place: path.display().to_string() })
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes new names in a folder survive a loss of power.
fn sync_folder(folder: &Path) -> Result<(), SessionError> {
    if cfg!(unix) {
        let synced = fs::File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(SessionError::io("sync", folder))?;
    }
    Ok(())
}
