//! What hyper's errors mean.

use std::{error::Error, io, iter};

use agent_core::{HttpError, HttpPhase};
use http::uri::Authority;

use crate::{TransportError, TransportErrorKind};

/// A request without a response.
pub(super) fn failed(error: hyper::Error, peer: &Authority) -> HttpError {
    typed(HttpPhase::Head, error, peer)
}

/// A response that breaks off.
pub(super) fn broken(error: hyper::Error, peer: &Authority) -> HttpError {
    typed(HttpPhase::Body, error, peer)
}

pub(super) fn typed(phase: HttpPhase, error: hyper::Error, peer: &Authority) -> HttpError {
    // The request's own body failed, or a header was refused: not the network's fault.
    if error.is_user() {
        return HttpError::Other { source: error.into() };
    }
    let peer = peer.as_str().rsplit('@').next().unwrap_or_default();
    HttpError::Network { phase, source: TransportError::new(kind(&error), peer, Some(error.into())).into() }
}

fn kind(error: &(dyn Error + 'static)) -> TransportErrorKind {
    // The innermost cause knows most.
    if let Some(h2) = find::<h2::Error>(error) {
        if h2.is_go_away() {
            return TransportErrorKind::GoAway;
        }
        if h2.is_reset() {
            return TransportErrorKind::StreamReset;
        }
        return h2.get_io().map_or(TransportErrorKind::Protocol, TransportErrorKind::of_io);
    }
    if let Some(io) = find::<io::Error>(error) {
        return TransportErrorKind::of_io(io);
    }
    match find::<hyper::Error>(error) {
        Some(hyper) if hyper.is_timeout() => TransportErrorKind::Dead,
        Some(hyper) if hyper.is_incomplete_message() || hyper.is_canceled() || hyper.is_closed() => {
            TransportErrorKind::Closed
        }
        Some(hyper) if hyper.is_parse() => TransportErrorKind::Protocol,
        _ => TransportErrorKind::Other,
    }
}

/// The first error of a type in the chain.
fn find<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    iter::successors(Some(error), |&error| error.source()).find_map(|error| error.downcast_ref())
}
