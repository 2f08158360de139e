//! What a file is by its first bytes, where it is no text.

use std::{fs::File, io::Read};

use agent_core::{ContentBlock, ImageBlock, MediaSource, ToolError, ToolOutput};
use base64::{Engine, engine::general_purpose::STANDARD};

/// As much as the providers take of one image.
const MAX_IMAGE: u64 = 20 * 1024 * 1024;

/// The media type of an image that models can be shown.
pub(super) fn image(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// What else it is, in words.
pub(super) fn kind(head: &[u8]) -> &'static str {
    match head {
        [b'%', b'P', b'D', b'F', b'-', ..] => "a PDF document",
        [0x7F, b'E', b'L', b'F', ..] => "a program (ELF)",
        [b'P', b'K', 3 | 5, 4 | 6, ..] => "a ZIP archive",
        [0x1F, 0x8B, ..] => "a gzip file",
        [b'S', b'Q', b'L', b'i', b't', b'e', b' ', ..] => "an SQLite database",
        _ => "a binary file",
    }
}

/// Reads the rest of an image and shows it.
pub(super) fn show(
    shown: &str,
    media_type: &'static str,
    file: File,
    mut bytes: Vec<u8>,
    size: u64,
) -> std::io::Result<Result<ToolOutput, ToolError>> {
    let read = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let rest = (MAX_IMAGE + 1).saturating_sub(read);
    file.take(rest).read_to_end(&mut bytes)?;
    if size > MAX_IMAGE || u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_IMAGE {
        let text = format!("the image `{shown}` has {size} bytes; at most {MAX_IMAGE} can be shown");
        return Ok(Err(ToolError::failed(text)));
    }
    let image = ImageBlock::new(MediaSource::Base64(STANDARD.encode(bytes))).media_type(media_type);
    let mut output = ToolOutput::text(format!("[`{shown}`: {media_type}, {size} bytes]"));
    output.content.push(ContentBlock::Image(image));
    Ok(Ok(output))
}
