//! Patterns of model ids, and the version that an id names.

/// Whether a text matches a pattern in which `*` stands for any text.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(first) = parts.next() else { return false };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// The version in a model's id, such as (4, 5) in `claude-opus-4-5-20251101`, `gemini-3.8-flash` (3, 8) or
/// `gpt-6-sol` (6, 0). `None` where there is none to read. A date is no part of it.
pub(crate) fn version(id: &str) -> Option<(u16, u16)> {
    let id = id.rsplit('/').next().unwrap_or(id);
    let id = id.split(['@', '[', ':']).next().unwrap_or(id);
    let mut numbers = id.split(['-', '.']).map(|part| {
        let short = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        if short { part.parse::<u16>().ok() } else { None }
    });
    let major = numbers.by_ref().flatten().next()?;
    Some((major, numbers.next().flatten().unwrap_or(0)))
}

/// An id without its date and without what a platform hangs on it: `-20251101`, `@20251101`, `[1m]`, `-v1:0`.
pub(crate) fn undated(id: &str) -> &str {
    let id = id.split_once('[').map_or(id, |(id, _)| id);
    let id = id.strip_suffix(":0").and_then(|id| id.rsplit_once("-v")).map_or(id, |(id, _)| id);
    let is_date = |text: &str| text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    id.rsplit_once(['-', '@']).filter(|(_, date)| is_date(date)).map_or(id, |(id, _)| id)
}
