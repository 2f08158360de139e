//! Says who sends.

mod layer;
mod service;

pub use self::{layer::UserAgentLayer, service::UserAgent};
