//! Certificates: the result of a complete search as one line. Repeating the search must produce the same line.

use super::search::Exploration;
use serde::{Deserialize, Serialize};

/// The result of a scope that was explored completely and holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The workload.
    pub workload: String,
    /// The number of clients.
    pub clients: u8,
    /// The number of rounds of each client.
    pub rounds: u32,
    /// The maximal number of faults.
    pub faults: u32,
    /// The kinds of fault.
    pub kinds: Vec<String>,
    /// Whether answers could be late.
    pub late_answers: bool,
    /// Whether a timer could overtake a packet in flight.
    pub overtaking: bool,
    /// States visited.
    pub states: u64,
    /// The maximal number of choices before a state.
    pub depth: u32,
    /// The wrapping sum of the digests of all states.
    pub hash: String,
    /// The number of runs.
    pub runs: u64,
    /// The number of choices made in these runs.
    pub choices: u64,
}

impl Certificate {
    /// The certificate of a search that is complete and found no breach.
    pub fn of(search: &Exploration) -> Option<Certificate> {
        let (scope, found) = (search.scope(), search.found());
        (search.is_complete() && found.first.is_none()).then(|| Certificate {
            workload: scope.workload.name.to_owned(),
            clients: scope.clients,
            rounds: scope.rounds,
            faults: scope.faults,
            kinds: scope.kinds.iter().map(|kind| kind.name().to_owned()).collect(),
            late_answers: scope.late_answers,
            overtaking: scope.overtaking,
            states: search.states() as u64,
            depth: found.depth,
            hash: format!("{:032x}", search.hash()),
            runs: found.runs,
            choices: found.choices,
        })
    }

    /// Whether both certificates have the same scope.
    pub fn is_of_scope(&self, other: &Certificate) -> bool {
        let scope = |c: &Certificate| {
            let of = (c.workload.clone(), c.clients, c.rounds, c.faults, c.kinds.clone());
            (of, c.late_answers, c.overtaking)
        };
        scope(self) == scope(other)
    }

    /// Reads the certificates of the repository, one per line.
    ///
    /// # Errors
    ///
    /// If a line is not a certificate.
    pub fn read_all(text: &str) -> Result<Vec<Certificate>, serde_json::Error> {
        text.lines().filter(|line| !line.is_empty()).map(serde_json::from_str).collect()
    }

    /// Adds it to a list, in place of the certificate with the same scope.
    pub fn put_among(self, all: &mut Vec<Certificate>) {
        all.retain(|other| !other.is_of_scope(&self));
        all.push(self);
        all.sort();
    }

    /// Writes certificates as text, one per line.
    ///
    /// # Errors
    ///
    /// None: a certificate is plain data.
    pub fn write_all(all: &[Certificate]) -> Result<String, serde_json::Error> {
        all.iter().map(|one| Ok(serde_json::to_string(one)? + "\n")).collect()
    }
}
