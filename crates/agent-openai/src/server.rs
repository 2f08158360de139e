//! Where calls go and how they are signed: what both protocols of the vendor share.

use std::{collections::BTreeMap, sync::Arc};

use agent_core::{Credential, ModelFacts, ProviderError, ProviderErrorKind};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header, request::Parts, uri::InvalidUri};

/// In which header a key goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum KeyHeader {
    /// `Authorization: Bearer`.
    #[default]
    Bearer,
    /// `api-key` (Azure); a token still goes as `Authorization: Bearer`.
    ApiKey,
}

#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) provider: String,
    pub(crate) base: String,
    /// The path behind the address.
    path: &'static str,
    /// What follows the path: the version of Azure's older interface.
    query: String,
    /// Where calls go; nothing where no address was given.
    endpoint: Option<Uri>,
    key: KeyHeader,
    headers: HeaderMap,
    models: BTreeMap<String, Arc<ModelFacts>>,
    unknown: Arc<ModelFacts>,
}

impl Server {
    pub(crate) fn new(provider: &str, base: &str, path: &'static str) -> Self {
        let mut server = Self {
            provider: provider.to_owned(),
            base: base.to_owned(),
            path,
            query: String::new(),
            endpoint: None,
            key: KeyHeader::default(),
            headers: HeaderMap::new(),
            models: BTreeMap::new(),
            unknown: Arc::new(unknown(provider)),
        };
        server.find();
        server
    }

    fn find(&mut self) {
        let uri = format!("{}{}{}", self.base, self.path, self.query);
        self.endpoint = uri.parse().ok().filter(|_| !self.base.is_empty());
    }

    pub(crate) fn at(mut self, base: &str, query: &str) -> Result<Self, InvalidUri> {
        let base = base.trim().trim_end_matches('/');
        base.parse::<Uri>()?;
        (self.base, self.query) = (base.to_owned(), query.to_owned());
        self.find();
        Ok(self)
    }

    pub(crate) fn named(mut self, provider: String) -> Self {
        self.unknown = Arc::new(unknown(&provider));
        self.provider = provider;
        self
    }

    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    pub(crate) fn key_header(mut self, key: KeyHeader) -> Self {
        self.key = key;
        self
    }

    pub(crate) fn model(mut self, facts: ModelFacts) -> Self {
        self.models.insert(facts.model.clone(), Arc::new(facts));
        self
    }

    pub(crate) fn facts(&self, model: &str) -> Arc<ModelFacts> {
        self.models.get(model).unwrap_or(&self.unknown).clone()
    }

    /// Method, address and headers of a call.
    pub(crate) fn head(&self) -> Result<Parts, ProviderError> {
        let Some(endpoint) = self.endpoint.clone() else {
            let text = format!("nobody said where `{}` is; give the wire an address with `at`", self.provider);
            return Err(ProviderError::new(ProviderErrorKind::InvalidRequest, text));
        };
        let (mut parts, ()) = Request::new(()).into_parts();
        (parts.method, parts.uri) = (Method::POST, endpoint);
        parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // What the caller sets himself stands once, in his words.
        parts.headers.extend(self.headers.clone());
        Ok(parts)
    }

    pub(crate) fn authorize(&self, parts: &mut Parts, credential: &Credential) -> Result<(), ProviderError> {
        let refused = |text: String| ProviderError::new(ProviderErrorKind::Auth, text);
        let own_key = HeaderName::from_static("api-key");
        let (name, secret) = match (credential, self.key) {
            (Credential::Anonymous, _) => return Ok(()),
            (Credential::ApiKey(secret), KeyHeader::ApiKey) => (own_key, secret),
            (Credential::ApiKey(secret) | Credential::Bearer(secret), _) => (header::AUTHORIZATION, secret),
            (other, _) => {
                return Err(refused(format!("the wire cannot use {other}; give it an API key or a bearer token")));
            }
        };
        if parts.headers.contains_key(&name) || parts.headers.contains_key(header::AUTHORIZATION) {
            return Ok(());
        }
        let secret = secret.expose().trim();
        let text = if name == header::AUTHORIZATION { format!("Bearer {secret}") } else { secret.to_owned() };
        let mut value = HeaderValue::from_str(&text)
            .map_err(|_| refused(format!("{credential} has characters that no header can hold")))?;
        value.set_sensitive(true);
        parts.headers.insert(name, value);
        Ok(())
    }
}

fn unknown(provider: &str) -> ModelFacts {
    let mut facts = ModelFacts::new(provider, "");
    (facts.abilities.images, facts.abilities.reasoning) = (true, true);
    facts
}

/// The settings that both wires have.
macro_rules! server_settings {
    ($wire:ident, $path:literal) => {
        impl $wire {
            #[doc = concat!("Sets the address before `", $path, "`; slashes at its end do not count.")]
            ///
            /// # Errors
            /// [`InvalidUri`](http::uri::InvalidUri) where it is none.
            pub fn at(self, base: &str) -> Result<Self, http::uri::InvalidUri> {
                Ok(Self { server: self.server.at(base, "")?, ..self })
            }

            /// Names the provider, for origins and for the extras of a call.
            #[must_use]
            pub fn provider(self, name: impl Into<String>) -> Self {
                Self { server: self.server.named(name.into()), ..self }
            }

            /// Adds a header to every request. With `authorization` no credential is added.
            #[must_use]
            pub fn header(self, name: http::HeaderName, value: http::HeaderValue) -> Self {
                Self { server: self.server.header(name, value), ..self }
            }

            /// Sets in which header a key goes.
            #[must_use]
            pub fn key_header(self, key: crate::KeyHeader) -> Self {
                Self { server: self.server.key_header(key), ..self }
            }

            /// Says what is known of a model.
            #[must_use]
            pub fn model(self, facts: agent_core::ModelFacts) -> Self {
                Self { server: self.server.model(facts), ..self }
            }

            /// What is known of a model; of one that nobody told of, that it may see images and may think.
            pub fn facts(&self, model: &str) -> std::sync::Arc<agent_core::ModelFacts> {
                self.server.facts(model)
            }
        }
    };
}
pub(crate) use server_settings;
