//! Walking a folder as `list` and `search` do: sorted, gitignore-aware, through no links.

use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder, overrides::OverrideBuilder};

use agent_core::ToolError;

/// How a folder is walked.
pub(crate) struct Walk<'a> {
    /// Where it begins, without links.
    pub(crate) from: &'a Path,
    /// What names or paths have to look like, as in a `.gitignore`.
    pub(crate) glob: Option<&'a str>,
    pub(crate) depth: Option<usize>,
    pub(crate) ignored: Ignored,
}

/// Whether files are shown that version control ignores, and hidden ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ignored {
    Skipped,
    Shown,
}

impl Ignored {
    pub(crate) fn new(all: Option<bool>) -> Self {
        if all == Some(true) { Self::Shown } else { Self::Skipped }
    }
}

/// A place that could not be looked into.
#[derive(Debug)]
pub(crate) struct Unreadable(pub(crate) String);

impl Walk<'_> {
    /// The files and folders, in the order of their paths.
    pub(crate) fn entries(&self) -> Result<impl Iterator<Item = Result<DirEntry, Unreadable>> + use<>, ToolError> {
        let skip = self.ignored == Ignored::Skipped;
        let mut builder = WalkBuilder::new(self.from);
        builder
            .follow_links(false)
            .standard_filters(skip)
            // A `.gitignore` counts without a repository around it, too; the user's own settings do not.
            .require_git(false)
            .git_global(false)
            .max_depth(self.depth)
            .sort_by_file_name(std::ffi::OsStr::cmp);
        let wanted = match self.glob {
            None => None,
            Some(glob) => {
                let bad = |e| ToolError::invalid_arguments(format!("the glob `{glob}` cannot be read: {e}"));
                let mut overrides = OverrideBuilder::new(self.from);
                overrides.add(glob).map_err(bad)?;
                Some(overrides.build().map_err(bad)?)
            }
        };
        // Git's own folder is never what is looked for.
        builder.filter_entry(|entry| entry.file_name() != ".git");
        let from = self.from.to_owned();
        let entries = builder.build().map(move |entry| entry.map_err(|e| Unreadable(explain(&e, &from))));
        // Given to the walk itself a glob would bring back what is ignored.
        Ok(entries.filter(move |entry| match (entry, &wanted) {
            (Ok(entry), Some(wanted)) if entry.file_type().is_some_and(|kind| !kind.is_dir()) => {
                wanted.matched(entry.path(), false).is_whitelist()
            }
            _ => true,
        }))
    }
}

/// What could not be looked into, without the names of folders above the start.
fn explain(error: &ignore::Error, from: &Path) -> String {
    let (path, reason) = match error {
        ignore::Error::WithPath { path, err } => (Some(path), err.to_string()),
        ignore::Error::WithDepth { err, .. } => return explain(err, from),
        other => (None, other.io_error().map_or_else(|| other.to_string(), |e| e.kind().to_string())),
    };
    let path = path.map(|path| path.strip_prefix(from).map_or_else(|_| PathBuf::from("."), Path::to_path_buf));
    match path {
        Some(path) => format!("{}: {reason}", path.display()),
        None => reason,
    }
}
