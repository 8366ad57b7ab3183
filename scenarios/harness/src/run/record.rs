//! What a run leaves: its history, its verdict, and how it hangs or panics.

use super::draw::Draw;
use crate::panics::Panic;
use crate::plan::Plan;
use crate::workload::Workload;
use sim_zk::End;
use sim_zk::choose::Replay;
use std::collections::BTreeSet;
use std::fmt;
use zk_checker::history::{FaultKind, History, What};
use zk_checker::{Report, Verdict};

/// A run that was made: its configuration, its history, and the report `R` of its judge.
#[derive(Debug)]
pub struct Run<R = Report> {
    /// The workload.
    pub workload: &'static Workload,
    /// The plan.
    pub plan: Plan,
    /// The report of the checker.
    pub report: R,
    /// The history.
    pub history: History,
    /// The hash of the run.
    pub hash: u128,
    /// The choices.
    pub choices: Vec<u16>,
    /// How it ended.
    pub end: End,
    /// The number of steps of the world.
    pub steps: u64,
    /// Simulated time, in microseconds.
    pub sim_us: u64,
    /// The longest time without progress after the last fault, in simulated microseconds.
    pub longest_lull_us: u64,
    /// The [`sometimes!`](crate::sometimes) conditions that were reached.
    pub sometimes: BTreeSet<&'static str>,
    /// The client that panicked, which ended the run.
    pub panic: Option<Panicked>,
}

/// The name under which a panic is counted.
pub const PANIC: &str = "panic";

/// A client whose code panicked.
#[derive(Clone, Debug)]
pub struct Panicked {
    /// The client.
    pub client: String,
    /// Its panic.
    pub panic: Panic,
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} panicked: {}", self.client, self.panic)
    }
}

/// How a run hangs: faults are over, all clients are connected, and the run does not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hang {
    /// A client waits for an event that never comes.
    Stuck,
    /// Clients send requests without progress.
    Livelock,
}

impl Hang {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Hang::Stuck => "stuck",
            Hang::Livelock => "livelock",
        }
    }

    /// Its meaning, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Hang::Stuck => "a client waits for an event that never comes",
            Hang::Livelock => "clients send requests without progress",
        }
    }
}

impl Run {
    /// The verdict of the whole run. A run that hangs after the last fault fails, and so does a panic.
    pub fn verdict(&self) -> Verdict {
        match self.hang() {
            _ if self.panic.is_some() => Verdict::Fail,
            Some(_) => Verdict::Fail,
            // A run that was cut short reached a state of another run, which judges the end.
            None if self.end == End::Cut => self.report.verdict().join(Verdict::Unknown),
            None => self.report.verdict(),
        }
    }

    /// For a run that hangs: the waiting clients, their calls, what they wait for, and why it never comes. One sentence
    /// per line; further sentences about the same client are indented.
    pub fn waits(&self) -> Vec<String> {
        if self.hang().is_some() { zk_report::waits(&self.history) } else { Vec::new() }
    }

    /// The rule that failed first, or the other kind of failure.
    pub fn what_failed(&self) -> String {
        match self.report.first() {
            _ if self.panic.is_some() => PANIC.to_owned(),
            Some(finding) => finding.rule.name().to_owned(),
            None => self.hang().map_or("unknown", Hang::name).to_owned(),
        }
    }
}

impl<R> Run<R> {
    /// Whether the run hangs, and how. A livelock sends requests in the second half of the time without progress; pings
    /// do not count.
    pub fn hang(&self) -> Option<Hang> {
        if matches!(self.end, End::Done | End::Cut) {
            return None;
        }
        let late = self.sim_us.saturating_sub(self.longest_lull_us / 2);
        let asks = |what: &What| matches!(what, What::Call { .. } | What::Send { .. });
        let last = self.history.events.iter().rev().find(|event| asks(&event.what));
        Some(if last.is_some_and(|last| last.at > late) { Hang::Livelock } else { Hang::Stuck })
    }

    /// The kinds of its faults, one item per fault.
    pub fn faults(&self) -> impl Iterator<Item = FaultKind> {
        self.history.events.iter().filter_map(|event| match event.what {
            What::Fault { kind, .. } => Some(kind),
            _ => None,
        })
    }

    /// The draw that repeats the run.
    pub fn again(&self) -> Draw<Replay> {
        Draw::replayed(self.workload, self.plan.clone(), self.choices.clone())
    }
}
