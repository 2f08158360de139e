//! One prompt, one answer: over real HTTP, with tools, policy, budget and signals.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
};

use agent_testkit::{Gate, Place as At, WireReply, WireServer};
use serde_json::json;

use crate::given::{Place, Ran, calls, says, sent};

#[tokio::test]
async fn a_task_with_tools_is_done_over_http() {
    let place = Place::new();
    place.put("notes.txt", "one\ntwo\nthree\n");
    let server = WireServer::start([
        calls(&[("read", json!({"path": "notes.txt"}))]),
        calls(&[("edit", json!({"path": "notes.txt", "edits": [{"old_text": "two", "new_text": "2"}]}))]),
        says("I wrote **2** for two."),
    ])
    .await
    .unwrap();
    let ran = place.at(&server).run(&["--yes", "Write", "2", "for", "two"]).await;
    assert_eq!((ran.status, ran.out.as_str()), (Some(0), "I wrote **2** for two.\n"), "{}", ran.err);
    assert_eq!(place.get("notes.txt").unwrap(), "one\n2\nthree\n");
    for part in ["-> read path=\"notes.txt\"", "-> edit", "-two", "+2", "[local/tiny | 120 in, 30 out"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    let first = sent(&server, 0);
    assert_eq!(first["messages"].as_array().unwrap().last().unwrap()["content"], "Write 2 for two");
    let tools: Vec<&str> =
        first["tools"].as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["bash", "edit", "list", "output", "read", "search", "write"]);
    // What the tool said is what the model is told.
    assert!(sent(&server, 1)["messages"].to_string().contains("three"));
}

#[tokio::test]
async fn what_is_piped_in_stands_behind_the_prompt() {
    let place = Place::new();
    let server = WireServer::start([says("Fine."), says("Fine.")]).await.unwrap();
    place.at(&server);
    for (args, expected) in
        [(vec!["Review", "this"], "Review this\n\n<stdin>\n+ a line\n</stdin>"), (vec!["-"], "+ a line\n")]
    {
        let mut command = place.command(&args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"+ a line\n").unwrap();
        let ran = tokio::task::spawn_blocking(move || child.wait_with_output()).await.unwrap().unwrap();
        assert_eq!(Ran::from(ran).status, Some(0));
        let last = server.requests().len() - 1;
        assert_eq!(sent(&server, last)["messages"].as_array().unwrap().last().unwrap()["content"], expected);
    }
}

#[tokio::test]
async fn without_a_terminal_nothing_is_changed_unless_that_was_said() {
    let place = Place::new();
    let write = || calls(&[("write", json!({"path": "new.txt", "content": "x"}))]);
    let server = WireServer::start([write(), says("I may not.")]).await.unwrap();
    let ran = place.at(&server).run(&["Write a file"]).await;
    assert_eq!((ran.status, place.get("new.txt")), (Some(0), None), "{}", ran.err);
    assert!(sent(&server, 1)["messages"].to_string().contains("--yes"), "{}", sent(&server, 1));

    // Reading only: the tools that change something are not even on offer.
    let server = WireServer::start([write(), says("There is no such tool.")]).await.unwrap();
    let ran = place.at(&server).run(&["--read-only", "Write a file"]).await;
    assert_eq!((ran.status, place.get("new.txt")), (Some(0), None));
    let names = sent(&server, 0)["tools"].to_string();
    assert!(names.contains("\"search\"") && !names.contains("\"write\"") && !names.contains("\"bash\""), "{names}");
}

#[tokio::test]
async fn a_request_that_could_cost_too_much_is_not_sent() {
    let place = Place::new();
    let server = WireServer::start([says("Never.")]).await.unwrap();
    place.config(&format!(
        "model = \"anthropic/claude-sonnet-5\"\nmax-cost = 0.000001\n[providers.anthropic]\nbase-url = \"{}\"\n",
        server.url("/v1")
    ));
    let ran = place.run(&["Hello"]).await;
    assert_eq!((ran.status, server.requests().len()), (Some(3), 0), "{}", ran.err);
    assert!(ran.err.contains("--max-cost"), "{}", ran.err);
}

