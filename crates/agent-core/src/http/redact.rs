//! Keeps secrets out of logs and errors.

use std::{borrow::Cow, fmt};

use secrecy::{ExposeSecret, SecretString};

/// A secret: a key, a token. `Debug` shows that there is one, never which; its memory is cleared
/// when it is dropped.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Wraps a secret; white space around it, which files and commands leave, is dropped.
    pub fn new(secret: impl AsRef<str>) -> Self {
        Self(SecretString::from(secret.as_ref().trim()))
    }

    /// The secret. Put it into a header marked sensitive, and nowhere else.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Whether there is nothing in it, which a provider would refuse.
    pub fn is_empty(&self) -> bool {
        self.expose().is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "Secret(empty)" } else { "Secret([redacted])" })
    }
}

impl From<&str> for Secret {
    fn from(secret: &str) -> Self {
        Self::new(secret)
    }
}

impl From<String> for Secret {
    fn from(secret: String) -> Self {
        Self::new(secret)
    }
}

/// How keys of vendors begin.
const PREFIXES: [&str; 14] = [
    "sk-",
    "pk-",
    "rk-",
    "AIza",
    "AKIA",
    "ASIA",
    "gsk_",
    "xai-",
    "ghp_",
    "gho_",
    "github_pat_",
    "hf_",
    "eyJ",
    "ya29.",
];

/// Names whose values are secrets, in addresses and in `name: value` texts.
const NAMES: [&str; 16] = [
    "key",
    "api_key",
    "apikey",
    "api-key",
    "x-api-key",
    "x-goog-api-key",
    "client_secret",
    "refresh_token",
    "id_token",
    "access_token",
    "token",
    "secret",
    "password",
    "signature",
    "x-amz-signature",
    "x-amz-security-token",
];

/// Replaces what looks like a key or token by `[redacted]` and leaves everything else alone.
///
/// ```
/// use agent_core::redact;
/// assert_eq!(redact("bad key sk-abcdefghijklmnop."), "bad key sk-[redacted].");
/// assert_eq!(redact("GET /v1?key=abc123&alt=sse"), "GET /v1?key=[redacted]&alt=sse");
/// assert_eq!(redact("the key was wrong"), "the key was wrong");
/// ```
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let mut done = 0;
    let mut expects_secret = false;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let Some(word) = rest.get(..len).filter(|word| !word.is_empty()) else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let trimmed = word.trim_end_matches(['.', '-']);
        let prefix = PREFIXES
            .iter()
            .find(|prefix| trimmed.starts_with(**prefix) && trimmed.len() >= prefix.len() + 12);
        let keep = prefix.map_or(0, |prefix| prefix.len());
        if prefix.is_some() || expects_secret {
            let out = out.get_or_insert_with(String::new);
            out.push_str(text.get(done..at + keep).unwrap_or_default());
            out.push_str("[redacted]");
            done = at + trimmed.len();
        }
        expects_secret = secret_follows(word, rest.get(len..).unwrap_or_default());
        at += len;
    }
    match out {
        None => Cow::Borrowed(text),
        Some(mut out) => {
            out.push_str(text.get(done..).unwrap_or_default());
            Cow::Owned(out)
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/' | '%' | '~')
}

/// Whether the word after this one is a secret: `key=…`, `"token": "…"`, `Bearer …`.
fn secret_follows(word: &str, rest: &str) -> bool {
    let name = word.rsplit(['/', '.']).next().unwrap_or(word);
    if name.eq_ignore_ascii_case("bearer") {
        return rest.starts_with(' ');
    }
    let named = NAMES.iter().any(|secret| name.eq_ignore_ascii_case(secret));
    let mut after = rest.chars().filter(|c| !matches!(c, '"' | '\'' | '\\' | ' '));
    // A space before the value is only expected behind a colon, so that prose stays as it is.
    named && matches!(after.next(), Some('=' | ':'))
}
