//! Reports of programs through a pipe, one report per line: from standard input or from a named pipe.
//!
//! A thread reads the lines and passes them to the loop in order. When the ensemble ends, it still reads the contents
//! of the pipe, so that no earlier report is lost.

use crate::command::Refused;
use crate::control::Control;
use crate::stop::Stop;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode};
use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// The maximal number of bytes that are read after the end was requested: as much as the largest pipe holds. A program
/// that never stops writing does not delay the end.
const LEFT_OVER: usize = 1 << 20;

/// The maximal length of a line, in bytes: a line without an end does not fill the memory.
const LONGEST_LINE: usize = 64 << 10;

/// The source of reports.
#[derive(Debug)]
pub struct ReportSource {
    from: File,
    made: Option<Made>,
}

/// A named pipe that this process created, and removes.
#[derive(Debug)]
struct Made(PathBuf);

impl Drop for Made {
    fn drop(&mut self) {
        // It may already be gone.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl ReportSource {
    /// Standard input. Its end does not end the ensemble.
    ///
    /// # Errors
    ///
    /// Errors of the system.
    pub fn stdin() -> io::Result<ReportSource> {
        Ok(ReportSource { from: File::from(io::stdin().as_fd().try_clone_to_owned()?), made: None })
    }

    /// A named pipe. If it does not exist, it is created for this user alone, and removed when the value is dropped.
    ///
    /// Several writers may open and close it. A line of at most 4096 bytes in one write is not torn.
    ///
    /// # Errors
    ///
    /// If the file is not a named pipe; or an error of the system.
    pub fn named_pipe(path: &Path) -> io::Result<ReportSource> {
        let made = match std::fs::symlink_metadata(path) {
            Ok(_) => None,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                rustix::fs::mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?;
                Some(Made(path.to_owned()))
            }
            Err(e) => return Err(e),
        };
        let not_a_pipe = || io::Error::other("it is not a named pipe");
        if made.is_none() && !is_pipe(&std::fs::metadata(path)?) {
            return Err(not_a_pipe());
        }
        // Opened for writing, too, so that the pipe does not end with its last writer, and no writer waits for a
        // reader.
        let from = OpenOptions::new().read(true).write(true).open(path)?;
        if is_pipe(&from.metadata()?) { Ok(ReportSource { from, made }) } else { Err(not_a_pipe()) }
    }
}

fn is_pipe(of: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    FileType::from_raw_mode(of.mode()) == FileType::Fifo
}

/// The thread that reads reports.
pub(crate) struct Reader {
    /// Closing it tells the thread to read the rest and to end.
    end: Option<PipeWriter>,
    done: Stop,
    thread: Option<JoinHandle<()>>,
    /// Removes the named pipe when the reader is dropped.
    _made: Option<Made>,
}

impl Reader {
    /// Starts to read. When everything is read, `done` is stopped and wakes the loop.
    pub fn start(
        source: ReportSource,
        control: Control,
        done: Stop,
        mut bad: impl FnMut(&str, &Refused) + Send + 'static,
    ) -> io::Result<Reader> {
        let (ended, end) = io::pipe()?;
        let ReportSource { from, made } = source;
        let is_done = done.clone();
        let read = move || {
            let mut lines = Lines::default();
            let mut report = |line: &str| {
                if let Err(refused) = control.report(line) {
                    bad(line, &refused);
                }
            };
            // A source that cannot be read has ended.
            let _ = read_all(&from, &ended, &mut lines, &mut report);
            lines.finish(&mut report);
            is_done.stop();
        };
        let thread = std::thread::Builder::new().name("zk-serve-reports".to_owned()).spawn(read)?;
        Ok(Reader { end: Some(end), done, thread: Some(thread), _made: made })
    }

    /// Requests the end: lines already written are still read.
    pub fn finish(&mut self) {
        self.end = None;
    }

    /// Whether everything is read.
    pub fn is_done(&self) -> bool {
        self.done.is_stopped()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.finish();
        if let Some(thread) = self.thread.take() {
            // A panicking thread has printed its message.
            let _ = thread.join();
        }
    }
}

/// Reads until the end of the source, or until `ended` has ended and nothing is left.
fn read_all(
    mut from: &File,
    ended: &PipeReader,
    lines: &mut Lines,
    report: &mut impl FnMut(&str),
) -> io::Result<()> {
    let mut chunk = [0; 4096];
    let (mut is_ending, mut left) = (false, LEFT_OVER);
    loop {
        let mut fds = [PollFd::new(from, PollFlags::IN), PollFd::new(ended, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        match poll(&mut fds, is_ending.then_some(&at_once)) {
            Err(rustix::io::Errno::INTR) => continue,
            polled => polled?,
        };
        is_ending |= !fds[1].revents().is_empty();
        if !fds[0].revents().is_empty() && left > 0 {
            match from.read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    lines.push(&chunk[..count], report);
                    left = left.saturating_sub(if is_ending { count } else { 0 });
                }
                Err(e) if matches!(e.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(e) => return Err(e),
            }
        } else if is_ending {
            return Ok(());
        }
    }
}

/// Splits pieces of text into lines.
#[derive(Default)]
struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    fn push(&mut self, bytes: &[u8], report: &mut impl FnMut(&str)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend(piece);
            if piece.ends_with(b"\n") || self.begun.len() > LONGEST_LINE {
                self.finish(report);
            }
        }
    }

    /// Reports the unfinished line.
    fn finish(&mut self, report: &mut impl FnMut(&str)) {
        let line = std::mem::take(&mut self.begun);
        let line = String::from_utf8_lossy(&line);
        if !line.trim().is_empty() {
            report(line.trim());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_of_pieces() {
        let (mut lines, mut said) = (Lines::default(), Vec::new());
        for piece in ["a b", " c\n\n d\r\n", "e", "\nf"] {
            lines.push(piece.as_bytes(), &mut |line| said.push(line.to_owned()));
        }
        lines.finish(&mut |line| said.push(line.to_owned()));
        assert_eq!(said, ["a b c", "d", "e", "f"]);
    }

    #[test]
    fn a_line_without_an_end_is_cut() {
        let (mut lines, mut said) = (Lines::default(), Vec::new());
        for _ in 0..40 {
            lines.push(&[b'x'; 4096], &mut |line| said.push(line.len()));
        }
        assert!(!said.is_empty() && lines.begun.len() <= LONGEST_LINE);
    }

    #[test]
    fn a_named_pipe_is_made_and_removed_and_another_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, file) = (folder.path().join("pipe"), folder.path().join("file"));
        let made = ReportSource::named_pipe(&pipe).unwrap();
        drop(ReportSource::named_pipe(&pipe).unwrap());
        assert!(pipe.exists(), "it is another's");
        drop(made);
        assert!(!pipe.exists());
        std::fs::write(&file, "kept").unwrap();
        assert_eq!(ReportSource::named_pipe(&file).unwrap_err().to_string(), "it is not a named pipe");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
    }
}
