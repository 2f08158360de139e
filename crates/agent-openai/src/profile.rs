//! How vendors deviate from OpenAI's Chat Completions, as data.
//!
//! The rows of `profiles.json` follow the vendors' API references, which they name, as surveyed in November 2026.

use std::{borrow::Cow, sync::LazyLock};

use serde::Deserialize;

/// How a server is told how much to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EffortStyle {
    /// It is not told.
    None,
    /// `reasoning_effort`.
    Field,
    /// `thinking: {"type": …}` beside `reasoning_effort` (DeepSeek).
    Switch,
    /// `reasoning: {"effort": …}` (OpenRouter).
    Object,
}

/// How a server is held to a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StructuredStyle {
    /// `response_format` of the type `json_schema`.
    JsonSchema,
    /// `response_format` of the type `json_object`; the schema is said behind the instructions.
    JsonObject,
    /// Not at all: the schema is said behind the instructions.
    Words,
}

/// A vendor, or a kind of server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Profile {
    /// Its name; also the provider's, in origins.
    pub name: Cow<'static, str>,
    /// Where it is; empty where it is wherever somebody runs it.
    pub base: Cow<'static, str>,
    /// Whether instructions have the role `developer`, and not `system`.
    pub developer: bool,
    /// Whether the answer is limited by `max_completion_tokens`, and not by `max_tokens`.
    pub completion_tokens: bool,
    /// How it is told how much to think.
    pub effort: EffortStyle,
    /// How it is held to a schema.
    pub structured: StructuredStyle,
    /// Whether it takes `prompt_cache_key`.
    pub cache_key: bool,
    /// Whether it takes `parallel_tool_calls`.
    pub parallel: bool,
    /// Whether it takes `stream_options`.
    pub stream_options: bool,
    /// Whether thinking has to be sent back in requests with tools, as `reasoning_content`.
    pub replays_reasoning: bool,
    /// Whether a stream may close without `[DONE]` once a finish reason came.
    pub ends_without_done: bool,
    /// Whether an assistant message has to stand between results and what follows.
    pub assistant_after_results: bool,
    /// Whether results may hold images. Where they may not, images follow the results in a message of the user.
    pub tool_images: bool,
    /// Whether schemas can be `strict`, of answers and (by setting) of tools.
    pub strict: bool,
    /// Whether `reasoning_details` are sent back to the model that made them (OpenRouter).
    pub reasoning_details: bool,
    /// Whether ids of calls have to be nine letters and digits (Mistral).
    pub short_ids: bool,
}

const PLAIN: Profile = Profile {
    name: Cow::Borrowed("compatible"),
    base: Cow::Borrowed(""),
    developer: false,
    completion_tokens: false,
    effort: EffortStyle::None,
    structured: StructuredStyle::JsonSchema,
    cache_key: false,
    parallel: true,
    stream_options: true,
    replays_reasoning: false,
    ends_without_done: true,
    assistant_after_results: false,
    tool_images: false,
    strict: false,
    reasoning_details: false,
    short_ids: false,
};

/// The vendors' rows, and the plain protocol behind them.
static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    // A test reads the file, so that it is never the plain protocol alone.
    let mut all = read(include_str!("profiles.json"), &[PLAIN]).unwrap_or_default();
    all.push(PLAIN);
    all
});

/// Why a file of profiles cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// It is no list of profiles.
    #[error("the profiles cannot be read; they are a JSON list of objects with a `name`")]
    Json(#[from] serde_json::Error),
    /// A profile follows one that is not there.
    #[error("the profile `{name}` is like `{like}`, which is none; there are {known}")]
    Like {
        /// The profile.
        name: String,
        /// What it is like.
        like: String,
        /// The profiles that it can be like.
        known: String,
    },
}

/// Declares what a row of a file may say, each field as optional.
macro_rules! rows {
    ($($field:ident: $kind:ty),* $(,)?) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Row {
            name: String,
            like: Option<String>,
            base: Option<String>,
            /// Where the vendor says so; for readers of the file.
            #[serde(rename = "source")]
            _source: Option<String>,
            $($field: Option<$kind>,)*
        }

        impl Row {
            fn over(self, like: &Profile) -> Profile {
                let base = self.base.map_or_else(|| like.base.clone(), Cow::Owned);
                Profile { name: Cow::Owned(self.name), base, $($field: self.$field.unwrap_or(like.$field),)* }
            }
        }
    };
}

rows! {
    developer: bool,
    completion_tokens: bool,
    effort: EffortStyle,
    structured: StructuredStyle,
    cache_key: bool,
    parallel: bool,
    stream_options: bool,
    replays_reasoning: bool,
    ends_without_done: bool,
    assistant_after_results: bool,
    tool_images: bool,
    strict: bool,
    reasoning_details: bool,
    short_ids: bool,
}

impl Profile {
    /// The profile of a vendor or a kind of server; `None` where there is none of that name.
    pub fn named(name: &str) -> Option<Self> {
        PROFILES.iter().find(|profile| profile.name == name).cloned()
    }

    /// The plain protocol, for a server that nobody has looked at.
    pub const fn compatible() -> Self {
        PLAIN
    }

    /// All profiles.
    pub fn all() -> &'static [Self] {
        &PROFILES
    }

    /// Reads profiles from a JSON list: each row has a `name`, may be `like` an earlier row or a profile of
    /// [`all`](Self::all) (`compatible` if it doesn't say), and says what is different.
    ///
    /// ```
    /// use agent_openai::{Profile, StructuredStyle};
    /// let text = r#"[{"name":"ours","like":"vllm","base":"http://10.0.0.5/v1","structured":"json_object"}]"#;
    /// let profiles = Profile::read(text)?;
    /// assert_eq!((profiles[0].structured, profiles[0].parallel), (StructuredStyle::JsonObject, true));
    /// # Ok::<(), agent_openai::ProfileError>(())
    /// ```
    ///
    /// # Errors
    /// [`ProfileError`] where it is no such list, has a field that no profile has, or names a profile that is not there.
    pub fn read(text: &str) -> Result<Vec<Self>, ProfileError> {
        read(text, &PROFILES)
    }
}

fn read(text: &str, known: &[Profile]) -> Result<Vec<Profile>, ProfileError> {
    let mut read: Vec<Profile> = Vec::new();
    for row in serde_json::from_str::<Vec<Row>>(text)? {
        let like = row.like.as_deref().unwrap_or("compatible");
        let all = || read.iter().rev().chain(known);
        let Some(like) = all().find(|profile| profile.name == like) else {
            let known = all().map(|profile| &*profile.name).collect::<Vec<_>>().join(", ");
            return Err(ProfileError::Like { name: row.name, like: like.to_owned(), known });
        };
        let profile = row.over(&like.clone());
        read.push(profile);
    }
    Ok(read)
}
