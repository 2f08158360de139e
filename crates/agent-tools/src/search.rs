//! `search`: lines that match a regular expression, in process.

use std::{fmt::Write as _, fs::File, io::Read as _, time::Duration};

use agent_core::{
    BoxFuture, Effects, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolOutput, ToolSpec, ToolSpecError,
};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

use crate::{
    Workspace,
    args::{self, Work},
    blocking::Stop,
    walk::{self, Ignored, Walk, reason},
    workspace::UseOf,
};

const DESCRIPTION: &str = "Searches files for lines that match a regular expression (Rust syntax, no look-around), in \
     sorted order. What .gitignore names, hidden and binary files are left out unless all is set.";
const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{
    "pattern":{"type":"string","minLength":1,"description":"The regular expression"},
    "literal":{"type":"boolean","description":"Take the pattern as plain text (default false)"},
    "ignore_case":{"type":"boolean","description":"Take capitals and small letters as the same (default false)"},
    "path":{"type":"string","description":"The folder or file (default: the working folder)"},
    "glob":{"type":"string","description":"Only files that match, such as *.rs or src/**/mod.rs"},
    "context":{"type":"integer","minimum":0,"maximum":20,"description":"Lines to show before and after (default 0)"},
    "limit":{"type":"integer","minimum":1,"maximum":1000,"description":"How many matching lines at most (default 100)"},
    "all":{"type":"boolean","description":"Hidden and ignored files, too (default false)"}}}"#;

/// How long it may take; what was found until then is shown.
const DEADLINE: Duration = Duration::from_secs(30);
/// The longest piece of a line that is shown, in bytes.
const LINE: usize = 500;
/// A file that is read at once: as far as the searcher looks for zeros in one piece (its buffer has this size).
const SMALL: usize = 64 * 1024;
/// What is shown in all, in bytes.
const SHOWN: usize = 48 * 1024;

/// The tool `search`. It runs beside others; dropping its future ends it.
///
/// The limits are over all files together, and what they cut off is said; so is what could not be looked into. The
/// order is that of the paths, on every run.
#[derive(Debug)]
pub struct Search {
    spec: ToolSpec,
    workspace: Workspace,
}

#[derive(Deserialize)]
struct Args {
    pattern: String,
    literal: Option<bool>,
    ignore_case: Option<bool>,
    path: Option<String>,
    glob: Option<String>,
    context: Option<usize>,
    limit: Option<usize>,
    all: Option<bool>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    matches: usize,
    files: usize,
    complete: bool,
    unreadable: Vec<String>,
}

impl Search {
    /// The tool for a workspace.
    ///
    /// # Errors
    /// None in practice: the spec is a constant.
    pub fn new(workspace: &Workspace) -> Result<Self, ToolSpecError> {
        let spec = args::spec("search", "Search", DESCRIPTION, SCHEMA)?;
        Ok(Self { spec, workspace: workspace.clone() })
    }
}

impl Tool for Search {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, _: &RawJson) -> Effects {
        Effects::shared()
    }

    fn call(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        args::work((&self.spec, &self.workspace), (arguments, context), Work::Looks(Some(DEADLINE)), search)
    }
}

/// A matcher of lines, or why there is none, in words for a model.
pub(crate) fn matcher(pattern: &str, literal: bool, ignore_case: bool) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(ignore_case).fixed_strings(literal);
    builder.line_terminator(Some(b'\n')).dfa_size_limit(16 << 20).size_limit(16 << 20);
    builder.build(pattern).map_err(|e| {
        let advice = "set literal to search for plain text";
        ToolError::invalid_arguments(format!("the pattern cannot be searched for; {advice}. {e}"))
    })
}

fn search(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<ToolOutput, ToolError> {
    let matcher = matcher(&args.pattern, args.literal == Some(true), args.ignore_case == Some(true))?;
    let shown = args.path.as_deref().unwrap_or(".");
    let place = workspace.place(shown, UseOf::Reading)?;
    if place.is_missing() {
        return Err(place.not_there().into());
    }
    let context = args.context.unwrap_or(0);
    let binary = if args.all == Some(true) { BinaryDetection::none() } else { BinaryDetection::quit(0) };
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(binary)
        .build();
    let limit = args.limit.unwrap_or(100);
    let mut found = Found {
        text: String::new(),
        head: Vec::new(),
        left: limit,
        files: 0,
        cut: false,
        unreadable: Vec::new(),
        end: None,
    };
    if place.is_folder() {
        for entry in Walk::new(workspace, &place, args.glob.as_deref(), None, Ignored::new(args.all))? {
            stop.check()?;
            if stop.is_late() {
                found.end = Some(End::Late);
            }
            if found.end.is_some() {
                break;
            }
            match entry {
                // A link is not followed: what it points to is found where it is.
                Ok(entry) if entry.kind == FileType::RegularFile => {
                    let name = || workspace.show(&place.real.join(&entry.path)).into_owned();
                    match entry.open() {
                        Ok(file) => found.file(&mut searcher, &matcher, file, name, stop),
                        Err(e) => found.unreadable.push(format!("{}: {}", name(), reason(e))),
                    }
                }
                Ok(_) => {}
                Err(e) => found.unreadable.push(e.0),
            }
        }
    } else {
        let file = place.open()?;
        found.file(&mut searcher, &matcher, file, || workspace.show(&place.real).into_owned(), stop);
    }
    stop.check()?;
    Ok(found.into_output(limit))
}

/// Searches a file. Most are small and are read by one call, which is half of the work.
fn look(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    mut file: &File,
    stat: &Stat,
    sink: &mut InFile<'_>,
) -> std::io::Result<()> {
    let mut head = std::mem::take(&mut sink.found.head);
    head.resize(SMALL + 1, 0);
    let searched = file.read(&mut head).and_then(|read| {
        let bytes = head.get(..read).unwrap_or_default();
        // The files of some file systems have no size and come in pieces.
        if read <= SMALL && u64::try_from(stat.st_size).ok() == u64::try_from(read).ok() {
            searcher.search_slice(matcher, bytes, &mut *sink)
        } else {
            searcher.search_reader(matcher, bytes.chain(file), &mut *sink)
        }
    });
    sink.found.head = head;
    searched
}

/// Why not everything was searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Limit,
    Long,
    Late,
}

