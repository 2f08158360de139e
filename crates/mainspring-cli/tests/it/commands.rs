//! `models`, `doctor` and the offline model, on a machine with nothing on it.

use serde_json::Value;

use crate::given::{Place, Ran};

#[tokio::test]
async fn without_key_and_server_the_main_job_is_done_from_the_files() {
    let place = Place::new();
    place
        .put("src/a.rs", "// TODO: one\nfn a() {}\n// TODO: two\n")
        .put("src/b.rs", "// TODO: three\n")
        .put("c", "TODO\n");
    let ran = place.run(&["Find every TODO in src/ and say which file has most"]).await;
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(
        ran.out.contains("3 matching lines in 2 files") && ran.out.contains("`src/a.rs` has the most: 2"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("not a language model"), "{}", ran.out);
    assert!(ran.err.contains("no key in the environment and no local server"), "{}", ran.err);
}

#[tokio::test]
async fn models_say_what_they_cost_and_whether_they_can_be_used() {
    let place = Place::new();
    let ran = place.run(&["models", "sonnet-5"]).await;
    let line = ran.out.lines().find(|line| line.starts_with("anthropic/claude-sonnet-5 ")).unwrap();
    assert!(line.contains("needs ANTHROPIC_API_KEY") && line.contains('$'), "{line}");

    let mut command = place.command(&["models", "--json", "--usable"]);
    command.env("ANTHROPIC_API_KEY", "sk-ant-secret");
    let ran = Ran::of(command).await;
    assert!(!ran.out.contains("sk-ant-secret"));
    let lines = ran.lines();
    assert!(lines.iter().any(|line| line["model"] == "anthropic/claude-sonnet-5"));
    assert!(lines.iter().all(|line| line["usable"] == true && !line["model"].as_str().unwrap().starts_with("openai/")));
}

#[tokio::test]
async fn a_key_in_the_environment_chooses_the_model() {
    let place = Place::new();
    for (variable, model) in [("ANTHROPIC_API_KEY", "anthropic/claude-sonnet-5"), ("GROQ_API_KEY", "groq/")] {
        let mut command = place.command(&["doctor", "--json"]);
        command.env(variable, "sk-secret");
        let ran = Ran::of(command).await;
        let all: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((ran.status, &all["ok"]), (Some(0), &Value::Bool(true)), "{}", ran.out);
        assert!(ran.out.contains(model) && ran.out.contains(variable) && !ran.out.contains("sk-secret"), "{}", ran.out);
    }
}

#[tokio::test]
async fn the_doctor_names_what_is_wrong() {
    let place = Place::new();
    let good = place.run(&["doctor"]).await;
    assert_eq!(good.status, Some(0), "{}", good.out);
    for name in ["configuration", "keys", "local servers", "model", "sandbox", "terminal", "sessions"] {
        assert!(good.out.contains(&format!("ok  {name}")), "{name}: {}", good.out);
    }
    let bad = place.config("colour = \"blue\"\n").run(&["doctor"]).await;
    assert_eq!(bad.status, Some(1));
    assert!(bad.out.contains("BAD configuration") && bad.out.contains("colour"), "{}", bad.out);
}
