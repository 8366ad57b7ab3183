//! Name services that are wrong in one step: bends of a claim.

mod exists_is_mine;
mod loss_is_refusal;
mod release_by_name;

use crate::target::Target;

/// All of them.
pub(super) static ALL: &[&Target] =
    &[&exists_is_mine::TARGET, &loss_is_refusal::TARGET, &release_by_name::TARGET];
