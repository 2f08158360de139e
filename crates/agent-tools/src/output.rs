//! `output`: pages through what was too long to show.

use std::fmt::Write as _;

use agent_core::{
    BlobError, BlobStore, BoxFuture, Effects, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolOutput, ToolSpec,
    ToolSpecError,
};
use grep_matcher::Matcher as _;
use serde::{Deserialize, Serialize};

use crate::{Workspace, args, decode::boundary, search::matcher};

const DESCRIPTION: &str = "Shows a piece of a long output by its handle, or only its lines that match a pattern. A \
     command that runs on in the background adds to its output: ask again for more.";
const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["handle"],"properties":{
    "handle":{"type":"string","minLength":1,"description":"The handle that a note in brackets told"},
    "from_byte":{"type":"integer","description":"Where to begin (default 0); below 0 counts from the end"},
    "bytes":{"type":"integer","minimum":1,"description":"How many bytes to show (default and at most 49152)"},
    "pattern":{"type":"string","minLength":1,
        "description":"Show only lines that match this regular expression, each with the byte it begins at"}}}"#;

/// What is shown at most; below what a run shows by default, so that it isn't cut twice.
const SHOWN: usize = 48 * 1024;
/// The longest piece of a line that is shown for a pattern.
const LINE: usize = 500;
/// The lines that are shown for a pattern.
const LINES: usize = 200;
/// How much is looked at in one piece; a longer line is taken for several.
const PIECE: usize = 256 * 1024;

/// The tool `output`. It runs beside others; dropping its future leaves nothing behind.
///
/// It reads what the other tools of the workspace have put into its store ([`Workspace::outputs`]).
#[derive(Debug)]
pub struct Output {
    spec: ToolSpec,
    workspace: Workspace,
}

#[derive(Deserialize)]
struct Args {
    handle: String,
    from_byte: Option<i64>,
    bytes: Option<usize>,
    pattern: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    /// The bytes that were shown or looked at: from here...
    from: u64,
    /// ... to here, which is no longer one of them.
    to: u64,
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<usize>,
}

impl Output {
    /// The tool for a workspace.
    ///
    /// # Errors
    /// None in practice: the spec is a constant.
    pub fn new(workspace: &Workspace) -> Result<Self, ToolSpecError> {
        let spec = args::spec("output", "Output", DESCRIPTION, SCHEMA)?;
        Ok(Self { spec, workspace: workspace.clone() })
    }

    async fn show(&self, args: Args) -> Result<ToolOutput, ToolError> {
        let store = self.workspace.blobs().as_ref();
        let handle = args.handle.as_str();
        let total = store.read(handle, 0, 0).await.map_err(|e| explain(handle, e))?.total;
        let from = match args.from_byte.unwrap_or_default() {
            back @ ..0 => total.saturating_sub(back.unsigned_abs()),
            from => from.unsigned_abs(),
        };
        if from >= total && total > 0 {
            return Err(ToolError::failed(format!("the output has {total} bytes so far; there is no byte {from}")));
        }
        match &args.pattern {
            Some(pattern) => lines(store, handle, from, &matcher(pattern, false, false)?).await,
            None => page(store, handle, from, args.bytes.unwrap_or(SHOWN).min(SHOWN)).await,
        }
    }
}

impl Tool for Output {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, _: &RawJson) -> Effects {
        Effects::shared()
    }

    fn call(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move {
            match args::read(&self.spec, &arguments) {
                Ok(args) => context.cancel.race(self.show(args)).await.unwrap_or(Err(ToolError::Cancelled)).into(),
                Err(e) => ToolOutcome::Error(e),
            }
        })
    }
}

fn explain(handle: &str, error: BlobError) -> ToolError {
    let message = match &error {
        BlobError::Missing { .. } => {
            format!("no output is kept under `{handle}`: the handle is wrong, or the output made room for later ones")
        }
        other => other.to_string(),
    };
    ToolError::Failed { message, source: Some(Box::new(error)) }
}

async fn page(store: &dyn BlobStore, handle: &str, from: u64, most: usize) -> Result<ToolOutput, ToolError> {
    let part = store.read(handle, from, most).await.map_err(|e| explain(handle, e))?;
    // Whole characters, where there are any.
    let whole = part.bytes.get(..boundary(&part.bytes)).filter(|whole| !whole.is_empty()).unwrap_or(&part.bytes);
    let to = from + u64::try_from(whole.len()).unwrap_or_default();
    let mut text = String::from_utf8_lossy(whole).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if whole.is_empty() {
        text.push_str("[empty so far]");
    } else {
        let _ = write!(text, "[bytes {from} to {} of {}", to - 1, part.total);
        text.push_str(&if to < part.total { format!("; from_byte {to} reads on]") } else { "]".to_owned() });
    }
    Ok(args::answer(text, &Details { from, to, total: part.total, matches: None }))
}

async fn lines(
    store: &dyn BlobStore,
    handle: &str,
    from: u64,
    matcher: &grep_regex::RegexMatcher,
) -> Result<ToolOutput, ToolError> {
    let (mut text, mut at, mut matches) = (String::new(), from, 0);
    let (total, full) = 'pieces: loop {
        let part = store.read(handle, at, PIECE).await.map_err(|e| explain(handle, e))?;
        let last = at + u64::try_from(part.bytes.len()).unwrap_or_default() >= part.total;
        // The end of a line may stand in the next piece, which begins with this line then.
        let whole = match part.bytes.iter().rposition(|b| *b == b'\n') {
            Some(end) if !last => part.bytes.get(..=end),
            _ => Some(&*part.bytes),
        };
        for line in whole.unwrap_or_default().split_inclusive(|b| *b == b'\n') {
            let content = line.trim_ascii_end();
            if matcher.is_match(content).is_ok_and(|is| is) {
                if matches == LINES || text.len() > SHOWN {
                    break 'pieces (part.total, true);
                }
                matches += 1;
                let cut = content.get(..LINE).unwrap_or(content);
                let cut = cut.get(..boundary(cut)).unwrap_or(cut);
                let more = if content.len() > LINE { " …" } else { "" };
                let _ = writeln!(text, "{at}: {}{more}", String::from_utf8_lossy(cut));
            }
            at += u64::try_from(line.len()).unwrap_or_default();
        }
        if last {
            break (part.total, false);
        }
    };
    let name = if matches == 1 { "line" } else { "lines" };
    let _ = match (matches, full) {
        (0, _) => write!(text, "[no line matches in bytes {from} to {total}]"),
        (_, false) => write!(text, "[{matches} {name} of {total} bytes; from_byte shows what is around one]"),
        (_, true) => write!(text, "[{matches} {name}; from_byte {at} finds more]"),
    };
    Ok(args::answer(text, &Details { from, to: at, total, matches: Some(matches) }))
}
