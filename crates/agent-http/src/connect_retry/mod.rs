//! Tries again where no connection was made.

mod body;
mod future;
mod layer;
mod service;

pub use self::{future::ConnectRetryFuture, layer::ConnectRetryLayer, service::ConnectRetry};
