//! A session as a page: what is in it, and what a browser makes of it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use agent_core::{
    AssistantMessage, CallEnd, CallStart, ContentBlock, DocumentBlock, ImageBlock, JournalRecord, MediaSource,
    NoteMessage, Origin, RawJson, RecordBody, RunEnding, StopReason, ThinkingBlock, ToolOutput, UserMessage,
};
use agent_session::{ExportFormat, MemorySessions, Session, SessionStore, Settings};
use agent_testkit::PausedTimer;

use crate::{
    given::{block_on, folder, ids},
    story::{self, Story, call},
};

/// Markup that would run, and is to be text.
const HOSTILE: &str = "</script></style></title></pre>--><script>document.documentElement.dataset.pwned=1</script>\
    <img src=x onerror='document.documentElement.dataset.pwned=1'>\"'`${1}\u{202e}\u{0}&lt;";

async fn session() -> Session {
    let settings = Settings::default().seeded(5).timer(Arc::new(PausedTimer::at(1_767_225_600_000)));
    let sessions = MemorySessions::new().settings(settings);
    sessions.create_with(sessions.new_header().cwd("/home/me/parser")).await.unwrap()
}

fn story_page() -> String {
    block_on(async {
        let session = session().await;
        story::everything(&session).await;
        session.export(ExportFormat::Html).await.unwrap().text
    })
}

/// All places in which a session holds text of others.
async fn hostile() -> Session {
    let sessions = MemorySessions::new();
    let session = sessions.create_with(sessions.new_header().cwd(HOSTILE)).await.unwrap();
    let mut story = Story::new(&session);
    let link = MediaSource::Url(format!("javascript:alert(1)//{HOSTILE}"));
    let bad = MediaSource::Base64("AA\" onload=\"document.documentElement.dataset.pwned=1".to_owned());
    story
        .asked(vec![
            HOSTILE.into(),
            format!("```{HOSTILE}\n{HOSTILE}\n```\n# {HOSTILE}\n`{HOSTILE}` **{HOSTILE}**").into(),
            ContentBlock::Image(ImageBlock::new(link)),
            ContentBlock::Image(ImageBlock::new(bad.clone()).media_type("image/png")),
            ContentBlock::Image(ImageBlock::new(bad.clone()).media_type(HOSTILE)),
            ContentBlock::Document(DocumentBlock::new(bad).name(HOSTILE)),
        ])
        .await;
    session.checkpoint(HOSTILE).await.unwrap();
    let spelled = serde_json::to_string(HOSTILE).unwrap();
    let arguments =
        format!("{{{spelled}:{spelled},\"path\":{spelled},\"list\":[{spelled}],\"old\":{spelled},\"new\":\"\"}}");
    let calls = story
        .answered(vec![
            ContentBlock::Thinking(ThinkingBlock::new(HOSTILE)),
            call(HOSTILE, &arguments),
            call("cut", HOSTILE),
        ])
        .await;
    let details = RawJson::of(&serde_json::json!({"diff": format!("+{HOSTILE}\n-{HOSTILE}\n@@{HOSTILE}")})).unwrap();
    story.did(calls[0], ToolOutput::from(HOSTILE).details(details)).await;
    story.did(calls[1], ToolOutput::from(HOSTILE).as_error()).await;
    let (attempt, id) = (story.ids.attempt(0), story.ids.message(0));
    let mut answer = AssistantMessage::new(id, vec![HOSTILE.into()], StopReason::Error);
    (answer.origin, answer.error) = (Origin::new(HOSTILE, HOSTILE, HOSTILE), Some(HOSTILE.to_owned()));
    let mut end = CallEnd::new(attempt);
    (end.message, end.error) = (Some(answer.into()), Some(HOSTILE.to_owned()));
    let note = NoteMessage::new(story.ids.message(0), HOSTILE).content(vec![HOSTILE.into()]);
    let queued = UserMessage::text(story.ids.message(0), HOSTILE).into();
    story
        .write(vec![
            RecordBody::CallStarted(CallStart::new(attempt, id)),
            RecordBody::CallSettled(end),
            RecordBody::MessageAppended(note.into()),
            RecordBody::QueuePut { queue: HOSTILE.to_owned(), message: queued },
            RecordBody::RunEnded(RunEnding::Failed(HOSTILE.to_owned())),
            RecordBody::Opaque { kind: "unheard".to_owned(), data: RawJson::parse("{}").unwrap() },
        ])
        .await;
    session.append_entry("app.<script>", RawJson::of(HOSTILE).unwrap()).await.unwrap();
    session
}

