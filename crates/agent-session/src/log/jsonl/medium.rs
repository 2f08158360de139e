//! The file under a session, as a seam: tests put faults between the two.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
};

/// What a session is written to: bytes that only grow at the end.
pub trait Medium: Send {
    /// How many bytes there are.
    ///
    /// # Errors
    /// Those of the system.
    fn size(&mut self) -> io::Result<u64>;

    /// Reads bytes from a place; less than asked for only at the end.
    ///
    /// # Errors
    /// Those of the system.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Puts bytes at the end, all of them.
    ///
    /// # Errors
    /// Those of the system; a part of the bytes may be there then.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Cuts everything behind a place.
    ///
    /// # Errors
    /// Those of the system.
    fn truncate(&mut self, size: u64) -> io::Result<()>;

    /// Returns when everything survives a loss of power.
    ///
    /// # Errors
    /// Those of the system.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file that is open for appending, or for reading.
impl Medium for File {
    fn size(&mut self) -> io::Result<u64> {
        // Cheaper than its metadata, and it does not matter where an appending file stands.
        self.seek(SeekFrom::End(0))
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.seek(SeekFrom::Start(offset))?;
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.read(rest) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn truncate(&mut self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}
