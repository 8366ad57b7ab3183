//! A temporary folder that is removed when this process ends, in any way: the reaper knows its name before it is
//! created, so no leftover folder is unknown to it.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::reaper::Reaper;

/// A private folder. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Creates a folder in that folder, or in the system's temporary folder, watched by the reaper.
    pub(super) fn make(reaper: &mut Reaper, within: Option<&Path>) -> std::io::Result<Folder> {
        let temporary = std::env::temp_dir();
        // An existing name belongs to another process: try another name.
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
        // The system cleans up leftover temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
