//! Mutants of the priority lock: the right recipe over an [intercepted](crate::session) session.

pub(super) mod lies;

use super::workload::{WORKLOAD, client, right};
use crate::prelude::*;
use crate::session::{Intercepted, Interceptor, Reply};
use std::sync::Arc;
use zk_harness::workload::TaskFn;
use zk_recipes::zk::{Listing, Op, OpResult};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[&BESIDE, &NO_GATES];

/// A mutant of the priority lock. None needs faults.
const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    plan: fn(u64) -> Plan,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, &[], plan, sim)
}

/// One client's part, with an interceptor for each lock.
fn run<C: Client>(task: Task<C>, interceptor: fn() -> Arc<dyn Interceptor<C::Zk>>) -> BoxFuture<'static, ()> {
    let make = move |zk: &C::Zk, preempt| right(&Intercepted::new(zk, interceptor()), preempt);
    client(task, Box::new(make)).boxed()
}

/// A priority lock whose newcomers look at the waiters alone: the most urgent of them enters, beside the holders. So it is if
/// a lock's waiters are sorted by priority, and nothing else is done.
///
/// Caught by MX-4 (a grant is justified) within five seeds; the harm is MX-3 (exclusion).
static BESIDE: Workload = mutant(
    "priority-lock-beside",
    "a priority lock whose newcomers list the contenders alone and enter beside the holder",
    Caught::by(Mx4).within(5).harm(&[Mx3]),
    |_| Plan::calm(),
    |task| run(task, || Arc::new(SeesTheLineAlone)),
);

struct SeesTheLineAlone;

impl<Z: ZooKeeper> Interceptor<Z> for SeesTheLineAlone {
    fn list(&self, path: &str, list: Listing) -> Listing {
        if path.ends_with("/held") { Listing { names: Vec::new(), ..list } } else { list }
    }
}

/// A priority lock whose grants do not pass the gates: two who look at the same time both see no holder, and both enter.
///
/// Caught by MX-4 (a grant is justified) within some dozen seeds; the harm is MX-3 (exclusion).
static NO_GATES: Workload = mutant(
    "priority-lock-no-gates",
    "a priority lock whose grants do not notice a concurrent grant",
    Caught::by(Mx4).harm(&[Mx3]),
    |_| Plan { clients: 4, rounds: 6, ..Plan::calm() },
    |task| run(task, || Arc::new(OpensTheGates)),
);

struct OpensTheGates;

impl<Z: ZooKeeper> Interceptor<Z> for OpensTheGates {
    fn multi(&self, zk: &Z, mut ops: Vec<Op>) -> Reply<Vec<OpResult>> {
        for op in &mut ops {
            if let Op::Check { version, .. } | Op::Set { version, .. } = op {
                *version = None;
            }
        }
        zk.multi(ops).boxed()
    }
}
