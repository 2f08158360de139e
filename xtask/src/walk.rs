//! Finds files below a folder in a stable order.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::report::Error;

/// All files with the extension below `folder`, sorted; build output, hidden folders and links
/// are left out.
pub(crate) fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let error = |source| Error::Read { path: folder.clone(), source };
        for entry in fs::read_dir(&folder).map_err(error)? {
            let entry = entry.map_err(error)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(error)?);
            let name = entry.file_name();
            if kind.is_dir() && !name.to_string_lossy().starts_with('.') && name != "target" {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Reads a file as text.
pub(crate) fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_path_buf(), source })
}
