//! A talk in a real terminal, which tmux holds: what is on its screen at 80 and at 120 columns.
//!
//! The screens are golden files in `tests/golden`; `BLESS=1` writes them anew. Where there is no tmux, the test says
//! that it is skipped.
#![expect(clippy::print_stdout, reason = "a skip is said aloud")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use agent_testkit::{Gate, Place as At, WireServer};
use serde_json::json;

use crate::given::{Place, calls, says};

/// How long the screen may take to show something, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal of a given width, with a tmux server of its own.
struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Runs the binary in a terminal; `None` where there is no tmux.
    fn start(place: &Place, width: usize, args: &str) -> Option<Self> {
        let socket = std::env::temp_dir().join(format!("ms-{}-{width}.sock", std::process::id()));
        let terminal = Self { socket };
        let program = env!("CARGO_BIN_EXE_mainspring");
        let home = place.0.join("home");
        let line = format!(
            "env -i HOME={} PATH=/usr/bin:/bin TERM=screen LANG=C.UTF-8 NO_COLOR=1 MAINSPRING_LOCAL_SERVERS=none {program} {args}; \
             echo \"left with $?\"; exec cat",
            home.display()
        );
        let size = width.to_string();
        let work = place.0.join("work");
        let new = ["-f", "/dev/null", "new-session", "-d", "-x", &size, "-y", "60", "-c", work.to_str()?, &line];
        match terminal.tmux(&new) {
            Some(_) => Some(terminal),
            None => {
                println!("skipped: there is no tmux here");
                None
            }
        }
    }

    fn tmux(&self, args: &[&str]) -> Option<String> {
        let mut command = Command::new("tmux");
        command.arg("-u").arg("-S").arg(&self.socket).args(args).env("LANG", "C.UTF-8");
        let output = command.output().ok()?;
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8(output.stdout).unwrap())
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"]).unwrap()
    }

    /// Waits until the screen shows a text; other processes do the waiting, so that nothing spins.
    fn wait(&self, text: &str) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            if screen.contains(text) {
                return screen;
            }
            assert!(begun.elapsed() < PATIENCE, "no `{text}` on the screen:\n{screen}");
        }
    }

    fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]).unwrap();
        self.tmux(&["send-keys", "Enter"]).unwrap();
    }

    fn presses(&self, key: &str) {
        self.tmux(&["send-keys", key]).unwrap();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]);
    }
}

/// The screen without what differs from run to run: times, and the names of sessions.
fn settled(screen: &str) -> String {
    let mut text = String::new();
    for line in screen.trim_end().lines() {
        let line = line.trim_end();
        let line = match line.rsplit_once(" | ") {
            Some((head, tail)) if tail.ends_with(" s]") => format!("{head} | 0.0 s]"),
            _ => line.to_owned(),
        };
        let line = match line.split_once("mainspring resume ") {
            Some((head, _)) => format!("{head}mainspring resume ID"),
            None => line,
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

async fn talk(width: usize) {
    let place = Place::new();
    place.put("notes.txt", "milk\neggs\n");
    let gate = Gate::new();
    let edit = || {
        let change = json!([{"old_text": "eggs", "new_text": "eggs and flour"}]);
        calls(&[("edit", json!({"path": "notes.txt", "edits": change}))])
    };
    let server = WireServer::start([
        calls(&[("read", json!({"path": "notes.txt"}))]),
        edit().stall(At::BeforeHead, &gate),
        edit(),
        says("# Done\n\nThe list has **flour** now:\n\n- milk\n- eggs and flour\n\nIt was asked for in a line that is long enough to be wrapped at eighty columns, and not at more."),
        calls(&[("bash", json!({"command": "echo counting; sleep 600"}))]),
        says("You stopped it.\n\nSo I do not know how many there are.").stall(At::AfterBody(150), &Gate::new()),
    ])
    .await
    .unwrap();
    place.at(&server);
    let golden = tokio::task::spawn_blocking(move || {
        let terminal = Terminal::start(&place, width, "chat")?;
        terminal.wait("/help says");
        terminal.types("Put flour on my list.");
        terminal.wait("-> read");
        // The model is being asked again. What is typed now is heard before its next call is run.
        terminal.wait("milk");
        terminal.types("Keep it short.");
        terminal.wait("(next: Keep it short.)");
        gate.open();
        terminal.wait("Agree?");
        terminal.types("y");
        terminal.wait("It was asked for");
        terminal.wait("out |");
        terminal.types("Now count to a million.");
        terminal.wait("sleep 600\n");
        terminal.types("a");
        terminal.wait("-> bash");
        terminal.presses("C-c");
        terminal.wait("stopped the tool");
        terminal.wait("counting\n");
        terminal.wait("You stopped it.");
        terminal.presses("C-c");
        terminal.wait("cancelled; what was done is kept");
        terminal.wait("| free |");
        terminal.types("/cost");
        terminal.wait("tokens in");
        terminal.presses("C-d");
        Some((settled(&terminal.wait("left with 0")), place.get("notes.txt").unwrap()))
    })
    .await
    .unwrap();
    let Some((screen, notes)) = golden else { return };
    assert_eq!(notes, "milk\neggs and flour\n");
    assert!(String::from_utf8_lossy(&server.requests()[2].body).contains("Keep it short."));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/chat-{width}.txt"));
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &screen).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(screen == expected, "{} differs; run with BLESS=1 if this is right:\n{screen}", path.display());
}

#[tokio::test]
async fn a_talk_looks_right_at_80_columns() {
    talk(80).await;
}

#[tokio::test]
async fn a_talk_looks_right_at_120_columns() {
    talk(120).await;
}

#[tokio::test]
async fn a_talk_goes_back_and_on_in_branches() {
    let place = Place::new();
    let server = WireServer::start([says("One it is."), says("Two, then."), says("Three at last."), says("Four.")])
        .await
        .unwrap();
    place.at(&server);
    let seen = tokio::task::spawn_blocking(move || {
        let terminal = Terminal::start(&place, 100, "chat")?;
        terminal.wait("/help says");
        terminal.types("Say one.");
        terminal.wait("One it is.");
        terminal.wait("out |");
        terminal.types("/checkpoint start");
        terminal.wait("comes back here");
        terminal.types("Say two.");
        terminal.wait("Two, then.\n");
        terminal.types("/fork start");
        terminal.wait("back at `start`");
        terminal.types("Say three.");
        terminal.wait("Three at last.\n");
        terminal.types("/undo");
        terminal.wait("taken back: Say three.");
        terminal.types("Say four.");
        terminal.wait("Four.\n");
        terminal.types("/tree");
        let tree = terminal.wait("= ");
        terminal.types("/nonsense");
        terminal.wait("there is no command /nonsense");
        terminal.types("/history");
        terminal.types("/export talk.md");
        terminal.wait("wrote talk.md");
        terminal.types("/quit");
        terminal.wait("left with 0");
        Some((tree, place.get("talk.md").unwrap()))
    })
    .await
    .unwrap();
    let Some((tree, exported)) = seen else { return };
    // Three tips: what came of two, of three, and of four, which is where the talk is.
    for asked in ["Say two.", "Say three.", "* "] {
        assert!(tree.contains(asked), "{asked}: {tree}");
    }
    assert!(exported.contains("Four.") && !exported.contains("Two, then."), "{exported}");
    let last = String::from_utf8_lossy(&server.requests()[3].body).into_owned();
    assert!(last.contains("Say one.") && last.contains("Say four."), "{last}");
    assert!(!last.contains("Say two.") && !last.contains("Say three."), "{last}");
}
