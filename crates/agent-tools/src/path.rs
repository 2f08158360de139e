//! From a path that a model wrote to a place on disk, one component at a time and without ever following a link
//! that the kernel would follow for us.
//!
//! Each folder on the way is held open while the next name is looked up in it, so a folder that is swapped for a link
//! in between leads nowhere else.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    fs::File,
    io::Write,
    os::fd::OwnedFd,
    path::{Component, Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use agent_core::ToolError;
use rustix::{
    fs::{Access, AtFlags, FileType, Mode, OFlags, Stat},
    io::Errno,
};

use crate::{blocking::Stop, workspace::Stamp};

/// As many links as Linux follows (path_resolution(7)).
const MAX_LINKS: u32 = 40;
/// Folders are held open on the way, so there is a limit to how deep it goes.
const MAX_COMPONENTS: usize = 512;

#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Why a path leads to no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PathError {
    #[error("`{path}` is outside the folders that may be used")]
    Outside { path: String },
    #[error("`{path}` is in a folder that may be read and not written")]
    ReadOnly { path: String },
    #[error("there is no file or folder `{path}`")]
    Missing { path: String },
    #[error("`{path}` is {what}, and has to be {wanted}")]
    Kind { path: String, what: &'static str, wanted: &'static str },
    #[error("`{path}`: {reason}")]
    Io { path: String, reason: String },
}

/// A place: an open folder, and a name in it that is no link (or names that are not there yet).
#[derive(Debug)]
pub(crate) struct Place {
    /// The path as it was written, for messages.
    pub(crate) shown: String,
    /// The path without links and dots.
    pub(crate) real: PathBuf,
    folder: OwnedFd,
    last: Option<OsString>,
    missing: Vec<OsString>,
}

/// What stops a walk, and how far it had come.
struct Stuck {
    at: PathBuf,
    error: Errno,
}

impl Place {
    /// Follows an absolute path; whether it may be used is the caller's question. On failure, how far it came.
    pub(crate) fn walk(path: &Path, shown: &str) -> Result<Self, (PathBuf, PathError)> {
        walk(path, shown).map_err(|Stuck { at, error }| (at, io(shown, error)))
    }

    /// Whether there is nothing yet.
    pub(crate) fn is_missing(&self) -> bool {
        !self.missing.is_empty()
    }

    /// Whether it is a folder.
    pub(crate) fn is_folder(&self) -> bool {
        self.missing.is_empty() && self.last.is_none()
    }

    /// The error for a place where there has to be something.
    pub(crate) fn not_there(&self) -> PathError {
        PathError::Missing { path: self.shown.clone() }
    }

    fn kind(&self, what: &'static str, wanted: &'static str) -> PathError {
        PathError::Kind { path: self.shown.clone(), what, wanted }
    }

    /// Opens a regular file to read. Neither a pipe nor a device is opened, and none is waited for.
    pub(crate) fn open(&self) -> Result<(File, Stat), PathError> {
        let Some(name) = self.last.as_ref().filter(|_| !self.is_missing()) else {
            return Err(if self.is_missing() { self.not_there() } else { self.kind("a folder", "a file") });
        };
        let wanted = "a regular file";
        // Looked at before it is opened: opening some devices does something.
        let before = self.stat()?.ok_or_else(|| self.not_there())?;
        regular(&before).map_err(|what| self.kind(what, wanted))?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.folder, name, flags, Mode::empty()).map_err(|e| io(&self.shown, e))?;
        let stat = rustix::fs::fstat(&fd).map_err(|e| io(&self.shown, e))?;
        regular(&stat).map_err(|what| self.kind(what, wanted))?;
        Ok((File::from(fd), stat))
    }

    /// Opens the folder to look through it.
    pub(crate) fn open_folder(&self) -> Result<OwnedFd, PathError> {
        if !self.is_folder() {
            return Err(self.kind("a file", "a folder"));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.folder, ".", flags, Mode::empty()).map_err(|e| io(&self.shown, e))
    }

    /// What is there now, where the folder still has it.
    pub(crate) fn stat(&self) -> Result<Option<Stat>, PathError> {
        let Some(name) = &self.last else { return Ok(None) };
        match rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(io(&self.shown, e)),
        }
    }

    /// Makes the folders that are missing, so that a file can be put there; what is there already has to be a
    /// regular file that may be written.
    pub(crate) fn make_parents(&mut self) -> Result<Option<Stat>, PathError> {
        if let Some(name) = self.missing.pop() {
            for parent in std::mem::take(&mut self.missing) {
                match rustix::fs::mkdirat(&self.folder, &parent, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(e) => return Err(io(&self.shown, e)),
                }
                let made = rustix::fs::openat(&self.folder, &parent, FOLDER, Mode::empty());
                self.folder = made.map_err(|e| io(&self.shown, e))?;
            }
            self.last = Some(name);
        }
        let Some(name) = &self.last else { return Err(self.kind("a folder", "a file")) };
        let there = self.stat()?;
        if let Some(stat) = &there {
            regular(stat).map_err(|what| self.kind(what, "a regular file"))?;
            let may = rustix::fs::accessat(&self.folder, name, Access::WRITE_OK, AtFlags::empty());
            may.map_err(|e| io(&self.shown, e))?;
        }
        Ok(there)
    }

    /// Puts bytes there: into a new file beside it, synced and renamed over it, so that a reader or a crash sees the
    /// old or the new content whole. `before` is what has to be there still.
    pub(crate) fn put(&self, bytes: &[u8], before: Option<&Stat>, stop: &Stop) -> Result<Stat, ToolError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let Some(name) = &self.last else { return Err(self.kind("a folder", "a file").into()) };
        let failed = |e: Errno| ToolError::from(io(&self.shown, e));
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = format!(".mainspring-{}-{number}.tmp", std::process::id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(&self.folder, &temporary, flags, Mode::from_raw_mode(0o666)).map_err(failed)?;
        let mut unfinished = Unfinished { folder: &self.folder, name: Some(&temporary) };
        let mut file = File::from(made);
        for piece in bytes.chunks(1 << 20) {
            stop.check()?;
            file.write_all(piece).map_err(|e| failed(Errno::from_io_error(&e).unwrap_or(Errno::IO)))?;
        }
        if let Some(before) = before {
            // Owner first: changing it takes rights away. Who may not give files away keeps them.
            let owner = (rustix::fs::Uid::from_raw(before.st_uid), rustix::fs::Gid::from_raw(before.st_gid));
            let _ = rustix::fs::fchown(&file, Some(owner.0), Some(owner.1));
            let mode = Mode::from_raw_mode(before.st_mode & 0o7777);
            rustix::fs::fchmod(&file, mode).map_err(failed)?;
        }
        rustix::fs::fsync(&file).map_err(failed)?;
        stop.check()?;
        let now = self.stat()?;
        if now.as_ref().map(Stamp::of) != before.map(Stamp::of) {
            let text = format!("`{}` was changed by somebody else just now; read it again first", self.shown);
            return Err(ToolError::failed(text));
        }
        rustix::fs::renameat(&self.folder, &temporary, &self.folder, name).map_err(failed)?;
        unfinished.name = None;
        // The name is only safe once its folder is synced; where that cannot be done the file is written all the same.
        let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if let Ok(folder) = rustix::fs::openat(&self.folder, ".", folder, Mode::empty()) {
            let _ = rustix::fs::fsync(folder);
        }
        rustix::fs::fstat(&file).map_err(failed)
    }
}

