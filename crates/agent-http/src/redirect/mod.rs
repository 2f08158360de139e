//! Follows redirects where they are harmless.

mod future;
mod layer;
mod service;
mod target;
#[cfg(test)]
mod tests;

pub use self::{future::RedirectFuture, layer::RedirectLayer, service::Redirect};
