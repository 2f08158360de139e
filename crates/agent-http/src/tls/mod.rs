//! TLS: whom to trust, and the settings made of it once.

mod provider;

use std::sync::{Arc, OnceLock};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

use crate::{BuildError, TransportError, TransportErrorKind};

/// Which certificate authorities are trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Roots {
    /// Mozilla's, compiled in: the same on every machine, and nothing is read.
    #[default]
    Webpki,
    /// The operating system's, read once at the first TLS connection. Behind the feature `native-certs`.
    #[cfg(feature = "native-certs")]
    Platform,
    /// None but the certificates that were added.
    OnlyAdded,
}

/// The TLS settings of a stack, built at the first TLS connection.
#[derive(Debug)]
pub(crate) struct Tls {
    roots: Roots,
    added: Vec<CertificateDer<'static>>,
    http2: bool,
    config: OnceLock<Result<Arc<ClientConfig>, TransportError>>,
}

impl Tls {
    pub(crate) fn new(roots: Roots, added: Vec<CertificateDer<'static>>, http2: bool) -> Self {
        Self { roots, added, http2, config: OnceLock::new() }
    }

    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, TransportError> {
        self.config.get_or_init(|| self.build()).clone()
    }

    fn build(&self) -> Result<Arc<ClientConfig>, TransportError> {
        let failed = |source| TransportError::new(TransportErrorKind::Tls, "the TLS settings", Some(source));
        let mut store = RootCertStore::empty();
        match self.roots {
            Roots::Webpki => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            #[cfg(feature = "native-certs")]
            Roots::Platform => {
                let found = rustls_native_certs::load_native_certs();
                let (usable, _) = store.add_parsable_certificates(found.certs);
                // Some broken ones among many are usual; none at all is a failure with a cause.
                if let (0, Some(error)) = (usable, found.errors.into_iter().next()) {
                    return Err(failed(error.into()));
                }
            }
            Roots::OnlyAdded => {}
        }
        for certificate in &self.added {
            store.add(certificate.clone()).map_err(|e| failed(e.into()))?;
        }
        let provider = provider::provider().ok_or_else(|| failed(BuildError::NoCryptoProvider.into()))?;
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().map_err(|e| failed(e.into()))?;
        let mut config = builder.with_root_certificates(store).with_no_client_auth();
        if self.http2 {
            config.alpn_protocols.push(b"h2".to_vec());
        }
        config.alpn_protocols.push(b"http/1.1".to_vec());
        Ok(Arc::new(config))
    }
}

/// The certificates in a PEM text (one or more) or in DER (one), checked.
pub(crate) fn certificates(bytes: &[u8]) -> Result<Vec<CertificateDer<'static>>, BuildError> {
    let is_pem = bytes.windows(11).any(|window| window == b"-----BEGIN ");
    let found = if is_pem {
        let parsed: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bytes).collect();
        parsed.map_err(|e| BuildError::Certificate { source: e.into() })?
    } else {
        vec![CertificateDer::from(bytes.to_vec())]
    };
    let mut store = RootCertStore::empty();
    for certificate in &found {
        store.add(certificate.clone()).map_err(|e| BuildError::Certificate { source: e.into() })?;
    }
    match found.is_empty() {
        true => Err(BuildError::Certificate { source: "there is no certificate in the text".into() }),
        false => Ok(found),
    }
}