#[tokio::test]
async fn an_error_says_what_to_do_and_holds_no_secret() {
    let place = Place::new();
    place.config("model = \"openai/gpt-6-sol\"\n");
    let ran = place.run(&["Hello"]).await;
    assert_eq!((ran.status, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.contains("OPENAI_API_KEY"), "{}", ran.err);

    let secret = "sk-secret-0123456789abcdef";
    let refuses = WireReply::new(401).body([format!("{{\"error\":{{\"message\":\"bad key {secret}\"}}}}")]);
    let server = WireServer::start([refuses.clone(), refuses]).await.unwrap();
    let text = format!(
        "model = \"local/tiny\"\n[providers.local]\nbase-url = \"{}\"\nkey-variable = \"MY_KEY\"\n",
        server.url("/v1")
    );
    place.config(&text);
    let mut command = place.command(&["--json", "Hello"]);
    command.env("MY_KEY", secret);
    let ran = Ran::of(command).await;
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    assert!(server.requests()[0].header("authorization").unwrap().ends_with(secret));
    assert!(!ran.out.contains(secret) && !ran.err.contains(secret), "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("MY_KEY"), "{}", ran.out);
}

#[tokio::test]
async fn ctrl_c_ends_the_tool_first_and_the_run_second() {
    let place = Place::new();
    let gate = Gate::new();
    let hangs = says("It takes for ever and ever.").stall(At::AfterBody(120), &gate);
    let server =
        WireServer::start([calls(&[("bash", json!({"command": "echo begun; sleep 600"}))]), hangs]).await.unwrap();
    let mut command = place.at(&server).command(&["--yes", "--json", "Wait"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (status, seen) = tokio::task::spawn_blocking(move || {
        let interrupt = || rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let (mut seen, mut sent) = (String::new(), 0);
        for line in lines.map_while(Result::ok) {
            seen.push_str(&line);
            seen.push('\n');
            // The command runs, and later the answer has begun.
            let now = line.contains("\"toolProgress\"") && sent == 0 || line.contains("\"textDelta\"") && sent == 1;
            if now {
                interrupt();
                sent += 1;
            }
        }
        (child.wait().unwrap(), seen)
    })
    .await
    .unwrap();
    assert_eq!(status.code(), Some(130), "{seen}");
    assert!(seen.contains("begun") && seen.contains("\"isError\":true"), "the output so far is kept: {seen}");
    assert!(seen.contains("\"ending\":\"cancelled\""), "{seen}");
    // The run went on after the tool was stopped.
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn wrong_usage_is_named() {
    let place = Place::new();
    for (config, args, part) in [
        ("", vec![], "there is no prompt"),
        ("", vec!["--tools", "red,read", "Hi"], "there is no tool `red`"),
        ("", vec!["--root", "/nowhere/at/all", "Hi"], "/nowhere/at/all"),
        ("", vec!["--yes", "--read-only", "Hi"], "cannot be used with"),
        ("modell = \"x\"\n", vec!["Hi"], "unknown field `modell`"),
        ("max-cost = \"much\"\n", vec!["Hi"], "max-cost"),
        ("", vec!["chat"], "a chat needs a terminal"),
        ("", vec!["--model", "nobody/x", "Hi"], "[providers.nobody]"),
        ("", vec!["--max-cost", "-1", "Hi"], "-1"),
    ] {
        let ran = place.config(config).run(&args).await;
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(part), "{args:?}: {}", ran.err);
    }
}

#[tokio::test]
async fn the_environment_goes_before_the_file_and_options_before_both() {
    let place = Place::new();
    let server = WireServer::start([says("a"), says("b"), says("c")]).await.unwrap();
    place.at(&server);
    for (env, args, model) in [
        (None, vec!["Hi"], "tiny"),
        (Some("local/other"), vec!["Hi"], "other"),
        (Some("local/other"), vec!["--model", "local/third", "Hi"], "third"),
    ] {
        let mut command = place.command(&args);
        command.envs(env.map(|name| ("MAINSPRING_MODEL", name)));
        assert_eq!(Ran::of(command).await.status, Some(0));
        assert_eq!(sent(&server, server.requests().len() - 1)["model"], model);
    }
}

#[tokio::test]
async fn a_local_server_is_found_and_its_first_model_taken() {
    let place = Place::new();
    let list = WireReply::new(200).body([r#"{"data":[{"id":"first"},{"id":"second"}]}"#]);
    let server = WireServer::start([list, says("Found.")]).await.unwrap();
    let mut command = place.command(&["Hi"]);
    command.env("MAINSPRING_LOCAL_SERVERS", server.url("/v1"));
    let ran = Ran::of(command).await;
    assert_eq!((ran.status, ran.out.as_str()), (Some(0), "Found.\n"), "{}", ran.err);
    assert_eq!((server.requests()[0].path.as_str(), &sent(&server, 1)["model"]), ("/v1/models", &json!("first")));
    assert!(ran.err.contains("a server answers at"), "{}", ran.err);
}

#[tokio::test]
async fn without_a_home_the_work_is_done_and_not_saved() {
    let place = Place::new();
    place.put("a.txt", "one\n");
    let mut command = place.command(&["--max-cost", "1", "How many files are here?"]);
    command.env_remove("HOME");
    let ran = Ran::of(command).await;
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.out.contains("1 file") && ran.err.contains("this is not saved"), "{} {}", ran.out, ran.err);
}
