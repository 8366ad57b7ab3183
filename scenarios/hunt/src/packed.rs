//! Histories in files: JSON lines, or JSON lines packed by gzip, which take a tenth of the room.

use anyhow::{Context, anyhow};
use flate2::bufread::MultiGzDecoder;
use flate2::{Compression, GzBuilder};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use zk_checker::history::History;
use zk_checker::jsonl::{self, Stored};
use zk_report::whole_file::WholeFile;

/// The first bytes of a packed file.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Whether a file with these first bytes is packed.
pub fn is_packed(begin: &[u8]) -> bool {
    begin.starts_with(&MAGIC)
}

/// Reads a history, packed or not.
///
/// # Errors
///
/// The file cannot be read, or makes no sense.
pub fn read(path: &Path) -> anyhow::Result<Stored> {
    let file = File::open(path).map_err(|why| anyhow!("cannot read {}: {why}", path.display()))?;
    let mut file = BufReader::new(file);
    let begin = file.fill_buf().map_err(|why| anyhow!("cannot read {}: {why}", path.display()))?;
    let stored = if is_packed(begin) {
        jsonl::read(BufReader::new(MultiGzDecoder::new(file)))
    } else {
        jsonl::read(file)
    };
    stored.with_context(|| path.display().to_string())
}

/// Writes a history, packed. The same history makes the same file.
///
/// # Errors
///
/// The file cannot be written.
pub fn write(path: &Path, history: &History) -> anyhow::Result<()> {
    WholeFile::over(path)?.fill(|out| {
        let mut packed = GzBuilder::new().mtime(0).write(out, Compression::best());
        jsonl::write(history, &mut packed)?;
        packed.finish().map(drop)
    })?;
    Ok(())
}
