//! Credentials in environment variables.

use std::{env, future::ready};

use agent_core::{BoxFuture, Credential, ProviderError, Secret};

use super::{CredentialForm, Fetch, SingleFlight, failed};

/// The first of some environment variables that is set and not blank.
#[derive(Debug, Clone)]
pub struct EnvCredential {
    names: Vec<String>,
    form: CredentialForm,
}

impl EnvCredential {
    /// Looks at these variables, in this order.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), form: CredentialForm::default() }
    }

    /// What the secret is used as: an API key.
    #[must_use]
    pub fn form(mut self, form: CredentialForm) -> Self {
        self.form = form;
        self
    }

    /// A source that reads the variables at the first use, and again after a 401.
    pub fn source(self) -> SingleFlight<Self> {
        SingleFlight::new(self)
    }
}

impl Fetch for EnvCredential {
    fn place(&self) -> Option<String> {
        let set = |name: &&String| env::var_os(name).is_some_and(|value| !value.is_empty());
        self.names.iter().find(set).or(self.names.first()).cloned()
    }

    fn fetch(&self) -> BoxFuture<'_, Result<Credential, ProviderError>> {
        let mut invalid = Vec::new();
        let found = self.names.iter().find_map(|name| match env::var(name) {
            Ok(value) => Some(Secret::new(value)).filter(|secret| !secret.is_empty()),
            Err(env::VarError::NotPresent) => None,
            Err(env::VarError::NotUnicode(_)) => {
                invalid.push(name.as_str());
                None
            }
        });
        let missing = || match invalid.as_slice() {
            [] => failed(format!("there is no credential: set {}", self.names.join(" or "))),
            invalid => {
                failed(format!("there is no credential: {} holds text that is not UTF-8", invalid.join(" and ")))
            }
        };
        let result = found.map(|secret| self.form.credential(secret)).ok_or_else(missing);
        Box::pin(ready(result))
    }
}
