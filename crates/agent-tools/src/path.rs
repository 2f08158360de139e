//! From a path that a model wrote to a place on disk, one component at a time and without ever following a link
//! that the kernel would follow for us.
//!
//! Each folder on the way is held open while the next name is looked up in it, so a folder that is swapped for a link
//! in between leads nowhere else.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    fs::File,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, Stat},
    io::Errno,
};

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

    /// What is there now, where the folder still has it.
    pub(crate) fn stat(&self) -> Result<Option<Stat>, PathError> {
        let Some(name) = &self.last else { return Ok(None) };
        match rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(io(&self.shown, e)),
        }
    }

    /// The folder and the name under which a file can be put, with the folders that were missing made. What is
    /// there already has to be a regular file.
    pub(crate) fn make_parents(&mut self) -> Result<(BorrowedFd<'_>, &OsStr), PathError> {
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
        if let Some(stat) = self.stat()? {
            regular(&stat).map_err(|what| self.kind(what, "a regular file"))?;
        }
        match &self.last {
            Some(name) => Ok((self.folder.as_fd(), name)),
            None => Err(self.kind("a folder", "a file")),
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
