//! The blocks that a message is made of.

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;

use crate::{
    Arguments, Extra, JsonError, RawJson,
    json::{Fields, tagged},
    macros::{from_text, getters, setters},
};

tagged! {
    /// One block of a message.
    ///
    /// ```
    /// use agent_core::{ContentBlock, ImageBlock, MediaSource};
    /// let image = ImageBlock::new(MediaSource::Url("https://example.com/a.png".into())).media_type("image/png");
    /// let blocks = [ContentBlock::text("Look:"), ContentBlock::Image(image)];
    /// assert_eq!(blocks[0].as_text(), Some("Look:"));
    /// ```
    pub enum ContentBlock as "content block" by "type" {
        /// Anything else, kept byte for byte.
        Opaque(OpaqueBlock),
    }

    /// Text.
    Text = "text": pub struct TextBlock as "text block" {
        /// A block of text.
        new(text: impl Into<String>);
        /// The text.
        required text: String = "text",
        /// What the provider attached and wants back, for example a thought signature.
        optional metadata: Option<RawJson> = "metadata",
    }

    /// An image.
    Image = "image": pub struct ImageBlock as "image block" {
        /// An image.
        new(source: MediaSource);
        /// Where its bytes are.
        required source: MediaSource = "source",
        /// Its media type, for example `image/png`; not always known for an address.
        optional media_type: Option<String> = "mediaType",
    }

    /// A document, for example a PDF.
    Document = "document": pub struct DocumentBlock as "document block" {
        /// A document.
        new(source: MediaSource);
        /// Where its bytes are.
        required source: MediaSource = "source",
        /// Its media type, for example `application/pdf`.
        optional media_type: Option<String> = "mediaType",
        /// A name to show and to cite.
        optional name: Option<String> = "name",
    }

    /// A model's reasoning.
    Thinking = "thinking": pub struct ThinkingBlock as "thinking block" {
        /// Reasoning that anyone may read and nobody has signed.
        new(text: impl Into<String>);
        /// The readable part, empty where the provider hides it.
        initial text: String = "text",
        /// The provider's signature over the text, to be sent back unchanged.
        optional signature: Option<String> = "signature",
        /// Reasoning that only the provider can read, to be sent back unchanged.
        optional encrypted: Option<String> = "encrypted",
        /// Who made it. Signed or encrypted reasoning goes back to this origin only.
        optional origin: Option<Origin> = "origin",
    }

    /// A model's request to run a tool.
    ToolCall = "toolCall": pub struct ToolCall as "tool call" {
        /// A call of the tool `name`.
        new(name: impl Into<String>, arguments: Arguments);
        /// The tool.
        required name: String = "name",
        /// What to call it with.
        required arguments: Arguments = "arguments",
        /// The id that the vendor gave to the call. Ours is the [`CallId`](crate::CallId).
        optional vendor_id: Option<String> = "vendorId",
        /// What the provider attached and wants back, for example a thought signature.
        optional metadata: Option<RawJson> = "metadata",
    }
}

/// Where the bytes of an image or document are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum MediaSource {
    /// In place, in base64 (RFC 4648 section 4, padded).
    Base64(String),
    /// At an address that the provider fetches.
    Url(String),
    /// In the provider's own store, by its id there.
    FileId(String),
}

/// The protocol, provider and model that made something that only they can read back: reasoning,
/// signatures, opaque blocks.
///
/// Whether such a block may be replayed to a target is a pure function of its origin and the target.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Origin {
    /// The wire protocol, for example `anthropic-messages`.
    pub protocol: String,
    /// The provider, for example `anthropic` or `openrouter`.
    pub provider: String,
    /// The model as the provider spells it.
    pub model: String,
}

impl Origin {
    /// The origin with these names.
    pub fn new(protocol: impl Into<String>, provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self { protocol: protocol.into(), provider: provider.into(), model: model.into() }
    }
}

/// A block as a provider or a newer version made it, kept and sent back byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpaqueBlock {
    origin: Option<Origin>,
    data: RawJson,
    extra: Extra,
}

impl OpaqueBlock {
    /// A block of a provider that core has no name for, such as the result of a server tool. It
    /// goes back to this origin only.
    pub fn new(origin: Origin, data: RawJson) -> Self {
        Self { origin: Some(origin), data, extra: Extra::default() }
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(origin) = &self.origin else { return self.data.serialize(serializer) };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "opaque")?;
        map.serialize_entry("origin", origin)?;
        map.serialize_entry("data", &self.data)?;
        self.extra.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

getters!(OpaqueBlock {
    /// Who made it; `None` for a block of a newer version of the persistence format.
    origin -> Option<&Origin> = |this| this.origin.as_ref();
    /// The block's JSON.
    data -> &RawJson = |this| &this.data;
});

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock::new(text))
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    fn unknown(kind: String, mut fields: Fields<'_>, raw: &RawValue) -> Result<Self, JsonError> {
        Ok(Self::Opaque(match kind.as_str() {
            "opaque" => {
                let (origin, data) = (Some(fields.required("origin")?), fields.required("data")?);
                OpaqueBlock { origin, data, extra: fields.rest() }
            }
            _ => OpaqueBlock { origin: None, data: RawJson::from_ref(raw), extra: Extra::default() },
        }))
    }
}

setters!(ImageBlock {
    /// Says what type of image it is.
    media_type(media_type: impl Into<String>) => media_type = Some(media_type.into());
});

setters!(DocumentBlock {
    /// Says what type of document it is.
    media_type(media_type: impl Into<String>) => media_type = Some(media_type.into());
    /// Names it.
    name(name: impl Into<String>) => name = Some(name.into());
});

setters!(ThinkingBlock {
    /// Adds the provider's signature.
    signature(signature: impl Into<String>) => signature = Some(signature.into());
    /// Adds what only the provider can read.
    encrypted(encrypted: impl Into<String>) => encrypted = Some(encrypted.into());
    /// Says who made it.
    origin(origin: Origin) => origin = Some(origin);
});

setters!(ToolCall {
    /// Adds the vendor's id.
    vendor_id(id: impl Into<String>) => vendor_id = Some(id.into());
});

from_text!(ContentBlock: &str, String);
