//! Sessions: saved by default, listed, resumed, exported; an approval answered by another process.

use agent_testkit::WireServer;
use serde_json::json;

use crate::given::{Place, calls, says, sent};

#[tokio::test]
async fn a_session_is_saved_and_goes_on() {
    let place = Place::new();
    let server = WireServer::start([says("Blue."), says("Because you said so.")]).await.unwrap();
    place.at(&server);
    assert_eq!(place.run(&["My colour is blue."]).await.status, Some(0));
    let list = place.run(&["sessions"]).await.out;
    assert!(list.contains("My colour is blue."), "{list}");
    let id = list.split_whitespace().next().unwrap().to_owned();

    let ran = place.run(&["resume", "--prompt", "Why?"]).await;
    assert_eq!((ran.status, ran.out.as_str()), (Some(0), "Because you said so.\n"), "{}", ran.err);
    let said = sent(&server, 1)["messages"].to_string();
    assert!(said.contains("My colour is blue.") && said.contains("Blue.") && said.contains("Why?"), "{said}");

    let found = place.run(&["sessions", "search", "BECAUSE"]).await.out;
    assert!(found.contains(&id), "{found}");
    let shown = place.run(&["sessions", "show", &id]).await.out;
    assert!(shown.contains("Because you said so."), "{shown}");
    let messages = place.run(&["sessions", "export", &id, "--format", "openai"]).await.out;
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&messages).unwrap().as_array().unwrap().len(),
        4,
        "{messages}"
    );
    let tree = place.run(&["sessions", "tree", &id]).await.out;
    assert!(tree.contains("Why?") && tree.contains('*'), "{tree}");
    let page = place.run(&["view", &id, "--output", "page.html"]).await;
    assert_eq!(page.status, Some(0), "{}", page.err);
    assert!(place.get("page.html").unwrap().contains("Because you said so."));

    assert_eq!(place.run(&["sessions", "export", &id, "--format", "pdf"]).await.status, Some(2));
    assert_eq!(place.run(&["sessions", "rm", &id]).await.status, Some(0));
    assert_eq!(place.run(&["sessions"]).await.out, "no session was saved yet\n");
    assert_eq!(place.run(&["resume"]).await.status, Some(2));
}

#[tokio::test]
async fn nothing_is_saved_where_that_was_said() {
    let place = Place::new();
    let server = WireServer::start([says("Hi.")]).await.unwrap();
    assert_eq!(place.at(&server).run(&["--no-save", "Hello"]).await.status, Some(0));
    assert_eq!(place.run(&["sessions"]).await.out, "no session was saved yet\n");
}

#[tokio::test]
async fn an_approval_of_one_process_is_answered_by_another() {
    for (answer, written, told) in
        [(vec!["--allow"], Some("x"), "Done."), (vec!["--deny", "not on a Sunday"], None, "not on a Sunday")]
    {
        let place = Place::new();
        let write = calls(&[("write", json!({"path": "new.txt", "content": "x"}))]);
        let server = WireServer::start([write, says("Done.")]).await.unwrap();
        let ran = place.at(&server).run(&["--ask", "Write it"]).await;
        assert_eq!((ran.status, place.get("new.txt")), (Some(5), None), "{}", ran.err);
        assert!(ran.err.contains("mainspring resume"), "{}", ran.err);

        // Another process, which is told nothing but the answer.
        let mut args = vec!["resume", "--ask"];
        args.extend(answer);
        let ran = place.run(&args).await;
        assert_eq!((ran.status, ran.out.as_str()), (Some(0), "Done.\n"), "{}", ran.err);
        assert_eq!(place.get("new.txt").as_deref(), written);
        let said = sent(&server, 1)["messages"].to_string();
        assert!(told == "Done." || said.contains(told), "{said}");
    }
}