/// Removes a file that did not get its name.
struct Unfinished<'a> {
    folder: &'a OwnedFd,
    name: Option<&'a str>,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(name) = self.name {
            let _ = rustix::fs::unlinkat(self.folder, name, AtFlags::empty());
        }
    }
}

/// Whether it is a regular file, or what it is.
fn regular(stat: &Stat) -> Result<(), &'static str> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err("a folder"),
        FileType::Symlink => Err("a link that was put there just now"),
        FileType::Fifo => Err("a named pipe"),
        FileType::Socket => Err("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Err("a device"),
        _ => Err("something unknown"),
    }
}

pub(crate) fn io(shown: &str, error: Errno) -> PathError {
    let path = shown.to_owned();
    match error {
        Errno::NOENT => PathError::Missing { path },
        Errno::LOOP => PathError::Io { path, reason: format!("more than {MAX_LINKS} links") },
        other => PathError::Io { path, reason: std::io::Error::from(other).kind().to_string() },
    }
}

fn walk(path: &Path, shown: &str) -> Result<Place, Stuck> {
    let at_root = |error| Stuck { at: PathBuf::from("/"), error };
    let root = || rustix::fs::open("/", FOLDER, Mode::empty()).map_err(at_root);
    let mut open: Vec<(OwnedFd, OsString)> = vec![(root()?, OsString::from("/"))];
    let mut missing: Vec<OsString> = Vec::new();
    let mut last = None;
    let mut links = 0;
    let mut todo: VecDeque<OsString> = VecDeque::new();
    prepend(&mut todo, path);
    while let Some(part) = todo.pop_front() {
        let stuck = |error| Stuck { at: open.iter().map(|(_, name)| name).collect(), error };
        if part == "/" {
            open.truncate(1);
            missing.clear();
            continue;
        }
        if part == ".." {
            if missing.pop().is_none() && open.len() > 1 {
                open.pop();
            }
            continue;
        }
        if !missing.is_empty() {
            missing.push(part);
            continue;
        }
        if open.len() + todo.len() > MAX_COMPONENTS {
            return Err(stuck(Errno::NAMETOOLONG));
        }
        let Some((folder, _)) = open.last() else { return Err(stuck(Errno::NOENT)) };
        let stat = match rustix::fs::statat(folder, &part, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => {
                missing.push(part);
                continue;
            }
            Err(e) => return Err(stuck(e)),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(stuck(Errno::LOOP));
                }
                let target = rustix::fs::readlinkat(folder, &part, Vec::new()).map_err(stuck)?;
                prepend(&mut todo, Path::new(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(target.as_bytes())));
            }
            FileType::Directory => {
                let next = rustix::fs::openat(folder, &part, FOLDER, Mode::empty()).map_err(stuck)?;
                open.push((next, part));
            }
            _ if todo.is_empty() => last = Some(part),
            _ => return Err(stuck(Errno::NOTDIR)),
        }
    }
    let mut real: PathBuf = open.iter().map(|(_, name)| name).collect();
    real.extend(last.iter().chain(&missing));
    let folder = open.pop().map(|(folder, _)| folder).map_or_else(root, Ok)?;
    Ok(Place { shown: shown.to_owned(), real, folder, last, missing })
}

/// Puts the components of a path in front of what is still to do.
fn prepend(todo: &mut VecDeque<OsString>, path: &Path) {
    for part in path.components().rev() {
        match part {
            Component::RootDir => todo.push_front(OsString::from("/")),
            Component::ParentDir => todo.push_front(OsString::from("..")),
            Component::Normal(name) => todo.push_front(name.to_owned()),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
}
