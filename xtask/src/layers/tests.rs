//! Planted edges and crates, each of which `layers` must find.

use super::{BANNED, LAYERS, judge_edges, judge_reach};
use crate::metadata::{self, parse_tree};

/// `cargo metadata` for packages under `crates/`: (name, dependencies as JSON objects).
fn faults(packages: &[(&str, &str)]) -> Vec<String> {
    let members: Vec<_> = packages.iter().map(|(name, _)| format!("\"{name}#0.1.0\"")).collect();
    let packages: Vec<_> = packages
        .iter()
        .map(|(name, dependencies)| {
            format!(
                r#"{{"id":"{name}#0.1.0","name":"{name}","features":{{}},"targets":[],
                "manifest_path":"/w/crates/{name}/Cargo.toml","dependencies":[{dependencies}]}}"#
            )
        })
        .collect();
    let json = format!(
        r#"{{"workspace_root":"/w","target_directory":"/w/target","workspace_members":[{}],
        "packages":[{}]}}"#,
        members.join(","),
        packages.join(",")
    );
    let workspace = metadata::parse(&json).unwrap();
    judge_edges(&workspace, LAYERS).1.iter().map(ToString::to_string).collect()
}

fn edge(name: &str, kind: &str, req: &str) -> String {
    format!(r#"{{"name":"{name}","kind":{kind},"req":"{req}","path":"/w/crates/{name}"}}"#)
}

#[track_caller]
fn check(package: &str, dependency: &str, expected: &[&str]) {
    assert_eq!(faults(&[(package, dependency)]), expected);
}

#[test]
fn the_star_is_allowed() {
    check("agent-core", "", &[]);
    check("agent-loop", &edge("agent-core", "null", "^0.1.0"), &[]);
    check("agent-loop", &edge("agent-core", "\"build\"", "^0.1.0"), &[]);
    check("agent-loop", &edge("agent-testkit", "\"dev\"", "*"), &[]);
    check("agent-core", &edge("agent-testkit", "\"dev\"", "*"), &[]);
    check("mainspring", &edge("agent-http", "null", "^0.1.0"), &[]);
    check("agent-core", r#"{"name":"bytes","kind":null,"req":"^1"}"#, &[]);
}

#[test]
fn planted_edges_are_found() {
    let core = "put what both need into agent-core, or the wiring into mainspring";
    let tests = "put the test into tests/, the package that sees all crates";
    let sideways = edge("agent-http", "null", "^0.1.0");
    check("agent-loop", &sideways, &[&format!("agent-loop: depends on agent-http; {core}")]);
    let build = edge("agent-http", "\"build\"", "^0.1.0");
    let what = "agent-loop: has a build-dependency on agent-http";
    check("agent-loop", &build, &[&format!("{what}; {core}")]);
    let upwards = edge("agent-loop", "null", "^0.1.0");
    check("agent-core", &upwards, &[&format!("agent-core: depends on agent-loop; {core}")]);
    let normal = edge("agent-testkit", "null", "^0.1.0");
    check("agent-loop", &normal, &[&format!("agent-loop: depends on agent-testkit; {core}")]);
    let dev = edge("agent-http", "\"dev\"", "*");
    let what = "agent-loop: has a dev-dependency on agent-http";
    check("agent-loop", &dev, &[&format!("{what}; {tests}")]);
    let published = r#"{"name":"agent-http","kind":null,"req":"^0.1.0"}"#;
    check("agent-loop", published, &[&format!("agent-loop: depends on agent-http; {core}")]);
}

#[test]
fn a_versioned_dev_dependency_is_found() {
    let expected = "agent-loop: its dev-dependency on agent-testkit has a version, a cycle for \
        cargo publish; write `agent-testkit = { path = \"../agent-testkit\" }`";
    check("agent-loop", &edge("agent-testkit", "\"dev\"", "^0.1.0"), &[expected]);
}

#[test]
fn an_unknown_package_is_found() {
    let expected = "agent-utils: the package in crates/agent-utils/ is not in the layer table; \
        add a row to LAYERS in xtask/src/layers.rs, and to the architecture";
    check("agent-utils", "", &[expected]);
}

#[test]
fn a_package_in_the_wrong_folder_is_found() {
    let expected = "xtask: lies in crates/xtask/, the layer table says xtask/; \
        move it or change its row in LAYERS";
    check("xtask", "", &[expected]);
}

#[track_caller]
fn reach(package: &str, normal: &str, with_dev: &str, expected: &[&str]) {
    let faults = judge_reach(package, &parse_tree(normal), &parse_tree(with_dev), BANNED);
    let what: Vec<_> = faults.iter().map(|fault| fault.what.as_str()).collect();
    assert_eq!(what, expected, "{package}: {normal} / {with_dev}");
}

#[test]
fn banned_crates_are_found() {
    reach("agent-core", "tokio v1.54.1|default,sync", "tokio v1.54.1|rt,sync", &[]);
    let runtime = "reaches tokio with rt, time (core runs under any runtime and on wasm)";
    reach("agent-core", "tokio v1.54.1|rt,sync,time (*)", "", &[runtime]);
    reach("agent-http", "tokio v1.54.1|rt,sync,time\nhyper v1.0.0|", "", &[]);
    let hyper = "reaches hyper (core has no sockets; HTTP is agent-http's)";
    reach("agent-core", "hyper v1.0.0|client", "", &[hyper]);
    let reqwest = "reaches reqwest (the transports are hyper and the host's fetch)";
    reach("mainspring-cli", "reqwest v0.12.0|", "", &[reqwest]);
    reach("agent-core", "tower-service v0.3.3|", "reqwest v0.12.0|", &[]);
}

#[test]
fn two_crypto_providers_are_found() {
    reach("agent-http", "ring v0.17.0|", "", &[]);
    reach("agent-http", "aws-lc-rs v1.0.0|", "", &[]);
    let both = "reaches both aws-lc-rs and ring (one TLS crypto provider is enough)";
    reach("agent-http", "aws-lc-rs v1.0.0|\nring v0.17.0|", "", &[both]);
}

#[test]
fn json_features_are_found_in_dev_dependencies_too() {
    let tree = "serde_json v1.0.154|preserve_order,std";
    let what = "reaches serde_json with preserve_order \
        (it changes how JSON behaves for everybody in the build)";
    reach("agent-core", "", tree, &[what]);
    reach("preserve-order-tests", tree, tree, &[]);
}

#[test]
fn metadata_without_a_field_names_it() {
    let error = metadata::parse("{}").unwrap_err().to_string();
    assert!(error.contains("`workspace_root`"), "{error}");
    assert!(metadata::parse("no json").is_err());
}
