//! For people: the answer as it comes, one line for each tool, diffs, and what it came to.

use std::{collections::BTreeMap, io};

use agent_core::{AgentEvent, BlockStart, CallId, ModelEvent, Money, RawJson, ToolOutput};
use agent_loop::{Ending, StopCause};
use serde_json::Value;

use super::{Ended, Sink};
use crate::terminal::{Markdown, Progress, Style, Theme, cut, diff, safe};

/// How many lines of a result are shown, and of a diff.
const RESULT: usize = 3;
const DIFF: usize = 40;
/// How many calls in a row are shown one by one.
const CALLS: usize = 12;

/// What is shown of a run.
pub(crate) struct Plain {
    sink: Box<dyn Sink>,
    theme: Theme,
    width: usize,
    /// `None` where the answer goes into a pipe or a file, as it is.
    markdown: Option<Markdown>,
    /// Whether the answer has begun and its line is open.
    is_open: bool,
    thinks: bool,
    tools: BTreeMap<CallId, String>,
    /// How many calls there were since the last text.
    calls: usize,
    /// How far a tool is, in a line that is written over.
    progress: Progress,
}

impl Plain {
    /// `formats` where a person reads the answer in a terminal.
    pub(crate) fn new(sink: Box<dyn Sink>, theme: Theme, width: usize, formats: bool) -> Self {
        let markdown = formats.then(|| Markdown::new(theme, width));
        let (tools, progress) = (BTreeMap::new(), Progress::new(theme, None));
        Self { sink, theme, width, markdown, is_open: false, thinks: false, tools, calls: 0, progress }
    }

    /// Whether a line can be written over, to show how far a tool is.
    pub(crate) fn redraws(mut self, can: bool) -> Self {
        self.progress = Progress::new(self.theme, can.then_some(self.width));
        self
    }

