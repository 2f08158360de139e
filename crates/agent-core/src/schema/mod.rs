//! JSON as models are shown it and send it: canonical key order, a structural check of arguments,
//! and the coercions that are made before it.

mod canonical;

pub use canonical::{CanonicalError, canonical};