/// The tags of a page in order, with their attributes; what is between `<script>` and `</script>` left out.
fn tags(page: &str) -> Vec<&str> {
    let (mut tags, mut rest) = (Vec::new(), page);
    while let Some((_, behind)) = rest.split_once('<') {
        let (tag, after) = behind.split_once('>').unwrap();
        tags.push(tag);
        rest = match tag {
            "script" | "style" => after.split_at(after.find(&format!("</{tag}>")).unwrap()).1,
            _ => after,
        };
    }
    tags
}

#[track_caller]
fn well_formed(page: &str) {
    const VOID: [&str; 11] = ["!doctype", "meta", "input", "img", "line", "rect", "path", "br", "hr", "link", "col"];
    let mut open = Vec::new();
    for tag in tags(page) {
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap();
        match tag.strip_prefix('/') {
            Some(_) => assert_eq!(open.pop(), Some(name), "</{name}>"),
            None if VOID.contains(&name) => {}
            None => open.push(name),
        }
    }
    assert_eq!(open, [""; 0]);
}

#[track_caller]
fn closed(page: &str) {
    assert_eq!(page.matches("<script>").count(), 1, "only its own script");
    assert_eq!(page.matches("</script>").count(), 1);
    assert_eq!(page.matches("<style>").count(), 1);
    for tag in tags(page) {
        for wrong in [
            " onerror=",
            " onload=",
            " onclick=",
            "javascript:",
            "src=\"http",
            "href=\"http",
            "url(",
            "@import",
            "<link",
            "srcset",
            "<iframe",
        ] {
            assert!(!format!("<{tag}").contains(wrong), "{wrong} in <{tag}>");
        }
        if let Some((_, link)) = tag.split_once("href=\"") {
            assert!(link.starts_with("#e") || link.starts_with("#timeline"), "{tag}");
        }
    }
}

