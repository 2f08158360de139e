//! The folders that tools may use, and what they know together about the files in them.

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use agent_core::{BlobStore, ToolError};
use rustix::fs::Stat;

use crate::{
    MemoryBlobs,
    path::{PathError, Place},
};

/// The files whose state is remembered, at most; beyond it all are forgotten, which only loses warnings.
const MAX_SEEN: usize = 10_000;

/// The folders that tools may use; a clone is the same workspace.
///
/// Relative paths begin in the first folder. A path that leads out of the folders is refused, whatever it is made
/// of: `..`, links, links to links, folders that are not there. Hard links and mounts inside a folder belong to it.
///
/// ```
/// use agent_tools::Workspace;
/// let workspace = Workspace::new(std::env::temp_dir())?;
/// assert!(Workspace::new("/no/such/folder").is_err());
/// # drop(workspace);
/// # Ok::<(), agent_tools::WorkspaceError>(())
/// ```
#[derive(Clone)]
pub struct Workspace {
    base: Arc<Path>,
    roots: Arc<[Root]>,
    blobs: Arc<dyn BlobStore>,
    files: Arc<Mutex<Files>>,
}

#[derive(Clone)]
struct Root {
    real: PathBuf,
    use_of: UseOf,
}

/// What is done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UseOf {
    Reading,
    Writing,
}

/// A folder that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// It is not there, is no folder, or cannot be opened.
    #[error("the folder `{}` cannot be used: {reason}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        reason: String,
    },
}

#[derive(Default)]
struct Files {
    seen: HashMap<PathBuf, Stamp>,
    locks: HashMap<PathBuf, Weak<Mutex<()>>>,
}

/// Tells one state of a file from another: identity, length, and the times of its last changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: (i128, i128),
    length: i128,
    times: [i128; 4],
}

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        // The fields differ in width and sign between systems; 128 bits hold them all.
        let times: [i128; 4] =
            [stat.st_mtime.into(), stat.st_mtime_nsec.into(), stat.st_ctime.into(), stat.st_ctime_nsec.into()];
        Self { inode: (stat.st_dev.into(), stat.st_ino.into()), length: stat.st_size.into(), times }
    }
}

impl Workspace {
    /// A workspace of one folder.
    ///
    /// # Errors
    /// [`WorkspaceError`] where there is no such folder.
    pub fn new(folder: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        let real = resolve_folder(folder.as_ref())?;
        let root = Root { real: real.clone(), use_of: UseOf::Writing };
        Ok(Self {
            base: real.into(),
            roots: Arc::new([root]),
            blobs: Arc::new(MemoryBlobs::new()),
            files: Arc::default(),
        })
    }

    /// With another folder to read and write.
    ///
    /// # Errors
    /// [`WorkspaceError`] where there is no such folder.
    pub fn also(self, folder: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        self.with(folder.as_ref(), UseOf::Writing)
    }

    /// With another folder to read from only.
    ///
    /// # Errors
    /// [`WorkspaceError`] where there is no such folder.
    pub fn also_read(self, folder: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        self.with(folder.as_ref(), UseOf::Reading)
    }

    /// Says where outputs go that are too long to show; the tool [`Output`](crate::Output) pages through them there.
    /// Without it they are kept in memory ([`MemoryBlobs`]), as long as this workspace and its tools.
    #[must_use]
    pub fn outputs(self, store: Arc<dyn BlobStore>) -> Self {
        Self { blobs: store, ..self }
    }

    fn with(self, folder: &Path, use_of: UseOf) -> Result<Self, WorkspaceError> {
        let root = Root { real: resolve_folder(folder)?, use_of };
        let roots = self.roots.iter().cloned().chain([root]).collect();
        Ok(Self { roots, ..self })
    }

