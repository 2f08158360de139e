//! HTTP clients in process: one that denies, one that plays a script.

mod deny;
mod reply;
mod scripted;

pub use self::{
    deny::DenySend,
    reply::HttpReply,
    scripted::{RecordedRequest, ScriptedHttp},
};

/// Method and address, without the query, where keys may stand.
fn name<B>(request: &::http::Request<B>) -> String {
    let uri = request.uri();
    let host = uri.host().unwrap_or_default();
    format!("{} {host}{}", request.method(), uri.path())
}