    /// Said whole, however long.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        self.close()?;
        let line = format!("{}\n", self.theme.paint(Style::DIM, safe(text)));
        self.sink.aside(&line)
    }

    pub(crate) fn event(&mut self, event: &AgentEvent) -> io::Result<()> {
        match event {
            AgentEvent::Model(ModelEvent::TextDelta { text, .. }) => self.text(text),
            AgentEvent::Model(ModelEvent::BlockStart { start: BlockStart::Thinking { .. }, .. }) if !self.thinks => {
                self.thinks = true;
                self.line(Style::DIM, "thinking …")
            }
            AgentEvent::Model(ModelEvent::Stop { .. }) => self.close(),
            AgentEvent::TurnStart { .. } => {
                self.thinks = false;
                Ok(())
            }
            AgentEvent::ToolStart { call, name, arguments, .. } => self.tool(*call, name, arguments),
            AgentEvent::ToolProgress { text, .. } => {
                let last = text.trim_end().lines().last().unwrap_or_default();
                match self.progress.show(&format!("   {last}")) {
                    shown if shown.is_empty() => Ok(()),
                    shown => self.sink.aside(&shown),
                }
            }
            AgentEvent::ToolEnd { call, output } => self.result(*call, output),
            AgentEvent::Retry { attempt, error, delay_ms, .. } => {
                let wait = seconds(*delay_ms);
                self.line(Style::WARNING, &format!("attempt {attempt} failed, again in {wait}: {error}"))
            }
            AgentEvent::CacheBreak(broken) => self.line(
                Style::WARNING,
                &format!("the prompt cache does not hold: {:?} ({} tokens)", broken.cause, broken.tokens_lost),
            ),
            AgentEvent::LoopDetected { tool, repetitions, .. } => {
                self.line(Style::WARNING, &format!("`{tool}` was called {repetitions} times in a row"))
            }
            AgentEvent::Lost { losses } => {
                let mut said: Vec<String> = losses.iter().map(|loss| loss.what.to_string()).collect();
                said.dedup();
                self.line(Style::DIM, &format!("not sent: {}", said.join("; ")))
            }
            AgentEvent::InputRejected { reason } => self.line(Style::ERROR, &format!("not taken: {reason}")),
            _ => Ok(()),
        }
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.wipe()?;
        self.calls = 0;
        self.is_open = true;
        match &mut self.markdown {
            Some(markdown) => {
                let shown = markdown.push(text);
                self.sink.answer(&shown)
            }
            None => {
                self.sink.answer(text)?;
                self.is_open = !text.ends_with('\n');
                Ok(())
            }
        }
    }

    /// Takes the line of progress away.
    fn wipe(&mut self) -> io::Result<()> {
        match self.progress.clear() {
            "" => Ok(()),
            wipe => self.sink.aside(wipe),
        }
    }

    /// Ends the answer's last line.
    fn close(&mut self) -> io::Result<()> {
        self.wipe()?;
        if !std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        let rest = match &mut self.markdown {
            Some(markdown) => markdown.finish(),
            None => "\n".to_owned(),
        };
        self.sink.answer(&rest)
    }

    fn tool(&mut self, call: CallId, name: &str, arguments: &RawJson) -> io::Result<()> {
        self.tools.insert(call, name.to_owned());
        self.calls = self.calls.saturating_add(1);
        if self.calls == CALLS + 1 {
            return self.line(Style::DIM, "-> more of these …");
        }
        if self.calls > CALLS {
            return Ok(());
        }
        self.close()?;
        let arguments = cut(&brief(arguments.get()), self.width.saturating_sub(name.len().saturating_add(4)));
        let line = format!("-> {} {arguments}\n", self.theme.paint(Style::BOLD, safe(name)));
        self.sink.aside(&line)
    }

    fn result(&mut self, call: CallId, output: &ToolOutput) -> io::Result<()> {
        self.wipe()?;
        let tool = self.tools.remove(&call).unwrap_or_default();
        if self.calls > CALLS && !output.is_error {
            return Ok(());
        }
        let details = output.details.as_ref().and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        let changes = details.as_ref().and_then(|details| details.get("diff")).and_then(Value::as_str);
        if let Some(changes) = changes.filter(|changes| !changes.is_empty()) {
            let lines = diff(changes, self.theme, self.width.saturating_sub(3), DIFF);
            return self.sink.aside(&lines.iter().map(|line| format!("   {line}\n")).collect::<String>());
        }
        let text: String = output.content.iter().filter_map(|block| block.as_text()).collect();
        let style = if output.is_error { Style::ERROR } else { Style::DIM };
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        // What a command says ends with what matters; everything else begins with it.
        let first = if tool == "bash" { lines.len().saturating_sub(RESULT) } else { 0 };
        for line in lines.iter().skip(first).take(RESULT) {
            self.line(style, &format!("   {line}"))?;
        }
        match lines.len().saturating_sub(RESULT) {
            0 => Ok(()),
            more => self.line(Style::DIM, &format!("   … {more} more lines")),
        }
    }

    pub(crate) fn question(&mut self, tool: &str, lines: &[String]) -> io::Result<()> {
        self.close()?;
        self.line(Style::WARNING, &format!("`{tool}` wants to:"))?;
        for line in lines {
            // Whole, however long: what is not seen cannot be agreed to.
            let style = match line.as_bytes().first() {
                Some(b'+') => Style::GOOD,
                Some(b'-') => Style::ERROR,
                _ => Style::PLAIN,
            };
            self.sink.aside(&format!("   {}\n", self.theme.paint(style, line)))?;
        }
        self.sink.aside("Agree? y: yes, a: always for this tool, n: no, or say why not\n")
    }

    pub(crate) fn end(&mut self, ended: &Ended<'_>) -> io::Result<()> {
        self.close()?;
        self.calls = 0;
        let report = ended.report;
        match &report.ending {
            Ending::Completed => {}
            Ending::Refused => self.line(Style::WARNING, "the model refused")?,
            Ending::Truncated => self.line(Style::WARNING, "the answer is cut: the model's limit of output")?,
            Ending::Cancelled => self.line(Style::WARNING, "cancelled; what was done is kept")?,
            Ending::Paused { approvals, .. } => {
                let id = ended.session.as_deref().unwrap_or("ID");
                let text = format!(
                    "waiting for {} approvals: answer with `mainspring resume {id} --allow`, or --deny REASON",
                    approvals.len()
                );
                self.line(Style::WARNING, &text)?;
            }
            Ending::Stopped(StopCause::Budget(reason)) => {
                self.line(Style::WARNING, &format!("stopped before it costs more than --max-cost: {reason}"))?;
            }
            Ending::Stopped(cause) => self.line(Style::WARNING, &format!("stopped: {cause}"))?,
            failed => self.line(Style::ERROR, &format!("failed: {}", failure(failed)))?,
        }
        let usage = &report.usage;
        let cached = match (usage.cache_read, usage.prompt()) {
            (0, _) | (_, 0) => String::new(),
            (read, all) => format!(" ({}% from cache)", read.saturating_mul(100).checked_div(all).unwrap_or(0)),
        };
        let tokens = format!("{} in{cached}, {} out", usage.prompt(), usage.generated());
        let cost = report.cost.map_or_else(|| "cost not known".to_owned(), money);
        let line = format!("[{} | {tokens} | {cost} | {}]", ended.model, seconds(ended.elapsed_ms));
        self.line(Style::DIM, &line)
    }

    fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.close()?;
        let text = cut_or_whole(text, self.width, style);
        self.sink.aside(&format!("{}\n", self.theme.paint(style, text)))
    }
}

/// What matters less is cut to a line; errors and warnings are shown whole.
fn cut_or_whole(text: &str, width: usize, style: Style) -> String {
    if style == Style::DIM && !text.starts_with('[') { cut(text, width) } else { safe(text).into_owned() }
}

/// Why a run failed, in one line.
pub(crate) fn failure(ending: &Ending) -> String {
    let Ending::Failed(error) = ending else { return format!("{ending:?}") };
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    if let agent_loop::RunError::Provider(error) = error
        && let Some(advice) = error.advice().filter(|advice| !text.contains(*advice))
    {
        text = format!("{text}; {advice}");
    }
    text
}

/// Arguments as `name=value`, as people write them.
fn brief(arguments: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(arguments) else { return arguments.to_owned() };
    let one = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name}={text:?}"),
        Value::Array(all) if all.iter().any(Value::is_object) => format!("{name}={}", all.len()),
        other => format!("{name}={other}"),
    };
    fields.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn seconds(ms: u64) -> String {
    let tenths = ms.saturating_add(50).checked_div(100).unwrap_or(0);
    format!("{}.{} s", tenths.checked_div(10).unwrap_or(0), tenths.checked_rem(10).unwrap_or(0))
}

/// An amount for people: four digits behind the point, and never nothing where there was something.
pub(crate) fn money(amount: Money) -> String {
    const TENTH_OF_MILLI: u64 = 100_000_000;
    let units = amount.pico_dollars().div_ceil(TENTH_OF_MILLI);
    match units {
        0 => "free".to_owned(),
        units => {
            let text = format!("${}.{:04}", units / 10_000, units % 10_000);
            // Cents are always told, what is below them where there is something.
            text.strip_suffix("00").unwrap_or(&text).to_owned()
        }
    }
}
