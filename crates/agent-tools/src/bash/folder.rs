//! The working folder that a command leaves behind for the next one.

use std::{
    io::Read as _,
    os::unix::{ffi::OsStringExt as _, fs::OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::{Workspace, path::Place, workspace::UseOf};

/// The longest path that is read: as long as Linux takes (PATH_MAX).
const LONGEST: u64 = 4096;

/// Where the next command begins.
#[derive(Debug)]
pub(super) struct Kept(Mutex<PathBuf>);

/// A file into which a shell writes where it is when it ends. Removed when it is dropped.
pub(super) struct Note {
    path: PathBuf,
}

impl Kept {
    pub(super) fn new(start: PathBuf) -> Self {
        Self(Mutex::new(start))
    }

    /// Where a command begins, and what to say where that is not where the last one ended.
    pub(super) fn begin(&self, workspace: &Workspace) -> (PathBuf, Option<String>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = workspace.place(&kept.to_string_lossy(), UseOf::Reading);
        if place.is_ok_and(|place| place.is_folder() && place.real == *kept) {
            return (kept.clone(), None);
        }
        let note = format!("the working folder `{}` is gone; this command began in `.`", workspace.show(&kept));
        workspace.base().clone_into(&mut kept);
        (kept.clone(), Some(note))
    }

    /// Where the shell was at its end is where the next one begins, if it is in the workspace. What to say of it.
    pub(super) fn settle(&self, note: &Note, workspace: &Workspace) -> Option<String> {
        let told = note.read()?;
        let place = workspace.place(&told.to_string_lossy(), UseOf::Reading);
        let Some(real) = place.ok().filter(Place::is_folder).map(|place| place.real) else {
            let begins =
                "the shell ended outside the folders that may be used; the next call begins where this one did";
            return Some(begins.to_owned());
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *kept == real {
            return None;
        }
        let shown = workspace.show(&real);
        let note = format!("the working folder is now `{}`", if shown.is_empty() { "." } else { &shown });
        *kept = real;
        Some(note)
    }
}

impl Note {
    /// An empty file that only this user can write, in this folder or in that for temporary files.
    pub(super) fn new(folder: Option<&Path>) -> std::io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("mainspring-{}-{}.folder", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = folder.map_or_else(std::env::temp_dir, Path::to_owned).join(name);
        std::fs::File::options().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { path })
    }

    /// The command line, with a beginning that writes down where the shell is when it ends.
    pub(super) fn wrap(&self, line: &str) -> String {
        let quoted = self.path.to_string_lossy().replace('\'', "'\\''");
        let trap = format!("pwd -P >'{quoted}'").replace('\'', "'\\''");
        format!("trap '{trap}' EXIT; {line}")
    }

    fn read(&self) -> Option<PathBuf> {
        let mut told = Vec::new();
        std::fs::File::open(&self.path).ok()?.take(LONGEST + 1).read_to_end(&mut told).ok()?;
        // A name may end in a line end itself; the last one is the shell's.
        let name = told.strip_suffix(b"\n").filter(|name| !name.is_empty())?.to_vec();
        Some(PathBuf::from(std::ffi::OsString::from_vec(name)))
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
