//! Reads whole requests from a connection, without a library: what a client really wrote.

use bytes::{Buf, Bytes, BytesMut};

/// How large a head and a body may be.
const MAX_HEAD: usize = 1024 * 1024;
const MAX_BODY: usize = 256 * 1024 * 1024;

/// A request as its bytes said it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WireRequest {
    /// The connection that it came on, from 0 in the order in which they were accepted.
    pub connection: usize,
    /// The method.
    pub method: String,
    /// The target: path and query.
    pub path: String,
    /// The headers in order, spelled as they came.
    pub headers: Vec<(String, String)>,
    /// The body, without its framing.
    pub body: Bytes,
}

impl WireRequest {
    /// The first header with this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// A request that the server cannot read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadRequest {
    #[error("the request line is no `METHOD TARGET VERSION`")]
    Line,
    #[error("a header line has no colon")]
    Header,
    #[error("the content-length is no number")]
    Length,
    #[error("a chunk has no hexadecimal length or no line end")]
    Chunk,
    #[error("the {what} is larger than the limit of {limit} bytes")]
    TooLarge { what: &'static str, limit: usize },
}

/// Takes a whole request off the buffer; `None`, and nothing taken, while it is not all there.
pub(super) fn take(buffer: &mut BytesMut, connection: usize) -> Result<Option<WireRequest>, BadRequest> {
    let Some(end) = find(buffer, b"\r\n\r\n") else {
        return if buffer.len() > MAX_HEAD {
            Err(BadRequest::TooLarge { what: "head", limit: MAX_HEAD })
        } else {
            Ok(None)
        };
    };
    let head = String::from_utf8_lossy(buffer.get(..end).unwrap_or_default()).into_owned();
    let mut lines = head.split("\r\n");
    let mut line = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(path), Some(_), None) = (line.next(), line.next(), line.next(), line.next()) else {
        return Err(BadRequest::Line);
    };
    let headers = lines
        .map(|line| {
            let (name, value) = line.split_once(':').ok_or(BadRequest::Header)?;
            Ok((name.to_owned(), value.trim().to_owned()))
        })
        .collect::<Result<Vec<_>, BadRequest>>()?;
    let mut request =
        WireRequest { connection, method: method.to_owned(), path: path.to_owned(), headers, body: Bytes::new() };
    let rest = buffer.get(end + 4..).unwrap_or_default();
    let chunked = request.header("transfer-encoding").is_some_and(|v| v.contains("chunked"));
    let found = if chunked {
        take_chunks(rest)?
    } else {
        let length = request.header("content-length").unwrap_or("0");
        let length = length.parse::<usize>().map_err(|_| BadRequest::Length)?;
        check(length)?;
        rest.get(..length).map(|body| (Bytes::copy_from_slice(body), length))
    };
    Ok(found.map(|(body, used)| {
        buffer.advance(end + 4 + used);
        request.body = body;
        request
    }))
}

/// The body of chunks and how many bytes they took; trailers are skipped.
fn take_chunks(mut rest: &[u8]) -> Result<Option<(Bytes, usize)>, BadRequest> {
    let whole = rest.len();
    let mut body = BytesMut::new();
    loop {
        let Some((line, behind)) = split_line(rest) else { return Ok(None) };
        let line = String::from_utf8_lossy(line);
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| BadRequest::Chunk)?;
        check(body.len().saturating_add(size))?;
        rest = behind;
        if size == 0 {
            break;
        }
        let (Some(data), Some(behind)) = (rest.get(..size), rest.get(size..)) else {
            return Ok(None);
        };
        body.extend_from_slice(data);
        match split_line(behind) {
            Some(([], behind)) => rest = behind,
            Some(_) => return Err(BadRequest::Chunk),
            None => return Ok(None),
        }
    }
    loop {
        match split_line(rest) {
            Some(([], behind)) => return Ok(Some((body.freeze(), whole - behind.len()))),
            Some((_, behind)) => rest = behind,
            None => return Ok(None),
        }
    }
}

fn check(length: usize) -> Result<(), BadRequest> {
    let limit = MAX_BODY;
    if length > limit { Err(BadRequest::TooLarge { what: "body", limit }) } else { Ok(()) }
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = find(bytes, b"\r\n")?;
    Some((bytes.get(..end)?, bytes.get(end + 2..)?))
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
