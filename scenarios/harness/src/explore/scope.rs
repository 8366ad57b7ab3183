//! What is explored: a workload, how many clients and rounds, and which faults.

use crate::plan::{Plan, Scheduling};
use crate::workload::Workload;
use sim_zk::fault::Fault;
use std::fmt;
use zk_report::count;

/// A scope: everything that can happen within it is visited.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// What runs.
    pub workload: &'static Workload,
    /// How many client processes.
    pub clients: u8,
    /// How often each of them goes through the recipe.
    pub rounds: u32,
    /// The maximal number of faults.
    pub faults: u32,
    /// Which kinds of fault.
    pub kinds: Vec<Fault>,
    /// Whether answers and notifications can be late.
    pub late_answers: bool,
    /// Whether a timer may run out although something is under way, as one of the faults.
    pub overtaking: bool,
    /// Whether runs are cut short where another one has been. Without it a scope is only complete if it is tiny.
    pub cutting: bool,
}

impl Scope {
    /// Two clients, one round, and at most this number of faults, of all kinds of the workload that affect clients.
    pub fn of(workload: &'static Workload, faults: u32) -> Scope {
        let kinds = workload.faults.iter().copied().filter(|kind| !kind.strikes_servers()).collect();
        Scope {
            workload,
            clients: 2,
            rounds: 1,
            faults,
            kinds,
            late_answers: false,
            overtaking: false,
            cutting: true,
        }
    }

    /// The plan of every run of the scope.
    pub fn plan(&self) -> Plan {
        Plan {
            clients: self.clients,
            rounds: self.rounds,
            faults: self.faults,
            // How likely a kind is does not matter where all of them are tried.
            rates: self.kinds.iter().map(|kind| (kind.name().to_owned(), 0.0)).collect(),
            order: Scheduling::Any { late_answers: self.late_answers, overtaking: self.overtaking },
            ..Plan::calm()
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Scope { clients, rounds, faults, kinds, .. } = self;
        write!(
            f,
            "1 server, {}, {}, ",
            count((*clients).into(), "client"),
            count((*rounds).into(), "round")
        )?;
        match faults {
            0 => write!(f, "no faults")?,
            _ => {
                let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
                write!(f, "at most {} of {}", count((*faults).into(), "fault"), names.join(", "))?;
            }
        }
        if self.overtaking {
            write!(f, ", or a timer that runs out early")?;
        }
        let late = if self.late_answers { "and replies" } else { "with immediate replies" };
        write!(f, "; every order of requests {late}, clients with default choices")
    }
}
