//! Output on its way from a command to the model, to the user, and into the store.

use std::time::{Duration, Instant};

use agent_core::ToolContext;
use tokio::{io::AsyncReadExt as _, net::unix::pipe::Receiver, task::JoinHandle};

use super::capture::{Capture, Whole};
use crate::decode::boundary;

/// How often the user hears of output.
const PROGRESS: Duration = Duration::from_millis(100);

/// Output of a running command.
pub(super) struct Stream<'a> {
    pub(super) capture: Capture,
    context: &'a ToolContext,
    untold: Vec<u8>,
    told: Option<Instant>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(capture: Capture, context: &'a ToolContext) -> Self {
        Self { capture, context, untold: Vec::new(), told: None }
    }

    /// Reads to the end. Dropping the future loses nothing that was read.
    pub(super) async fn read(&mut self, pipe: &mut Receiver) {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
            let bytes = buffer.get(..read).unwrap_or_default();
            self.untold.extend_from_slice(bytes);
            if self.told.is_none_or(|told| told.elapsed() >= PROGRESS) || self.untold.len() > 64 * 1024 {
                self.tell();
            }
            self.capture.push(bytes).await;
        }
    }

    /// Tells the user what is new, up to the last whole character.
    pub(super) fn tell(&mut self) {
        let end = boundary(&self.untold);
        let piece: Vec<u8> = self.untold.drain(..end).collect();
        if !piece.is_empty() {
            self.told = Some(Instant::now());
            self.context.progress(String::from_utf8_lossy(&piece));
        }
    }
}

/// Reads what a job in the background writes after its shell has ended, until it is dropped. Without a reader the job
/// would be ended by its next line.
#[derive(Debug)]
pub(super) struct Reader(JoinHandle<()>);

impl Reader {
    pub(super) fn start(mut pipe: Receiver, mut whole: Whole) -> Self {
        Self(tokio::spawn(async move {
            let mut buffer = vec![0; 16 * 1024];
            while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
                whole.push(buffer.get(..read).unwrap_or_default(), 1).await;
            }
        }))
    }

    pub(super) fn is_done(&self) -> bool {
        self.0.is_finished()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.abort();
    }
}
