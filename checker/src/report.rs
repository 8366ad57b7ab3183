//! What a judge says in the end.

use crate::black_box::BlackBox;
use crate::history::ObjectId;
use crate::verdict::{Layer, RuleId, Verdict};
use std::fmt;

/// A promise that was broken, or a breach that is excused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which promise.
    pub rule: RuleId,
    /// Of which object, if of one.
    pub object: Option<ObjectId>,
    /// [`Verdict::Fail`], [`Verdict::Inherent`] or [`Verdict::Unknown`].
    pub verdict: Verdict,
    /// In which layer.
    pub layer: Layer,
    /// The event at which it became false: an index into the events.
    pub position: usize,
    /// The events that prove it.
    pub witnesses: Vec<usize>,
    /// Whether a finding of a deeper layer, at this position or before, may be the reason.
    pub secondary: bool,
    /// The path of the object.
    pub path: String,
    /// Who and when, because of what, and why it is (not) excused: lines of less than 100 columns.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<5} {}  {}", self.rule, self.rule.title(), self.path)?;
        self.text.lines().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

/// One promise of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which promise.
    pub rule: RuleId,
    /// Of which object; none for promises about the whole history.
    pub object: Option<ObjectId>,
    /// How it stands.
    pub verdict: Verdict,
    /// How often it was put to the test.
    pub premises: u32,
    /// How many findings there were, also those that were not kept.
    pub findings: u32,
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Events judged.
    pub events: usize,
    /// Requests of operations, without those of clean-up.
    pub requests: u32,
    /// Requests of clean-up duties and of client libraries.
    pub cleanup_requests: u32,
    /// Notifications: fired in a simulation, delivered in a capture.
    pub notifications: u32,
    /// The most round trips an acquire waited for.
    pub round_trips: u32,
    /// Acquires that had to wait for somebody.
    pub waits: u32,
    /// Acquires that were granted.
    pub grants: u32,
    /// The largest number of waiters that one transaction woke for each that it enabled.
    pub herd_index: u32,
    /// Excused overlaps of beliefs.
    pub zombies: u32,
    /// The longest of them, in microseconds.
    pub longest_zombie: u64,
    /// Znodes and watches left behind.
    pub leaks: u32,
    /// How often each probe was reached, in the order of [`Probe::ALL`].
    pub reached: [u32; Probe::COUNT],
}

macro_rules! probes {
    ($($(#[doc = $doc:literal])+ $probe:ident = $name:literal;)+) => {
        /// What a faithful simulation of ZooKeeper must be able to reach: ZK-15. Neither right nor wrong, but counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Probe { $($(#[doc = $doc])+ $probe,)+ }

        impl Probe {
            /// All of them.
            pub const ALL: &[Probe] = &[$(Probe::$probe),+];

            /// How many there are.
            pub const COUNT: usize = Probe::ALL.len();

            /// Its name on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Probe::$probe => $name),+ }
            }

            /// What is reached, in one line.
            pub fn about(self) -> &'static str {
                match self { $(Probe::$probe => concat!($($doc),+).trim_ascii()),+ }
            }
        }
    };
}

probes! {
    /// A read showed an older state than a write that another client had been told of before.
    StaleRead = "stale-read";
    /// A znode was created and deleted while a client was away that watched for it, and nothing told it.
    CreatedAndDeletedUnseen = "created-and-deleted-unseen";
    /// A znode was deleted and created while a client was away, and it was told that data changed.
    RecreatedToldAsChanged = "recreated-told-as-changed";
    /// A write was applied, and its client was told that the connection was lost.
    AppliedWithoutReply = "applied-without-reply";
    /// A client saw an ephemeral of its own former session.
    OwnOldEphemeral = "own-old-ephemeral";
    /// After a reconnect a read showed an older state than a notification that had been delivered.
    OlderThanNotified = "older-than-notified";
    /// A write whose reply was lost was applied after its session had read elsewhere.
    WriteAfterReads = "write-after-reads";
    /// A client was connected and answered, and its session had already expired.
    AnsweredThoughExpired = "answered-though-expired";
    /// A session expired earlier than its timeout after the last answer.
    ExpiredEarly = "expired-early";
}

