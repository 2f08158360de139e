//! What the server writes, byte for byte, and where it stops.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use crate::Gate;

/// A place in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// Before the first byte.
    BeforeHead,
    /// After so many bytes of the head; at its end where it is shorter.
    InHead(usize),
    /// After so many bytes behind the head, framing included; at the end where there are fewer. In a
    /// raw reply everything is behind the head.
    AfterBody(usize),
    /// Behind the last byte.
    End,
}

/// One reply of a [`WireServer`](crate::WireServer).
///
/// Each piece is one write and one flush. The connection stays open for the next request unless the
/// reply says otherwise. Nothing is checked: a reply may be any bytes.
///
/// ```
/// use agent_testkit::{Place, WireReply};
/// let cut_off = WireReply::new(200)
///     .header("content-type", "text/event-stream")
///     .chunked(["data: a\n", "\ndata: b\n\n"])
///     .reset(Place::AfterBody(4));
/// # drop(cut_off);
/// ```
#[derive(Debug, Clone)]
pub struct WireReply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Body,
    cuts: Vec<usize>,
    stops: Vec<(Place, Stop)>,
    at_accept: bool,
}

#[derive(Debug, Clone)]
enum Body {
    Length(Vec<Bytes>),
    Chunked(Vec<Bytes>),
    Close(Vec<Bytes>),
    Raw(Vec<Bytes>),
}

/// What happens at a place.
#[derive(Debug, Clone)]
pub(super) enum Stop {
    Wait(Gate),
    Reset,
    HalfClose,
    Close,
}

/// One step of the connection.
#[derive(Debug)]
pub(super) enum Step {
    Write(Bytes),
    Stop(Stop),
}

impl WireReply {
    fn with(status: u16, body: Body) -> Self {
        let (headers, cuts, stops) = (Vec::new(), Vec::new(), Vec::new());
        Self { status, headers, body, cuts, stops, at_accept: false }
    }

    /// A reply with this status, no header but `content-length: 0`, and no body.
    pub fn new(status: u16) -> Self {
        Self::with(status, Body::Length(Vec::new()))
    }

    /// These bytes as they are, malformed as they may be; nothing is added.
    pub fn raw(pieces: impl IntoIterator<Item = impl Into<Bytes>>) -> Self {
        Self::with(200, Body::Raw(collect(pieces)))
    }

    /// A reset as soon as a connection is made, before any request is read.
    pub fn reset_at_accept() -> Self {
        let reply = Self::with(200, Body::Raw(Vec::new())).reset(Place::BeforeHead);
        Self { at_accept: true, ..reply }
    }

    /// Adds a header, as it is spelled.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets a body of known length.
    #[must_use]
    pub fn body(mut self, pieces: impl IntoIterator<Item = impl Into<Bytes>>) -> Self {
        self.body = Body::Length(collect(pieces));
        self
    }

    /// Sets a chunked body; each piece is a chunk and a write.
    #[must_use]
    pub fn chunked(mut self, pieces: impl IntoIterator<Item = impl Into<Bytes>>) -> Self {
        self.body = Body::Chunked(collect(pieces));
        self
    }

    /// Sets a body that ends with the connection.
    #[must_use]
    pub fn until_close(mut self, pieces: impl IntoIterator<Item = impl Into<Bytes>>) -> Self {
        self.body = Body::Close(collect(pieces));
        self
    }

    /// Also cuts the bytes of the whole reply, head included, at these places.
    #[must_use]
    pub fn cut_at(mut self, places: impl IntoIterator<Item = usize>) -> Self {
        self.cuts.extend(places);
        self
    }

    /// Resets the connection (RST) at a place; nothing behind it is written.
    #[must_use]
    pub fn reset(self, place: Place) -> Self {
        self.stop_at(place, Stop::Reset)
    }

    /// Ends the server's direction (FIN) at a place and reads on until the client closes.
    #[must_use]
    pub fn half_close(self, place: Place) -> Self {
        self.stop_at(place, Stop::HalfClose)
    }

