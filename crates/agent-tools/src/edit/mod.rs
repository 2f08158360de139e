//! `edit`: replaces pieces of a text file, all of them or none.

mod find;
mod lines;

use std::{fmt::Write as _, io::Read as _, sync::PoisonError};

use agent_core::{
    BoxFuture, Effects, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolOutput, ToolSpec, ToolSpecError,
};
use serde::{Deserialize, Serialize};
use similar::TextDiff;

use self::{find::How, lines::Lines};
use crate::{
    Workspace,
    args::{self, Work},
    blocking::Stop,
    decode::Encoding,
    workspace::UseOf,
    write,
};

const DESCRIPTION: &str = "Replaces text in a file. Every old_text has to stand in the file exactly once (or set all), \
     without the line numbers that read shows; the edits are made in order, and none is made if one fails. Line endings \
     and encoding of the file are kept.";
const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["path","edits"],"properties":{
    "path":{"type":"string","description":"The file; relative paths begin in the working folder"},
    "edits":{"type":"array","minItems":1,"items":{"type":"object","additionalProperties":false,
        "required":["old_text","new_text"],"properties":{
        "old_text":{"type":"string","description":"The text to replace, with enough around it to be unique"},
        "new_text":{"type":"string","description":"What to put there"},
        "all":{"type":"boolean","description":"Replace every place where it stands (default false)"}}}}}}"#;

/// The longest file that is edited.
const MAX_FILE: u64 = 32 * 1024 * 1024;
/// The longest diff that is shown.
const MAX_DIFF: usize = 64 * 1024;
/// How much work a diff may take: the two lengths multiplied, in lines.
const MAX_DIFF_LINES: usize = 200_000;

/// The tool `edit`. Calls for one path run one after the other, however the path is written.
///
/// A text is looked for exactly, then but for spaces at line ends, then but for indentation (which the new text is
/// given then); the answer says which it was. The details hold a diff. Refused: a text that is not there (with the
/// nearest one) or there more than once, and a file that has changed since it was read. Written as by `write`.
#[derive(Debug)]
pub struct Edit {
    spec: ToolSpec,
    workspace: Workspace,
}

#[derive(Deserialize)]
struct Args {
    path: String,
    edits: Vec<Replacement>,
}

#[derive(Deserialize)]
struct Replacement {
    old_text: String,
    new_text: String,
    #[serde(default)]
    all: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    path: String,
    replacements: usize,
    diff: String,
}

impl Edit {
    /// The tool for a workspace.
    ///
    /// # Errors
    /// None in practice: the spec is a constant.
    pub fn new(workspace: &Workspace) -> Result<Self, ToolSpecError> {
        let spec = args::spec("edit", "Edit", DESCRIPTION, SCHEMA)?;
        Ok(Self { spec, workspace: workspace.clone() })
    }
}

impl Tool for Edit {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, arguments: &RawJson) -> Effects {
        write::effects(&self.workspace, arguments)
    }

    fn call(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        args::work((&self.spec, &self.workspace), (arguments, context), Work::Changes, edit)
    }
}

fn edit(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<ToolOutput, ToolError> {
    let mut place = workspace.place(&args.path, UseOf::Writing)?;
    let lock = workspace.lock(&place.real);
    let _alone = lock.lock().unwrap_or_else(PoisonError::into_inner);
    stop.check()?;
    let (file, before) = place.open()?;
    workspace.unchanged(&place, &before)?;
    place.make_parents()?;
    let shown = place.shown.as_str();
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|e| ToolError::Failed {
        message: format!("`{shown}` cannot be read: {}", e.kind()),
        source: Some(Box::new(e)),
    })?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE {
        return Err(ToolError::failed(format!("`{shown}` has more than {MAX_FILE} bytes, which is too much to edit")));
    }
    let decoded = Encoding::sniff(&bytes, true).and_then(|encoding| Some((encoding, encoding.decode(&bytes)?)));
    let (encoding, old) = decoded.ok_or_else(|| ToolError::failed(format!("`{shown}` is not text")))?;
    let mut lines = Lines::new(&old);
    let mut notes = Vec::new();
    for (i, replacement) in args.edits.iter().enumerate() {
        stop.check()?;
        let name = if args.edits.len() == 1 { String::new() } else { format!("edit {}: ", i + 1) };
        replace(&mut lines, replacement, shown, &name, &mut notes)
            .map_err(|reason| ToolError::failed(format!("{name}{reason}; `{shown}` was not changed")))?;
    }
    let new = lines.whole();
    let encoded = encoding.encode(&new).map_err(|c| {
        let name = encoding.name();
        ToolError::failed(format!("`{shown}` is written in {name}, which has no `{c}`; it was not changed"))
    })?;
    let stat = place.put(&encoded, Some(&before), stop)?;
    workspace.saw(&place.real, &stat);
    let path = workspace.show(&place.real).into_owned();
    let places = if notes.len() == 1 { "place" } else { "places" };
    let text = format!("edited `{path}` in {} {places}: {}", notes.len(), summary(&notes));
    Ok(args::answer(text, &Details { diff: diff(&path, &old, &new), path, replacements: notes.len() }))
}

