//! What moved on the wire between the vendor's revisions, as data.

/// In which header an API key goes. A bearer token always goes into `authorization`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyHeader {
    /// `x-api-key`.
    XApiKey,
    /// `authorization: Bearer …`.
    Bearer,
}

/// A revision of the protocol: the `anthropic-version` header and what goes with it.
///
/// The vendor's own clients changed in autumn 2026: they send version 2026-10-21, put a key into `authorization`, and
/// their request types have no sampling parameters any more. Gateways and compatible servers mostly speak the older
/// one.
///
/// ```
/// use agent_anthropic::{AnthropicWire, KeyHeader, Revision};
/// let gateway = AnthropicWire::at("https://gateway.example/v1")?.revision(Revision::V2023_06_01);
/// assert_eq!(Revision::V2023_06_01.key_header(), KeyHeader::XApiKey);
/// # drop(gateway);
/// # Ok::<(), http::uri::InvalidUri>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Revision {
    version: &'static str,
    key: KeyHeader,
    sampling: bool,
}

impl Revision {
    /// The revision of October 2026.
    pub const V2026_10_21: Self = Self { version: "2026-10-21", key: KeyHeader::Bearer, sampling: false };
    /// The revision of June 2023, with `x-api-key`, `temperature` and `top_p`.
    pub const V2023_06_01: Self = Self { version: "2023-06-01", key: KeyHeader::XApiKey, sampling: true };

    /// A revision that this crate has no constant for.
    #[must_use]
    pub const fn named(self, version: &'static str) -> Self {
        Self { version, ..self }
    }

    /// The value of the `anthropic-version` header.
    pub const fn version(&self) -> &'static str {
        self.version
    }

    /// Where an API key goes.
    pub const fn key_header(&self) -> KeyHeader {
        self.key
    }

    /// Whether requests may have `temperature` and `top_p`.
    pub const fn has_sampling(&self) -> bool {
        self.sampling
    }
}

impl Default for Revision {
    fn default() -> Self {
        Self::V2026_10_21
    }
}
