//! Certificates: the result of a complete search as a line. A repetition must produce the same line.

use super::search::Search;
use serde::{Deserialize, Serialize};

/// What is known of a scope that was explored to its end, and held.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The workload.
    pub workload: String,
    /// Clients.
    pub clients: u8,
    /// Rounds of each.
    pub rounds: u32,
    /// Faults at the most.
    pub faults: u32,
    /// Their kinds.
    pub kinds: Vec<String>,
    /// Whether answers could be late.
    pub late_answers: bool,
    /// Whether a timer could overtake.
    pub overtaking: bool,
    /// States visited.
    pub states: u64,
    /// How many choices lie before the deepest.
    pub depth: u32,
    /// The wrapping sum of the digests of all states.
    pub hash: String,
    /// Runs.
    pub runs: u64,
    /// Choices made in them.
    pub choices: u64,
}

impl Certificate {
    /// Of a search that is complete and has found nothing.
    pub fn of(search: &Search) -> Option<Certificate> {
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

    /// Whether it is of the same scope.
    pub fn is_of_scope(&self, other: &Certificate) -> bool {
        let scope = |c: &Certificate| {
            let of = (c.workload.clone(), c.clients, c.rounds, c.faults, c.kinds.clone());
            (of, c.late_answers, c.overtaking)
        };
        scope(self) == scope(other)
    }

    /// The certificates of the repository, one in a line.
    ///
    /// # Errors
    ///
    /// If a line is none.
    pub fn read_all(text: &str) -> Result<Vec<Certificate>, serde_json::Error> {
        text.lines().filter(|line| !line.is_empty()).map(serde_json::from_str).collect()
    }

    /// Adds it to others, in the place of the one of the same scope.
    pub fn put_among(self, all: &mut Vec<Certificate>) {
        all.retain(|other| !other.is_of_scope(&self));
        all.push(self);
        all.sort();
    }

    /// All of them as a text.
    ///
    /// # Errors
    ///
    /// None: a certificate is plain data.
    pub fn write_all(all: &[Certificate]) -> Result<String, serde_json::Error> {
        all.iter().map(|one| Ok(serde_json::to_string(one)? + "\n")).collect()
    }
}
