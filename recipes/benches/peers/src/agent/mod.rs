//! The peer's side, for libraries in Rust: what the runner asks for, and what a run measured.

pub mod ours;
mod ours_queue;
mod ours_sessions;
pub mod raw;
mod shared;
#[cfg(feature = "zookeeper-client")]
pub mod zookeeper_client;

use crate::clock::micros;
use anyhow::{Context, anyhow};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::time::{Duration, Instant};

/// The parameters of a peer: words `key=value`.
pub struct Task(BTreeMap<String, String>);

impl Task {
    /// # Errors
    ///
    /// A word without `=`.
    pub fn parse(words: &[String]) -> anyhow::Result<Task> {
        let pair = |word: &String| {
            let (key, value) = word.split_once('=').with_context(|| format!("{word:?} is no key=value"))?;
            Ok((key.to_owned(), value.to_owned()))
        };
        words.iter().map(pair).collect::<anyhow::Result<_>>().map(Task)
    }

    pub fn text(&self, key: &str) -> anyhow::Result<&str> {
        self.0.get(key).map(String::as_str).ok_or_else(|| anyhow!("{key} is missing"))
    }

    pub fn number(&self, key: &str) -> anyhow::Result<usize> {
        self.text(key)?.parse().with_context(|| format!("{key} is no number"))
    }

    /// A time in milliseconds, zero if it is not given.
    pub fn millis(&self, key: &str) -> Duration {
        Duration::from_millis(self.number(key).unwrap_or(0) as u64)
    }
}

/// What a run measured.
#[derive(Debug, Default)]
pub struct Measured {
    ops: usize,
    seconds: f64,
    micros: BTreeMap<&'static str, Vec<f64>>,
    violations: usize,
}

impl Measured {
    /// Operations of a rate over the time between two instants.
    pub fn between(ops: usize, begun: Instant, ended: Instant) -> Measured {
        Measured { ops, seconds: micros(begun, ended) / 1e6, ..Measured::default() }
    }

    /// Operations of a rate over the sum of these latencies.
    pub fn of(name: &'static str, latencies: Vec<f64>) -> Measured {
        let seconds = latencies.iter().sum::<f64>() / 1e6;
        Measured { ops: latencies.len(), seconds, ..Measured::default() }.with(name, latencies)
    }

    /// Adds the latencies of a step, in microseconds.
    pub fn with(mut self, name: &'static str, latencies: Vec<f64>) -> Measured {
        self.micros.insert(name, latencies);
        self
    }

    /// Sets how many operations broke the recipe's promise.
    pub fn violations(mut self, violations: usize) -> Measured {
        self.violations = violations;
        self
    }
}

/// What the runner asks for. Its functions block.
#[derive(Default)]
pub struct Orders;

impl Orders {
    /// Says that the peer is ready; returns how many operations it shall make, or `None` at the end.
    pub fn next(&mut self) -> Option<usize> {
        println!("{}", json!({ "ready": true }));
        line()?.strip_prefix("go ")?.parse().ok()
    }

    /// Reports what a run measured, and waits until its requests are counted.
    pub fn report(&mut self, measured: Measured) {
        let Measured { ops, seconds, micros, violations } = measured;
        let micros: Map<String, Value> =
            micros.into_iter().map(|(name, values)| (name.to_owned(), json!(values))).collect();
        println!("{}", json!({ "ops": ops, "seconds": seconds, "micros": micros, "violations": violations }));
        line();
    }
}

fn line() -> Option<String> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok()?;
    Some(line.trim().to_owned())
}

/// Runs a peer to its end; a failure is its last line.
pub fn main(library: &str, words: &[String]) {
    let done = Task::parse(words).and_then(|task| match library {
        "ours" => in_tasks(ours::run(task)),
        #[cfg(feature = "zookeeper-client")]
        "zookeeper-client" => in_tasks(zookeeper_client::run(task)),
        "raw" => raw::run(&task),
        other => Err(anyhow!("{other} is no peer of this program")),
    });
    if let Err(error) = done {
        println!("{}", json!({ "error": format!("{error:#}") }));
    }
    // Sessions end with the process; tasks may still wait.
    std::process::exit(0);
}

/// Runs a peer as a task, as its users would.
fn in_tasks(peer: impl Future<Output = anyhow::Result<()>> + Send + 'static) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async { tokio::spawn(peer).await? })
}
