//! Images and documents as the vendor takes them.

use agent_core::{DocumentBlock, ImageBlock, MediaSource};
use base64::{Engine, engine::general_purpose::STANDARD};

use super::blocks::{Out, Source};

/// The image types that the vendor reads, with what their base64 begins with.
const IMAGES: [(&str, &str); 4] =
    [("image/jpeg", "/9j/"), ("image/png", "iVBOR"), ("image/gif", "R0lGOD"), ("image/webp", "UklGR")];

/// An image block, or why there is none.
pub(super) fn image(block: &ImageBlock) -> Result<Out<'_>, String> {
    let source = match &block.source {
        MediaSource::Url(url) => Source::Url { url },
        MediaSource::FileId(file_id) => Source::File { file_id },
        MediaSource::Base64(data) => {
            let said = block.media_type.as_deref().map(|kind| if kind == "image/jpg" { "image/jpeg" } else { kind });
            let by_name = IMAGES.iter().find(|(kind, _)| Some(*kind) == said);
            let known = by_name.or_else(|| IMAGES.iter().find(|(_, magic)| data.starts_with(magic)));
            let Some((media_type, _)) = known else {
                let kind = said.unwrap_or("a type that nobody named");
                return Err(format!("an image of {kind}, which the vendor does not read; it is left out"));
            };
            Source::Base64 { media_type, data }
        }
        _ => return Err("an image from a source that the wire does not know; it is left out".to_owned()),
    };
    Ok(Out::Image { source })
}

/// A document block, or why there is none: PDF as it is, every other text type as plain text.
pub(super) fn document(block: &DocumentBlock) -> Result<Out<'_>, String> {
    let source = match &block.source {
        MediaSource::Url(url) => Source::Url { url },
        MediaSource::FileId(file_id) => Source::File { file_id },
        MediaSource::Base64(data) => match block.media_type.as_deref() {
            Some("application/pdf") => Source::Base64 { media_type: "application/pdf", data },
            None if data.starts_with("JVBERi") => Source::Base64 { media_type: "application/pdf", data },
            Some(kind) if kind.starts_with("text/") || kind == "application/json" => {
                let text = STANDARD.decode(data).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                let Some(data) = text else {
                    return Err(format!("a document of {kind} that is no UTF-8 text in base64; it is left out"));
                };
                Source::Text { media_type: "text/plain", data }
            }
            kind => {
                let kind = kind.unwrap_or("a type that nobody named");
                return Err(format!("a document of {kind}, which the vendor does not read; it is left out"));
            }
        },
        _ => return Err("a document from a source that the wire does not know; it is left out".to_owned()),
    };
    Ok(Out::Document { source, title: block.name.as_deref() })
}
