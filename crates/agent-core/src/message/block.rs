//! The blocks that a message is made of.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeMap};
use serde_json::value::RawValue;

use super::{Arguments, Origin};
use crate::json::{Extra, Fields, JsonError, RawJson, persisted};

persisted! {
    /// Text.
    pub struct TextBlock as "text block" {
        /// The text.
        required text: String = "text",
        /// What the provider attached and wants back, for example a thought signature.
        optional metadata: Option<RawJson> = "metadata",
    }
}

persisted! {
    /// An image.
    pub struct ImageBlock as "image block" {
        /// Where its bytes are.
        required source: MediaSource = "source",
        /// Its media type, for example `image/png`; not always known for an address.
        optional media_type: Option<String> = "mediaType",
    }
}

persisted! {
    /// A document, for example a PDF.
    pub struct DocumentBlock as "document block" {
        /// Where its bytes are.
        required source: MediaSource = "source",
        /// Its media type, for example `application/pdf`.
        optional media_type: Option<String> = "mediaType",
        /// A name to show and to cite.
        optional name: Option<String> = "name",
    }
}

persisted! {
    /// A model's reasoning.
    pub struct ThinkingBlock as "thinking block" {
        /// The readable part, empty where the provider hides it.
        optional text: String = "text",
        /// The provider's signature over the text, to be sent back unchanged.
        optional signature: Option<String> = "signature",
        /// Reasoning that only the provider can read, to be sent back unchanged.
        optional encrypted: Option<String> = "encrypted",
        /// Who made it. Signed or encrypted reasoning goes back to this origin only.
        optional origin: Option<Origin> = "origin",
    }
}

persisted! {
    /// A model's request to run a tool.
    pub struct ToolCall as "tool call" {
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

/// A block as a provider or a newer version made it, kept and sent back byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpaqueBlock {
    origin: Option<Origin>,
    data: RawJson,
}

impl OpaqueBlock {
    /// A block of a provider that core has no name for, such as the result of a server tool. It
    /// goes back to this origin only.
    pub fn new(origin: Origin, data: RawJson) -> Self {
        Self { origin: Some(origin), data }
    }

    /// Who made it; `None` for a block of a newer version of the persistence format.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// The block's JSON.
    pub fn data(&self) -> &RawJson {
        &self.data
    }
}

/// One block of a message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(TextBlock),
    /// An image.
    Image(ImageBlock),
    /// A document.
    Document(DocumentBlock),
    /// A model's reasoning.
    Thinking(ThinkingBlock),
    /// A model's request to run a tool.
    ToolCall(ToolCall),
    /// Anything else, kept byte for byte.
    Opaque(OpaqueBlock),
}

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

    fn from_raw(raw: &RawValue) -> Result<Self, JsonError> {
        let mut fields = Fields::parse("content block", raw)?;
        let kind: String = fields.required("type")?;
        Ok(match kind.as_str() {
            "text" => Self::Text(TextBlock::read(fields)?),
            "image" => Self::Image(ImageBlock::read(fields)?),
            "document" => Self::Document(DocumentBlock::read(fields)?),
            "thinking" => Self::Thinking(ThinkingBlock::read(fields)?),
            "toolCall" => Self::ToolCall(ToolCall::read(fields)?),
            "opaque" => {
                Self::Opaque(OpaqueBlock { origin: Some(fields.required("origin")?), data: fields.required("data")? })
            }
            _ => Self::Opaque(OpaqueBlock { origin: None, data: RawJson::from_ref(raw) }),
        })
    }
}

impl TextBlock {
    /// A block of text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), metadata: None, extra: Extra::default() }
    }
}

impl ImageBlock {
    /// An image.
    pub fn new(source: MediaSource) -> Self {
        Self { source, media_type: None, extra: Extra::default() }
    }

    /// Says what type of image it is.
    #[must_use]
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }
}

impl DocumentBlock {
    /// A document.
    pub fn new(source: MediaSource) -> Self {
        Self { source, media_type: None, name: None, extra: Extra::default() }
    }

    /// Says what type of document it is.
    #[must_use]
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }

    /// Names it.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl ThinkingBlock {
    /// Reasoning that anyone may read and nobody has signed.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), signature: None, encrypted: None, origin: None, extra: Extra::default() }
    }

    /// Adds the provider's signature.
    #[must_use]
    pub fn signature(mut self, signature: impl Into<String>) -> Self {
        self.signature = Some(signature.into());
        self
    }

    /// Adds what only the provider can read.
    #[must_use]
    pub fn encrypted(mut self, encrypted: impl Into<String>) -> Self {
        self.encrypted = Some(encrypted.into());
        self
    }

    /// Says who made it.
    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }
}

impl ToolCall {
    /// A call of the tool `name`.
    pub fn new(name: impl Into<String>, arguments: Arguments) -> Self {
        Self { name: name.into(), arguments, vendor_id: None, metadata: None, extra: Extra::default() }
    }

    /// Adds the vendor's id.
    #[must_use]
    pub fn vendor_id(mut self, id: impl Into<String>) -> Self {
        self.vendor_id = Some(id.into());
        self
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Self::Opaque(OpaqueBlock { origin: None, data }) = self {
            return data.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        let kind = match self {
            Self::Text(_) => "text",
            Self::Image(_) => "image",
            Self::Document(_) => "document",
            Self::Thinking(_) => "thinking",
            Self::ToolCall(_) => "toolCall",
            Self::Opaque(_) => "opaque",
        };
        map.serialize_entry("type", kind)?;
        match self {
            Self::Text(block) => block.write(&mut map)?,
            Self::Image(block) => block.write(&mut map)?,
            Self::Document(block) => block.write(&mut map)?,
            Self::Thinking(block) => block.write(&mut map)?,
            Self::ToolCall(block) => block.write(&mut map)?,
            Self::Opaque(OpaqueBlock { origin, data }) => {
                map.serialize_entry("origin", origin)?;
                map.serialize_entry("data", data)?;
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_raw(&raw).map_err(de::Error::custom)
    }
}
