//! A peer: a process that speaks through one library, and does one row's work on request.
//!
//! 1. Its arguments are words `key=value`: where to connect, what to do, under which path.
//! 2. When its sessions stand and it is warm, it prints `{"ready":true}`.
//! 3. On a line `go N` it makes N operations and prints what it measured.
//! 4. On a line `counted` it replaces what the run used up, and is ready again.
//! 5. At the end of its standard input it ends.
//!
//! With `workload=session` it contends for locks instead, as `interop` asks it to. Programs of these libraries that are of another
//! kind stand elsewhere: those of `scenarios/hunt` choose by a seed what they do, and report it while faults strike; those of
//! `scenarios/serve/foreign` check one call after the other, and take no orders.

use crate::clock::now;
use crate::interrupt::Interrupt;
use anyhow::{Context, anyhow, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long a peer may take for one run, or to get ready.
const LIMIT: Duration = Duration::from_secs(150);

/// How often a wait looks for an interrupt.
const LOOK: Duration = Duration::from_millis(50);

/// A line of a peer.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// It waits for the next request.
    #[serde(default)]
    ready: bool,
    /// It cannot go on.
    #[serde(default)]
    error: Option<String>,
    /// The result of a run.
    #[serde(flatten)]
    answer: Option<Answer>,
}

/// The result of a run.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Answer {
    /// Operations that were made.
    pub ops: usize,
    /// The seconds that count for the rate.
    pub seconds: f64,
    /// Latencies in microseconds, by the name of the step.
    #[serde(default)]
    pub micros: BTreeMap<String, Vec<f64>>,
    /// Operations that broke the recipe's promise, such as two holders at once or an item twice.
    #[serde(default)]
    pub violations: usize,
}

/// A running peer. Dropping it ends the process.
pub struct Peer {
    process: Child,
    orders: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Receiver<String>,
    interrupt: Interrupt,
}

impl Peer {
    /// Starts a process, which gets those words.
    ///
    /// # Errors
    ///
    /// The program cannot be started.
    pub fn start(mut command: Command, words: &[String], interrupt: &Interrupt) -> anyhow::Result<Peer> {
        let mut process = command
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().to_string_lossy()))?;
        let lines = read(process.stdout.take().context("it has no output")?);
        let errors = read(process.stderr.take().context("it has no error output")?);
        let orders = process.stdin.take();
        Ok(Peer { process, orders, lines, errors, interrupt: interrupt.clone() })
    }

    /// Waits until it is ready.
    ///
    /// # Errors
    ///
    /// It fails, takes too long, or the user interrupts.
    pub fn ready(&mut self) -> anyhow::Result<()> {
        match self.next()? {
            Line { ready: true, .. } => Ok(()),
            line => bail!("expected readiness, got {line:?}"),
        }
    }

    /// Lets it make that many operations.
    ///
    /// # Errors
    ///
    /// As [`ready`](Self::ready).
    pub fn go(&mut self, operations: usize) -> anyhow::Result<Answer> {
        self.order(&format!("go {operations}"))?;
        self.next()?.answer.context("expected a result")
    }

    /// Tells it that the requests of its last run are counted, and waits until it is ready again.
    ///
    /// # Errors
    ///
    /// As [`ready`](Self::ready).
    pub fn counted(&mut self) -> anyhow::Result<()> {
        self.order("counted")?;
        self.ready()
    }

    /// Sends an order.
    ///
    /// # Errors
    ///
    /// It has ended.
    pub fn order(&mut self, line: &str) -> anyhow::Result<()> {
        let orders = self.orders.as_mut().context("its input is closed")?;
        writeln!(orders, "{line}").and_then(|()| orders.flush()).context("it has ended")
    }

    /// Its resident memory in bytes and its threads, where the system tells.
    pub fn footprint(&self) -> Option<Footprint> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let figure = |name: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        Some(Footprint { bytes: figure("VmRSS:")? << 10, threads: figure("Threads:")? })
    }

    fn next(&mut self) -> anyhow::Result<Line> {
        let text = self.line()?;
        let line: Line =
            serde_json::from_str(&text).with_context(|| format!("not a line of a peer: {text}"))?;
        line.error.clone().map_or(Ok(line), |error| Err(anyhow!(error)))
    }

    /// The next line.
    ///
    /// # Errors
    ///
    /// As [`ready`](Self::ready).
    pub fn line(&mut self) -> anyhow::Result<String> {
        let begun = now();
        loop {
            self.interrupt.check()?;
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Timeout) if begun.elapsed() > LIMIT => {
                    bail!("no end within {} s", LIMIT.as_secs())
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let said: Vec<String> = self.errors.iter().take(3).collect();
                    bail!("it ended early: {}", said.join(" / "))
                }
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The end of its input ends it; a peer that hangs is killed.
        drop(self.orders.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a process occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    pub bytes: u64,
    pub threads: u64,
}

fn read(from: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    told
}