struct Found {
    text: String,
    /// Where small files are read into.
    head: Vec<u8>,
    left: usize,
    files: usize,
    /// Whether a line was cut.
    cut: bool,
    unreadable: Vec<String>,
    end: Option<End>,
}

impl Found {
    fn file(
        &mut self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        (file, stat): (File, Stat),
        name: impl FnOnce() -> String,
        stop: &Stop,
    ) {
        let before = self.text.len();
        let mut sink = InFile { found: self, stop, any: false, binary: false };
        let searched = look(searcher, matcher, &file, &stat, &mut sink);
        let (any, binary) = (sink.any, sink.binary);
        if !any && searched.is_ok() {
            return;
        }
        let name = name();
        if let Err(e) = searched {
            self.unreadable.push(format!("{name}: {}", e.kind()));
        }
        if any {
            self.files += 1;
            let note = if binary { " (binary from here on)" } else { "" };
            if self.text.ends_with("\n--\n") {
                self.text.truncate(self.text.len() - 3);
            }
            self.text.insert_str(before, &format!("{name}:{note}\n"));
            self.text.push('\n');
        }
    }

    fn into_output(mut self, limit: usize) -> ToolOutput {
        let matches = limit - self.left;
        if matches == 0 && self.end.is_none() && self.unreadable.is_empty() {
            self.text.push_str("[no matches]\n");
        } else {
            let (lines, files) = (if matches == 1 { "line" } else { "lines" }, self.files);
            let _ = write!(self.text, "[{matches} {lines} in {files} {}", if files == 1 { "file" } else { "files" });
            self.text.push_str(match self.end {
                None => "]\n",
                Some(End::Limit) => "; there may be more: the limit is reached]\n",
                Some(End::Long) => "; there may be more: this is as much as can be shown]\n",
                Some(End::Late) => "; not everything was searched: the time is over]\n",
            });
        }
        let problems = self.unreadable.len();
        if self.cut {
            self.text.push_str("[… is where a long line is cut: read shows more of it]\n");
        }
        walk::tell(&mut self.text, "not searched", &self.unreadable);
        let complete = self.end.is_none() && problems == 0;
        args::answer(self.text, &Details { matches, files: self.files, complete, unreadable: self.unreadable })
    }
}

/// Takes in the lines of one file.
struct InFile<'a> {
    found: &'a mut Found,
    stop: &'a Stop,
    any: bool,
    binary: bool,
}

impl InFile<'_> {
    fn line(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) {
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let cut = String::from_utf8_lossy(line.get(..LINE).unwrap_or(line));
        let long = line.len() > LINE;
        self.found.cut |= long;
        let more = if long { " …" } else { "" };
        let _ = writeln!(self.found.text, "{}{mark} {cut}{more}", number.unwrap_or_default());
    }

    /// Whether to go on.
    fn goes_on(&mut self) -> bool {
        if self.found.text.len() > SHOWN {
            self.found.end = Some(End::Long);
        } else if self.stop.is_asked() || self.stop.is_late() {
            self.found.end = Some(End::Late);
        }
        self.found.end.is_none()
    }
}

impl Sink for InFile<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> Result<bool, std::io::Error> {
        if self.found.left == 0 {
            self.found.end = Some(End::Limit);
            return Ok(false);
        }
        self.any = true;
        self.found.left -= 1;
        self.line(line.line_number(), ':', line.bytes());
        Ok(self.goes_on())
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, std::io::Error> {
        // What stands before a match that is over the limit is not shown either.
        if self.found.left > 0 || *line.kind() == grep_searcher::SinkContextKind::After {
            self.any = true;
            self.line(line.line_number(), '-', line.bytes());
        }
        Ok(self.goes_on())
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, std::io::Error> {
        self.found.text.push_str("--\n");
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, std::io::Error> {
        self.binary = true;
        Ok(false)
    }
}
