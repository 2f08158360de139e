//! The command against a server that others wrote; `cargo xtask conformance wires` starts it. Where it is not there, the
//! test says aloud that it skips.
#![expect(clippy::disallowed_methods, reason = "tests")]

use std::{fs, path::Path, process::Command};

#[test]
fn a_task_with_a_tool_is_done_with_llama_server() {
    let Ok(url) = std::env::var("MAINSPRING_LLAMA_URL") else {
        println!("\nskipped: MAINSPRING_LLAMA_URL is not set, run `cargo xtask conformance wires`");
        return;
    };
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-peers-{}", std::process::id()));
    fs::create_dir_all(&place).unwrap();
    // The model there writes `Paris` wherever a text is wanted, and 7 wherever a number is.
    fs::write(place.join("Paris"), "a line of the file\n".repeat(20)).unwrap();
    let config = place.join("config.toml");
    fs::write(&config, format!("[providers.local]\nbase-url = \"{url}/v1\"\n")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mainspring"));
    command.env_clear().env("HOME", &place).current_dir(&place).arg("--config").arg(&config);
    command.args(["--model", "local/tiny", "--tools", "read", "--json", "What does the file say?"]);
    let output = command.output().unwrap();
    let _ = fs::remove_dir_all(&place);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    assert!(out.contains("\"toolEnd\"") && out.contains("a line of the file"), "{out}");
    assert!(out.contains("\"ending\":\"completed\"") && out.contains("Hello from a tiny model."), "{out}");
    let schema = serde_json::from_str(include_str!("../schema/events.schema.json")).unwrap();
    for line in out.lines() {
        let found = agent_testkit::schema_faults(&schema, &serde_json::from_str(line).unwrap());
        assert!(found.is_empty(), "{line}: {found:?}");
    }
}
