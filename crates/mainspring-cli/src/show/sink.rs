//! Where text goes: the standard streams, or above the line that is being edited.

use std::io::{self, Write as _};

use rustyline::ExternalPrinter;

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

/// All of it above the prompt, in whole lines.
pub(crate) struct Editor<P> {
    printer: P,
    open: String,
}

impl<P> Editor<P> {
    pub(crate) fn new(printer: P) -> Self {
        Self { printer, open: String::new() }
    }
}

impl<P: ExternalPrinter + Send> Sink for Editor<P> {
    fn answer(&mut self, text: &str) -> io::Result<()> {
        self.open.push_str(text);
        let Some(end) = self.open.rfind('\n') else { return Ok(()) };
        let rest = self.open.split_off(end.saturating_add(1));
        let lines = std::mem::replace(&mut self.open, rest);
        self.printer.print(lines).map_err(io::Error::other)
    }

    fn aside(&mut self, text: &str) -> io::Result<()> {
        if !self.open.is_empty() {
            self.answer("\n")?;
        }
        self.printer.print(text.to_owned()).map_err(io::Error::other)
    }
}
