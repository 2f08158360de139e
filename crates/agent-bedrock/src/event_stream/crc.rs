//! CRC-32 as IEEE 802.3 has it, which both checksums of a message are.

/// The checksum of some bytes; 0 begins, an earlier result goes on.
///
/// ```text
/// crc32(0, b"123456789") == 0xcbf4_3926
/// ```
pub(super) fn crc32(before: u32, bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        let [low, ..] = crc.to_le_bytes();
        TABLE.get(usize::from(low ^ byte)).copied().unwrap_or_default() ^ (crc >> 8)
    };
    !bytes.iter().fold(!before, step)
}

/// The remainders of all bytes.
const TABLE: [u32; 256] = table();

#[expect(clippy::indexing_slicing, reason = "in a constant, where a wrong index does not compile")]
const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let (mut at, mut seed) = (0, 0u32);
    while at < table.len() {
        let (mut crc, mut bit) = (seed, 0);
        while bit < 8 {
            crc = if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
            bit += 1;
        }
        table[at] = crc;
        at += 1;
        seed += 1;
    }
    table
}
