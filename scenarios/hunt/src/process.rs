//! The processes of drivers.

use crate::program::{Prepared, Scenario};
use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Stdio};
use std::time::Duration;

/// The session timeout of clients.
pub const TIMEOUT: Duration = Duration::from_millis(2000);

/// Where drivers write their lines: one pipe for all, which keeps the order of their writes.
#[derive(Debug)]
pub(crate) struct Pipe(PipeWriter);

impl Pipe {
    /// The pipe, and its reading end.
    pub fn new() -> io::Result<(PipeReader, Pipe)> {
        let (reader, writer) = io::pipe()?;
        Ok((reader, Pipe(writer)))
    }
}

/// What the drivers of a run have in common.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    pub prepared: &'a Prepared<'a>,
    pub scenario: &'a Scenario,
    pub connect_string: String,
    pub seed: u64,
    /// What drivers write to standard error.
    pub log: File,
}

/// The process of a client. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// Absent after [`Process::end`].
    input: Option<ChildStdin>,
}

impl Process {
    /// Starts the client of that name.
    pub fn start(setting: &Setting<'_>, name: &str, pipe: &Pipe) -> anyhow::Result<Process> {
        let scenario = setting.scenario;
        let mut command = setting.prepared.command(scenario);
        command
            .env("HUNT_CONNECT", &setting.connect_string)
            .env("HUNT_TIMEOUT_MS", TIMEOUT.as_millis().to_string())
            .env("HUNT_CLIENT", name)
            .env("HUNT_CLIENTS", scenario.clients.to_string())
            .env("HUNT_SEED", setting.seed.to_string())
            .env("HUNT_OBJECT", &scenario.object)
            .stdin(Stdio::piped())
            .stdout(pipe.0.try_clone()?)
            .stderr(setting.log.try_clone()?)
            // A separate process group: a Ctrl-C in our terminal would look like a client that ends by itself.
            .process_group(0);
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().with_context(|| format!("{program} cannot be started"))?;
        let input = child.stdin.take();
        Ok(Process { child, input })
    }

    /// Sends a line. A process that has ended does not receive it.
    pub fn say(&mut self, word: &str) {
        if let Some(input) = &mut self.input {
            let _ = writeln!(input, "{word}").and_then(|()| input.flush());
        }
    }

    /// Closes its input, which tells it to end.
    pub fn end(&mut self) {
        self.input = None;
    }

    /// Stops the process, or continues it.
    pub fn pause(&mut self, is_stopped: bool) {
        // After a wait, the operating system may have reused the process id.
        if !self.has_ended()
            && let Some(pid) = Pid::from_raw(self.child.id().cast_signed())
        {
            let _ = kill_process(pid, if is_stopped { Signal::STOP } else { Signal::CONT });
        }
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
