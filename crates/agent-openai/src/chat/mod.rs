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

pub(crate) use self::request::encode;
pub use self::{decode::ChatDecoder, spoken::TextSyntax};
