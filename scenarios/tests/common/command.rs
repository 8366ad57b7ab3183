//! The program `zksim`, as it is called, and what `zksim real` leaves behind.

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write, stderr};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;
use tempfile::TempDir;

/// The command, with a folder of its own to work in and another for its temporary files.
pub struct Sim {
    pub folder: TempDir,
    pub temporary: TempDir,
}

impl Sim {
    pub fn new() -> Sim {
        Sim { folder: tempfile::tempdir().unwrap(), temporary: tempfile::tempdir().unwrap() }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zksim"));
        command.arg("real").args(arguments).current_dir(&self.folder).env("TMPDIR", self.temporary.path());
        command
    }

    /// The same command, started by a shell with that script.
    pub fn behind(&self, script: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_zksim"), "real"]).args(arguments);
        command.current_dir(&self.folder).env("TMPDIR", self.temporary.path());
        command
    }

    pub fn real(&self, arguments: &[&str]) -> Output {
        self.start(arguments).output()
    }

    /// Starts the command, and goes on beside it.
    pub fn start(&self, arguments: &[&str]) -> Running {
        Running::start(&mut self.command(arguments))
    }

    pub fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.temporary).unwrap().next().is_none()
    }

    /// Nothing runs any more with our temporary folder in its command line, and that folder is empty.
    pub fn left_nothing(&self) {
        let left: Vec<_> = std::fs::read_dir(&self.temporary).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?} is left");
        assert_eq!(processes_with(self.temporary.path()), Vec::<String>::new());
    }
}

/// The processes that name a path in their command lines, where the system lists them as files: their ids and lines.
fn listed(path: &Path) -> impl Iterator<Item = (OsString, String)> {
    let path = path.to_str().unwrap().to_owned();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = entries.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some((entry.file_name(), String::from_utf8_lossy(&line).replace('\0', " ")))
    });
    lines.filter(move |(_, line)| line.contains(&path))
}

/// The command lines of processes that name a path.
pub fn processes_with(path: &Path) -> Vec<String> {
    listed(path).map(|(_, line)| line).collect()
}

pub fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

/// All that it said.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Whether a command that only looks can be run, and succeeds.
pub fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The class path of these jars of Debian's packages, or the first of the `needed` ones that is missing.
pub fn class_path(jars: &[&str], needed: &[&str]) -> Result<OsString, PathBuf> {
    let path = |jar: &&str| Path::new("/usr/share/java").join(format!("{jar}.jar"));
    match needed.iter().map(path).find(|jar| !jar.exists()) {
        Some(missing) => Err(missing),
        None => Ok(std::env::join_paths(jars.iter().map(path)).expect("no colon in Debian's paths")),
    }
}

