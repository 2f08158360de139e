//! The least that a session of messages in a file can cost: a walk through an index, a bare write, a newline index with
//! checksums.

use std::{
    fs,
    io::{Error, Write},
    path::Path,
    sync::Arc,
};

use peers_meter::{Meter, least, message};

/// How often an append is made of which the average is told.
const APPENDS: u64 = 1_000;

pub(crate) fn measure(meter: &Meter, path: &Path, entries: u64) -> Result<(), Error> {
    // As long as a line of Mainspring's.
    let line = format!("{{\"id\":\"{:0155}\",\"parent\":0,\"message\":{:?}}}\n", 0, message());
    let mut file = fs::OpenOptions::new().append(true).create_new(true).open(path)?;
    let kind: Arc<str> = "message".into();
    let mut index: Vec<(u128, u32)> = Vec::new();
    for entry in 0..entries {
        index.push((entry.into(), u32::try_from(entry).unwrap_or(u32::MAX)));
        file.write_all(line.as_bytes())?;
    }
    let branch = least(9, || walk(&index, &kind));
    let append = least(5, || (0..APPENDS).try_for_each(|_| file.write_all(line.as_bytes())));
    let load = least(9, || fs::read(path).map(|bytes| scan(&bytes)));
    fs::remove_file(path)?;
    meter.report(&[("entries", entries), ("branch_ns", branch), ("append_ns", append / APPENDS), ("load_ns", load)]);
    Ok(())
}

/// The entries to the last: the name, the number, the parent's name, the kind of each.
fn walk(index: &[(u128, u32)], kind: &Arc<str>) -> Vec<(u128, u64, Option<u128>, Arc<str>)> {
    let (mut path, mut at) = (Vec::new(), index.len());
    while at > 0 {
        let (id, parent) = index[at - 1];
        let above = parent as usize;
        let above_id = (above > 0).then(|| index[above - 1].0);
        path.push((id, at as u64, above_id, kind.clone()));
        at = above;
    }
    path.reverse();
    path
}

fn scan(bytes: &[u8]) -> (usize, u64) {
    let (mut starts, mut begin, mut sum) = (Vec::new(), 0, 0);
    for end in memchr::memchr_iter(b'\n', bytes) {
        sum ^= xxhash_rust::xxh3::xxh3_64(&bytes[begin..end]);
        starts.push(begin);
        begin = end + 1;
    }
    (starts.len(), sum)
}