/// Makes one replacement, or says why not.
fn replace(
    lines: &mut Lines,
    replacement: &Replacement,
    shown: &str,
    name: &str,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    let (old, new) = (replacement.old_text.replace("\r\n", "\n"), replacement.new_text.replace("\r\n", "\n"));
    if old.is_empty() {
        return Err("old_text is empty; say what to replace, or use write for a whole file".to_owned());
    }
    if old == new {
        return Err("old_text and new_text are the same".to_owned());
    }
    let found = find::find(&lines.text, &old, &new);
    let apart = found.windows(2).all(|pair| matches!(pair, [a, b] if a.range.end <= b.range.start));
    if found.is_empty() {
        return Err(missing(&lines.text, &old, &new, shown));
    }
    if found.len() > 1 && !(replacement.all && apart) {
        let at: Vec<String> = found.iter().take(10).map(|f| lines.line_at(f.range.start).to_string()).collect();
        let at = at.join(", ");
        let advice = if apart { "give more of the text around it, or set all" } else { "they overlap" };
        return Err(format!("old_text stands there {} times, in lines {at}; {advice}", found.len()));
    }
    let first = notes.len();
    // From the end, so that the places before it stay where they are.
    for place in found.iter().rev() {
        let line = lines.line_at(place.range.start);
        let how = match place.how {
            How::Exact => "",
            How::TrailingSpace => " (found but for spaces at line ends)",
            How::Indentation => " (found but for indentation, which was adapted)",
        };
        notes.insert(first, format!("{name}line {line}{how}"));
        lines.replace(place.range.clone(), &place.new);
    }
    Ok(())
}

fn missing(text: &str, old: &str, new: &str, shown: &str) -> String {
    let numbered = |line: &str| {
        line.split_once('\t').is_some_and(|(n, _)| !n.trim().is_empty() && n.trim().bytes().all(|b| b.is_ascii_digit()))
    };
    let mut reason = format!("old_text does not stand in `{shown}`");
    if old.trim_end_matches('\n').split('\n').all(numbered) {
        reason.push_str("; it has the line numbers that read shows: leave them out");
    } else if !new.trim().is_empty() && text.contains(new) {
        reason.push_str("; new_text does already");
    } else if let Some(nearest) = find::nearest(text, old) {
        let _ = writeln!(reason, "; {nearest}");
    }
    reason
}

/// The first notes, and how many more there are.
fn summary(notes: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut text: String = notes.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if let Some(more) = notes.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = write!(text, " and {more} more");
    }
    text
}

/// A unified diff, cut where it is too long to be looked at.
fn diff(path: &str, old: &str, new: &str) -> String {
    if old.lines().count() + new.lines().count() > MAX_DIFF_LINES {
        return format!("(no diff: {path} is too long)");
    }
    let diff = TextDiff::from_lines(old, new);
    let mut text = diff.unified_diff().context_radius(3).header(path, path).to_string();
    if text.len() > MAX_DIFF {
        text.truncate(text.floor_char_boundary(MAX_DIFF));
        text.push_str("\n(the diff goes on)\n");
    }
    text
}
