//! Where text goes: the standard streams, or above the line that is being edited.

use std::{
    io::{self, Write as _},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{SyncSender, TrySendError},
    },
    time::Duration,
};

/// Where the answer goes, and what is said about it.
pub(crate) trait Sink: Send {
    /// More of the answer.
    fn answer(&mut self, text: &str) -> io::Result<()>;
    /// More of what is said about the work: whole lines.
    fn aside(&mut self, text: &str) -> io::Result<()>;
}

/// The answer on standard output, the rest on standard error.
pub(crate) struct Std;

impl Sink for Std {
    fn answer(&mut self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn aside(&mut self, text: &str) -> io::Result<()> {
        io::stderr().lock().write_all(text.as_bytes())
    }
}

/// All of it above the line that is edited, in whole lines; as it is, once the editor has ended.
pub(crate) struct Editor {
    printer: SyncSender<String>,
    ended: Arc<AtomicBool>,
    open: String,
}

impl Editor {
    pub(crate) fn new(printer: SyncSender<String>, ended: Arc<AtomicBool>) -> Self {
        Self { printer, ended, open: String::new() }
    }

    fn print(&self, lines: String) -> io::Result<()> {
        let mut lines = lines;
        loop {
            if self.ended.load(Ordering::Acquire) {
                return io::stdout().lock().write_all(lines.as_bytes());
            }
            match self.printer.try_send(lines) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(back)) => lines = back,
                Err(TrySendError::Disconnected(_)) => return Err(io::ErrorKind::BrokenPipe.into()),
            }
            // The editor prints all that waits in a few milliseconds.
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Sink for Editor {
    fn answer(&mut self, text: &str) -> io::Result<()> {
        self.open.push_str(text);
        let Some(end) = self.open.rfind('\n') else { return Ok(()) };
        let rest = self.open.split_off(end.saturating_add(1));
        let lines = std::mem::replace(&mut self.open, rest);
        self.print(lines)
    }

    fn aside(&mut self, text: &str) -> io::Result<()> {
        if !self.open.is_empty() {
            self.answer("\n")?;
        }
        self.print(text.to_owned())
    }
}
