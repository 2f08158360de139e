//! Chat Completions (<https://platform.openai.com/docs/api-reference/chat>).

mod calls;
mod chunk;
mod decode;
mod messages;
mod options;
mod request;
mod usage;

pub use self::decode::ChatDecoder;
pub(crate) use self::request::encode;
