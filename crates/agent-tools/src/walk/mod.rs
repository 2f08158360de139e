//! Walking a folder as `list` and `search` do: sorted, gitignore-aware, through no links.
//!
//! Every folder is opened by its name in the folder that was opened before it, and every file likewise, so a folder
//! that is swapped for a link while it is walked leads nowhere else.

mod rules;

use std::{
    ffi::{OsStr, OsString},
    fmt::Write as _,
    fs::File,
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
    rc::Rc,
};

use agent_core::ToolError;
use ignore::overrides::{Override, OverrideBuilder};
use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
};

use self::rules::Rules;
use crate::{
    Workspace,
    path::{Place, io},
};

/// Folders are held open on the way, so there is a limit to how deep it goes.
const MAX_DEPTH: usize = 256;

/// Whether files are shown that version control ignores, and hidden ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ignored {
    Skipped,
    Shown,
}

impl Ignored {
    pub(crate) fn new(all: Option<bool>) -> Self {
        if all == Some(true) { Self::Shown } else { Self::Skipped }
    }
}

/// A place that could not be looked into.
#[derive(Debug)]
pub(crate) struct Unreadable(pub(crate) String);

/// A file or folder that was met.
pub(crate) struct Found {
    /// Its path from the start.
    pub(crate) path: PathBuf,
    pub(crate) kind: FileType,
    folder: Rc<OwnedFd>,
    name: OsString,
}

impl Found {
    /// Opens the file, with its size. It may have become something else since it was met.
    pub(crate) fn open(&self) -> Result<(File, Stat), Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&*self.folder, &self.name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if regular { Ok((File::from(fd), stat)) } else { Err(Errno::INVAL) }
    }
}

/// Everything below a folder, in the order of the paths: an iterator.
pub(crate) struct Walk {
    from: PathBuf,
    wanted: Option<Override>,
    depth: usize,
    ignored: Ignored,
    frames: Vec<Frame>,
    /// A folder that was just met and is looked into next.
    next: Option<Found>,
}

/// A folder that is being looked through.
struct Frame {
    folder: Rc<OwnedFd>,
    path: PathBuf,
    names: std::vec::IntoIter<(OsString, FileType)>,
    rules: Option<Rc<Rules>>,
}

impl Walk {
    /// Begins at a folder. A glob says what names or paths have to look like, as in a `.gitignore`.
    ///
    /// # Errors
    /// For a glob that cannot be read and a folder that cannot be opened.
    pub(crate) fn new(
        workspace: &Workspace,
        place: &Place,
        glob: Option<&str>,
        depth: Option<usize>,
        ignored: Ignored,
    ) -> Result<Self, ToolError> {
        let from = place.real.clone();
        let wanted = match glob {
            None => None,
            Some(glob) => {
                let bad = |e| ToolError::invalid_arguments(format!("the glob `{glob}` cannot be read: {e}"));
                let mut overrides = OverrideBuilder::new(&from);
                overrides.add(glob).map_err(bad)?;
                Some(overrides.build().map_err(bad)?)
            }
        };
        let folder = place.open_folder()?;
        let above = match ignored {
            Ignored::Skipped => Rules::above(&from, workspace.root(&from)),
            Ignored::Shown => None,
        };
        let depth = depth.unwrap_or(MAX_DEPTH).min(MAX_DEPTH);
        let mut walk = Self { from, wanted, depth, ignored, frames: Vec::new(), next: None };
        walk.enter(folder, PathBuf::new(), above).map_err(|e| ToolError::from(io(&place.shown, e)))?;
        Ok(walk)
    }

    /// Looks into a folder.
    fn enter(&mut self, folder: OwnedFd, path: PathBuf, above: Option<Rc<Rules>>) -> Result<(), Errno> {
        let mut names = names(&folder)?;
        let rules = match self.ignored {
            Ignored::Skipped => Rules::of(&folder, &self.from.join(&path), &names, above),
            Ignored::Shown => None,
        };
        // Git's own folder is never what is looked for.
        names.retain(|(name, _)| name != ".git");
        names.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        self.frames.push(Frame { folder: Rc::new(folder), path, names: names.into_iter(), rules });
        Ok(())
    }

    /// Looks into the folder that was met last.
    fn descend(&mut self) -> Option<Unreadable> {
        let Found { path, folder, name, .. } = self.next.take()?;
        if self.frames.len() >= self.depth {
            let deep = self.frames.len() >= MAX_DEPTH;
            return deep.then(|| Unreadable(format!("{}: too deep", path.display())));
        }
        let above = self.frames.last().and_then(|frame| frame.rules.clone());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let shown = path.display().to_string();
        let opened = rustix::fs::openat(&*folder, &name, flags, Mode::empty());
        let entered = opened.and_then(|opened| self.enter(opened, path, above));
        entered.err().map(|e| Unreadable(format!("{shown}: {}", reason(e))))
    }

    /// Whether a name is to be passed over.
    fn skips(&self, frame: &Frame, whole: &Path, name: &OsStr, is_dir: bool) -> bool {
        if self.ignored == Ignored::Shown {
            return false;
        }
        let hidden = name.as_bytes().starts_with(b".");
        frame.rules.as_ref().and_then(|rules| rules.ignores(whole, is_dir)).unwrap_or(hidden)
    }
}

/// Why a place could not be looked into, in words.
pub(crate) fn reason(error: Errno) -> String {
    std::io::Error::from(error).kind().to_string()
}

/// Says what could not be looked into.
pub(crate) fn tell(text: &mut String, what: &str, unreadable: &[String]) {
    const SHOWN: usize = 5;
    for problem in unreadable.iter().take(SHOWN) {
        let _ = writeln!(text, "[{what}: {problem}]");
    }
    if let Some(more) = unreadable.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(text, "[{what}: {more} more]");
    }
}

impl Iterator for Walk {
    type Item = Result<Found, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(unreadable) = self.descend() {
            return Some(Err(unreadable));
        }
        loop {
            let frame = self.frames.last_mut()?;
            let Some((name, kind)) = frame.names.next() else {
                self.frames.pop();
                continue;
            };
            let frame = self.frames.last()?;
            let path = frame.path.join(&name);
            let (whole, is_dir) = (self.from.join(&path), kind == FileType::Directory);
            if self.skips(frame, &whole, &name, is_dir) {
                continue;
            }
            let folder = Rc::clone(&frame.folder);
            if is_dir {
                let next = Found { path: path.clone(), kind, folder: Rc::clone(&folder), name: name.clone() };
                self.next = Some(next);
            } else if self.wanted.as_ref().is_some_and(|wanted| !wanted.matched(&whole, false).is_whitelist()) {
                continue;
            }
            return Some(Ok(Found { path, kind, folder, name }));
        }
    }
}

/// What a folder holds.
fn names(folder: &OwnedFd) -> Result<Vec<(OsString, FileType)>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not tell it here.
            FileType::Unknown => rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            kind => kind,
        };
        names.push((OsStr::from_bytes(name.to_bytes()).to_owned(), kind));
    }
    Ok(names)
}
