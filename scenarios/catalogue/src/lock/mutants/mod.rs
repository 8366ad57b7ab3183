//! Mutants of the lock: a [`copy`] of the lock in which a [`Mutation`] makes one step wrong, and the right lock behind
//! an [interceptor](crate::session::Interceptor) that does something wrong.

pub(crate) mod copy;
mod holding;
mod joining;
pub(super) mod lies;
mod limits;
mod resource_ignores_tokens;
mod sessions;
mod waiting;

use super::workload::{DIRECTORY, WORKLOAD, client};
use crate::prelude::*;
use copy::{MutantLock, Mutation};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &joining::NO_GUID,
    &joining::NO_SETTLE,
    &waiting::WATCH_ALL,
    &waiting::WATCH_FIRST,
    &waiting::EVENT_GRANTS,
    &waiting::WAITS_FOR_NOBODY,
    &joining::WHOLE_NAMES,
    &holding::FORGETS_FAILED_DELETE,
    &holding::HOLDS_ON,
    &holding::NUMBER_AS_TOKEN,
    &waiting::POLLS,
    &limits::LIMIT_OVERLOOKED,
    &limits::LIMIT_RENEWED,
    &sessions::LEAVES_ITS_ZNODE,
    &sessions::PERSISTENT,
    &sessions::EXISTS_WATCH,
    &sessions::FORMER_SESSION,
    &resource_ignores_tokens::WORKLOAD,
    &holding::CLONED_GUARD,
    &limits::BREAKS_IN,
    &joining::EVERY_CHILD,
    &sessions::MISSING_IS_FIRST,
];

/// The mutants that real servers kill, without the simulation's faults.
pub(super) static REAL: &[&RealWorkload] = &[
    &holding::NUMBER_AS_TOKEN_REAL,
    &waiting::POLLS_REAL,
    &waiting::WATCH_ALL_REAL,
    &waiting::WATCH_FIRST_REAL,
];

/// One client's part, with the copy.
fn run<C: Client>(task: Task<C>, mutation: &'static Mutation) -> BoxFuture<'static, ()> {
    let make = Box::new(move |zk: &C::Zk| MutantLock::new(zk, DIRECTORY, mutation));
    client(task, make).boxed()
}
