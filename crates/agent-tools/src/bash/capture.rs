//! What is kept of a command's output: its beginning, its end, and the whole in a file where there is a folder for it.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
};

use tokio::{fs::File, io::AsyncWriteExt as _};

/// What is kept of the beginning, in bytes.
const HEAD: usize = 16 * 1024;
/// What is kept of the end: errors stand there.
const TAIL: usize = 32 * 1024;
/// The longest output that is kept whole in a file.
const SPILL: u64 = 1024 * 1024 * 1024;

pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    pub(super) total: u64,
    spill: Spill,
}

enum Spill {
    /// There is no folder for it.
    No,
    /// It goes here when it gets long.
    Into(PathBuf),
    Open {
        path: PathBuf,
        file: File,
        written: u64,
        unwritten: Vec<u8>,
    },
    /// Writing failed, or it became too long.
    Broken {
        path: PathBuf,
        why: String,
    },
}

impl Spill {
    fn open(path: PathBuf, unwritten: Vec<u8>) -> Self {
        use std::os::unix::fs::OpenOptionsExt as _;
        let opened = std::fs::File::options().write(true).create_new(true).mode(0o600).open(&path);
        match opened {
            Ok(file) => Self::Open { path, file: File::from_std(file), written: 0, unwritten },
            Err(e) => Self::Broken { path, why: e.kind().to_string() },
        }
    }

    /// Writes what is not yet written. Dropping the future loses nothing: the rest is written the next time.
    async fn write(&mut self) {
        let Self::Open { path, file, written, unwritten } = self else { return };
        let mut broken = None;
        while !unwritten.is_empty() && broken.is_none() {
            match file.write(unwritten).await {
                Ok(0) => broken = Some("nothing more can be written".to_owned()),
                Ok(n) => {
                    unwritten.drain(..n);
                    *written += u64::try_from(n).unwrap_or_default();
                }
                Err(e) => broken = Some(e.kind().to_string()),
            }
            if *written > SPILL {
                broken = Some(format!("longer than {SPILL} bytes"));
            }
        }
        if let Some(why) = broken {
            *self = Self::Broken { path: std::mem::take(path), why };
        }
    }
}

impl Capture {
    /// Keeps output, and the whole in a file of this name in the folder, if it gets long.
    pub(super) fn new(folder: Option<&Path>, name: &str) -> Self {
        let spill = folder.map_or(Spill::No, |folder| Spill::Into(folder.join(name)));
        Self { head: Vec::new(), tail: VecDeque::new(), total: 0, spill }
    }

    pub(super) async fn push(&mut self, bytes: &[u8]) {
        self.total += u64::try_from(bytes.len()).unwrap_or_default();
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(first);
        let long = self.tail.len() + rest.len() > TAIL;
        if let Spill::Into(path) = &self.spill
            && long
        {
            let before = self.head.iter().chain(&self.tail).copied().collect();
            self.spill = Spill::open(path.clone(), before);
        }
        if let Spill::Open { unwritten, .. } = &mut self.spill {
            unwritten.extend_from_slice(rest);
        }
        self.tail.extend(rest);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
        self.spill.write().await;
    }

    /// The text for the model, and the file that holds the whole.
    pub(super) async fn into_text(mut self) -> (String, Option<PathBuf>) {
        let kept = u64::try_from(self.head.len() + self.tail.len()).unwrap_or(u64::MAX);
        self.spill.write().await;
        let (whole, note) = match &mut self.spill {
            Spill::Open { path, file, .. } => match file.flush().await {
                Ok(()) => (Some(path.clone()), format!("; the whole is in `{}`, where read shows it", path.display())),
                Err(e) => (None, format!("; the whole could not be kept: {}", e.kind())),
            },
            Spill::Broken { path, why } => (None, format!("; `{}` does not hold the whole: {why}", path.display())),
            Spill::No | Spill::Into(_) => (None, String::new()),
        };
        let tail = self.tail.make_contiguous();
        if self.total <= kept {
            let all = [self.head.as_slice(), tail].concat();
            return (String::from_utf8_lossy(&all).into_owned(), whole);
        }
        // Whole lines, where there are any.
        let head = match self.head.iter().rposition(|b| *b == b'\n') {
            Some(end) => self.head.get(..=end),
            None => self.head.get(..boundary(&self.head)),
        };
        let head = head.unwrap_or_default();
        // The last byte may be the end of the only line there is.
        let first = tail.split_last().and_then(|(_, rest)| rest.iter().position(|b| *b == b'\n'));
        let start = first.map_or_else(|| tail.iter().take_while(|b| **b & 0xC0 == 0x80).count(), |at| at + 1);
        let tail = tail.get(start..).unwrap_or_default();
        let shown = u64::try_from(head.len() + tail.len()).unwrap_or_default();
        let mut text = String::from_utf8_lossy(head).into_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[{} of {} bytes left out{note}]\n", self.total - shown, self.total));
        text.push_str(&String::from_utf8_lossy(tail));
        (text, whole)
    }
}

/// Where bytes end without a piece of a character behind it.
pub(super) fn boundary(bytes: &[u8]) -> usize {
    let piece = bytes.iter().rev().take(3).position(|b| *b >= 0xC0).map(|back| back + 1);
    match piece.and_then(|back| bytes.split_at_checked(bytes.len() - back)) {
        Some((before, end)) if std::str::from_utf8(end).is_err_and(|e| e.error_len().is_none()) => before.len(),
        _ => bytes.len(),
    }
}
