//! Command lines are judged by what they run; what the reader says, the shell does.

use agent_core::{Approval, RawJson, Tool};
use agent_tools::{Bash, CommandPolicy, CommandVerdict, Otherwise, simple_commands};
use serde_json::json;

use crate::folder::{Folder, call};

fn check(line: &str, expected: &[&[&str]]) {
    assert_eq!(simple_commands(line).as_deref(), Ok(expected.iter().map(|c| words(c)).collect::<Vec<_>>().as_slice()));
}

fn words(of: &[&str]) -> Vec<String> {
    of.iter().map(|&word| word.to_owned()).collect()
}

#[test]
fn what_is_read() {
    check("", &[]);
    check("ls -la  src", &[&["ls", "-la", "src"]]);
    check("a; b & c && d || e | f |& g\nh", &[&["a"], &["b"], &["c"], &["d"], &["e"], &["f"], &["g"], &["h"]]);
    check("a |\n\n b &&\n# c\nd\n", &[&["a"], &["b"], &["d"]]);
    check("a 2>&1 >/dev/null 2> /dev/null &>/dev/null; b", &[&["a"], &["b"]]);
    check("a 'b c' \"d\\\"e\" f\\ g h#i # not this; rm x", &[&["a", "b c", "d\"e", "f g", "h#i"]]);
}

#[test]
fn what_cannot_be_read() {
    for (line, what) in [
        ("ls $HOME", "a variable or substitution (`$`)"),
        ("ls \"$(rm x)\"", "a variable or substitution (`$`)"),
        ("ls `rm x`", "a substitution"),
        ("ls \"`rm x`\"", "a substitution"),
        ("ls $'\\x72'", "a variable or substitution (`$`)"),
        ("ls *.rs", "a pattern for file names"),
        ("[ -e x ]", "a pattern for file names"),
        ("ls {a,b}", "a brace"),
        ("(ls)", "a bracket"),
        ("f() { ls; }", "a bracket"),
        ("ls ~", "a `~`"),
        ("ls > file", "a redirection to or from a file"),
        ("ls >> file", "a redirection to or from a file"),
        ("ls >/dev/nullx", "a redirection to or from a file"),
        ("ls >&3", "a redirection to or from a file"),
        ("ls > /dev/null'x'", "a redirection to or from a file"),
        ("cat < file", "a redirection to or from a file"),
        ("cat <<< x", "a redirection"),
        ("cat <(ls)", "a redirection"),
        ("ls >| x", "a redirection"),
        ("LD_PRELOAD=x ls", "a variable that is set"),
        ("PATH+=x ls", "a variable that is set"),
        ("if true; then ls; fi", "a word of the shell's own"),
        ("! ls", "a word of the shell's own"),
        ("eval ls", "a word of the shell's own"),
        ("'eval' ls", "a word of the shell's own"),
        (". ./x", "a word of the shell's own"),
        ("ls 'x", "a quote without an end"),
        ("ls \"x", "a quote without an end"),
        ("ls \\", "a `\\` that ends the line"),
        ("ls\u{0}x", "a control character"),
        ("ls\rx", "a control character"),
        ("a ;; b", "`;;`"),
        ("a |", "a command that is missing"),
        ("a && # b", "a command that is missing"),
        ("| a", "a command that is missing"),
        ("a; ; b", "a command that is missing"),
    ] {
        assert_eq!(simple_commands(line).unwrap_err().what, what, "{line}");
    }
}

/// The words that are read are those that a real shell passes on.
#[tokio::test]
async fn the_shell_agrees() {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    // Every text of up to four of these pieces.
    let pieces = ["a", " ", "'", "\"", "\\", "b#", "#", "!", "=", "-", "2", "\\\n", "ü", "|", ">/dev/null"];
    let mut lines: Vec<String> = vec![String::new()];
    let mut all = Vec::new();
    for _ in 0..4 {
        lines = lines.iter().flat_map(|line| pieces.map(|piece| format!("{line}{piece}"))).collect();
        // A command that is no more than its words, and not what follows it.
        all.extend(
            lines.iter().filter(|l| matches!(simple_commands(&format!("x {l}")), Ok(c) if c.len() == 1)).cloned(),
        );
    }
    assert!(all.len() > 5_000, "{}", all.len());
    // One shell for many of them; a word ends in `]`, a line in `.`, and what it shows goes past both outputs.
    for lines in all.chunks(300) {
        let printed = lines.iter().map(|l| format!("show {l}\n")).collect::<String>();
        let script = format!(
            "exec 9>&1; show() {{ for w in \"$@\"; do printf '%s]' \"$w\" >&9; done; echo . >&9; }}\n{printed}"
        );
        let shown = call(&bash, &json!({ "command": script }).to_string()).await.unwrap();
        let expected: String = lines
            .iter()
            .map(|l| {
                let commands = simple_commands(&format!("show {l}")).unwrap();
                commands[0][1..].iter().map(|word| format!("{word}]")).collect::<String>() + ".\n"
            })
            .collect();
        assert_eq!(shown, format!("{expected}[exit code 0]"));
    }
}

#[test]
fn verdicts() {
    let policy = CommandPolicy::new()
        .allow(["git", "status"])
        .allow(["ls"])
        .allow(Vec::<String>::new())
        .deny(["rm", "-rf", "/"])
        .deny(["git", "push"]);
    let sort = |line: &str, policy: &CommandPolicy| match policy.verdict(line) {
        CommandVerdict::Allow => "allow",
        CommandVerdict::Ask { .. } => "ask",
        CommandVerdict::Deny { .. } => "deny",
        _ => "?",
    };
    for (line, expected) in [
        ("git status --short", "allow"),
        ("ls; git status && ls -l 2>/dev/null", "allow"),
        ("'ls' -l", "allow"),
        ("", "allow"),
        ("git", "ask"),
        ("git -C x status", "ask"),
        ("lsx", "ask"),
        ("./ls", "ask"),
        ("ls; curl x", "ask"),
        ("ls | sh", "ask"),
        ("ls $(curl x)", "ask"),
        ("rm -rf ./x", "ask"),
        ("rm -rf /x", "ask"),
        ("rm -rf /", "deny"),
        ("rm -r -f /", "deny"),
        ("ls && /bin/rm --no-preserve-root // -fr", "deny"),
        ("git push", "deny"),
        ("git --no-pager push origin", "deny"),
        ("echo git push", "ask"),
    ] {
        assert_eq!(sort(line, &policy), expected, "{line}");
        let strict = policy.clone().otherwise(Otherwise::Deny);
        assert_eq!(sort(line, &strict), if expected == "ask" { "deny" } else { expected }, "{line}");
    }
}

#[tokio::test]
async fn the_tool_obeys() {
    let folder = Folder::new();
    let policy = CommandPolicy::new().allow(["echo"]).deny(["touch"]);
    let bash = Bash::new(&folder.workspace()).unwrap().policy(policy).approval(Approval::Needed);
    let approval = |line: &str| bash.effects(&RawJson::parse(json!({"command": line}).to_string()).unwrap()).approval;
    assert_eq!(approval("echo a"), Approval::NotNeeded);
    assert_eq!(approval("echo $(touch x)"), Approval::Needed);
    assert_eq!(approval("touch x"), Approval::NotNeeded);
    let error = call(&bash, &json!({"command": "echo a; touch x"}).to_string()).await.unwrap_err();
    assert_eq!(error, "denied: `touch x` is not allowed here");
    assert!(!folder.path("x").exists());
    assert_eq!(call(&bash, &json!({"command": "echo a"}).to_string()).await.unwrap(), "a\n[exit code 0]");
}
