//! A request in the form that both sides hash.

use std::fmt::Write;

use http::HeaderMap;

/// How the path of a request is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PathForm {
    /// Without `.`, `..` and empty segments, as all services but S3 read it.
    #[default]
    Normalized,
    /// As it is.
    AsIs,
}

/// The headers: one line each, and their names.
pub(super) struct CanonicalHeaders {
    pub(super) lines: String,
    pub(super) names: String,
}

impl CanonicalHeaders {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut names: Vec<&str> = headers.keys().map(http::HeaderName::as_str).collect();
        names.sort_unstable();
        let mut lines = String::new();
        for name in &names {
            let values = headers.get_all(*name).iter().map(|value| {
                let text = String::from_utf8_lossy(value.as_bytes());
                let words: Vec<&str> = text.split_ascii_whitespace().collect();
                words.join(" ")
            });
            let values: Vec<String> = values.collect();
            _ = writeln!(lines, "{name}:{}", values.join(","));
        }
        Self { lines, names: names.join(";") }
    }
}

/// The path, encoded once more than it is sent: what it has as `%3A` is `%253A` here.
pub(super) fn canonical_path(path: &str, form: PathForm) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let parts = path.split('/').skip(usize::from(path.starts_with('/')));
    if form == PathForm::AsIs {
        segments.extend(parts);
    } else {
        for part in parts {
            match part {
                "" | "." => {}
                ".." => _ = segments.pop(),
                part => segments.push(part),
            }
        }
        // A slash at the end stays.
        if path.ends_with('/') && !segments.is_empty() {
            segments.push("");
        }
    }
    let encoded: Vec<String> = segments.into_iter().map(encode).collect();
    format!("/{}", encoded.join("/"))
}

/// The query in the order of its names, with some pairs more.
pub(super) fn canonical_query(query: &str, more: &[(&str, String)]) -> String {
    let own = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (encode_bytes(&decode(name)), encode_bytes(&decode(value)))
    });
    let mut pairs: Vec<(String, String)> =
        own.chain(more.iter().map(|(name, value)| (encode(name), encode(value)))).collect();
    pairs.sort_unstable();
    let pairs: Vec<String> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

/// Everything but unreserved characters, written as its bytes.
pub(super) fn encode(text: &str) -> String {
    encode_bytes(text.as_bytes())
}

fn encode_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(*byte)),
            byte => _ = write!(out, "%{byte:02X}"),
        }
    }
    out
}

fn decode(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*first);
                rest = behind;
            }
        }
    }
    out
}