impl Probe {
    /// The probe of a name.
    pub fn of(name: &str) -> Option<Probe> {
        Probe::ALL.iter().copied().find(|probe| probe.name() == name)
    }
}

impl Metrics {
    /// How often a probe was reached.
    pub fn reached(&self, probe: Probe) -> u32 {
        self.reached[probe as usize]
    }
}

/// How a history stands with the promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// One row for each rule that was on and each object.
    pub rows: Vec<Row>,
    /// What was found; the first one is *the* finding, the rest are its companions. At most sixteen a rule.
    pub findings: Vec<Finding>,
    /// What was counted.
    pub metrics: Metrics,
    /// Rules that were required, and were never put to the test.
    pub unproved: Vec<RuleId>,
    /// Why evidence is missing, if it is: the history was cut off, or ended too early.
    pub unknown: Option<String>,
    /// What clients saw of each object that has a [monitor](crate::monitor), and its verdict. Only of whole histories.
    pub black_boxes: Vec<BlackBox>,
}

impl Report {
    /// The verdict of the whole: the largest of all.
    pub fn verdict(&self) -> Verdict {
        let unknown = if self.unknown.is_some() { Verdict::Unknown } else { Verdict::Vacuous };
        self.rows.iter().fold(unknown, |verdict, row| verdict.join(row.verdict))
    }

    /// The verdict of one rule over all objects.
    pub fn of(&self, rule: RuleId) -> Verdict {
        self.rows
            .iter()
            .filter(|row| row.rule == rule)
            .fold(Verdict::Vacuous, |all, row| all.join(row.verdict))
    }

    /// *The* finding: the earliest broken promise that no deeper one explains.
    pub fn first(&self) -> Option<&Finding> {
        self.findings.first().filter(|finding| finding.verdict == Verdict::Fail)
    }

    /// Whether the history contradicts itself: then its recorder is broken.
    pub fn is_malformed(&self) -> bool {
        self.rows.iter().any(|row| row.rule == RuleId::W && row.verdict == Verdict::Unknown)
    }

    /// What a program that judged this may exit with: 0 up to Inherent, 1 for Fail, 2 for Unknown or a required rule
    /// never put to the test, 3 for a malformed history.
    pub fn exit_status(&self) -> u8 {
        match self.verdict() {
            _ if self.is_malformed() => 3,
            Verdict::Fail => 1,
            Verdict::Unknown => 2,
            _ if !self.unproved.is_empty() => 2,
            Verdict::Vacuous | Verdict::Pass | Verdict::Inherent => 0,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.verdict())?;
        if let Some(why) = &self.unknown {
            write!(f, ": {why}")?;
        }
        writeln!(f)?;
        for (at, finding) in self.findings.iter().enumerate() {
            if at == 1 {
                writeln!(f, "\nand with it")?;
            }
            writeln!(f)?;
            finding.fmt(f)?;
        }
        let names = |verdict| {
            let of =
                |rule: &&RuleId| self.of(**rule) == verdict && self.rows.iter().any(|r| r.rule == **rule);
            RuleId::ALL.iter().filter(of).map(|rule| rule.name()).collect::<Vec<_>>().join(" ")
        };
        writeln!(f)?;
        for verdict in [Verdict::Fail, Verdict::Unknown, Verdict::Inherent, Verdict::Pass, Verdict::Vacuous] {
            let names = names(verdict);
            if !names.is_empty() {
                writeln!(f, "{verdict:<9}{names}")?;
            }
        }
        if !self.unproved.is_empty() {
            let names: Vec<_> = self.unproved.iter().map(|rule| rule.name()).collect();
            writeln!(f, "required, and never put to the test: {}", names.join(" "))?;
        }
        let m = &self.metrics;
        writeln!(
            f,
            "{} events: {} grants, {} waits, {} requests (+{} of clean-up), {} notifications, herd index {}",
            m.events, m.grants, m.waits, m.requests, m.cleanup_requests, m.notifications, m.herd_index
        )?;
        let reached: Vec<_> = Probe::ALL.iter().filter(|probe| m.reached(**probe) > 0).collect();
        if !reached.is_empty() {
            writeln!(f, "reached:")?;
        }
        reached.iter().try_for_each(|probe| writeln!(f, "  {} × {}", m.reached(**probe), probe.name()))
    }
}
