//! `read`: a page of a text file of any size, or an image.

mod media;
mod page;

use std::io::{Read as _, Seek, SeekFrom};

use agent_core::{
    BoxFuture, Effects, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolOutput, ToolSpec, ToolSpecError,
};
use serde::{Deserialize, Serialize};

use crate::{
    Workspace,
    args::{self, Work},
    blocking::Stop,
    decode::Encoding,
    workspace::UseOf,
};

const DESCRIPTION: &str = "Reads a text file of any size, by lines (default) or by bytes, or shows an image. Lines are \
     numbered; the numbers are no part of the file. A note in brackets at the end says what was left out and how to \
     read on.";
const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["path"],"properties":{
    "path":{"type":"string","description":"The file; relative paths begin in the working folder"},
    "offset":{"type":"integer","minimum":1,"description":"The first line to show, from 1 (default 1)"},
    "limit":{"type":"integer","minimum":1,"description":"How many lines to show at most (default 1000)"},
    "from_byte":{"type":"integer","minimum":0,"description":"Show bytes instead of lines, from this offset (from 0)"},
    "bytes":{"type":"integer","minimum":1,"description":"With from_byte: how many bytes (default and at most 49152)"}}}"#;

/// How much of a file is looked at to tell what it is.
const HEAD: usize = 64 * 1024;
/// What is shown at most; below what a run shows by default, so that it isn't cut twice.
const SHOWN: usize = 48 * 1024;

/// The tool `read`. It runs beside others, and dropping its future leaves nothing behind.
///
/// UTF-8, UTF-16 (with a mark or plainly so) and Latin-1 are read as text; PNG, JPEG, GIF and WebP, told by their
/// content, are shown as images up to 20 MB; other binary files are refused. `edit` and `write` refuse a file that
/// has changed since it was read here.
#[derive(Debug)]
pub struct Read {
    spec: ToolSpec,
    workspace: Workspace,
}

#[derive(Deserialize)]
struct Args {
    path: String,
    offset: Option<u64>,
    limit: Option<u64>,
    from_byte: Option<u64>,
    bytes: Option<u64>,
}

/// What the application is told.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    path: String,
    bytes: u64,
    encoding: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
}

impl Read {
    /// The tool for a workspace.
    ///
    /// # Errors
    /// None in practice: the spec is a constant.
    pub fn new(workspace: &Workspace) -> Result<Self, ToolSpecError> {
        let spec = args::spec("read", "Read", DESCRIPTION, SCHEMA)?;
        Ok(Self { spec, workspace: workspace.clone() })
    }
}

impl Tool for Read {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, _: &RawJson) -> Effects {
        Effects::shared()
    }

    fn call(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        args::work((&self.spec, &self.workspace), (arguments, context), Work::Looks(None), read)
    }
}

fn read(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<ToolOutput, ToolError> {
    let place = workspace.place(&args.path, UseOf::Reading)?;
    let (mut file, stat) = place.open()?;
    let shown = &place.shown;
    let failed = |e: std::io::Error| ToolError::Failed {
        message: format!("`{shown}` cannot be read: {}", e.kind()),
        source: Some(Box::new(e)),
    };
    let mut head = Vec::new();
    file.by_ref().take(u64::try_from(HEAD).unwrap_or(u64::MAX)).read_to_end(&mut head).map_err(failed)?;
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    if let Some(image) = media::image(&head) {
        return media::show(shown, image, file, head, size).map_err(failed)?;
    }
    let whole = head.len() < HEAD;
    let Some(encoding) = Encoding::sniff(&head, whole) else {
        let what = media::kind(&head);
        return Err(ToolError::failed(format!("`{shown}` is {what} of {size} bytes and not text; it is not shown")));
    };
    workspace.saw(&place.real, &stat);
    let path = workspace.show(&place.real).into_owned();
    let mut details = Details { path, bytes: size, encoding: encoding.name(), lines: None };
    if let Some(from) = args.from_byte {
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        let text = page::bytes(&mut file, shown, from, args.bytes, size, encoding).map_err(failed)?;
        return Ok(args::answer(text?, &details));
    }
    let start = u64::try_from(encoding.mark_len()).unwrap_or_default();
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    let wanted = page::Wanted { first: args.offset.unwrap_or(1), limit: args.limit.unwrap_or(1000), start };
    let page = page::lines(file, encoding, &wanted, stop).map_err(failed)?;
    stop.check()?;
    details.lines = page.total();
    Ok(args::answer(page.into_text(shown, encoding, &wanted)?, &details))
}
