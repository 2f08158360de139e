//! What `.gitignore` and `.ignore` files say, those of the folders above included.

use std::{
    ffi::OsString,
    fs::File,
    io::Read as _,
    os::fd::{AsFd, OwnedFd},
    path::Path,
    rc::Rc,
};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::path::Place;

/// The names that matter to the folders below.
const FILES: &[&str] = &[".ignore", ".gitignore", ".git"];
/// The longest file of rules that is read.
const LONGEST: u64 = 256 * 1024;

/// The rules of a folder, and behind them those of the folders above it.
pub(super) struct Rules {
    above: Option<Rc<Rules>>,
    /// `.ignore`, `.gitignore` and `.git/info/exclude`: the first that says something counts.
    files: [Gitignore; 3],
    /// Whether a repository begins here: what lies above it has no say by `.gitignore`.
    repository: bool,
}

impl Rules {
    /// The rules above a folder: up to where its repository begins or, where there is none, where the workspace does.
    pub(super) fn above(folder: &Path, root: Option<&Path>) -> Option<Rc<Self>> {
        let mut folders = Vec::new();
        let mut repository = false;
        for path in folder.ancestors() {
            // Walked, because a folder on the way may be a link by now.
            let Ok(place) = Place::walk(path, "") else { break };
            let (true, Ok(opened)) = (place.real == path, place.open_folder()) else { break };
            let names: Vec<_> = FILES.iter().filter_map(|name| kind(&opened, name)).collect();
            repository = names.iter().any(|(name, _)| name == ".git");
            // The folder itself is looked at by the walk.
            if path != folder {
                folders.push((path, opened, names));
            }
            if repository {
                break;
            }
        }
        let counts = |path: &Path| repository || root.is_some_and(|root| path.starts_with(root));
        let counted = folders.iter().rev().filter(|(path, ..)| counts(path));
        counted.fold(None, |above, (path, opened, names)| Self::of(opened, path, names, above))
    }

    /// The rules of a folder that holds these names.
    pub(super) fn of(
        folder: &OwnedFd,
        path: &Path,
        names: &[(OsString, FileType)],
        above: Option<Rc<Self>>,
    ) -> Option<Rc<Self>> {
        let has = |name: &str, kind: FileType| names.iter().any(|(n, k)| n == name && *k == kind);
        let read = |name: &str| match has(name, FileType::RegularFile) {
            true => rules(folder, name, path),
            false => Gitignore::empty(),
        };
        let exclude = match has(".git", FileType::Directory) {
            true => exclude(folder, path).unwrap_or_else(Gitignore::empty),
            false => Gitignore::empty(),
        };
        let files = [read(".ignore"), read(".gitignore"), exclude];
        let repository = names.iter().any(|(name, _)| name == ".git");
        if !repository && files.iter().all(Gitignore::is_empty) {
            return above;
        }
        Some(Rc::new(Self { above, files, repository }))
    }

    /// Whether a path is to be passed over or, hidden or not, is not; `None` where nothing is said about it.
    pub(super) fn ignores(&self, path: &Path, is_dir: bool) -> Option<bool> {
        (0..self.files.len()).find_map(|file| {
            let mut level = Some(self);
            while let Some(rules) = level {
                let matched = rules.files.get(file)?.matched(path, is_dir);
                if !matched.is_none() {
                    return Some(matched.is_ignore());
                }
                // An `.ignore` counts beyond repositories.
                level = if rules.repository && file > 0 { None } else { rules.above.as_deref() };
            }
            None
        })
    }
}

/// The rules of a file in a folder. A link is not followed, as git does not.
fn rules(folder: impl AsFd, name: &str, root: &Path) -> Gitignore {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut text = Vec::new();
    if let Ok(fd) = rustix::fs::openat(folder, name, flags, Mode::empty())
        && File::from(fd).take(LONGEST).read_to_end(&mut text).is_err()
    {
        text.clear();
    }
    let text = String::from_utf8_lossy(&text);
    let mut builder = GitignoreBuilder::new(root);
    for line in text.trim_start_matches('\u{FEFF}').lines() {
        // A line that cannot be read says nothing, as with git.
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// A name that is in a folder, and what it is there.
fn kind(folder: &OwnedFd, name: &str) -> Option<(OsString, FileType)> {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some((OsString::from(name), FileType::from_raw_mode(stat.st_mode)))
}

fn exclude(folder: &OwnedFd, root: &Path) -> Option<Gitignore> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let git = rustix::fs::openat(folder, ".git", flags, Mode::empty()).ok()?;
    let info = rustix::fs::openat(git, "info", flags, Mode::empty()).ok()?;
    Some(rules(info, "exclude", root))
}
