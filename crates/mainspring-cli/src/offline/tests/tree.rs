//! Random folders, and what is in them by `std::fs` alone.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// A folder that is gone in the end.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mainspring-offline-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn put(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Random numbers (SplitMix64).
#[derive(Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    pub(super) fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

const FOLDERS: &[&str] =
    &["src", "crates", "tests", "skip", "täst", "мир", "with space", "a-b", ".hidden", "[id]", "深い", "x.y"];
const STEMS: &[&str] =
    &["a", "b", "main", "Zebra", "ünï", "two words", "[slug]", "TODO", ".env", "x'y", "12", "e: f", "a+b"];
const ENDINGS: &[&str] = &["rs", "md", "txt", "log", "toml", "rs"];
const PIECES: &[&str] = &[
    "TODO",
    "// TODO: mend",
    "todo",
    "TODOs",
    "FIXME",
    "fixme",
    "XTODOX",
    "let x = 1;",
    "a.b",
    "axb",
    "f(x)",
    "",
    "ünïcödé",
    "TODO and TODO again",
    "`code`",
    "12: TODO",
    "[2 lines in 1 file]",
    "see: TODO.md:",
    "--",
    "[no matches]",
    "\tTODO",
    "…",
    "main.rs:",
    "foo_bar(1)",
    "std::fs",
    "$HOME",
    "TODO …",
];

/// A random folder.
pub(super) fn tree(seed: u64) -> Folder {
    let folder = Folder::new();
    let random = &mut Random(seed);
    fill(&folder, random, "", 3);
    folder
}

fn fill(folder: &Folder, random: &mut Random, at: &str, depth: usize) {
    for _ in 0..random.below(6) {
        let name = format!("{}.{}", random.pick(STEMS), random.pick(ENDINGS));
        folder.put(&format!("{at}{name}"), content(random));
    }
    if random.one_in(4) {
        folder.put(&format!("{at}.gitignore"), random.pick(&["*.log\n", "skip/\n", "*.log\nskip/\n", "# nothing\n\n"]));
    }
    if depth > 0 {
        for _ in 0..random.below(4) {
            let name = random.pick(FOLDERS);
            fill(folder, random, &format!("{at}{name}/"), depth - 1);
        }
    }
}

fn content(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    let end = if random.one_in(5) { "\r\n" } else { "\n" };
    let lines = match random.below(40) {
        0..3 => 0,
        3..30 => random.below(12),
        30..38 => random.below(80),
        // More than a search shows.
        _ => 900 + random.below(400),
    };
    let dense = random.one_in(3);
    for _ in 0..lines {
        let piece = if dense && random.one_in(2) { "TODO" } else { random.pick(PIECES) };
        if random.one_in(60) {
            bytes.extend("long ".repeat(random.below(700)).as_bytes());
        }
        bytes.extend(piece.as_bytes());
        if random.one_in(200) {
            bytes.extend(b" \xE4\xF6 latin");
        }
        bytes.extend(end.as_bytes());
    }
    if random.one_in(20) {
        bytes.splice(0..0, *b"\x7FELF\0\0\x01TODO\n");
    }
    if random.one_in(4) {
        while bytes.last().is_some_and(|b| b"\r\n".contains(b)) {
            bytes.pop();
        }
    }
    bytes
}

/// The files of a folder that are neither hidden nor ignored, with their content, and the folders.
#[derive(Debug, Default)]
pub(super) struct Truth {
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) folders: Vec<String>,
}

pub(super) fn truth(folder: &Path) -> Truth {
    let mut truth = Truth::default();
    look(folder, "", &[], &mut truth);
    truth
}

fn look(root: &Path, at: &str, rules: &[String], truth: &mut Truth) {
    let mut rules = rules.to_vec();
    if let Ok(more) = fs::read_to_string(root.join(at).join(".gitignore")) {
        rules.extend(more.lines().map(str::to_owned));
    }
    let ignores = |rule: &str| rules.iter().any(|r| r == rule);
    for entry in fs::read_dir(root.join(at)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{at}{name}");
        if name.starts_with('.') {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            if !(name == "skip" && ignores("skip/")) {
                look(root, &format!("{path}/"), &rules, truth);
                truth.folders.push(path);
            }
        } else if !(name.ends_with(".log") && ignores("*.log")) {
            truth.files.insert(path, fs::read(entry.path()).unwrap());
        }
    }
}

impl Truth {
    /// The files that lie in a folder and pass a test by path, with how many lines have a text.
    pub(super) fn lines(&self, within: &str, has: impl Fn(&[u8]) -> bool, ending: &str) -> BTreeMap<&str, usize> {
        let within = |path: &str| within.is_empty() || path.starts_with(&format!("{within}/"));
        let files =
            self.files.iter().filter(|(path, content)| within(path) && path.ends_with(ending) && !content.contains(&0));
        let counted = files.map(|(path, content)| {
            let lines = content.strip_suffix(b"\n").unwrap_or(content).split(|b| *b == b'\n');
            (path.as_str(), lines.filter(|line| has(line)).count())
        });
        counted.filter(|(_, count)| *count > 0).collect()
    }
}

/// Whether bytes contain others.
pub(super) fn contains(line: &[u8], text: &str) -> bool {
    line.windows(text.len()).any(|window| window == text.as_bytes())
}
