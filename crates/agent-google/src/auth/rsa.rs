//! Signatures with a key in memory, by ring.

use std::fmt;

use agent_core::{ProviderError, Secret};
use base64::{Engine, engine::general_purpose::STANDARD};
use ring::{
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};

use super::{Signer, failed};

/// Signs with an RSA key of 2,048 to 4,096 bits.
pub struct RsaSigner(RsaKeyPair);

impl RsaSigner {
    /// Reads a key in PEM: `PRIVATE KEY` (PKCS #8, RFC 5208) or `RSA PRIVATE KEY` (PKCS #1, RFC 8017).
    ///
    /// # Errors
    /// [`ProviderError`] of kind `Auth` where it is no such key. It never holds a part of the key.
    pub fn from_pem(pem: &Secret) -> Result<Self, ProviderError> {
        let text = pem.expose();
        let inner = |label: &str| {
            let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
            let (inner, _) = rest.split_once(&format!("-----END {label}-----"))?;
            // A key that was pasted into a variable has its line feeds written out.
            let packed: String = inner.replace("\\n", "").chars().filter(|c| !c.is_whitespace()).collect();
            STANDARD.decode(packed).ok()
        };
        let pair = match (inner("PRIVATE KEY"), inner("RSA PRIVATE KEY")) {
            (Some(der), _) => RsaKeyPair::from_pkcs8(&der),
            (None, Some(der)) => RsaKeyPair::from_der(&der),
            (None, None) => return Err(failed("the private key is not in PEM (`-----BEGIN PRIVATE KEY-----`)")),
        };
        pair.map(Self).map_err(|e| failed(format!("the private key is no RSA key that can sign: {e}")))
    }
}

impl Signer for RsaSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, ProviderError> {
        let mut signature = vec![0; self.0.public().modulus_len()];
        let signed = self.0.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature);
        signed.map(|()| signature).map_err(|_| failed("the private key cannot sign"))
    }
}

impl fmt::Debug for RsaSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RsaSigner")
    }
}
