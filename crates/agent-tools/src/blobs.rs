//! Stores for outputs that are too long to show: in memory and in a folder.

use std::{
    collections::{HashMap, VecDeque},
    fs::{DirBuilder, File},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_core::{BlobError, BlobPart, BlobStore, BoxFuture};
use bytes::Bytes;
use rustix::fs::OFlags;

/// The memory that kept outputs may take together.
const MEMORY: u64 = 64 * 1024 * 1024;
/// The longest output that is kept in a file.
const FILE: u64 = 1024 * 1024 * 1024;

/// Keeps outputs in memory, 64 MiB of them; the oldest make room for new ones. A clone is the same store.
///
/// ```
/// use agent_core::BlobStore;
/// use agent_tools::MemoryBlobs;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let blobs = MemoryBlobs::new().limit(1_000);
/// blobs.append("log", "first\n".into()).await?;
/// blobs.append("log", "second\n".into()).await?;
/// let part = blobs.read("log", 6, 3).await?;
/// assert_eq!((&part.bytes[..], part.total), (&b"sec"[..], 13));
/// # Ok::<(), agent_core::BlobError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct MemoryBlobs {
    limit: u64,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    blobs: HashMap<String, Vec<u8>>,
    /// The handles, oldest first.
    order: VecDeque<String>,
    size: u64,
}

impl MemoryBlobs {
    /// An empty store.
    pub fn new() -> Self {
        Self { limit: MEMORY, kept: Arc::default() }
    }

    /// Sets how many bytes are kept in all.
    #[must_use]
    pub fn limit(self, bytes: u64) -> Self {
        Self { limit: bytes, ..self }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryBlobs {
    fn default() -> Self {
        Self::new()
    }
}

impl BlobStore for MemoryBlobs {
    fn append(&self, handle: &str, bytes: Bytes) -> BoxFuture<'static, Result<(), BlobError>> {
        let done = self.kept().append(handle, &bytes, self.limit);
        Box::pin(std::future::ready(done))
    }

    fn read(&self, handle: &str, from: u64, most: usize) -> BoxFuture<'static, Result<BlobPart, BlobError>> {
        let kept = self.kept();
        let part = kept.blobs.get(handle).map(|blob| {
            let rest = usize::try_from(from).ok().and_then(|from| blob.get(from..)).unwrap_or_default();
            BlobPart { bytes: Bytes::copy_from_slice(rest.get(..most).unwrap_or(rest)), total: length(blob) }
        });
        let part = part.ok_or_else(|| BlobError::Missing { handle: handle.to_owned() });
        Box::pin(std::future::ready(part))
    }
}

impl Kept {
    fn append(&mut self, handle: &str, bytes: &[u8], limit: u64) -> Result<(), BlobError> {
        let has = self.blobs.get(handle).map(|blob| length(blob)).unwrap_or_default();
        if has + length(bytes) > limit {
            return Err(BlobError::Full { limit });
        }
        while self.size + length(bytes) > limit {
            let Some(at) = self.order.iter().position(|oldest| oldest != handle) else { break };
            let oldest = self.order.remove(at).and_then(|oldest| self.blobs.remove(&oldest));
            self.size -= oldest.map(|blob| length(&blob)).unwrap_or_default();
        }
        if !self.blobs.contains_key(handle) {
            self.order.push_back(handle.to_owned());
        }
        self.blobs.entry(handle.to_owned()).or_default().extend_from_slice(bytes);
        self.size += length(bytes);
        Ok(())
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Keeps each output as a file of a folder, up to 1 GiB of it; what is there stays there. It needs a tokio runtime. A
/// clone is the same store.
#[derive(Debug, Clone)]
pub struct FolderBlobs {
    folder: Arc<Path>,
    limit: u64,
}

impl FolderBlobs {
    /// A store in a folder, which is created where there is none, for this user only.
    ///
    /// # Errors
    /// [`BlobError::Store`] where it cannot be created.
    pub fn new(folder: impl AsRef<Path>) -> Result<Self, BlobError> {
        let folder = std::path::absolute(folder).map_err(failed)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        Ok(Self { folder: folder.into(), limit: FILE })
    }

    /// Sets how many bytes of one output are kept.
    #[must_use]
    pub fn limit(self, bytes: u64) -> Self {
        Self { limit: bytes, ..self }
    }

    /// The file that holds the output under a handle, whether or not there is one yet; `None` where the handle is no
    /// name for a file.
    pub fn path(&self, handle: &str) -> Option<PathBuf> {
        let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        let named = (1..=128).contains(&handle.len()) && handle.bytes().all(fits);
        named.then(|| self.folder.join(format!("{handle}.log")))
    }

    /// Does something with the file of a blob, where files may be waited for.
    fn with_file<T: Send + 'static>(
        &self,
        handle: &str,
        work: impl FnOnce(&Path) -> Result<T, BlobError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, BlobError>> {
        let missing = BlobError::Missing { handle: handle.to_owned() };
        let path = self.path(handle);
        Box::pin(async move {
            let path = path.ok_or(missing)?;
            tokio::task::spawn_blocking(move || work(&path)).await.map_err(|e| BlobError::Store { source: e.into() })?
        })
    }
}

fn failed(error: std::io::Error) -> BlobError {
    BlobError::Store { source: error.into() }
}

/// Opens a file that is no link and is waited for by nobody.
fn open(options: &mut std::fs::OpenOptions, path: &Path) -> std::io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    options.mode(0o600).custom_flags(i32::try_from(flags.bits()).unwrap_or_default()).open(path)
}

impl BlobStore for FolderBlobs {
    fn append(&self, handle: &str, bytes: Bytes) -> BoxFuture<'static, Result<(), BlobError>> {
        let limit = self.limit;
        self.with_file(handle, move |path| {
            let mut file = open(File::options().append(true).create(true), path).map_err(failed)?;
            if file.metadata().map_err(failed)?.len() + length(&bytes) > limit {
                return Err(BlobError::Full { limit });
            }
            file.write_all(&bytes).map_err(failed)
        })
    }

    fn read(&self, handle: &str, from: u64, most: usize) -> BoxFuture<'static, Result<BlobPart, BlobError>> {
        let name = handle.to_owned();
        self.with_file(handle, move |path| {
            let opened = open(File::options().read(true), path);
            let mut file = opened.map_err(|e| match e.kind() {
                std::io::ErrorKind::NotFound => BlobError::Missing { handle: name },
                _ => failed(e),
            })?;
            let total = file.metadata().map_err(failed)?.len();
            file.seek(SeekFrom::Start(from)).map_err(failed)?;
            let mut bytes = Vec::new();
            file.take(u64::try_from(most).unwrap_or(u64::MAX)).read_to_end(&mut bytes).map_err(failed)?;
            Ok(BlobPart { bytes: bytes.into(), total })
        })
    }
}
