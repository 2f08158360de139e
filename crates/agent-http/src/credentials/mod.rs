//! Where credentials come from: the environment, files, commands; one refresh for all who ask.

#[cfg(feature = "command")]
mod command;
mod env;
mod file;
mod single_flight;

use agent_core::{BoxFuture, Credential, ProviderError, ProviderErrorKind, Secret};

#[cfg(feature = "command")]
pub use self::command::CommandCredential;
pub use self::{env::EnvCredential, file::FileCredential, single_flight::SingleFlight};

/// Looks a credential up, each time anew; [`SingleFlight`] makes a source of it.
pub trait Fetch: Send + Sync {
    /// The credential as it is now. Dropping the future ends the look-up.
    ///
    /// # Errors
    /// [`ProviderError`] of kind `Auth` that names where was looked.
    fn fetch(&self) -> BoxFuture<'_, Result<Credential, ProviderError>>;

    /// Where it looks, in a word or two: named where the credential is not accepted.
    fn place(&self) -> Option<String> {
        None
    }
}

/// What a secret is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CredentialForm {
    /// An API key; the wire knows its header.
    #[default]
    ApiKey,
    /// A token for `Authorization: Bearer`.
    Bearer,
}

impl CredentialForm {
    fn credential(self, secret: Secret) -> Credential {
        match self {
            Self::ApiKey => Credential::ApiKey(secret),
            Self::Bearer => Credential::Bearer(secret),
        }
    }
}

fn failed(text: impl AsRef<str>) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Auth, text).with_billed(agent_core::Billed::No)
}
