//! Images and documents as others write them: data URLs, and what each format calls its parts.

use agent_core::{ContentBlock, ImageBlock, MediaSource};

/// The media type and the base64 of `data:image/png;base64,…`.
pub(super) fn data_url(url: &str) -> Option<(&str, &str)> {
    let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    // Parameters, such as a character set, are not part of the type.
    Some((media_type.split(';').next().unwrap_or_default(), data))
}

/// An image at an address, which may hold it.
pub(super) fn image_at(url: &str) -> ContentBlock {
    ContentBlock::Image(match data_url(url) {
        Some((media_type, data)) => ImageBlock::new(MediaSource::Base64(data.to_owned())).media_type(media_type),
        None => ImageBlock::new(MediaSource::Url(url.to_owned())),
    })
}

/// The address of something that is in place.
pub(super) fn to_data_url(media_type: Option<&str>, base64: &str) -> String {
    format!("data:{};base64,{base64}", media_type.unwrap_or("application/octet-stream"))
}

/// What a block is, for people.
pub(super) fn named(block: &ContentBlock) -> &'static str {
    match block {
        ContentBlock::Text(_) => "text",
        ContentBlock::Image(_) => "an image",
        ContentBlock::Document(_) => "a document",
        ContentBlock::Thinking(_) => "reasoning",
        ContentBlock::ToolCall(_) => "a tool call",
        _ => "a block of one provider only",
    }
}
