//! Mutants of the barrier: [`copy`] is a copy of it that a [`Mutation`] makes wrong in one step.

mod copy;
mod passing;
mod waiting;

use super::workload::{TARGET, client};
use copy::{MutantBarrier, Mutation};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sim_zk::fault::Fault;
use std::ops::Range;
use zk_harness::caught::Caught;
use zk_harness::client::{Client, SimProcess};
use zk_harness::plan::Plan;
use zk_harness::target::{Done, Part, Setting, Target};
use zk_recipes::While;

/// All mutants.
pub(super) static ALL: &[&Target] = &[
    &passing::ANY_EVENT,
    &waiting::ASKS_AGAIN,
    &waiting::DEAF,
    &waiting::EXISTS_WATCH,
    &passing::OPENS_WITH_SESSION,
    &passing::ANY_WRITE,
];

/// A mutant of the barrier.
const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    faults: &'static [Fault],
    plan: fn(u64) -> Plan,
    sim: Part<SimProcess>,
) -> Target {
    Target { name, about, caught_by: Some(caught), faults, plan, sim, ..Target::mutant_of(&TARGET) }
}

/// One client's part, with the copy.
fn run<C: Client>(
    c: C,
    setting: Setting,
    rounds: Range<u32>,
    done: Done,
    mutation: &'static Mutation,
) -> BoxFuture<'static, ()> {
    let make = Box::new(move |zk: &C::Zk, lives: While| MutantBarrier::new(zk, lives, mutation));
    client(c, setting, rounds, done, make).boxed()
}
