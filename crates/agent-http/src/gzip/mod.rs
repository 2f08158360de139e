//! Asks for gzip and takes it apart.

mod body;
mod future;
mod layer;
mod service;

pub use self::{future::GzipFuture, layer::GzipLayer, service::Gzip};
