//! `cargo xtask docs`: API docs without warnings, doctests, and links between Markdown files.

use std::path::{Path, PathBuf};

use crate::{
    layers::PRESERVE_ORDER,
    links, metadata,
    report::{Error, Fault, Report},
    runner::{self, Runner},
    tools, walk,
};

pub(crate) fn run(runner: &Runner, args: &[String]) -> Result<Report, Error> {
    tools::no_arguments("docs", args)?;
    let mut faults = Vec::new();
    let workspace = metadata::load(runner)?;

    let mut doc = runner.cargo(["doc", "--workspace", "--no-deps"]);
    for package in workspace.packages.iter().filter(|package| !package.documented) {
        doc.args(["--exclude", &package.name]);
    }
    doc.env("RUSTDOCFLAGS", "-D warnings");
    if !runner::passes(&mut doc)? {
        let what = "warnings or errors, see above";
        faults.push(Fault::new("cargo doc", what, "fix the doc comments that it names"));
    }

    if !runner::passes(&mut runner.cargo(DOCTESTS))? {
        let what = "doctests fail, see above";
        faults.push(Fault::new("cargo test --doc", what, "examples compile and run: fix them"));
    }

    let (files, links, broken) = check_links(runner.root())?;
    faults.extend(broken);
    let figures = format!("{files} Markdown files, {links} relative links, {} violations", faults.len());
    Ok(Report::new(figures, faults))
}

/// `cargo test --doc` for all but the package that changes serde_json for everybody.
pub(crate) const DOCTESTS: [&str; 5] = ["test", "--doc", "--workspace", "--exclude", PRESERVE_ORDER];

/// Counts files and links, and finds links that lead nowhere.
fn check_links(root: &Path) -> Result<(usize, usize, Vec<Fault>), Error> {
    let (mut count, mut faults) = (0, Vec::new());
    let files = markdown_files(root)?;
    for path in &files {
        let folder = path.parent().unwrap_or(root);
        for link in links::relative(&walk::read(path)?) {
            count += 1;
            let target = match link.path.strip_prefix('/') {
                Some(from_root) => root.join(from_root),
                None => folder.join(&link.path),
            };
            if !target.exists() {
                let shown = metadata::slashes(path.strip_prefix(root).unwrap_or(path));
                let what = format!("links to {}, which does not exist", link.path);
                let remedy = "correct the path or write the file";
                faults.push(Fault::new(format!("{shown}:{}", link.line), what, remedy));
            }
        }
    }
    Ok((files.len(), count, faults))
}

/// The Markdown at the root, below `docs/`, and each crate's own.
fn markdown_files(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = walk::files(root, "md")?;
    files.retain(|path| {
        let relative = metadata::slashes(path.strip_prefix(root).unwrap_or(path));
        let parts: Vec<_> = relative.split('/').collect();
        matches!(parts.as_slice(), [_] | ["docs", ..] | ["crates", _, _])
    });
    Ok(files)
}
