//! The plan of a run, drawn before it: the numbers of clients and rounds, the kinds and rates of faults. Every failure
//! prints it, and a file can give it.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use sim_zk::choose::Rates;
use sim_zk::fault::Fault;
use std::collections::BTreeMap;
use std::fmt;
use zk_report::count;

/// The parameters of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The number of servers.
    #[serde(default = "alone")]
    pub servers: u8,
    /// The number of client processes.
    pub clients: u8,
    /// The number of rounds of each client.
    pub rounds: u32,
    /// The session timeout that the clients ask for, in milliseconds.
    pub timeout_ms: u64,
    /// The simulated time until which faults can be injected, in milliseconds.
    pub hostile_ms: u64,
    /// The maximal number of faults.
    pub faults: u32,
    /// The probability of each kind of fault at each injection point; other kinds do not occur.
    pub rates: BTreeMap<String, f64>,
    /// Foreign clients that interfere while faults can be injected. Older files call the field `strangers`.
    #[serde(default, alias = "strangers", skip_serializing_if = "Interference::is_none")]
    pub interference: Interference,
    /// The order in which events happen.
    #[serde(default, skip_serializing_if = "Scheduling::is_timed")]
    pub order: Scheduling,
    /// The number of the first sequential child of every znode, if it is not 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first_number: i32,
}

/// The order in which events happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduling {
    /// By the clock.
    #[default]
    Timed,
    /// Any: the order of packets in flight is chosen. For one server.
    Any {
        /// Whether answers and notifications can be late.
        late_answers: bool,
        /// Whether a timer may run out although a packet is in flight, at the cost of a fault.
        overtaking: bool,
    },
}

impl Scheduling {
    /// Whether it is the default order.
    pub fn is_timed(&self) -> bool {
        *self == Scheduling::Timed
    }
}

/// The acts of foreign clients.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interference {
    /// The maximal number of acts.
    pub acts: u32,
    /// The probability of each kind of act, drawn at each look; other kinds do not happen.
    pub rates: BTreeMap<String, f64>,
}

impl Interference {
    /// Whether no foreign client acts.
    pub fn is_none(&self) -> bool {
        self.acts == 0 || self.rates.is_empty()
    }

    /// The act for a number drawn below `of`; the default choice, 0, is no act.
    pub fn act(&self, drawn: u32, of: u32) -> Option<Act> {
        let mut below = 1.0;
        for (name, rate) in &self.rates {
            below += rate * f64::from(of);
            if drawn > 0 && f64::from(drawn) < below {
                return Act::from_name(name);
            }
        }
        None
    }
}

/// Why a plan is refused.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum PlanError {
    /// A kind of fault that does not exist.
    #[error("there is no fault called {0:?}; the kinds are {1}")]
    UnknownFault(String, String),
    /// A kind of act that does not exist.
    #[error("there is no act of foreign clients called {0:?}; the kinds are {1}")]
    UnknownAct(String, String),
    /// A rate that is no probability.
    #[error("the rate of {0} is {1}; it must lie between 0 and 0.25")]
    Rate(String, f64),
    /// A number out of range.
    #[error("{0} must lie between {1} and {2}")]
    Range(&'static str, u64, u64),
    /// Several servers in interleaving mode.
    #[error("a plan with another order than timed needs one server, not {0}")]
    Untimed(u8),
}

impl Plan {
    /// The standard lock workload: three servers, three clients, two rounds, and faults drawn from the seed: a fresh
    /// subset of the kinds, each with a rate of its own.
    pub fn drawn(seed: u64) -> Plan {
        // A separate random stream: the run's choices do not depend on how many parameters are drawn here.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x706c_616e);
        let mut rates = BTreeMap::new();
        // A refusal may end the call whose request it affects, and hide what the run would have reached: in every
        // second run servers refuse nothing.
        let refuses = rng.random_bool(0.5);
        for fault in Fault::DRAWN {
            if rng.random_bool(0.4) && (refuses || fault.refusal().is_none()) {
                // Log-uniform between one in 500 and one in 10: most runs have a few faults of a kind, some have a
                // storm. Servers send each other many packets for each packet of a client.
                let rarer = if fault.strikes_servers() { 1.5 } else { 0.0 };
                let exponent = rng.random_range(-6.2..-2.3) - rarer;
                rates.insert(fault.name().to_owned(), rate(exponent));
            }
        }
        Plan { servers: 3, rates, faults: rng.random_range(1..=6), ..Plan::calm() }
    }

    /// The standard lock workload on one server, without faults.
    pub fn calm() -> Plan {
        Plan {
            servers: alone(),
            clients: 3,
            rounds: 2,
            timeout_ms: 6000,
            hostile_ms: 30_000,
            faults: 0,
            rates: BTreeMap::new(),
            interference: Interference::default(),
            order: Scheduling::Timed,
            first_number: 0,
        }
    }

    /// The same with these kinds of fault at that rate, at most three faults in all.
    #[must_use]
    pub fn with(mut self, faults: &[Fault], rate: f64) -> Plan {
        self.rates = faults.iter().map(|fault| (fault.name().to_owned(), rate)).collect();
        self.faults = if faults.is_empty() { 0 } else { 3 };
        self
    }

