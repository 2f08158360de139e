//! Where a model is: addresses of the Gemini API and of Vertex AI.

use std::fmt::Write;

/// The version of the API, which is a part of the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ApiVersion {
    /// `v1`.
    V1,
    /// `v1beta`, and `v1beta1` at Vertex.
    V1Beta,
}

/// Whose address it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// <https://ai.google.dev/api/generate-content>
    Gemini,
    /// <https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest>
    Vertex { project: String, location: String },
}

pub(crate) const GEMINI_BASE: &str = "https://generativelanguage.googleapis.com";

/// The host of a location: the global one has no prefix, the two multi-regions have hosts of their own
/// (<https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations>).
pub(crate) fn vertex_base(location: &str) -> String {
    match location {
        "global" => "https://aiplatform.googleapis.com".to_owned(),
        "us" | "eu" => format!("https://aiplatform.{location}.rep.googleapis.com"),
        location => format!("https://{location}-aiplatform.googleapis.com"),
    }
}

impl Place {
    /// The address of a model's stream.
    pub(crate) fn stream_of(&self, base: &str, version: ApiVersion, model: &str) -> String {
        let model = model.trim_matches('/');
        let (version, path) = match self {
            Self::Gemini => {
                let version = if version == ApiVersion::V1 { "v1" } else { "v1beta" };
                // A slash alone says nothing: gateways have models with the name of a vendor before it.
                let path = match model.split_once('/') {
                    Some(("models" | "tunedModels", _)) => escape(model),
                    _ => format!("models/{}", escape(model)),
                };
                (version, path)
            }
            Self::Vertex { project, location } => {
                let version = if version == ApiVersion::V1 { "v1" } else { "v1beta1" };
                let at = format!("projects/{}/locations/{}", escape(project), escape(location));
                let path = match model.split('/').next() {
                    Some("projects") => escape(model),
                    Some("publishers" | "endpoints") => format!("{at}/{}", escape(model)),
                    _ => format!("{at}/publishers/google/models/{}", escape(model)),
                };
                (version, path)
            }
        };
        format!("{base}/{version}/{path}:streamGenerateContent?alt=sse")
    }
}

/// A path, with what no path may have written as its bytes. Segments that climb stay where they are: their dots are
/// escaped too.
fn escape(path: &str) -> String {
    let segments: Vec<String> = path.split('/').map(escape_segment).collect();
    segments.join("/")
}

/// A segment of a path, or a value of a form.
pub(crate) fn escape_segment(segment: &str) -> String {
    let mut out = String::with_capacity(segment.len());
    let climbs = segment.bytes().all(|byte| byte == b'.');
    for byte in segment.bytes() {
        match byte {
            b'.' if climbs => out.push_str("%2E"),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'@' => out.push(char::from(byte)),
            byte => _ = write!(out, "%{byte:02X}"),
        }
    }
    out
}
