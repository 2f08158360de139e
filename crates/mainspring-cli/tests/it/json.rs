//! `--json`: every line is as the published schema says.

use agent_testkit::{WireReply, WireServer, schema_faults};
use serde_json::{Value, json};

use crate::given::{Place, calls, says};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../schema/events.schema.json")).unwrap()
}

#[track_caller]
fn fits(lines: &[Value]) {
    let schema = schema();
    for (seq, line) in lines.iter().enumerate() {
        let found = schema_faults(&schema, line);
        assert!(found.is_empty(), "{line}: {found:?}");
        assert_eq!(line["seq"], seq, "{line}");
    }
    assert_eq!(lines.last().unwrap()["type"], "report");
}

#[tokio::test]
async fn runs_of_every_kind_are_as_the_schema_says() {
    let place = Place::new();
    place.put("a.txt", "one\n");
    let server = WireServer::start([
        calls(&[("read", json!({"path": "a.txt"})), ("bash", json!({"command": "echo hi; exit 3"}))]),
        WireReply::new(503).header("retry-after", "0").body(["busy"]),
        calls(&[("edit", json!({"path": "a.txt", "edits": [{"old_text": "one", "new_text": "1"}]}))]),
        calls(&[("nothing", json!({}))]),
        says("Done."),
    ])
    .await
    .unwrap();
    let ran = place.at(&server).run(&["--json", "--yes", "Do it"]).await;
    let lines = ran.lines();
    fits(&lines);
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    for kind in [
        "note",
        "start",
        "turnStart",
        "message",
        "callStart",
        "argumentsDelta",
        "toolStart",
        "toolEnd",
        "retry",
        "textDelta",
        "turnEnd",
        "report",
    ] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    let report = lines.last().unwrap();
    assert_eq!(
        (&report["ending"], &report["text"], &report["exitStatus"]),
        (&json!("completed"), &json!("Done."), &json!(0))
    );
    assert_eq!(ran.status, Some(0));
}

#[tokio::test]
async fn failures_and_pauses_are_as_the_schema_says() {
    let place = Place::new();
    let server = WireServer::start([WireReply::new(400).body(["no"])]).await.unwrap();
    let ran = place.at(&server).run(&["--json", "Do it"]).await;
    fits(&ran.lines());
    assert_eq!((ran.status, &ran.lines().last().unwrap()["ending"]), (Some(1), &json!("failed")));

    let server = WireServer::start([calls(&[("write", json!({"path": "b", "content": "x"}))])]).await.unwrap();
    let ran = place.at(&server).run(&["--json", "--ask", "Do it"]).await;
    fits(&ran.lines());
    assert_eq!((ran.status, &ran.lines().last().unwrap()["ending"]), (Some(5), &json!("paused")), "{}", ran.err);
    assert!(ran.out.contains("\"approvalAsked\""));

    let offline = place.config("").run(&["--json", "--model", "demo/offline", "How many files are here?"]).await;
    fits(&offline.lines());
}

#[tokio::test]
async fn the_schema_is_what_the_command_prints_and_it_rejects() {
    let printed = Place::new().run(&["schema"]).await.out;
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), schema());
    for wrong in [json!({"type": "textDelta", "seq": 1}), json!({"type": "new", "seq": 1}), json!({"seq": 1})] {
        assert!(!schema_faults(&schema(), &wrong).is_empty(), "{wrong}");
    }
}
