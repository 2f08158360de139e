//! The workspace as `cargo metadata` and `cargo tree` show it, parsed once into types.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{
    report::Error,
    runner::{self, Runner},
};

const WHAT: &str = "the output of `cargo metadata`";

/// The packages of the workspace.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) target: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// A member of the workspace.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The package's folder, relative to the root, with `/` between its parts.
    pub(crate) folder: String,
    pub(crate) features: Vec<String>,
    pub(crate) dependencies: Vec<Dependency>,
    /// Whether any of its targets is documented.
    pub(crate) documented: bool,
}

/// An edge as the manifest declares it.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) has_path: bool,
    pub(crate) has_version: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

/// One line of `cargo tree --format {p}|{f}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Unit {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) features: Vec<String>,
}

impl Package {
    /// Whether it lies under `crates/`, so the rules of the star apply to it.
    pub(crate) fn is_crate(&self) -> bool {
        self.folder.starts_with("crates/")
    }
}

/// Runs `cargo metadata`.
pub(crate) fn load(runner: &Runner) -> Result<Workspace, Error> {
    let mut command = runner.cargo(["metadata", "--format-version", "1", "--no-deps"]);
    parse(&runner::output(&mut command)?)
}

/// Parses the output of `cargo metadata --format-version 1`, with or without `--no-deps`.
pub(crate) fn parse(text: &str) -> Result<Workspace, Error> {
    let value: Value = serde_json::from_str(text).map_err(|source| Error::Json { what: WHAT, source })?;
    let root = PathBuf::from(string(&value, "workspace_root")?);
    let members: Vec<&str> = array(&value, "workspace_members")?.iter().filter_map(Value::as_str).collect();
    let mut packages = Vec::new();
    for package in array(&value, "packages")? {
        if members.contains(&string(package, "id")?) {
            packages.push(parse_package(package, &root)?);
        }
    }
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Workspace { target: PathBuf::from(string(&value, "target_directory")?), packages })
}

fn parse_package(value: &Value, root: &Path) -> Result<Package, Error> {
    let manifest = Path::new(string(value, "manifest_path")?);
    let folder = manifest.parent().unwrap_or(manifest);
    let folder = folder.strip_prefix(root).unwrap_or(folder);
    let mut dependencies = Vec::new();
    for dependency in array(value, "dependencies")? {
        dependencies.push(Dependency {
            name: string(dependency, "name")?.to_owned(),
            kind: match dependency.get("kind").and_then(Value::as_str) {
                Some("dev") => Kind::Dev,
                Some("build") => Kind::Build,
                _ => Kind::Normal,
            },
            has_path: dependency.get("path").is_some_and(Value::is_string),
            has_version: string(dependency, "req")? != "*",
        });
    }
    let features = value.get("features").and_then(Value::as_object);
    let targets = array(value, "targets")?;
    Ok(Package {
        name: string(value, "name")?.to_owned(),
        folder: slashes(folder),
        features: features.into_iter().flat_map(|map| map.keys().cloned()).collect(),
        dependencies,
        documented: targets.iter().any(|t| t.get("doc").and_then(Value::as_bool) == Some(true)),
    })
}

/// Packages with features that exclude each other: they are judged with their default ones.
const EXCLUSIVE: &[&str] = &["agent-http"];

/// Runs `cargo tree` for one package; `edges` as in its `-e`.
pub(crate) fn tree(runner: &Runner, package: &str, edges: &str) -> Result<Vec<Unit>, Error> {
    let mut command = runner.cargo(["tree", "--no-dedupe", "--prefix", "none"]);
    if !EXCLUSIVE.contains(&package) {
        command.arg("--all-features");
    }
    command.args(["--format", "{p}|{f}", "-e", edges, "-p", package]);
    Ok(parse_tree(&runner::output(&mut command)?))
}

/// Parses the lines of `cargo tree --prefix none --format {p}|{f}`: sorted, each crate once.
pub(crate) fn parse_tree(text: &str) -> Vec<Unit> {
    let mut units: Vec<Unit> = text.lines().filter_map(parse_unit).collect();
    units.sort();
    units.dedup();
    units
}

fn parse_unit(line: &str) -> Option<Unit> {
    let (package, features) = line.rsplit_once('|')?;
    let mut words = package.split_whitespace();
    let features = features.trim_end_matches(" (*)").split(',').map(str::trim);
    Some(Unit {
        name: words.next()?.to_owned(),
        version: words.next().unwrap_or_default().to_owned(),
        features: features.filter(|f| !f.is_empty()).map(str::to_owned).collect(),
    })
}

/// A relative path with `/` between its parts on every platform.
pub(crate) fn slashes(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|c| c.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

fn string<'a>(value: &'a Value, field: &'static str) -> Result<&'a str, Error> {
    value.get(field).and_then(Value::as_str).ok_or(Error::Field { what: WHAT, field })
}

fn array<'a>(value: &'a Value, field: &'static str) -> Result<&'a [Value], Error> {
    let array = value.get(field).and_then(Value::as_array);
    array.map(Vec::as_slice).ok_or(Error::Field { what: WHAT, field })
}
