//! The zoo: every recipe that is broken on purpose, how it must be caught, and whether it is.
//!
//! A checker that has never caught anything proves nothing. [`Caught`](zk_harness::caught::Caught) says what a broken recipe must show; [`measure`] runs it
//! and the right recipe on the same seeds and says what came; [`table`] writes that down. [`kills`] says
//! how soon each strategy of searching finds it.

pub mod kills;
pub mod measure;
pub mod shrunk;
pub mod table;

use zk_harness::target::Target;

/// The right recipe of a broken one: the workload by whose name its own begins.
///
/// # Panics
///
/// If there is none.
pub fn right_twin(broken: &Target) -> &'static Target {
    let twins =
        zk_catalogue::workloads().filter(|right| broken.name.starts_with(&format!("{}-", right.name)));
    let nearest = twins.max_by_key(|right| right.name.len());
    nearest.unwrap_or_else(|| panic!("{} begins with the name of its workload", broken.name))
}
