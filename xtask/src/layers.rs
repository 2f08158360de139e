//! `cargo xtask layers`: which of our crates may depend on which, and which crates none may reach.

#[cfg(test)]
mod tests;

use crate::{
    metadata::{self, Dependency, Kind, Package, Unit, Workspace},
    report::{Error, Fault, Report},
    runner::Runner,
    tools,
};

/// What a package may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sees {
    /// None of our crates.
    Nothing,
    /// `agent-core`: the points of the star.
    Core,
    /// Every crate: the facade, the CLI, and what is not published.
    All,
}

/// Each package of the architecture, those to come included: name, folder, sight.
pub(crate) const LAYERS: &[(&str, &str, Sees)] = &[
    ("agent-core", "crates/agent-core", Sees::Nothing),
    ("agent-loop", "crates/agent-loop", Sees::Core),
    ("agent-anthropic", "crates/agent-anthropic", Sees::Core),
    ("agent-openai", "crates/agent-openai", Sees::Core),
    ("agent-google", "crates/agent-google", Sees::Core),
    ("agent-bedrock", "crates/agent-bedrock", Sees::Core),
    ("agent-http", "crates/agent-http", Sees::Core),
    ("agent-web", "crates/agent-web", Sees::Core),
    ("agent-mcp", "crates/agent-mcp", Sees::Core),
    ("agent-openapi", "crates/agent-openapi", Sees::Core),
    ("agent-session", "crates/agent-session", Sees::Core),
    ("agent-compaction", "crates/agent-compaction", Sees::Core),
    ("agent-gasp", "crates/agent-gasp", Sees::Core),
    ("agent-models", "crates/agent-models", Sees::Core),
    ("agent-tools", "crates/agent-tools", Sees::Core),
    ("agent-skills", "crates/agent-skills", Sees::Core),
    ("agent-jsonschema", "crates/agent-jsonschema", Sees::Core),
    ("agent-testkit", "crates/agent-testkit", Sees::Core),
    ("agent-macros", "crates/agent-macros", Sees::Core),
    ("mainspring", "crates/mainspring", Sees::All),
    ("mainspring-cli", "crates/mainspring-cli", Sees::All),
    ("mainspring-tests", "tests", Sees::All),
    (PRESERVE_ORDER, "tests/preserve-order", Sees::All),
    ("mainspring-examples", "examples", Sees::All),
    ("mainspring-benches", "benches", Sees::All),
    ("xtask", "xtask", Sees::All),
];

/// The package that switches serde_json's `preserve_order` on, to test that we don't depend on it.
pub(crate) const PRESERVE_ORDER: &str = "preserve-order-tests";
const TESTKIT: &str = "agent-testkit";
const CORE: &str = "agent-core";

/// An external crate that must not be reached.
#[derive(Debug)]
struct Ban {
    /// The package it is banned from; none means every package.
    from: Option<&'static str>,
    except: Option<&'static str>,
    name: &'static str,
    part: Part,
    reason: &'static str,
}

/// How much of a crate is banned.
#[derive(Debug)]
enum Part {
    Whole,
    /// Only where this other crate is reached too.
    With(&'static str),
    /// These features, in dev-dependencies as well.
    Features(&'static [&'static str]),
}

const fn core(name: &'static str, reason: &'static str) -> Ban {
    Ban { from: Some(CORE), except: None, name, part: Part::Whole, reason }
}

const fn everywhere(name: &'static str, reason: &'static str) -> Ban {
    Ban { from: None, except: None, name, part: Part::Whole, reason }
}

const RUNTIME: &[&str] =
    &["fs", "full", "io-std", "net", "process", "rt", "rt-multi-thread", "signal", "test-util", "time"];
const JSON: &[&str] = &["preserve_order", "arbitrary_precision", "float_roundtrip"];

const BANNED: &[Ban] = &[
    Ban {
        from: Some(CORE),
        except: None,
        name: "tokio",
        part: Part::Features(RUNTIME),
        reason: "core runs under any runtime and on wasm",
    },
    core("hyper", "core has no sockets; HTTP is agent-http's"),
    core("tower", "core needs only tower-service"),
    core("tracing", "core's callers trace, core doesn't"),
    core("mio", "core has no sockets"),
    core("rustls", "core has no TLS"),
    everywhere("reqwest", "the transports are hyper and the host's fetch"),
    everywhere("async-trait", "dyn seams return BoxFuture"),
    everywhere("async-stream", "streams are written as state machines"),
    everywhere("openssl", "TLS is rustls"),
    everywhere("openssl-sys", "TLS is rustls"),
    everywhere("native-tls", "TLS is rustls"),
    Ban {
        from: None,
        except: None,
        name: "aws-lc-rs",
        part: Part::With("ring"),
        reason: "one TLS crypto provider is enough",
    },
    Ban {
        from: None,
        except: Some(PRESERVE_ORDER),
        name: "serde_json",
        part: Part::Features(JSON),
        reason: "it changes how JSON behaves for everybody in the build",
    },
];

