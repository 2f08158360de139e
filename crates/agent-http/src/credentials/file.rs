//! Credentials in files.

use std::path::PathBuf;

use agent_core::{BoxFuture, Credential, ProviderError, Secret};
use tokio::{fs::File, io::AsyncReadExt};

use super::{CredentialForm, Fetch, SingleFlight, failed};

/// The largest file that is taken for a credential, in bytes.
const LARGEST: u64 = 64 * 1024;

/// The text of a file, without the white space around it: a mounted secret, a token that something
/// else keeps fresh.
#[derive(Debug, Clone)]
pub struct FileCredential {
    path: PathBuf,
    form: CredentialForm,
}

impl FileCredential {
    /// Reads this file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), form: CredentialForm::default() }
    }

    /// What the secret is used as: an API key.
    #[must_use]
    pub fn form(mut self, form: CredentialForm) -> Self {
        self.form = form;
        self
    }

    /// A source that reads the file at the first use, and again after a 401.
    pub fn source(self) -> SingleFlight<Self> {
        SingleFlight::new(self)
    }

    async fn read(&self) -> Result<Credential, ProviderError> {
        let path = self.path.display();
        let cannot = |e: std::io::Error| failed(format!("the credential file {path} cannot be read")).with_source(e);
        let file = File::open(&self.path).await.map_err(cannot)?;
        let mut text = String::new();
        let read = file.take(LARGEST + 1).read_to_string(&mut text).await.map_err(cannot)?;
        if u64::try_from(read).unwrap_or(u64::MAX) > LARGEST {
            return Err(failed(format!("the credential file {path} is larger than {LARGEST} bytes")));
        }
        let secret = Secret::new(text);
        if secret.is_empty() {
            return Err(failed(format!("the credential file {path} is empty")));
        }
        Ok(self.form.credential(secret))
    }
}

impl Fetch for FileCredential {
    fn fetch(&self) -> BoxFuture<'_, Result<Credential, ProviderError>> {
        Box::pin(self.read())
    }

    fn place(&self) -> Option<String> {
        Some(format!("the file {}", self.path.display()))
    }
}
