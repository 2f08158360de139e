//! What is whole of a damaged file, copied into a new one.

use std::{collections::HashMap, fs, ops::ControlFlow, path::PathBuf, sync::Arc};

use super::{
    JsonlFile, Medium,
    backend::blobs_of,
    line_limit,
    load::{Found, lines},
};
use crate::{
    EntryId, Fault, Index, Place, Record, SessionError,
    line::{self, payload},
    log::worker::blocking,
};

/// What a salvage copied and what it could not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Salvaged {
    /// How many records were copied.
    pub records: u64,
    /// The lines that were not, from 1, and why: damaged, or below a record that is.
    pub lost: Vec<(u64, Fault)>,
}

impl JsonlFile {
    /// Copies every whole record of a damaged file that does not stand below a lost one into a new file, with the
    /// blobs. The damaged file stays as it is. Dropping the future does not stop it.
    ///
    /// # Errors
    /// [`SessionError::Exists`] where the new file exists; [`SessionError::NoHeader`] where the header is lost.
    pub async fn salvage(&self, to: impl Into<PathBuf>) -> Result<Salvaged, SessionError> {
        let (from, to, limit) = (self.path.clone(), to.into(), line_limit(&self.settings));
        blocking(move || salvage(from, to, limit)).await
    }
}

struct Copying {
    out: Vec<u8>,
    index: Index,
    /// The new numbers by the old ones.
    numbers: HashMap<u64, u64>,
    done: Salvaged,
}

fn salvage(from: PathBuf, to: PathBuf, limit: u64) -> Result<Salvaged, SessionError> {
    let place = from.display().to_string();
    let mut file = fs::File::open(&from).map_err(SessionError::io("open", &from))?;
    let mut copying =
        Copying { out: Vec::new(), index: Index::new(), numbers: HashMap::from([(0, 0)]), done: Salvaged::default() };
    let broke = lines(&mut file, limit, |found| match copying.take(&found) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) if found.number == 1 => ControlFlow::Break(()),
        Err(fault) => {
            copying.done.lost.push((found.number, fault));
            ControlFlow::Continue(())
        }
    });
    if copying.out.is_empty() || broke.map_err(SessionError::io("read", &from))?.is_break() {
        return Err(SessionError::NoHeader { place });
    }
    let mut out =
        fs::OpenOptions::new().append(true).create_new(true).open(&to).map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => SessionError::Exists { place: to.display().to_string() },
            _ => SessionError::io("make", &to)(source),
        })?;
    let written = out.append(&copying.out).and_then(|()| Medium::sync(&mut out));
    written.map_err(SessionError::io("write", &to))?;
    for blob in copying.index.blobs().keys() {
        let (old, folder) = (blobs_of(&from).join(blob.to_string()), blobs_of(&to));
        if old.exists() {
            fs::create_dir_all(&folder).map_err(SessionError::io("make", &folder))?;
            fs::copy(&old, folder.join(blob.to_string())).map_err(SessionError::io("copy", &old))?;
        }
    }
    Ok(copying.done)
}

impl Copying {
    fn take(&mut self, found: &Found<'_>) -> Result<(), Fault> {
        if found.number == 1 {
            let header = line::read_header(found.bytes)?.map_err(|_| Fault::Syntax)?;
            return line::write_header(&header, &mut self.out).map_err(|_| Fault::Syntax);
        }
        let read = line::read(found.bytes)?;
        let place = match read.place {
            Place::Outside => Place::Outside,
            Place::Below(parent) => Place::Below(*self.numbers.get(&parent).ok_or(Fault::UnknownParent { parent })?),
        };
        let data = payload(&read).and_then(|data| agent_core::RawJson::parse(data).ok()).ok_or(Fault::Syntax)?;
        let (id, kind): (EntryId, Arc<str>) = (read.id, (&*read.kind).into());
        let record = Record { seq: self.index.len() + 1, id, place, kind, blobs: read.blobs, data };
        self.index.push(&record.head(), record.data.get())?;
        line::write(&record, &mut self.out).map_err(|_| Fault::Syntax)?;
        self.numbers.insert(read.seq, record.seq);
        self.done.records += 1;
        Ok(())
    }
}
