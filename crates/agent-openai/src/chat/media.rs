//! Images and files as parts of a message, and what they cost at most.

use std::borrow::Cow;

use agent_core::{DocumentBlock, ImageBlock, MediaSource, ModelFacts, TokenBound};
use serde::Serialize;

/// What an image costs at most in tokens, where no facts say so.
const IMAGE_TOKENS: u64 = 5_000;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: Url<'a> },
    File { file: File<'a> },
}

#[derive(Serialize)]
pub(super) struct Url<'a> {
    url: Cow<'a, str>,
}

#[derive(Serialize)]
pub(super) struct File<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<&'a str>,
}

/// An image; `None` where the vendor does not take its source.
pub(super) fn image_part<'a>(image: &'a ImageBlock, facts: &ModelFacts) -> Option<(Part<'a>, TokenBound)> {
    let known = TokenBound::AtMost(facts.max_image_tokens.unwrap_or(IMAGE_TOKENS));
    let (url, cost) = match &image.source {
        MediaSource::Url(url) => (Cow::Borrowed(url.as_str()), TokenBound::Unknown),
        MediaSource::Base64(data) => {
            let kind = image.media_type.as_deref().unwrap_or("image/png");
            (Cow::Owned(format!("data:{kind};base64,{data}")), known)
        }
        _ => return None,
    };
    Some((Part::ImageUrl { image_url: Url { url } }, cost))
}

/// A file; `None` where the vendor does not take its source.
pub(super) fn file_part<'a>(file: &'a DocumentBlock, facts: &ModelFacts) -> Option<(Part<'a>, TokenBound)> {
    let filename = file.name.as_deref();
    let part = match &file.source {
        MediaSource::FileId(id) => File { filename: None, file_data: None, file_id: Some(id) },
        MediaSource::Base64(data) => {
            let kind = file.media_type.as_deref().unwrap_or("application/pdf");
            File { filename, file_data: Some(format!("data:{kind};base64,{data}")), file_id: None }
        }
        _ => return None,
    };
    Some((Part::File { file: part }, facts.context_window.map_or(TokenBound::Unknown, TokenBound::AtMost)))
}
