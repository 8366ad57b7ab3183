//! Name services that are wrong in one step: bends of a claim.

mod bend;
mod exists_is_mine;
mod loss_is_refusal;
mod release_by_name;

use zk_harness::target::Target;
use zk_real::RealTarget;

/// All of them.
pub(super) static ALL: &[&Target] =
    &[&exists_is_mine::TARGET, &loss_is_refusal::TARGET, &release_by_name::TARGET];

/// Those that show on real servers, without the simulation's faults.
pub(super) static REAL: &[&RealTarget] = &[&exists_is_mine::REAL];
