//! Writes messages of the event stream, with a checksum of its own making.

/// CRC-32 bit by bit, so that it shares no table with what it judges.
pub(crate) fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 })
    };
    !bytes.iter().fold(!0, step)
}

/// A message with these bytes of headers.
pub(crate) fn message(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let total = u32::try_from(16 + headers.len() + payload.len()).unwrap();
    let mut out = Vec::new();
    out.extend(total.to_be_bytes());
    out.extend(u32::try_from(headers.len()).unwrap().to_be_bytes());
    out.extend(crc(&out).to_be_bytes());
    out.extend(headers);
    out.extend(payload);
    out.extend(crc(&out).to_be_bytes());
    out
}

/// A header that is a text.
pub(crate) fn header(name: &str, value: &str) -> Vec<u8> {
    let mut out = vec![u8::try_from(name.len()).unwrap()];
    out.extend(name.as_bytes());
    out.push(7);
    out.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
    out.extend(value.as_bytes());
    out
}
