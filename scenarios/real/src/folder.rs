//! A folder for temporary files that goes when this process does, however that ends: the reaper hears its name before it
//! is made, so there is no instant at which it is there and nobody knows of it.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::reaper::Reaper;

/// A private folder. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// A new one in that folder, or in the one for temporary files, watched over by the reaper.
    pub(super) fn make(reaper: &mut Reaper, within: Option<&Path>) -> std::io::Result<Folder> {
        let temporary = std::env::temp_dir();
        // A name that is taken already is another's: then another name is tried.
        let made =
            tempfile::Builder::new().prefix("zk-server-").make_in(within.unwrap_or(&temporary), |path| {
                reaper.folder(path)?;
                DirBuilder::new().mode(0o700).create(path)
            })?;
        Ok(Folder(made.into_temp_path().keep().map_err(|e| e.error)?))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The system cleans remaining temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
