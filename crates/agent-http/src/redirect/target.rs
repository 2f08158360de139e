//! Where a `Location` leads (RFC 3986 section 5), and whether that is the same origin.

use http::Uri;

/// The address that a location means, seen from `base`; `None` where it is none.
pub(super) fn resolve(base: &Uri, location: &[u8]) -> Option<Uri> {
    let location = str::from_utf8(location).ok()?.trim();
    let location = location.split('#').next().unwrap_or_default();
    let scheme = base.scheme_str()?;
    let authority = base.authority()?;
    if let Some(rest) = location.strip_prefix("//") {
        return format!("{scheme}://{rest}").parse().ok();
    }
    if has_scheme(location) {
        return location.parse().ok().filter(|uri: &Uri| uri.scheme().is_some() && uri.host().is_some());
    }
    let (path, query) = match location.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (location, None),
    };
    let path = match path {
        "" => base.path().to_owned(),
        absolute if absolute.starts_with('/') => absolute.to_owned(),
        relative => {
            let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{folder}/{relative}")
        }
    };
    let path = without_dots(&path);
    // Whose location is empty or a fragment alone keeps the query (section 5.3).
    let query = if location.is_empty() { base.query() } else { query };
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{scheme}://{authority}{path}{query}").parse().ok()
}

/// Whether two addresses have the scheme, host and port in common.
pub(super) fn same_origin(a: &Uri, b: &Uri) -> bool {
    let host = |uri: &Uri| uri.host().map(str::to_ascii_lowercase);
    a.scheme() == b.scheme() && host(a) == host(b) && port(a) == port(b)
}

/// The origin of an address, in words.
pub(super) fn origin(uri: &Uri) -> String {
    let port = uri.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", uri.scheme_str().unwrap_or_default(), uri.host().unwrap_or_default())
}

fn port(uri: &Uri) -> Option<u16> {
    uri.port_u16().or(match uri.scheme_str() {
        Some("http") => Some(80),
        Some("https") => Some(443),
        _ => None,
    })
}

fn has_scheme(location: &str) -> bool {
    let Some((scheme, _)) = location.split_once(':') else { return false };
    let mut chars = scheme.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// A path without `.` and `..` (section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}