pub(crate) fn run(runner: &Runner, args: &[String]) -> Result<Report, Error> {
    tools::no_arguments("layers", args)?;
    let workspace = metadata::load(runner)?;
    let (edges, mut faults) = judge_edges(&workspace, LAYERS);
    for package in &workspace.packages {
        let normal = metadata::tree(runner, &package.name, "normal")?;
        let with_dev = metadata::tree(runner, &package.name, "normal,build,dev")?;
        faults.extend(judge_reach(&package.name, &normal, &with_dev, BANNED));
    }
    let crates = workspace.packages.len();
    let figures = format!("{crates} crates, {edges} edges, {} violations", faults.len());
    Ok(Report::new(figures, faults))
}

/// Counts the edges among our packages and finds those that the table doesn't allow.
fn judge_edges(workspace: &Workspace, table: &[(&str, &str, Sees)]) -> (usize, Vec<Fault>) {
    let (mut edges, mut faults) = (0, Vec::new());
    for package in &workspace.packages {
        let Some((_, folder, sees)) = table.iter().find(|(name, ..)| *name == package.name) else {
            faults.push(Fault::new(
                &package.name,
                format!("the package in {}/ is not in the layer table", package.folder),
                "add a row to LAYERS in xtask/src/layers.rs, and to the architecture",
            ));
            continue;
        };
        if package.folder != *folder {
            let what = format!("lies in {}/, the layer table says {folder}/", package.folder);
            faults.push(Fault::new(&package.name, what, "move it or change its row in LAYERS"));
        }
        for dependency in &package.dependencies {
            let ours = table.iter().any(|(name, ..)| *name == dependency.name);
            if ours || dependency.has_path {
                edges += 1;
                faults.extend(judge_edge(package, *sees, dependency));
            }
        }
    }
    (edges, faults)
}

fn judge_edge(package: &Package, sees: Sees, dependency: &Dependency) -> Option<Fault> {
    let name = &dependency.name;
    if dependency.kind == Kind::Dev && name == TESTKIT && package.is_crate() {
        return dependency.has_version.then(|| {
            Fault::new(
                &package.name,
                format!("its dev-dependency on {TESTKIT} has a version, a cycle for cargo publish"),
                format!("write `{TESTKIT} = {{ path = \"../{TESTKIT}\" }}`"),
            )
        });
    }
    let allowed = match sees {
        Sees::Nothing => false,
        Sees::Core => name == CORE && dependency.kind != Kind::Dev,
        Sees::All => true,
    };
    if allowed {
        return None;
    }
    let what = match dependency.kind {
        Kind::Normal => format!("depends on {name}"),
        Kind::Build => format!("has a build-dependency on {name}"),
        Kind::Dev => format!("has a dev-dependency on {name}"),
    };
    let remedy = match dependency.kind {
        Kind::Dev => "put the test into tests/, the package that sees all crates",
        _ => "put what both need into agent-core, or the wiring into mainspring",
    };
    Some(Fault::new(&package.name, what, remedy))
}

/// Finds banned crates and features in what one package reaches: `normal` holds its normal
/// dependencies, `with_dev` all kinds.
fn judge_reach(package: &str, normal: &[Unit], with_dev: &[Unit], bans: &[Ban]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let applies = |ban: &&Ban| ban.from.is_none_or(|from| from == package) && ban.except != Some(package);
    for ban in bans.iter().filter(applies) {
        let name = ban.name;
        // A crate's own tests may use a runtime; a ban for all holds in tests, too.
        let units = match (&ban.part, ban.from) {
            (Part::Features(_), None) => with_dev,
            _ => normal,
        };
        for unit in units.iter().filter(|unit| unit.name == name) {
            let what = match ban.part {
                Part::Whole => format!("reaches {name}"),
                Part::With(other) if units.iter().any(|unit| unit.name == other) => {
                    format!("reaches both {name} and {other}")
                }
                Part::With(_) => continue,
                Part::Features(features) => {
                    let has = |feature: &&&str| unit.features.iter().any(|f| f == **feature);
                    let found: Vec<_> = features.iter().filter(has).copied().collect();
                    if found.is_empty() {
                        continue;
                    }
                    format!("reaches {name} with {}", found.join(", "))
                }
            };
            let remedy = format!("`cargo tree -p {package} -i {name}` shows how; leave it out");
            faults.push(Fault::new(package, format!("{what} ({})", ban.reason), remedy));
        }
    }
    faults
}