    /// The same with foreign clients that make these acts at that rate, at most `times` times, while faults can be
    /// injected.
    #[must_use]
    pub fn with_interference(self, acts: &[Act], rate: f64, times: u32) -> Plan {
        let rates = acts.iter().map(|act| (act.name().to_owned(), rate)).collect();
        self.interfered(Interference { acts: times, rates })
    }

    /// The same with this interference.
    #[must_use]
    pub(crate) fn interfered(self, interference: Interference) -> Plan {
        let least = u32::from(!interference.is_none());
        Plan { faults: self.faults.max(least), interference, ..self }
    }

    /// Checks that the plan is valid.
    ///
    /// # Errors
    ///
    /// If a kind is unknown, a value is out of range, or interleaving mode has several servers.
    pub fn check(&self) -> Result<(), PlanError> {
        for (name, rate) in &self.rates {
            if !Fault::from_name(name).is_some_and(|fault| Fault::DRAWN.contains(&fault)) {
                let kinds: Vec<&str> = Fault::DRAWN.iter().map(|fault| fault.name()).collect();
                return Err(PlanError::UnknownFault(name.clone(), kinds.join(", ")));
            }
            if !(0.0..=0.25).contains(rate) {
                return Err(PlanError::Rate(name.clone(), *rate));
            }
        }
        for (name, rate) in &self.interference.rates {
            if Act::from_name(name).is_none() {
                return Err(PlanError::UnknownAct(name.clone(), Act::ALL.map(Act::name).join(", ")));
            }
            if !(0.0..=0.25).contains(rate) {
                return Err(PlanError::Rate(name.clone(), *rate));
            }
        }
        if !self.order.is_timed() && self.servers > 1 {
            return Err(PlanError::Untimed(self.servers));
        }
        let ranges = [
            ("servers", u64::from(self.servers), 1, 9),
            ("clients", u64::from(self.clients), 1, 64),
            ("rounds", u64::from(self.rounds), 1, 1000),
            ("timeout_ms", self.timeout_ms, 1, 600_000),
            ("hostile_ms", self.hostile_ms, 0, 3_600_000),
        ];
        match ranges.into_iter().find(|(_, value, least, most)| !(least..=most).contains(&value)) {
            Some((what, _, least, most)) => Err(PlanError::Range(what, least, most)),
            None => Ok(()),
        }
    }

    /// The rates in the chooser's form.
    pub fn rates(&self) -> Rates {
        self.rates.iter().fold(Rates::NONE, |rates, (name, rate)| match Fault::from_name(name) {
            Some(fault) => rates.with(fault, *rate),
            None => rates,
        })
    }
}

/// A rate by its logarithm, rounded to four digits.
pub(crate) fn rate(logarithm: f64) -> f64 {
    (f64::exp(logarithm) * 1e4).round() / 1e4
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &i32) -> bool {
    *number == 0
}

/// The number of servers of plans that were written before this field existed.
fn alone() -> u8 {
    1
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (servers, clients) = (count(self.servers.into(), "server"), count(self.clients.into(), "client"));
        let (rounds, faults) = (count(self.rounds.into(), "round"), count(self.faults.into(), "fault"));
        write!(f, "{servers}, {clients}, {rounds}, session {} ms", self.timeout_ms)?;
        match (self.faults == 0 || self.rates.is_empty(), self.order.is_timed()) {
            (true, _) => write!(f, ", no faults")?,
            (false, false) => {
                let kinds: Vec<&str> = self.rates.keys().map(String::as_str).collect();
                write!(f, ", at most {faults} of {}", kinds.join(", "))?;
            }
            (false, true) => {
                write!(f, ", at most {faults} within {} ms:{}", self.hostile_ms, Listed(&self.rates))?
            }
        }
        if !self.interference.is_none() {
            let Interference { acts, rates } = &self.interference;
            write!(f, "; foreign clients act at most {acts} times:{}", Listed(rates))?;
        }
        if self.first_number != 0 {
            write!(f, "; sequence numbers from {}", self.first_number)?;
        }
        match self.order {
            Scheduling::Timed => Ok(()),
            Scheduling::Any { late_answers, overtaking } => {
                write!(f, "; in any order")?;
                write!(f, "{}", if late_answers { ", replies may be late" } else { "" })?;
                write!(f, "{}", if overtaking { ", timers may run out early" } else { "" })
            }
        }
    }
}

/// Rates in printed form.
struct Listed<'a>(&'a BTreeMap<String, f64>);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, rate)) in self.0.iter().enumerate() {
            write!(f, "{} {name} {rate}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// The kinds of act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A znode below an object is deleted.
    Delete,
    /// Data are written into a znode of an object.
    Write,
    /// A znode appears in a directory of an object, under a name that no recipe gives.
    Child,
    /// A directory of an object, or the object itself, is deleted with all that is in it, at once.
    Parent,
}

impl Act {
    /// Every kind.
    pub const ALL: [Act; 4] = [Act::Delete, Act::Write, Act::Child, Act::Parent];

    /// The kind's name in plan files.
    pub fn name(self) -> &'static str {
        match self {
            Act::Delete => "foreign-delete",
            Act::Write => "foreign-write",
            Act::Child => "foreign-child",
            Act::Parent => "parent-deleted",
        }
    }

    /// Finds a kind by its name.
    pub fn from_name(name: &str) -> Option<Act> {
        Act::ALL.into_iter().find(|act| act.name() == name)
    }
}
