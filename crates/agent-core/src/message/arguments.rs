//! The arguments of a tool call: an object, or the text that failed to be one.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{RawJson, macros::getters};

/// The arguments that a model gave to a tool.
///
/// A call whose text is no JSON object never runs; the fault says what to tell the model.
///
/// ```
/// use agent_core::{ArgumentFault, Arguments};
/// assert_eq!(Arguments::from_text("").as_object().map(|o| o.get()), Some("{}"));
/// assert_eq!(Arguments::from_text(r#"{"path":"/a"#).fault(), Some(ArgumentFault::CutOff));
/// assert_eq!(Arguments::from_text("{,}").fault(), Some(ArgumentFault::NotJson));
/// assert_eq!(
///     Arguments::from_text(r#""{\"a\":1}""#).fault(),
///     Some(ArgumentFault::NotObject { found: "string" })
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments(Result<RawJson, (String, ArgumentFault)>);

/// Why argument text is not a JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentFault {
    /// The text stops in mid-value: the model was cut off. Ask for smaller arguments.
    #[error("the arguments were cut off; send smaller ones instead of the same again")]
    CutOff,
    /// The text is whole and no JSON.
    #[error("the arguments are not valid JSON")]
    NotJson,
    /// The text is JSON of another type, often an object encoded twice.
    #[error("the arguments are a JSON {found}, not a JSON object")]
    NotObject {
        /// The type that was found: `array`, `string`, `number` or `boolean`.
        found: &'static str,
    },
}

impl Arguments {
    /// No arguments: `{}`.
    pub fn empty() -> Self {
        Self::from_text("{}")
    }

    /// Sorts argument text; empty text, white space and `null` mean `{}`.
    pub fn from_text(text: impl Into<String>) -> Self {
        let mut text = text.into();
        if matches!(text.trim(), "" | "null") {
            text = "{}".to_owned();
        }
        let found = match text.trim_start().as_bytes().first() {
            Some(b'{') => "object",
            Some(b'[') => "array",
            Some(b'"') => "string",
            Some(b't' | b'f') => "boolean",
            _ => "number",
        };
        let fault = match serde_json::from_str::<&RawValue>(&text) {
            Ok(raw) if found == "object" => return Self(Ok(RawJson::from_ref(raw))),
            Ok(_) => ArgumentFault::NotObject { found },
            Err(e) if e.is_eof() || is_cut_in_number(&text) => ArgumentFault::CutOff,
            Err(_) => ArgumentFault::NotJson,
        };
        Self(Err((text, fault)))
    }

    /// An object that a wire can replay in place of the arguments: themselves, or the failed text
    /// as the one field `invalidArguments`, so that every vendor accepts the history.
    pub fn replay(&self) -> Cow<'_, str> {
        match &self.0 {
            Ok(raw) => raw.get().into(),
            Err((text, _)) => {
                let text = serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned());
                format!("{{\"invalidArguments\":{text}}}").into()
            }
        }
    }
}

/// serde_json calls `{"a":-`, `{"a":1.` and `{"a":1e` wrong, not cut off; with a digit more they are.
fn is_cut_in_number(text: &str) -> bool {
    let more = serde_json::from_str::<&RawValue>(&format!("{text}0")).map(drop);
    more.is_err_and(|e| e.is_eof())
}

getters!(Arguments {
    /// The object, where the text is one.
    as_object -> Option<&RawJson> = |this| this.0.as_ref().ok();
    /// What is wrong with the text, where something is.
    fault -> Option<ArgumentFault> = |this| this.0.as_ref().err().map(|(_, fault)| *fault);
    /// The text as the model wrote it.
    text -> &str = |this| this.0.as_ref().map_or_else(|(text, _)| text.as_str(), RawJson::get);
});

impl Default for Arguments {
    fn default() -> Self {
        Self::empty()
    }
}

impl From<RawJson> for Arguments {
    fn from(raw: RawJson) -> Self {
        Self::from_text(raw.get())
    }
}

/// Valid arguments are written as the object, others as a string that holds their text.
impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Ok(raw) => raw.serialize(serializer),
            Err((text, _)) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let text = serde_json::from_str::<String>(raw.get());
        Ok(Self::from_text(text.unwrap_or_else(|_| raw.get().to_owned())))
    }
}
