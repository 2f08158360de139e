//! Bounds how many exchanges with one host go on at once.

mod body;
mod future;
mod hosts;
mod layer;
mod service;

pub use self::{future::HostLimitFuture, layer::HostLimitLayer, service::HostLimit};
