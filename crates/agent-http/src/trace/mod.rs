//! A span per exchange.

mod body;
mod future;
mod layer;
mod service;

pub use self::{future::TraceFuture, layer::TraceLayer, service::Trace};
