//! Providers: who they are, where they are, and what their models have in common.

use serde::{Deserialize, Serialize};

use crate::{AuthStyle, ModelRow, Protocol, Source, glob};

/// What is stated of a provider. What is `None` is not stated, and comes from the row below.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ProviderRow {
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Other names that it can be asked for by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aliases: Option<Vec<String>>,
    /// The protocol of its models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Where it is; nothing where every account has an address of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variables that may hold its key; the first that is set counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<String>>,
    /// How a request shows who sends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<AuthStyle>,
    /// Its set of deviations from the protocol, by a name that the wire's crate documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// What a token written to the cache for an hour costs, as a multiple of an input token. For price lists that
    /// don't say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hour_write_per_input: Option<u32>,
    /// What its models have in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defaults: Option<ModelRow>,
    /// What some of its models have in common. All that match count, later ones more. The list counts whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub families: Option<Vec<Family>>,
    /// A remark for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The id of the source of what the row states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl ProviderRow {
    pub(crate) fn overlay(&mut self, over: &Self) {
        macro_rules! take {
            ($($field:ident),*) => { $(if over.$field.is_some() { self.$field.clone_from(&over.$field); })* };
        }
        take!(name, aliases, protocol, base_url, keys, auth, profile, hour_write_per_input, families, note, source);
        match (&mut self.defaults, &over.defaults) {
            (Some(defaults), Some(over)) => defaults.lay(over),
            (defaults @ None, Some(over)) => *defaults = Some(over.clone()),
            (_, None) => {}
        }
    }
}

/// Models of a provider that have something in common.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Family {
    /// Patterns of ids, in which `*` stands for any text. One has to match.
    pub ids: Vec<String>,
    /// Only versions below this one, such as `4.6`. An id without a version doesn't match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
    /// Only this version and later ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What they have in common.
    pub row: ModelRow,
}

impl Family {
    /// Whether a model belongs to it.
    pub fn holds(&self, model: &str) -> bool {
        let version = glob::version(model);
        let bound = |text: &Option<String>| text.as_deref().map(|text| glob::version(text).unwrap_or((0, 0)));
        let fits = match (bound(&self.from), bound(&self.below)) {
            (None, None) => true,
            (from, below) => version.is_some_and(|version| {
                from.is_none_or(|from| from <= version) && below.is_none_or(|below| version < below)
            }),
        };
        fits && self.ids.iter().any(|pattern| glob::matches(pattern, model))
    }
}

/// A provider, as the catalogue knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderFacts {
    /// Its id: what stands before the `/` of a model's name.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Whether the catalogue has a row of it. Where it has not, everything is assumed.
    pub known: bool,
    /// The protocol of its models, unless a model says otherwise.
    pub protocol: Protocol,
    /// Where it is; `None` where every account has an address of its own, or where nobody says.
    pub base_url: Option<String>,
    /// The environment variables that may hold its key; the first that is set counts.
    pub keys: Vec<String>,
    /// How a request shows who sends it.
    pub auth: AuthStyle,
    /// Its set of deviations from the protocol, by a name that the wire's crate documents.
    pub profile: Option<String>,
    /// A remark for people.
    pub note: Option<String>,
    /// Where this comes from: the source of the row that counts most, and of what it doesn't state that of the rows
    /// below. `None` where everything is assumed.
    pub source: Option<Source>,
}

impl ProviderFacts {
    pub(crate) fn of(id: &str, row: Option<&ProviderRow>) -> Self {
        let known = row.is_some();
        let row = row.cloned().unwrap_or_default();
        Self {
            id: id.to_owned(),
            name: row.name.unwrap_or_else(|| id.to_owned()),
            known,
            protocol: row.protocol.unwrap_or(Protocol::OpenAiChat),
            base_url: row.base_url,
            // Not a variable that any provider would be sent: a key goes to its own provider only.
            keys: row.keys.unwrap_or_else(|| vec![own_variable(id)]),
            auth: row.auth.unwrap_or(AuthStyle::Bearer),
            profile: row.profile,
            note: row.note,
            source: None,
        }
    }
}

/// `my-host` → `MY_HOST_API_KEY`.
fn own_variable(id: &str) -> String {
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let mut name: String = id.chars().map(upper).collect();
    name.push_str("_API_KEY");
    name
}