    /// Where relative paths begin.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    pub(crate) fn blobs(&self) -> &Arc<dyn BlobStore> {
        &self.blobs
    }

    /// The folders that may be written.
    #[cfg(all(feature = "sandbox", target_os = "linux"))]
    pub(crate) fn writable(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().filter(|root| root.use_of == UseOf::Writing).map(|root| root.real.as_path())
    }

    /// The place that a path leads to, where it may be used so.
    pub(crate) fn place(&self, path: &str, use_of: UseOf) -> Result<Place, PathError> {
        let outside = || PathError::Outside { path: path.to_owned() };
        // Of a place outside nothing is told, not even whether it is there.
        let walked = Place::walk(&self.base.join(path), path);
        let place = walked.map_err(|(at, error)| if self.holds(&at) { error } else { outside() })?;
        if !self.holds(&place.real) {
            return Err(outside());
        }
        let writable = |root: &Root| root.use_of == UseOf::Writing && place.real.starts_with(&root.real);
        if use_of == UseOf::Writing && !self.roots.iter().any(writable) {
            return Err(PathError::ReadOnly { path: path.to_owned() });
        }
        Ok(place)
    }

    /// Whether a path without links lies in a folder that may be read.
    pub(crate) fn holds(&self, real: &Path) -> bool {
        self.roots.iter().any(|root| real.starts_with(&root.real))
    }

    /// The outermost folder of the workspace that a path without links lies in.
    pub(crate) fn root(&self, real: &Path) -> Option<&Path> {
        let roots = self.roots.iter().map(|root| root.real.as_path()).filter(|root| real.starts_with(root));
        roots.min_by_key(|root| root.as_os_str().len())
    }

    /// The path as a model should write it: relative where it begins in the first folder.
    pub(crate) fn show<'a>(&self, real: &'a Path) -> std::borrow::Cow<'a, str> {
        real.strip_prefix(&self.base).unwrap_or(real).to_string_lossy()
    }

    /// The key under which writers of a path exclude each other: where it leads, however it is written.
    pub(crate) fn key(&self, path: &str) -> String {
        let real = self.place(path, UseOf::Reading).map_or_else(|_| self.base.join(path), |place| place.real);
        format!("path:{}", real.display())
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the state in which a file was shown or written.
    pub(crate) fn saw(&self, real: &Path, stat: &Stat) {
        let mut files = self.files();
        if files.seen.len() >= MAX_SEEN {
            files.seen.clear();
        }
        files.seen.insert(real.to_owned(), Stamp::of(stat));
    }

    /// Refuses a file that is not as it was seen; one that was never seen is fine.
    pub(crate) fn unchanged(&self, place: &Place, stat: &Stat) -> Result<(), ToolError> {
        match self.files().seen.get(&place.real) {
            Some(seen) if *seen != Stamp::of(stat) => {
                let shown = &place.shown;
                Err(ToolError::failed(format!("`{shown}` has changed since it was read; read it again first")))
            }
            _ => Ok(()),
        }
    }

    /// Keeps the writers of one file apart, those of several conversations too.
    pub(crate) fn lock(&self, real: &Path) -> Arc<Mutex<()>> {
        let mut files = self.files();
        if let Some(lock) = files.locks.get(real).and_then(Weak::upgrade) {
            return lock;
        }
        files.locks.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::new(Mutex::new(()));
        files.locks.insert(real.to_owned(), Arc::downgrade(&lock));
        lock
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.roots.iter().map(|root| &root.real)).finish()
    }
}

impl From<PathError> for ToolError {
    fn from(error: PathError) -> Self {
        match error {
            PathError::Outside { .. } | PathError::ReadOnly { .. } => Self::Denied { reason: error.to_string() },
            other => Self::failed(other.to_string()),
        }
    }
}

fn resolve_folder(folder: &Path) -> Result<PathBuf, WorkspaceError> {
    let error = |reason: String| WorkspaceError::Folder { folder: folder.to_owned(), reason };
    let whole = std::path::absolute(folder).map_err(|e| error(e.to_string()))?;
    let place = Place::walk(&whole, "it").map_err(|(_, e)| error(e.to_string()))?;
    if place.is_folder() { Ok(place.real) } else { Err(error("it is no folder".to_owned())) }
}
