//! Writes files atomically: after a full disk, a crash or a second signal the old file is intact.
//!
//! 1. The text goes into a temporary file in the same folder, which is removed if it is not finished.
//! 2. It gets the permissions of the file that it replaces.
//! 3. It is synced to the disk before the rename: no name ever refers to half a file.
//!
//! A device, a pipe or a socket (`/dev/stdout`) cannot be replaced by a rename: the text is written directly into it.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile, TempPath};

/// A file was not written. An existing file of that name is unchanged.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", .path.display())]
pub struct NotWritten {
    /// The file.
    pub path: PathBuf,
    /// The error of the system, or of the function that writes.
    #[source]
    pub why: io::Error,
}

impl NotWritten {
    /// Whether the file was to be new and exists already.
    pub fn is_there_already(&self) -> bool {
        self.why.kind() == io::ErrorKind::AlreadyExists
    }
}

/// A file that is being written. It gets its name by [`finish`](Self::finish); if it is dropped before, nothing is
/// left.
#[derive(Debug)]
pub struct WholeFile {
    /// The name that the caller gave.
    path: PathBuf,
    out: BufWriter<File>,
    goes: Goes,
}

/// The destination of the text.
#[derive(Debug)]
enum Goes {
    /// A temporary file that replaces a file, if there is one.
    Over { from: TempPath, to: PathBuf },
    /// A temporary file that gets a free name.
    New { from: TempPath },
    /// Directly a device, a pipe or a socket.
    Straight,
}

impl WholeFile {
    /// Begins a file that replaces the file of that name; for a symbolic link, its target.
    ///
    /// # Errors
    ///
    /// If no file can be created in that folder, or the device cannot be opened.
    pub fn over(path: &Path) -> Result<WholeFile, NotWritten> {
        let begin = || {
            let to = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            let there = to.metadata().ok();
            if there.as_ref().is_some_and(|there| there.is_dir()) {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            if there.as_ref().is_some_and(|there| !there.is_file()) {
                return Ok((File::options().write(true).open(&to)?, Goes::Straight));
            }
            let (file, from) = beside(&to)?.into_parts();
            if let Some(there) = there {
                file.set_permissions(there.permissions())?;
            }
            Ok((file, Goes::Over { from, to }))
        };
        WholeFile::begun(path, begin())
    }

    /// Begins a file whose name must be free, now and at the end.
    ///
    /// # Errors
    ///
    /// If a file of that name exists, or none can be created in that folder.
    pub fn new(path: &Path) -> Result<WholeFile, NotWritten> {
        let begin = || {
            if path.symlink_metadata().is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            let (file, from) = beside(path)?.into_parts();
            Ok((file, Goes::New { from }))
        };
        WholeFile::begun(path, begin())
    }

    fn begun(path: &Path, begun: io::Result<(File, Goes)>) -> Result<WholeFile, NotWritten> {
        let path = path.to_owned();
        match begun {
            Ok((file, goes)) => Ok(WholeFile { path, out: BufWriter::new(file), goes }),
            Err(why) => Err(NotWritten { path, why }),
        }
    }

    /// Writes the output of a function, and gives the file its name.
    ///
    /// # Errors
    ///
    /// Errors of the function and of the system, with the name of the file.
    pub fn fill(
        mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), NotWritten> {
        match write(&mut self.out) {
            Ok(()) => self.finish(),
            Err(why) => Err(NotWritten { path: self.path, why }),
        }
    }

    /// Gives the file its name.
    ///
    /// # Errors
    ///
    /// If the rest cannot be written, or the file cannot be renamed.
    pub fn finish(self) -> Result<(), NotWritten> {
        let WholeFile { path, out, goes } = self;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error);
        let finished = file.and_then(|file| match goes {
            Goes::Straight => Ok(()),
            Goes::Over { from, to } => file.sync_all().and_then(|()| Ok(from.persist(to)?)),
            Goes::New { from } => file.sync_all().and_then(|()| Ok(from.persist_noclobber(&path)?)),
        });
        finished.map_err(|why| NotWritten { path, why })
    }

    /// The error with the name of this file.
    pub fn not_written(&self, why: io::Error) -> NotWritten {
        NotWritten { path: self.path.clone(), why }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes a text to a file, and replaces an existing one.
///
/// # Errors
///
/// Errors of the system, with the name of the file.
pub fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), NotWritten> {
    WholeFile::over(path)?.fill(|out| out.write_all(text.as_ref()))
}

/// Writes a text to a new file, whose name must be free.
///
/// # Errors
///
/// If a file of that name exists; or an error of the system, with the name of the file.
pub fn write_new(path: &Path, text: impl AsRef<[u8]>) -> Result<(), NotWritten> {
    WholeFile::new(path)?.fill(|out| out.write_all(text.as_ref()))
}

/// A temporary file in the same folder as another file.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let name = path.file_name().unwrap_or_default();
    // Opened here: the library would restrict it to its owner, and put the temporary name into its errors.
    let open = |path: &Path| File::options().write(true).create_new(true).open(path);
    Builder::new().prefix(name).suffix(".unfinished").make_in(folder.unwrap_or(Path::new(".")), open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn half_a_file_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        write(&path, "whole").unwrap();
        let half = WholeFile::over(&path).unwrap().fill(|out| {
            out.write_all(&[b'x'; 100_000])?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let half = half.unwrap_err();
        assert_eq!(half.to_string(), format!("cannot write {}", path.display()));
        assert_eq!(half.why.kind(), io::ErrorKind::StorageFull);
        drop(WholeFile::over(&path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(names(folder.path()), ["kept"]);
    }

    #[test]
    fn a_new_file_takes_no_name_of_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        let late = WholeFile::new(&path).unwrap();
        write_new(&path, "first").unwrap();
        assert!(write_new(&path, "second").unwrap_err().is_there_already());
        assert!(late.fill(|out| out.write_all(b"third")).unwrap_err().is_there_already());
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(names(folder.path()), ["new"]);
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/file");
        let said = WholeFile::over(&path).unwrap_err();
        assert_eq!((&said.path, said.why.kind()), (&path, io::ErrorKind::NotFound));
        let said = WholeFile::over(folder.path()).unwrap_err();
        assert_eq!(said.why.kind(), io::ErrorKind::IsADirectory);
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_devices_stay_what_they_are() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        write(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        write(Path::new("/dev/null"), "nothing").unwrap();
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_named() {
        let said = write(Path::new("/dev/full"), "much").unwrap_err();
        assert_eq!(
            (said.path.as_path(), said.why.kind()),
            (Path::new("/dev/full"), io::ErrorKind::StorageFull)
        );
    }
}
