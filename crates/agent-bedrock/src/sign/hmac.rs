//! HMAC-SHA-256 (RFC 2104), which is two hashes and needs no crate.

use sha2::{Digest, Sha256};

/// The bytes of a block of the hash.
const BLOCK: usize = 64;

pub(super) fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0u8; BLOCK];
    let short: [u8; 32];
    let key = if key.len() > BLOCK {
        short = Sha256::digest(key).into();
        &short
    } else {
        key
    };
    block.iter_mut().zip(key).for_each(|(slot, byte)| *slot = *byte);
    let pad = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}
