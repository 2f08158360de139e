//! Chat Completions (<https://platform.openai.com/docs/api-reference/chat>).

mod calls;
mod chunk;
mod decode;
mod details;
mod media;
mod messages;
mod options;
mod repeat;
mod request;
mod spoken;
mod usage;

pub use self::{decode::ChatDecoder, spoken::TextSyntax};
pub(crate) use self::{decode::share, options::strict_format, request::encode};
