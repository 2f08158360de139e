//! A folder of session files.

use std::{
    env, fs, io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::SystemTime,
};

use agent_core::BoxFuture;

use super::{
    JsonlFile, SyncPolicy, backend,
    load::{Found, lines},
};
use crate::{
    Header, Hit, Session, SessionError, SessionId, SessionStore, Settings, Summary, line,
    log::worker::blocking,
    search::{Needle, title_of},
};

/// How much of a file is read for a list: the header, and where an input has to begin to be its title.
const HEADER: u64 = 64 << 10;

/// A folder with a file for each session, named by its id: `01….jsonl`. It is made when the first session is.
#[derive(Debug, Clone)]
pub struct JsonlFolder {
    path: PathBuf,
    sync: SyncPolicy,
    settings: Settings,
}

impl JsonlFolder {
    /// The folder at a path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), sync: SyncPolicy::Os, settings: Settings::default() }
    }

    /// The folder of the user's sessions: `mainspring/sessions` where the system keeps a user's data, which is
    /// `$XDG_DATA_HOME` or `~/.local/share`, `~/Library/Application Support` on macOS, `%APPDATA%` on Windows. `None`
    /// where the environment says nothing about it.
    pub fn of_user() -> Option<Self> {
        let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || env::home_dir().filter(|path| path.is_absolute());
        let data = if cfg!(windows) {
            folder("APPDATA")
        } else if cfg!(target_os = "macos") {
            folder("XDG_DATA_HOME").or_else(|| Some(home()?.join("Library/Application Support")))
        } else {
            folder("XDG_DATA_HOME").or_else(|| Some(home()?.join(".local/share")))
        };
        Some(Self::new(data?.join("mainspring").join("sessions")))
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets when records are acknowledged.
    #[must_use]
    pub fn sync(mut self, sync: SyncPolicy) -> Self {
        self.sync = sync;
        self
    }

    /// Sets the limits of the sessions.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// The file of a session, whether there is one or not.
    pub fn file(&self, id: SessionId) -> JsonlFile {
        let path = self.path.join(format!("{id}.jsonl"));
        JsonlFile::new(path).sync(self.sync).settings(self.settings.clone())
    }
}

impl SessionStore for JsonlFolder {
    fn create_with(&self, header: Header) -> BoxFuture<'_, Result<Session, SessionError>> {
        Box::pin(async move {
            let folder = self.path.clone();
            blocking(move || fs::create_dir_all(&folder).map_err(SessionError::io("make", &folder))).await?;
            self.file(header.id).create(header).await
        })
    }

    fn new_header(&self) -> Header {
        self.settings.new_header()
    }

    fn open(&self, id: SessionId) -> BoxFuture<'_, Result<Session, SessionError>> {
        Box::pin(async move {
            let opened = self.file(id).open().await;
            opened.map_err(|error| match error {
                // Of the folder.
                SessionError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                    SessionError::NotFound { place: id.to_string() }
                }
                other => other,
            })
        })
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Summary>, SessionError>> {
        let folder = self.path.clone();
        Box::pin(blocking(move || list(folder)))
    }

    fn delete(&self, id: SessionId) -> BoxFuture<'_, Result<(), SessionError>> {
        let path = self.file(id).path;
        Box::pin(blocking(move || {
            let file = fs::OpenOptions::new().append(true).open(&path).map_err(|source| match source.kind() {
                io::ErrorKind::NotFound => SessionError::NotFound { place: id.to_string() },
                _ => SessionError::io("open", &path)(source),
            })?;
            backend::lock(&file, &path)?;
            fs::remove_file(&path).map_err(SessionError::io("remove", &path))?;
            let blobs = backend::blobs_of(&path);
            match fs::remove_dir_all(&blobs) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(SessionError::io("remove", &blobs)(error)),
                _ => Ok(()),
            }
        }))
    }

    fn search(&self, text: &str, limit: usize) -> BoxFuture<'_, Result<Vec<Hit>, SessionError>> {
        let (folder, needle, line_limit) = (self.path.clone(), Needle::new(text), super::line_limit(&self.settings));
        Box::pin(blocking(move || search(folder, &needle, limit, line_limit)))
    }
}

fn ms(time: SystemTime) -> Option<u64> {
    u64::try_from(time.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_millis()).ok()
}

/// The hits in all files, newest first. A file is read line by line, and not at all once there are enough.
fn search(folder: PathBuf, needle: &Needle, limit: usize, line_limit: u64) -> Result<Vec<Hit>, SessionError> {
    let mut hits = Vec::new();
    for summary in list(folder.clone())? {
        if hits.len() >= limit {
            break;
        }
        let (id, path) = (summary.header.id, folder.join(format!("{}.jsonl", summary.header.id)));
        let mut file = fs::File::open(&path).map_err(SessionError::io("open", &path))?;
        let look = |found: Found<'_>| {
            if let Ok(read) = line::read(found.bytes) {
                hits.extend(str::from_utf8(read.data).ok().and_then(|data| needle.hit(id, read.id, &read.kind, data)));
            }
            if hits.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        _ = lines(&mut file, line_limit, look).map_err(SessionError::io("read", &path))?;
    }
    Ok(hits)
}

/// The files that begin with a header of ours; others are passed over.
fn list(folder: PathBuf) -> Result<Vec<Summary>, SessionError> {
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(SessionError::io("list", &folder))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(SessionError::io("list", &folder))?.path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let metadata = fs::metadata(&path).ok();
        let (mut begin, bytes) = (Vec::new(), metadata.as_ref().map_or(0, fs::Metadata::len));
        let changed = metadata.and_then(|metadata| metadata.modified().ok()).and_then(ms);
        let read =
            fs::File::open(&path).and_then(|file| io::Read::read_to_end(&mut io::Read::take(file, HEADER), &mut begin));
        let line = begin.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if let (Ok(_), Ok(Ok(header))) = (read, line::read_header(line)) {
            let mut summary = Summary::new(header, bytes);
            summary.title = begin.split(|byte| *byte == b'\n').skip(1).find_map(|line| {
                let read = line::read(line).ok().filter(|read| read.blobs.is_empty())?;
                title_of(&read.kind, str::from_utf8(read.data).ok()?)
            });
            if let Some(changed) = changed {
                summary = summary.changed_ms(changed);
            }
            found.push(summary);
        }
    }
    found.sort_by_key(|summary| std::cmp::Reverse(summary.header.id));
    Ok(found)
}
