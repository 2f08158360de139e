//! `cargo xtask deps`: how many crates each of ours brings along, and where versions are written.

#[cfg(test)]
mod tests;

use toml::{Table, Value};

use crate::{
    metadata::{self, Unit},
    report::{Error, Fault, Report},
    runner::Runner,
    tools, walk,
};

/// The most crates in the normal and build tree of a crate, itself included, with all its
/// features, on the platform of the build.
const BUDGETS: &[(&str, usize, &str)] = &[
    ("agent-core", 30, "everybody compiles it, on wasm too"),
    ("agent-loop", 40, "core and futures"),
    ("agent-anthropic", 40, "core and base64: a wire never sends"),
    ("agent-openai", 40, "core and base64: a wire never sends"),
    ("agent-google", 55, "a wire; Vertex signs tokens"),
    ("agent-bedrock", 55, "a wire; SigV4 needs HMAC and SHA-2"),
    ("agent-http", 80, "hyper, rustls with ring, and tower"),
    ("agent-web", 60, "js-sys, web-sys and wasm-bindgen"),
    ("agent-mcp", 60, "the protocol, stdio through tokio, OAuth hashes"),
    ("agent-openapi", 50, "a YAML reader"),
    ("agent-session", 75, "SQLite behind its feature"),
    ("agent-compaction", 35, "core and hardly more"),
    ("agent-gasp", 60, "hashes; git is run, not linked"),
    ("agent-models", 35, "data"),
    ("agent-tools", 80, "processes and a file search"),
    ("agent-skills", 50, "a YAML reader"),
    ("agent-jsonschema", 110, "the jsonschema crate, kept out of all others"),
    ("agent-testkit", 45, "servers on tokio"),
    ("agent-macros", 12, "syn and quote"),
    ("mainspring", 260, "all of the above"),
    ("mainspring-cli", 300, "the facade and a terminal"),
];

/// Crates that may have features, and why; all others have one shape.
const FEATURES: &[(&str, &str)] = &[
    ("agent-google", "signing with a key in memory, by ring"),
    ("agent-http", "the TLS provider, processes, the system's certificates"),
    ("agent-session", "the SQLite store"),
    ("agent-tools", "the sandbox of commands: landlock and seccomp"),
    ("mainspring", "one feature per optional crate, and those of the transport"),
];

pub(crate) fn run(runner: &Runner, args: &[String]) -> Result<Report, Error> {
    tools::no_arguments("deps", args)?;
    let workspace = metadata::load(runner)?;
    let (mut faults, mut figures) = (Vec::new(), Vec::new());
    for package in &workspace.packages {
        let path = runner.root().join(&package.folder).join("Cargo.toml");
        let manifest: Table =
            walk::read(&path)?.parse().map_err(|source| Error::Toml { path: path.clone(), source })?;
        faults.extend(judge_versions(&package.name, &manifest));
        if package.is_crate() {
            faults.extend(judge_features(&package.name, &package.features));
            let tree = metadata::tree(runner, &package.name, "normal,build")?;
            let (line, fault) = judge_budget(&package.name, &tree, BUDGETS);
            figures.push(line);
            faults.extend(fault);
        }
    }
    figures.push(format!("{} violations", faults.len()));
    Ok(Report::new(figures.join(", "), faults))
}

/// Counts the crates of a tree; a crate in two versions counts twice, as it compiles twice.
fn judge_budget(name: &str, tree: &[Unit], budgets: &[(&str, usize, &str)]) -> (String, Option<Fault>) {
    let mut units: Vec<_> = tree.iter().map(|unit| (&unit.name, &unit.version)).collect();
    units.sort();
    units.dedup();
    let count = units.len();
    let Some((_, limit, reason)) = budgets.iter().find(|(row, ..)| *row == name) else {
        let remedy = "add a row with a reason to BUDGETS in xtask/src/deps.rs";
        return (format!("{name} {count}"), Some(Fault::new(name, "has no crate budget", remedy)));
    };
    let fault = (count > *limit).then(|| {
        Fault::new(
            name,
            format!("{count} crates in its tree, at most {limit} ({reason})"),
            format!("`cargo tree -p {name} -e normal,build` shows them; drop a dependency"),
        )
    });
    (format!("{name} {count} of {limit}"), fault)
}

fn judge_features(name: &str, features: &[String]) -> Option<Fault> {
    if features.is_empty() || FEATURES.iter().any(|(row, _)| *row == name) {
        return None;
    }
    Some(Fault::new(
        name,
        format!("has features ({})", features.join(", ")),
        "make it a crate, or add a row with a reason to FEATURES in xtask/src/deps.rs",
    ))
}

/// Finds dependencies of a member whose version isn't the workspace table's.
fn judge_versions(name: &str, manifest: &Table) -> Vec<Fault> {
    let mut faults = Vec::new();
    for table in dependency_tables(manifest) {
        for (dependency, value) in table {
            let is_inherited = value.get("workspace").and_then(Value::as_bool) == Some(true);
            // A path alone leads to a crate of ours; its edges are checked by `layers`.
            let is_path = value.get("path").is_some() && value.get("version").is_none();
            if is_inherited || is_path {
                continue;
            }
            faults.push(Fault::new(
                format!("{name}/Cargo.toml"),
                format!("{dependency} does not come from the workspace table"),
                format!(
                    "write its version under [workspace.dependencies] and \
                     `{dependency}.workspace = true` here"
                ),
            ));
        }
    }
    faults
}

/// The three dependency tables, and those of each `[target.*]`.
fn dependency_tables(manifest: &Table) -> impl Iterator<Item = &Table> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    std::iter::once(manifest).chain(targets).flat_map(|table| {
        ["dependencies", "dev-dependencies", "build-dependencies"].iter().filter_map(|key| table.get(*key)?.as_table())
    })
}
