//! Credentials, and where they come from.

use std::{fmt, future::ready};

use crate::{BoxFuture, ProviderError, Secret};

/// What a request is signed or sent with.
///
/// ```
/// use agent_core::Credential;
/// let key = Credential::ApiKey("sk-verysecret".into());
/// assert_eq!((key.to_string().as_str(), format!("{key:?}").contains("verysecret")), ("an API key", false));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Credential {
    /// Nothing, for servers that ask for nothing.
    Anonymous,
    /// An API key; the wire knows its header.
    ApiKey(Secret),
    /// A token for `Authorization: Bearer`.
    Bearer(Secret),
    /// Keys that sign (AWS Signature Version 4).
    Signing {
        /// The public part.
        access_key_id: String,
        /// The secret part.
        secret_key: Secret,
        /// The token of temporary keys.
        session_token: Option<Secret>,
    },
}

/// Gives credentials, and fresh ones when they were not accepted.
///
/// Implementations share one refresh among callers that ask at the same time (single flight), and
/// give the credentials of one provider to no other's host.
pub trait CredentialSource: Send + Sync {
    /// The credential to use now. Dropping the future leaves the source as it was.
    ///
    /// # Errors
    /// [`ProviderError`] of kind `Auth` that names where a credential was looked for.
    fn credential(&self) -> BoxFuture<'_, Result<Credential, ProviderError>>;

    /// Where the credential comes from, to be named where it is not accepted: a variable, a file. Never the secret.
    fn place(&self) -> Option<String> {
        None
    }

    /// A credential to use instead of one that got a 401; `None` where the source has no other.
    ///
    /// # Errors
    /// As [`credential`](Self::credential).
    fn refresh<'a>(&'a self, rejected: &'a Credential) -> BoxFuture<'a, Result<Option<Credential>, ProviderError>> {
        let _ = rejected;
        Box::pin(ready(Ok(None)))
    }
}

/// A credential that never changes is its own source.
impl CredentialSource for Credential {
    fn credential(&self) -> BoxFuture<'_, Result<Credential, ProviderError>> {
        Box::pin(ready(Ok(self.clone())))
    }
}

impl fmt::Display for Credential {
    /// The kind of credential, never the credential.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Anonymous => "no credential",
            Self::ApiKey(_) => "an API key",
            Self::Bearer(_) => "a bearer token",
            Self::Signing { .. } => "signing keys",
        })
    }
}
