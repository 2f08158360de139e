//! Keeps secrets out of logs and errors.

use std::{borrow::Cow, fmt};

use secrecy::{ExposeSecret, SecretString};

/// A secret: a key, a token. `Debug` shows that there is one, never which; its memory is cleared
/// when it is dropped.
///
/// ```
/// let key = agent_core::Secret::new("sk-verysecret\n");
/// assert_eq!((key.expose(), format!("{key:?}")), ("sk-verysecret", "Secret([redacted])".to_owned()));
/// ```
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
const PREFIXES: &str = "sk- pk- rk- AIza AKIA ASIA gsk_ xai- ghp_ gho_ github_pat_ hf_ eyJ ya29.";

/// Names whose values are secrets, in addresses and in `name: value` texts.
const NAMES: &str = "key api_key apikey api-key x-api-key x-goog-api-key client_secret refresh_token id_token access_token token secret password signature \
                     x-amz-signature x-amz-security-token";

/// Replaces what looks like a key or token by `[redacted]` and leaves everything else alone.
///
/// ```
/// use agent_core::redact;
/// assert_eq!(redact("bad key sk-abcdefghijklmnop."), "bad key sk-[redacted].");
/// assert_eq!(redact("GET /v1?key=abc123&alt=sse"), "GET /v1?key=[redacted]&alt=sse");
/// assert_eq!(redact("the key was wrong"), "the key was wrong");
/// ```
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut at, mut done, mut expected) = (0, 0, false);
    for piece in text.split_inclusive(no_word) {
        let word = piece.trim_end_matches(no_word);
        let secret = word.trim_end_matches(['.', '-']);
        let prefix = PREFIXES.split(' ').find(|prefix| secret.starts_with(prefix) && secret.len() >= prefix.len() + 12);
        if !word.is_empty() {
            if expected || prefix.is_some() {
                let keep = at + prefix.map_or(0, str::len);
                out.extend([text.get(done..keep).unwrap_or_default(), "[redacted]"]);
                done = at + secret.len();
            }
            expected = secret_follows(word, text.get(at + word.len()..).unwrap_or_default());
        }
        at += piece.len();
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

fn no_word(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/' | '%' | '~'))
}

/// Whether the word before `rest` says that a secret comes next: `key=…`, `"token": "…"`, `Bearer …`.
fn secret_follows(word: &str, rest: &str) -> bool {
    let name = word.rsplit(['/', '.']).next().unwrap_or(word);
    if name.eq_ignore_ascii_case("bearer") {
        return rest.starts_with(' ');
    }
    // A space before the value is only expected behind a colon, so that prose stays as it is.
    NAMES.split(' ').any(|secret| name.eq_ignore_ascii_case(secret))
        && rest.trim_start_matches(['"', '\'', '\\', ' ']).starts_with(['=', ':'])
}
