//! One run: events to the screen, answers to questions, Ctrl+C to the tool and then to the run.

use std::{io, path::Path, thread, time::Instant};

use agent_core::{AgentEvent, ApprovalAnswer, CallId};
use agent_loop::{Ending, Run, RunReport};
use tokio::sync::mpsc;

use crate::{
    approve::{self, Always},
    error::{Error, Status},
    interrupt::Stoppable,
    show::{Ended, Show},
};

/// What somebody at the terminal does.
pub(crate) enum Input {
    Line(String),
    /// Ctrl+C while a line is edited.
    Interrupt,
    /// Ctrl+D, or the end of the input.
    End,
}

/// Where input comes from while a run is on.
pub(crate) enum Inputs {
    /// Nobody is there.
    None,
    /// Standard input, line by line, from the first question on.
    Stdin(Option<mpsc::Receiver<Input>>),
    /// The line editor of a chat; a line that answers no question steers the run.
    Editor(mpsc::Receiver<Input>),
}

impl Inputs {
    fn open(&mut self) {
        if let Self::Stdin(lines @ None) = self {
            *lines = Some(stdin());
        }
    }

    pub(crate) async fn next(&mut self) -> Input {
        match self {
            Self::Stdin(Some(lines)) | Self::Editor(lines) => lines.recv().await.unwrap_or(Input::End),
            _ => std::future::pending().await,
        }
    }
}

/// Lines of standard input. The thread ends with the process: a blocked read cannot be taken back.
fn stdin() -> mpsc::Receiver<Input> {
    let (send, receive) = mpsc::channel(16);
    thread::spawn(move || {
        for line in io::stdin().lines().map_while(Result::ok) {
            if send.blocking_send(Input::Line(line)).is_err() {
                return;
            }
        }
    });
    receive
}

/// What a run is driven with.
pub(crate) struct Drive<'a> {
    pub(crate) show: &'a mut Show,
    pub(crate) inputs: &'a mut Inputs,
    pub(crate) stop: &'a Stoppable,
    pub(crate) always: &'a Always,
    pub(crate) root: &'a Path,
    pub(crate) model: &'a str,
    pub(crate) session: Option<String>,
}

/// A question that waits for its answer.
struct Asked {
    call: CallId,
    tool: String,
    arguments: String,
}

impl Drive<'_> {
    /// Runs to the end. The first Ctrl+C stops a tool that runs, the next one ends the run, one more leaves it.
    pub(crate) async fn run(mut self, mut run: Run) -> Result<(RunReport, Status), Error> {
        let started = Instant::now();
        let mut asked: Vec<Asked> = Vec::new();
        let mut is_cancelled = false;
        loop {
            tokio::select! {
                event = run.next() => {
                    let Some(event) = event else { break };
                    self.show.event(&event)?;
                    match event {
                        AgentEvent::ApprovalAsked { call, tool, .. } => {
                            let arguments = tool.arguments.text().to_owned();
                            asked.push(Asked { call, tool: tool.name.clone(), arguments });
                            if asked.len() == 1 {
                                self.ask(asked.first())?;
                            }
                        }
                        // Answered by its end: a cancel, a limit.
                        AgentEvent::ToolEnd { call, .. } => asked.retain(|one| one.call != call),
                        _ => {}
                    }
                }
                input = self.inputs.next() => match input {
                    Input::Line(line) if !asked.is_empty() => {
                        let one = asked.remove(0);
                        match answer(line.trim()) {
                            Some((answer, always)) => {
                                if always {
                                    self.always.add(&one.tool);
                                }
                                let mut answered = vec![(one.call, answer.clone())];
                                if always {
                                    // What waits behind it of the same tool is agreed to as well.
                                    let (same, rest): (Vec<_>, Vec<_>) =
                                        asked.drain(..).partition(|other| other.tool == one.tool);
                                    asked = rest;
                                    answered.extend(same.into_iter().map(|other| (other.call, answer.clone())));
                                }
                                for (call, answer) in answered {
                                    if let Err(full) = run.handle().answer(call, answer) {
                                        self.show.note(&full.to_string())?;
                                    }
                                }
                            }
                            None => asked.insert(0, one),
                        }
                        self.ask(asked.first())?;
                    }
                    Input::Line(line) if !line.trim().is_empty() => {
                        let text = line.trim();
                        if text.starts_with('/') && !text.starts_with("/queue ") {
                            self.show.note("commands wait until the run has ended; Ctrl+C ends it")?;
                            continue;
                        }
                        let (queued, said) = match text.strip_prefix("/queue ") {
                            Some(later) => (run.handle().follow_up(later), "afterwards"),
                            None => (run.handle().steer(text), "next"),
                        };
                        match queued {
                            Ok(_) => self.show.note(&format!("({said}: {text})"))?,
                            Err(full) => self.show.note(&full.to_string())?,
                        }
                    }
                    Input::Line(_) => {}
                    Input::Interrupt if is_cancelled => return Err(Error::Cancelled),
                    Input::Interrupt => self.interrupt(&run, &mut is_cancelled)?,
                    Input::End => {
                        *self.inputs = Inputs::None;
                        run.handle().cancel();
                    }
                },
                _ = tokio::signal::ctrl_c() => {
                    // The run is dropped where it stands; what was done is in its journal.
                    if is_cancelled {
                        return Err(Error::Cancelled);
                    }
                    self.interrupt(&run, &mut is_cancelled)?;
                }
            }
        }
        let report = run.into_report().await;
        let status = Status::of(&report.ending);
        let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let ended = Ended { report: &report, status, model: self.model, session: self.session, elapsed_ms };
        self.show.end(&ended)?;
        Ok((report, status))
    }

    /// Asks the question that is first in line.
    fn ask(&mut self, asked: Option<&Asked>) -> io::Result<()> {
        let Some(asked) = asked else { return Ok(()) };
        self.inputs.open();
        self.show.question(&asked.tool, &approve::preview(self.root, &asked.tool, &asked.arguments))
    }

    /// Ctrl+C: what a tool does first, then the run.
    fn interrupt(&mut self, run: &Run, is_cancelled: &mut bool) -> io::Result<()> {
        if self.stop.stop() {
            return self.show.note("stopped the tool; Ctrl+C again ends the run");
        }
        *is_cancelled = true;
        run.handle().cancel();
        Ok(())
    }
}

/// What a line answers, and whether for good; `None` where it says nothing.
fn answer(line: &str) -> Option<(ApprovalAnswer, bool)> {
    match line.to_lowercase().as_str() {
        "" => None,
        "y" | "yes" => Some((ApprovalAnswer::Allow, false)),
        "a" | "always" => Some((ApprovalAnswer::Allow, true)),
        "n" | "no" => Some((ApprovalAnswer::Deny("the user said no".into()), false)),
        _ => Some((ApprovalAnswer::Deny(line.to_owned()), false)),
    }
}

/// Whether a run waits for somebody who is not here.
pub(crate) fn is_paused(report: &RunReport) -> bool {
    matches!(report.ending, Ending::Paused { .. })
}
