//! Locks that are wrong in one step. `bend` is a copy of the lock in which single steps can be exchanged; over a
//! twisted session the right lock does something wrong.

pub(crate) mod bend;
mod breaks_in;
mod cloned_guard;
mod event_grants;
mod every_child;
mod exists_watch;
mod forgets_failed_delete;
mod former_session;
mod holds_on;
mod leaves_its_znode;
mod limit_overlooked;
mod limit_renewed;
mod missing_is_first;
mod no_guid;
mod no_settle;
mod number_as_token;
pub(crate) mod over;
mod persistent;
mod polls;
mod resource_ignores_tokens;
mod waits_for_nobody;
mod watch_all;
mod watch_first;
mod whole_names;

use zk_harness::target::Target;
use zk_real::RealTarget;

/// All of them.
pub(super) static ALL: &[&Target] = &[
    &no_guid::TARGET,
    &no_settle::TARGET,
    &watch_all::TARGET,
    &watch_first::TARGET,
    &event_grants::TARGET,
    &waits_for_nobody::TARGET,
    &whole_names::TARGET,
    &forgets_failed_delete::TARGET,
    &holds_on::TARGET,
    &number_as_token::TARGET,
    &polls::TARGET,
    &limit_overlooked::TARGET,
    &limit_renewed::TARGET,
    &leaves_its_znode::TARGET,
    &persistent::TARGET,
    &exists_watch::TARGET,
    &former_session::TARGET,
    &resource_ignores_tokens::TARGET,
    &cloned_guard::TARGET,
    &breaks_in::TARGET,
    &every_child::TARGET,
    &missing_is_first::TARGET,
];

/// Those that show on real servers, without the simulation's faults.
pub(super) static REAL: &[&RealTarget] =
    &[&number_as_token::REAL, &polls::REAL, &watch_all::REAL, &watch_first::REAL];
