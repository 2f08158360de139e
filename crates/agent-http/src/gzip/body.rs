//! A body that is decoded while it arrives, cut wherever it was cut.

use std::{
    io::{self, Write},
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use agent_core::{Body, HttpError, HttpPhase};
use bytes::{Buf, Bytes};
use flate2::write::MultiGzDecoder;
use http_body::{Frame, SizeHint};

use crate::{TransportError, TransportErrorKind};

/// How much is decoded in one step: gzip makes at most about a thousand times as much of it.
const STEP: usize = 1024;

pub(super) struct GzipBody {
    body: Body,
    /// What has arrived and is not decoded yet.
    encoded: Bytes,
    /// Made when the first byte arrives: an empty body has no gzip header either.
    decoder: Option<Box<MultiGzDecoder<Vec<u8>>>>,
    ended: bool,
}

impl GzipBody {
    pub(super) fn new(body: Body) -> Self {
        Self { body, encoded: Bytes::new(), decoder: None, ended: false }
    }

    /// Decodes one step; what came of it, which may be nothing yet.
    fn step(&mut self) -> io::Result<Vec<u8>> {
        let decoder = self.decoder.get_or_insert_with(|| Box::new(MultiGzDecoder::new(Vec::new())));
        let step = self.encoded.get(..STEP).unwrap_or(&self.encoded);
        let taken = decoder.write(step)?;
        if taken == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the gzip stream goes on behind its end"));
        }
        self.encoded.advance(taken);
        if self.encoded.is_empty() {
            // The reader gets all that can be known of what has arrived.
            decoder.flush()?;
        }
        Ok(mem::take(decoder.get_mut()))
    }

    /// Checks that the stream was whole.
    fn finish(&mut self) -> io::Result<Vec<u8>> {
        match self.decoder.take() {
            Some(decoder) => decoder.finish(),
            None => Ok(Vec::new()),
        }
    }

    fn fail(&mut self, error: io::Error) -> HttpError {
        self.ended = true;
        self.body = Body::empty();
        let source = TransportError::new(TransportErrorKind::Encoding, "gzip", Some(error.into()));
        HttpError::Network { phase: HttpPhase::Body, source: source.into() }
    }
}

impl http_body::Body for GzipBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let this = self.get_mut();
        while !this.ended {
            let decoded = if this.encoded.is_empty() {
                match ready!(this.body.poll_data(cx)) {
                    Some(Ok(data)) => {
                        this.encoded = data;
                        continue;
                    }
                    Some(Err(error)) => {
                        this.ended = true;
                        return Poll::Ready(Some(Err(error)));
                    }
                    None => {
                        this.ended = true;
                        this.finish()
                    }
                }
            } else {
                this.step()
            };
            match decoded {
                Ok(data) if data.is_empty() => {}
                Ok(data) => return Poll::Ready(Some(Ok(Frame::data(data.into())))),
                Err(error) => return Poll::Ready(Some(Err(this.fail(error)))),
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
