//! What is kept of a command's output: its beginning and its end, and the whole in a store where it is long.

use std::{collections::VecDeque, sync::Arc};

use agent_core::{BlobError, BlobStore, BoxFuture};

use crate::decode::boundary;

/// What is kept of the beginning, in bytes.
const HEAD: usize = 16 * 1024;
/// What is kept of the end: errors stand there.
const TAIL: usize = 32 * 1024;
/// How much is collected before the store is asked to take it.
const PIECE: usize = 64 * 1024;

pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    pub(super) total: u64,
    whole: Whole,
}

/// The whole of an output on its way into a store.
pub(super) struct Whole {
    store: Arc<dyn BlobStore>,
    handle: String,
    begun: bool,
    unwritten: Vec<u8>,
    /// Kept here, so that whoever stops waiting loses nothing.
    writing: Option<BoxFuture<'static, Result<(), BlobError>>>,
    failed: Option<String>,
}

impl Whole {
    /// Takes bytes in, and gives them to the store where there are enough of them.
    pub(super) async fn push(&mut self, bytes: &[u8], least: usize) {
        if self.failed.is_none() {
            self.unwritten.extend_from_slice(bytes);
        }
        if self.unwritten.len() >= least {
            self.write().await;
        }
    }

    /// Writes what is not yet written. Dropping the future loses nothing: the rest is written the next time.
    async fn write(&mut self) {
        while self.writing.is_some() || !self.unwritten.is_empty() {
            let next = || self.store.append(&self.handle, std::mem::take(&mut self.unwritten).into());
            let done = self.writing.get_or_insert_with(next).await;
            self.writing = None;
            if let Err(e) = done {
                let cause = std::error::Error::source(&e).map(|cause| format!(": {cause}")).unwrap_or_default();
                self.failed = Some(format!("{e}{cause}"));
                self.unwritten.clear();
            }
        }
    }
}

impl Capture {
    /// Keeps output, and the whole under this handle of the store, if it gets long.
    pub(super) fn new(store: Arc<dyn BlobStore>, handle: String) -> Self {
        let whole = Whole { store, handle, begun: false, unwritten: Vec::new(), writing: None, failed: None };
        Self { head: Vec::new(), tail: VecDeque::new(), total: 0, whole }
    }

    pub(super) async fn push(&mut self, bytes: &[u8]) {
        self.total += u64::try_from(bytes.len()).unwrap_or_default();
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(first);
        if !self.whole.begun && self.tail.len() + rest.len() > TAIL {
            self.begin();
        }
        self.tail.extend(rest);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
        if self.whole.begun {
            self.whole.push(rest, PIECE).await;
        }
    }

    /// Has the whole kept, however short it is; up to here nothing of it is lost.
    fn begin(&mut self) {
        self.whole.begun = true;
        self.whole.unwritten.extend(self.head.iter().chain(&self.tail));
    }

    /// The handle of the whole and what goes on into it, for a job that writes on; `None` where the store failed.
    pub(super) async fn goes_on(mut self) -> (Option<String>, Whole) {
        if !self.whole.begun {
            self.begin();
        }
        self.whole.write().await;
        let handle = self.whole.failed.is_none().then(|| self.whole.handle.clone());
        (handle, self.whole)
    }

    /// The text for the model, and the handle of the whole, where it is kept.
    pub(super) async fn text(&mut self) -> (String, Option<String>) {
        self.whole.write().await;
        let tail = self.tail.make_contiguous();
        let kept = u64::try_from(self.head.len() + tail.len()).unwrap_or(u64::MAX);
        if self.total <= kept {
            let all = [self.head.as_slice(), tail].concat();
            return (String::from_utf8_lossy(&all).into_owned(), None);
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
        let handle = &self.whole.handle;
        let (note, whole) = match &self.whole.failed {
            None => (format!("the whole is output `{handle}`"), Some(handle.clone())),
            Some(why) => (format!("output `{handle}` does not hold the whole: {why}"), None),
        };
        let mut text = String::from_utf8_lossy(head).into_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[{} of {} bytes left out; {note}]\n", self.total - shown, self.total));
        text.push_str(&String::from_utf8_lossy(tail));
        (text, whole)
    }
}
