//! The Responses wire, by bytes.

mod decode;
mod fixtures;
mod request;

use agent_core::{Assembler, AssistantMessage, Decoder, Events, IdSource, ProviderError, Wire};
use agent_openai::ResponsesWire;
use bytes::Bytes;
use http::HeaderMap;

pub(crate) fn decode(pieces: impl IntoIterator<Item = Bytes>) -> Result<AssistantMessage, ProviderError> {
    let wire = ResponsesWire::openai();
    let mut decoder = wire.decoder(&HeaderMap::new());
    let mut assembler = Assembler::new(IdSource::seeded(1).message(0)).origin(wire.origin("m"));
    let mut events = Events::new();
    let mut take = |events: &mut Events| -> Result<(), ProviderError> {
        while let Some(event) = events.pop() {
            assembler.push(&event)?;
        }
        Ok(())
    };
    for piece in pieces {
        decoder.feed(piece, &mut events)?;
        take(&mut events)?;
    }
    decoder.finish(&mut events)?;
    take(&mut events)?;
    assert!(assembler.is_stopped(), "it ended without a stop");
    Ok(assembler.finish())
}

/// Events of these data, named by their types.
pub(crate) fn stream(data: &[&str]) -> Bytes {
    data.iter().map(|data| format!("data: {data}\n\n")).collect::<String>().into()
}