    /// Closes the connection at a place; nothing behind it is written.
    #[must_use]
    pub fn close(self, place: Place) -> Self {
        self.stop_at(place, Stop::Close)
    }

    /// Stalls at a place until the gate opens, or the client closes.
    #[must_use]
    pub fn stall(self, place: Place, gate: &Gate) -> Self {
        self.stop_at(place, Stop::Wait(gate.clone()))
    }

    fn stop_at(mut self, place: Place, stop: Stop) -> Self {
        self.stops.push((place, stop));
        self
    }

    pub(super) fn is_at_accept(&self) -> bool {
        self.at_accept
    }

    /// The reply as steps; stops at one place keep their order.
    pub(super) fn steps(&self) -> VecDeque<Step> {
        let (head, pieces) = (self.head(), self.pieces());
        let lengths = pieces.iter().map(Bytes::len);
        let total = head.len() + lengths.clone().sum::<usize>();
        let resolve = |place: Place| match place {
            Place::BeforeHead => 0,
            Place::InHead(bytes) => bytes.min(head.len()),
            Place::AfterBody(bytes) => head.len().saturating_add(bytes).min(total),
            Place::End => total,
        };
        let mut stops: Vec<(usize, Stop)> =
            self.stops.iter().map(|(place, stop)| (resolve(*place), stop.clone())).collect();
        if let Body::Close(_) = self.body {
            stops.push((total, Stop::Close));
        }
        stops.sort_by_key(|(at, _)| *at);

        let mut at = head.len();
        let mut cuts: Vec<usize> = vec![at];
        cuts.extend(lengths.map(|len| {
            at += len;
            at
        }));
        cuts.extend(self.cuts.iter().copied().filter(|cut| *cut < total));
        cuts.extend(stops.iter().map(|(at, _)| *at));
        cuts.sort_unstable();
        cuts.dedup();

        let mut rest = BytesMut::from(&*head);
        pieces.iter().for_each(|piece| rest.extend_from_slice(piece));
        let mut rest = rest.freeze();
        let mut stops = VecDeque::from(stops);
        let (mut steps, mut written) = (VecDeque::new(), 0);
        for cut in cuts {
            let piece = rest.split_to((cut - written).min(rest.len()));
            written = cut;
            if !piece.is_empty() {
                steps.push_back(Step::Write(piece));
            }
            while let Some((_, stop)) = stops.pop_front_if(|(at, _)| *at == cut) {
                steps.push_back(Step::Stop(stop));
            }
        }
        steps
    }

    fn head(&self) -> Bytes {
        let length = match &self.body {
            Body::Raw(_) => return Bytes::new(),
            Body::Length(pieces) => {
                format!("content-length: {}\r\n", pieces.iter().map(Bytes::len).sum::<usize>())
            }
            Body::Chunked(_) => "transfer-encoding: chunked\r\n".to_owned(),
            Body::Close(_) => "connection: close\r\n".to_owned(),
        };
        let reason = http::StatusCode::from_u16(self.status).ok();
        let reason = reason.and_then(|status| status.canonical_reason()).unwrap_or("Unknown");
        let mut head = format!("HTTP/1.1 {} {reason}\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&length);
        head.push_str("\r\n");
        head.into()
    }

    fn pieces(&self) -> Vec<Bytes> {
        match &self.body {
            Body::Length(pieces) | Body::Close(pieces) | Body::Raw(pieces) => pieces.clone(),
            Body::Chunked(pieces) => {
                let chunk = |piece: &Bytes| {
                    let mut framed = BytesMut::from(format!("{:x}\r\n", piece.len()).as_bytes());
                    framed.extend_from_slice(piece);
                    framed.extend_from_slice(b"\r\n");
                    framed.freeze()
                };
                // An empty chunk would be the last one.
                let chunks = pieces.iter().filter(|piece| !piece.is_empty()).map(chunk);
                chunks.chain([Bytes::from_static(b"0\r\n\r\n")]).collect()
            }
        }
    }
}

fn collect(pieces: impl IntoIterator<Item = impl Into<Bytes>>) -> Vec<Bytes> {
    pieces.into_iter().map(Into::into).collect()
}
