//! What a scripted client answers.

use std::collections::VecDeque;

use agent_core::{Body, HttpError};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body::Frame;
use http_body_util::StreamBody;

use crate::Gate;

/// One answer of a [`ScriptedHttp`](crate::ScriptedHttp), or one failure.
///
/// ```
/// use agent_testkit::HttpReply;
/// use http::StatusCode;
/// let reply = HttpReply::new(StatusCode::OK)
///     .header("content-type", "text/event-stream")
///     .body(["data: a\n", "\ndata: b\n\n"]);
/// # drop(reply);
/// ```
#[derive(Debug)]
pub struct HttpReply {
    pub(super) head: Result<Head, HttpError>,
    pub(super) gate: Option<Gate>,
}

#[derive(Debug)]
pub(super) struct Head {
    status: StatusCode,
    headers: Vec<(String, String)>,
    pieces: Vec<Bytes>,
    waits: Vec<(usize, Gate)>,
    end: Option<(usize, HttpError)>,
}

enum Step {
    Piece(Bytes),
    Wait(Gate),
    Fail(HttpError),
}

impl HttpReply {
    /// An answer without a body.
    pub fn new(status: StatusCode) -> Self {
        let (headers, pieces, waits) = (Vec::new(), Vec::new(), Vec::new());
        Self { head: Ok(Head { status, headers, pieces, waits, end: None }), gate: None }
    }

    /// A failure without an answer.
    pub fn error(error: HttpError) -> Self {
        Self { head: Err(error), gate: None }
    }

    fn change(mut self, change: impl FnOnce(&mut Head)) -> Self {
        if let Ok(head) = &mut self.head {
            change(head);
        }
        self
    }

    /// Adds a header; one of the same name stays. What is no header fails the request.
    #[must_use]
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.change(|head| head.headers.push((name.into(), value.into())))
    }

    /// Sets the body, in the pieces in which it arrives.
    #[must_use]
    pub fn body(self, pieces: impl IntoIterator<Item = impl Into<Bytes>>) -> Self {
        self.change(|head| head.pieces = pieces.into_iter().map(Into::into).collect())
    }

    /// Holds the answer until the gate opens.
    #[must_use]
    pub fn wait(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Holds the body after `pieces` pieces until the gate opens.
    #[must_use]
    pub fn wait_after(self, pieces: usize, gate: &Gate) -> Self {
        self.change(|head| head.waits.push((pieces, gate.clone())))
    }

    /// Breaks the body after `pieces` pieces, or behind the last one.
    #[must_use]
    pub fn error_after(self, pieces: usize, error: HttpError) -> Self {
        self.change(|head| head.end = Some((pieces, error)))
    }
}

impl Head {
    pub(super) fn response(self) -> Result<Response<Body>, HttpError> {
        let mut steps = VecDeque::new();
        let (mut waits, mut end) = (self.waits, self.end);
        let last = self.pieces.len();
        let pieces = self.pieces.into_iter().map(Some).chain([None]);
        for (sent, piece) in pieces.enumerate() {
            let here = |after: usize| after == sent || (sent == last && after > sent);
            steps.extend(waits.extract_if(.., |(after, _)| here(*after)).map(|w| Step::Wait(w.1)));
            steps.extend(end.take_if(|(after, _)| here(*after)).map(|(_, e)| Step::Fail(e)));
            steps.extend(piece.map(Step::Piece));
        }
        let mut response = Response::new(Body::new(StreamBody::new(stream::unfold(steps, next))));
        *response.status_mut() = self.status;
        for (name, value) in self.headers {
            let pair = HeaderName::try_from(&name).ok().zip(HeaderValue::try_from(value).ok());
            let (name, value) = pair.ok_or_else(|| HttpError::InvalidRequest {
                reason: format!("the script sets `{name}`, which is no valid header"),
            })?;
            response.headers_mut().append(name, value);
        }
        Ok(response)
    }
}

async fn next(mut steps: VecDeque<Step>) -> Option<(Result<Frame<Bytes>, HttpError>, VecDeque<Step>)> {
    loop {
        match steps.pop_front()? {
            Step::Piece(piece) => return Some((Ok(Frame::data(piece)), steps)),
            Step::Wait(gate) => gate.pass().await,
            Step::Fail(error) => return Some((Err(error), VecDeque::new())),
        }
    }
}
