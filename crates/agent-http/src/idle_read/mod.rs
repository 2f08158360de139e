//! Ends a response that has fallen silent.

mod body;
mod future;
mod layer;
mod service;

pub use self::{future::IdleReadFuture, layer::IdleReadLayer, service::IdleRead};