/// Exit status 3, and one sentence.
pub fn refused(output: &Output) -> &str {
    let told = std::str::from_utf8(&output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert_eq!(stdout(output), "");
    told.strip_prefix("error: ")
        .and_then(|told| told.strip_suffix('\n'))
        .filter(|told| !told.contains('\n'))
        .expect(told)
}

/// Sends a signal to a child of ours that was not waited for.
pub fn signal(name: &str, process: u32) {
    let kill = format!("kill -s {name} {process}");
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

/// Sends it twice: the first one asks for the results, the second one ends the program at once.
pub fn signal_twice(name: &str, process: u32) {
    signal(name, process);
    signal(name, process);
}

/// Waits for the end of a run.
pub fn ended(run: &mut Child) -> ExitStatus {
    let _limit = limit(run.id());
    run.wait().unwrap()
}

/// Kills a process, unless the value is dropped before: a run that hangs fails.
fn limit(process: u32) -> Sender<()> {
    /// Longer than any run of a test takes, also on a busy machine.
    const PATIENCE: Duration = Duration::from_secs(300);
    let (has_ended, told) = channel();
    std::thread::spawn(move || {
        if told.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            let _ = writeln!(stderr(), "process {process} hangs: it has not ended within {PATIENCE:?}");
            signal("KILL", process);
        }
    });
    has_ended
}

/// The number of a signal that ends programs.
pub fn number_of(name: &str) -> i32 {
    match name {
        "INT" => 2,
        "TERM" => 15,
        _ => panic!("{name} is no signal that a program answers"),
    }
}

/// A run that goes on beside the test. Dropping it ends it.
pub struct Running(Option<Child>);

impl Running {
    pub fn start(command: &mut Command) -> Running {
        Running(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    /// The first lines that it prints: all that a program prints that lists no more than these before its end.
    pub fn first_lines(&mut self, count: usize) -> Vec<String> {
        let out = self.0.as_mut().expect("the run was not waited for").stdout.as_mut().expect("it is a pipe");
        BufReader::new(out).lines().take(count).map(Result::unwrap).collect()
    }

    /// Its standard input, if that is a pipe.
    pub fn stdin(&mut self) -> ChildStdin {
        self.0.as_mut().expect("the run was not waited for").stdin.take().expect("it is a pipe")
    }

    pub fn id(&self) -> u32 {
        self.0.as_ref().expect("the run was not waited for").id()
    }

    /// Looks again and again: a server that starts on a busy machine takes its time.
    ///
    /// # Panics
    ///
    /// With the output of the run, if it ends first or the condition is not reached within two minutes.
    pub fn wait_until(&mut self, reached: impl Fn() -> bool) {
        let child = self.0.as_mut().expect("the run was not waited for");
        let mut ended = || child.try_wait().unwrap().map(|_| false);
        match seen(|| if reached() { Some(true) } else { ended() }) {
            Some(true) => {}
            Some(false) => panic!("the run ended before the condition was reached: {:?}", self.output()),
            None => {
                // A stopped process does not react to SIGTERM.
                signal("TERM", self.id());
                signal("CONT", self.id());
                panic!("the run has not reached the condition in time: {:?}", self.output());
            }
        }
    }

    /// Waits until the run has started a server again so many times, however long a busy machine takes for that. Then asks
    /// the run for its results: the status is that of SIGINT, unless a promise is broken.
    pub fn until_restarted(&mut self, sim: &Sim, restarts: usize) -> Output {
        let seen = RefCell::new(BTreeSet::new());
        self.wait_until(|| {
            let running = listed(sim.temporary.path()).filter(|(_, line)| line.contains("QuorumPeerMain"));
            seen.borrow_mut().extend(running.map(|(id, line)| (id, configuration(&line).to_owned())));
            restarted(&seen.borrow()) >= restarts
        });
        signal("INT", self.id());
        self.output()
    }

    /// Waits for its end.
    pub fn output(&mut self) -> Output {
        let child = self.0.take().expect("the run was not waited for");
        let _limit = limit(child.id());
        child.wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// How often a server was started again, of processes and their configurations. An ensemble that meets a port in use begins
/// anew with new configurations: none of its servers was started again.
pub fn restarted<T>(seen: &BTreeSet<(T, String)>) -> usize {
    let configurations: BTreeSet<&String> = seen.iter().map(|(_, file)| file).collect();
    seen.len() - configurations.len()
}

/// The configuration of a server: the last word of its command line.
fn configuration(line: &str) -> &str {
    line.split_whitespace().next_back().expect("it names a class")
}

/// Looks again and again.
///
/// # Panics
///
/// If the condition is not reached within two minutes.
pub fn wait_until(reached: impl Fn() -> bool) {
    let reached = seen(|| reached().then_some(()));
    assert!(reached.is_some(), "the condition is not reached within two minutes");
}

/// Looks again and again, for two minutes, until something is seen.
fn seen<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    (0..12_000).find_map(|_| {
        look().or_else(|| {
            #[expect(clippy::disallowed_methods, reason = "nobody tells what becomes of other processes")]
            std::thread::sleep(Duration::from_millis(10));
            None
        })
    })
}
