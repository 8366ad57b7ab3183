//! The mutation score: whether each mutant is killed by the rule that names its wrong step.
//!
//! A checker that has never found a bug is no evidence. [`Caught`](zk_harness::caught::Caught) states what a mutant must
//! show; [`measure`] runs it and the correct recipe on the same seeds; [`table`] prints the results. [`kills`] is the
//! kill table: how many runs each search strategy needs. [`lies`] is the table of the mutants that lie.

pub mod kills;
pub mod lies;
pub mod measure;
pub mod shrunk;
pub mod table;
pub mod twins;

use zk_harness::workload::Workload;

/// The correct recipe of a mutant: the workload whose name is the beginning of the mutant's name.
///
/// # Panics
///
/// If there is no such workload.
pub fn correct_twin(mutant: &Workload) -> &'static Workload {
    let twins =
        zk_catalogue::workloads().filter(|right| mutant.name.starts_with(&format!("{}-", right.name)));
    let nearest = twins.max_by_key(|right| right.name.len());
    nearest.unwrap_or_else(|| panic!("{} begins with the name of its workload", mutant.name))
}
