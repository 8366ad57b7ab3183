//! The scope of a search: a workload, the numbers of clients and rounds, and the faults.

use crate::plan::{Plan, Scheduling};
use crate::workload::Workload;
use sim_zk::fault::Fault;
use std::fmt;
use zk_report::count;

/// A scope: the search visits everything that can happen within it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// The workload.
    pub workload: &'static Workload,
    /// The number of client processes.
    pub clients: u8,
    /// The number of times that each client runs the recipe.
    pub rounds: u32,
    /// The maximal number of faults.
    pub faults: u32,
    /// The kinds of fault.
    pub kinds: Vec<Fault>,
    /// Whether answers and notifications can be late.
    pub late_answers: bool,
    /// Whether a timer may run out before packets in flight arrive, which counts as a fault.
    pub overtaking: bool,
    /// Whether runs are cut short in visited states. Without this only a tiny scope can be explored completely.
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

    /// The plan of all runs of the scope.
    pub fn plan(&self) -> Plan {
        Plan {
            clients: self.clients,
            rounds: self.rounds,
            faults: self.faults,
            // The rates do not matter, since all kinds are tried.
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
