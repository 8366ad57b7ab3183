//! A search as a file, from which it can be resumed: visited states, queued branches, and findings.
//!
//! Digests of states are valid only for the program that made them. So the file holds the digest of the run of default
//! choices, and loading fails if that digest has changed.

use super::scope::Scope;
use super::search::{Branch, Breach, Exploration, Results};
use super::visited::Visited;
use crate::workload::Lookup;
use serde::{Deserialize, Serialize};
use sim_zk::fault::Fault;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zk_report::whole_file;

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("cannot {0} the checkpoint {1}: {2}")]
    Io(&'static str, PathBuf, std::io::Error),
    /// The file is not a checkpoint.
    #[error("{0} is not a checkpoint of this program")]
    NotOne(PathBuf),
    /// The program has changed.
    #[error("the program has changed since {0} was written, and its states differ")]
    Changed(PathBuf),
}

#[derive(Serialize, Deserialize)]
struct Stored {
    format: u32,
    scope: StoredScope,
    calm: u128,
    counts: (u64, u64, u64, u32),
    first: Option<(String, Vec<u16>)>,
    breaches: Vec<(String, Vec<u16>, u64)>,
    states: Vec<u128>,
    queue: Vec<Planned>,
}

/// The planned choices of a run, and its branches: the index of a choice, and the untried alternatives there, one bit
/// each.
type Planned = (Vec<u16>, Vec<(u32, u64)>);

#[derive(Serialize, Deserialize)]
struct StoredScope {
    workload: String,
    clients: u8,
    rounds: u32,
    faults: u32,
    kinds: Vec<String>,
    late_answers: bool,
    overtaking: bool,
    cutting: bool,
}

/// The first word of the file.
const FORMAT: u32 = 0x7a6b_0001;

/// The digest of the run of default choices.
fn calm(scope: &Scope) -> u128 {
    let (_, chooser) = scope.draw(Vec::new(), &Arc::default()).play(|_| ());
    chooser.states.iter().fold(0, |sum, (state, _)| sum.wrapping_add(*state))
}

impl Exploration {
    /// Writes the search to a file. An existing file is replaced atomically.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), CheckpointError> {
        let bytes = postcard::to_allocvec(&self.stored()).expect("a checkpoint is plain data");
        whole_file::write(path, bytes)
            .map_err(|error| CheckpointError::Io("write", path.to_owned(), error.why))
    }

    /// Reads a search from a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is not a checkpoint, or was written by another version of the program.
    pub fn load(path: &Path, lookup: Lookup) -> Result<Exploration, CheckpointError> {
        let bytes = std::fs::read(path).map_err(|e| CheckpointError::Io("read", path.to_owned(), e))?;
        let not_one = || CheckpointError::NotOne(path.to_owned());
        let stored: Stored = postcard::from_bytes(&bytes).map_err(|_| not_one())?;
        let calm_then = stored.calm;
        let search = Exploration::from_stored(stored, lookup).ok_or_else(not_one)?;
        if calm(search.scope()) != calm_then {
            return Err(CheckpointError::Changed(path.to_owned()));
        }
        Ok(search)
    }

    fn stored(&self) -> Stored {
        let Scope { workload, clients, rounds, faults, kinds, late_answers, overtaking, cutting } =
            &self.scope;
        let scope = StoredScope {
            workload: workload.name.to_owned(),
            clients: *clients,
            rounds: *rounds,
            faults: *faults,
            kinds: kinds.iter().map(|kind| kind.name().to_owned()).collect(),
            late_answers: *late_answers,
            overtaking: *overtaking,
            cutting: *cutting,
        };
        let mut queue: Vec<Planned> = Vec::new();
        for Branch { planned, at, left } in &self.queue {
            match queue.last_mut() {
                Some((last, branches)) if **last == **planned => branches.push((*at, *left)),
                _ => queue.push((planned.to_vec(), vec![(*at, *left)])),
            }
        }
        let found = &self.found;
        Stored {
            format: FORMAT,
            scope,
            calm: calm(&self.scope),
            counts: (found.runs, found.cut, found.choices, found.depth),
            first: found.first.clone().map(|breach| (breach.what, breach.choices)),
            breaches: found
                .breaches
                .values()
                .map(|(breach, count)| (breach.what.clone(), breach.choices.clone(), *count))
                .collect(),
            states: self.visited.sorted(),
            queue,
        }
    }

    fn from_stored(stored: Stored, lookup: Lookup) -> Option<Exploration> {
        let Stored { format, scope, counts, first, breaches, states, queue, .. } = stored;
        let kinds: Option<Vec<Fault>> = scope.kinds.iter().map(|name| Fault::from_name(name)).collect();
        let StoredScope { workload, clients, rounds, faults, late_answers, overtaking, cutting, .. } = scope;
        let workload = lookup(&workload).filter(|_| format == FORMAT)?;
        let kinds = kinds?;
        let scope = Scope { workload, clients, rounds, faults, kinds, late_answers, overtaking, cutting };
        let (runs, cut, choices, depth) = counts;
        let breach = |(what, choices)| Breach { what, choices };
        let breaches = breaches
            .into_iter()
            .map(|(what, choices, count)| (what.clone(), (Breach { what, choices }, count)));
        let found =
            Results { runs, cut, choices, depth, first: first.map(breach), breaches: breaches.collect() };
        let branches = queue.into_iter().flat_map(|(planned, branches)| {
            let planned: Arc<[u16]> = planned.into();
            branches.into_iter().map(move |(at, left)| Branch { planned: planned.clone(), at, left })
        });
        let visited: Visited = states.into_iter().collect();
        Some(Exploration { scope, visited: Arc::new(visited), queue: branches.collect(), found })
    }
}