#[test]
fn everything_of_a_session_is_on_the_page() {
    let page = story_page();
    well_formed(&page);
    closed(&page);
    for wanted in [
        "<title>The parser panics on long numbers. Please fix it and add a test. …</title>",
        "claude-sonnet-5",
        "<span class=\"add\">+        // A number may be longer than 64 bits.",
        "<span class=\"del\">-    let x = 1;",
        "<span class=\"badge\">approved</span>",
        "<span class=\"badge bad\">failed</span>",
        "test long_numbers ... FAILED",
        "The parser was fixed.",
        "<span class=\"label\">with errors</span>",
        "Run stopped: budget",
        "src=\"data:image/png;base64,",
        "role=\"img\" aria-label=\"Tokens of 21 calls",
        "aria-label=\"The cost of 21 calls",
        "2 branches",
        "Rather return an error for long numbers.",
        "assert_eq!(parse(&quot;1e99&quot;), u64::MAX);",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

#[test]
fn hostile_text_is_text() {
    block_on(async {
        let page = hostile().await.page().await.unwrap();
        well_formed(&page);
        closed(&page);
        assert!(!page.contains("dataset.pwned=1</script>"));
        assert!(!page.contains('\u{202e}') && !page.contains('\0'), "what turns text around is shown as a mark");
        assert!(page.matches("&lt;script&gt;document.documentElement.dataset.pwned").count() > 20);
    });
}

#[test]
fn an_empty_session_has_a_page() {
    block_on(async {
        let page = session().await.page().await.unwrap();
        well_formed(&page);
        assert!(page.contains("holds no entries"));
    });
}

#[test]
fn long_outputs_are_cut_and_it_is_said() {
    block_on(async {
        let session = session().await;
        let mut story = Story::new(&session);
        story.asked(vec!["Read all".into()]).await;
        let calls = story.answered(vec![call("read", "{}")]).await;
        story.did(calls[0], "é".repeat(100_000).into()).await;
        let page = session.page().await.unwrap();
        assert!(page.contains("100000 more bytes are in the session."));
    });
}

async fn many(turns: u64) -> Session {
    let session = session().await;
    let mut story = Story::new(&session);
    for turn in 0..turns {
        story.asked(vec![format!("Question {turn}").into()]).await;
        let calls = story.answered(vec![call("look", r#"{"path":"a"}"#)]).await;
        story.did(calls[0], "seen".into()).await;
        story.answered(vec![format!("Answer {turn}").into()]).await;
    }
    session
}

#[test]
fn a_fork_at_every_turn_is_no_burden() {
    block_on(async {
        let session = session().await;
        let mut ids = ids();
        for turn in 0..2_000u64 {
            let said = |text: String| RecordBody::MessageAppended(UserMessage::text(ids.message(0), text).into());
            let bodies = [format!("one {turn}"), format!("two {turn}")].map(said);
            let at = session.head();
            let [one, two] = bodies.map(JournalRecord::conversation);
            session.append(vec![one]).await.unwrap();
            if let Some(at) = at {
                session.seek(at).await.unwrap();
            }
            session.append(vec![two]).await.unwrap();
        }
        let page = session.page().await.unwrap();
        well_formed(&page);
        assert!(page.len() < 4 << 20, "{} bytes", page.len());
    });
}

/// A browser, where there is one.
struct Browser {
    program: PathBuf,
    folder: PathBuf,
}

impl Browser {
    fn find(test: &str) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
        let found = std::env::split_paths(&path).flat_map(|at| names.map(|name| at.join(name))).find(|at| at.is_file());
        if found.is_none() {
            println!("skipped: {test}: no Chromium in PATH; on Debian: apt-get install chromium");
        }
        Some(Self { program: found?, folder: folder("browser") })
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, page: &Path, fragment: &str, arguments: &[String]) -> String {
        let profile = self.folder.join("profile");
        let mut command = Command::new(&self.program);
        command
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--allow-file-access-from-files", "--hide-scrollbars", "--virtual-time-budget=4000"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(arguments)
            .arg(format!("file://{}{fragment}", page.display()));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The page as it is when its script has run.
    fn dom(&self, page: &Path, fragment: &str) -> String {
        let dom = self.run(page, fragment, &["--dump-dom".to_owned()]);
        assert!(dom.contains("data-ready=\"yes\""), "the script did not come to its end");
        dom
    }

    /// What a script finds that looks into the page from outside.
    fn ask(&self, page: &Path, script: &str) -> serde_json::Value {
        let harness = format!(
            "<!doctype html><meta charset=utf-8><iframe width=1200 height=800 src=\"{}\"></iframe><pre id=found></pre>\
             <script>document.querySelector('iframe').onload = () => {{\
             const view = document.querySelector('iframe').contentWindow, page = view.document;\
             const key = (k) => (page.activeElement || page.body).dispatchEvent(new view.KeyboardEvent('keydown', {{key: k, bubbles: true, cancelable: true}}));\
             let found; try {{ found = (() => {{ {script} }})(); }} catch (e) {{ found = String(e); }}\
             document.getElementById('found').textContent = JSON.stringify(found); }};</script>",
            page.file_name().unwrap().to_str().unwrap()
        );
        let harness = self.write("harness.html", &harness);
        let dom = self.run(&harness, "", &["--dump-dom".to_owned()]);
        let (_, found) = dom.split_once("<pre id=\"found\">").unwrap();
        let found = found.split_once("</pre>").unwrap().0;
        let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        serde_json::from_str(&found).unwrap_or_else(|e| panic!("{e}: {found}"))
    }
}

#[test]
fn a_browser_shows_the_page_and_its_keys_work() {
    let Some(browser) = Browser::find("a_browser_shows_the_page_and_its_keys_work") else { return };
    let page = browser.write("story.html", &story_page());
    let found = browser.ask(
        &page,
        "const items = () => [...page.querySelectorAll('main .item')].filter((one) => one.offsetParent);\
         const at = () => items().indexOf(page.activeElement);\
         const out = {};\
         out.hidden = page.querySelectorAll('.segment[hidden]').length;\
         out.bars = page.querySelectorAll('figure a').length;\
         key('j'); out.first = at(); key('j'); out.second = at(); key('k'); out.back = at();\
         key('n'); out.input = page.activeElement.className;\
         key('e'); out.open = [...page.querySelectorAll('details.tool')].every((one) => one.open);\
         key('e'); out.closed = [...page.querySelectorAll('details.tool')].every((one) => !one.open);\
         key('?'); out.help = page.getElementById('help').open; page.getElementById('help').close();\
         key('/'); out.search = page.activeElement.id;\
         page.activeElement.value = 'SATURATE'; page.activeElement.dispatchEvent(new view.Event('input'));\
         out.found = page.getElementById('found').textContent; out.left = items().length;\
         key('Escape'); out.all = items().length;\
         out.overflow = page.documentElement.scrollWidth > view.innerWidth;\
         out.links = [...page.querySelectorAll('a')].every((one) => page.getElementById(one.getAttribute('href').slice(1)));\
         return out;",
    );
    let wanted = serde_json::json!({
        "hidden": 1, "bars": 21, "first": 0, "second": 1, "back": 0, "input": "item user", "open": true, "closed": true,
        "help": true, "search": "search", "found": found["found"], "left": found["left"], "all": found["all"],
        "overflow": false, "links": true,
    });
    assert_eq!(found, wanted);
    let left = found["left"].as_u64().unwrap();
    assert_eq!(found["found"], format!("{left} found"));
    assert!((1..10).contains(&left) && found["all"].as_u64().unwrap() > 30, "{found}");
}

#[test]
fn a_browser_goes_to_another_branch_by_its_link() {
    let Some(browser) = Browser::find("a_browser_goes_to_another_branch_by_its_link") else { return };
    let text = story_page();
    let page = browser.write("story.html", &text);
    let (before, _) = text.split_once("Rather return an error").unwrap();
    let entry = before.rsplit_once("href=\"").unwrap().1.split_once('"').unwrap().0;
    let dom = browser.dom(&page, entry);
    let (_, main) = dom.split_once("<main").unwrap();
    let sections: Vec<bool> = main
        .split("<section class=\"segment\"")
        .skip(1)
        .map(|one| one.split_once('>').unwrap().0.contains("hidden"))
        .collect();
    assert_eq!(sections, [false, true, false], "the branch of the link instead of the head's");
    assert!(dom.contains("class=\"d1 begins current here\""), "the tree shows where one is");
}

#[test]
fn nothing_hostile_runs_in_a_browser() {
    let Some(browser) = Browser::find("nothing_hostile_runs_in_a_browser") else { return };
    let page = block_on(async { hostile().await.page().await.unwrap() });
    let dom = browser.dom(&browser.write("hostile.html", &page), "");
    let html = dom.split_once("<html").unwrap().1.split_once('>').unwrap().0;
    assert!(!html.contains("pwned"), "{html}");
    // The guard behind the guard: markup that came through would not run either.
    let broken = page.replacen("<main", "<img src=x onerror=\"document.documentElement.dataset.pwned=1\"><script>document.documentElement.dataset.pwned=1</script><main", 1);
    let dom = browser.dom(&browser.write("broken.html", &broken), "");
    let html = dom.split_once("<html").unwrap().1.split_once('>').unwrap().0;
    assert!(!html.contains("pwned"), "{html}");
}

#[test]
fn a_browser_shows_thousands_of_messages() {
    let Some(browser) = Browser::find("a_browser_shows_thousands_of_messages") else { return };
    let text = block_on(async { many(1_500).await.page().await.unwrap() });
    let page = browser.write("many.html", &text);
    let found = browser.ask(
        &page,
        "const start = view.performance.now(); key('e'); key('j');\
         return [page.querySelectorAll('main .item').length, page.querySelectorAll('figure rect').length];",
    );
    assert_eq!(found[0], 4_500);
    assert!(found[1].as_u64().unwrap() <= 480, "bars stand for several calls: {found}");
}

#[test]
fn both_themes_are_drawn() {
    let Some(browser) = Browser::find("both_themes_are_drawn") else { return };
    let page = browser.write("story.html", &story_page());
    let mut pictures = Vec::new();
    for (name, scheme) in [("light", 1), ("dark", 0)] {
        let picture = browser.folder.join(format!("{name}.png"));
        browser.run(
            &page,
            "",
            &[
                format!("--screenshot={}", picture.display()),
                "--window-size=1280,1600".to_owned(),
                format!("--blink-settings=preferredColorScheme={scheme}"),
            ],
        );
        println!("{name}: {}", picture.display());
        pictures.push(fs::read(&picture).unwrap());
    }
    assert!(pictures.iter().all(|picture| picture.starts_with(b"\x89PNG") && picture.len() > 20_000));
    assert_ne!(pictures[0], pictures[1], "the dark one is another one");
}
