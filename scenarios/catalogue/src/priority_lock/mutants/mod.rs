//! Mutants of the priority lock: the right recipe over an [intercepted](crate::session) session.

pub(super) mod lies;

use super::workload::{GRACE, WORKLOAD, client, right};
use crate::prelude::*;
use crate::session::{Intercepted, Interceptor, Reply};
use std::sync::{Arc, Mutex};
use zk_harness::workload::TaskFn;
use zk_recipes::Preempt;
use zk_recipes::zk::{CreateMode, Created, Listing, Op, OpResult};

/// All mutants.
pub(super) static ALL: &[&Workload] =
    &[&BESIDE, &NO_GATES, &NEVER_ASKS, &NEVER_FORCES, &ASKS_ANYWAY, &FORCES_ANYWAY, &OVERLOOKS_THE_URGENT];

/// A mutant of the priority lock. No mutant needs faults.
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

/// A priority lock whose newcomers compare themselves with the waiters only: the most urgent of them enters beside the
/// holders. This is what a lock does whose waiters are sorted by priority, without any other change.
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

/// A priority lock whose grants skip the gates: two waiters that list at the same time both see no holder, and both
/// enter.
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

/// A priority lock whose waiters overlook the more urgent ones: the first waiter that lists after a release is granted.
static OVERLOOKS_THE_URGENT: Workload = mutant(
    "priority-lock-overlooks-the-urgent",
    "a priority lock whose waiters overlook those that are more urgent",
    Caught::by(Mx15)
        .or(&[(Mx13, "those that overlook each other wait for one holder, whose release wakes them all")]),
    |_| Plan { clients: 4, rounds: 6, ..Plan::calm() },
    |task| run(task, || Arc::new(OverlooksTheUrgent::default())),
);

/// The priority of its contender.
#[derive(Default)]
struct OverlooksTheUrgent(Arc<Mutex<String>>);

impl<Z: ZooKeeper> Interceptor<Z> for OverlooksTheUrgent {
    fn create(&self, zk: &Z, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        let (create, own) = (zk.create(path, data, mode), self.0.clone());
        async move {
            let created = create.await?;
            *own.lock().expect("nobody panics in there") = priority(&created.path).to_owned();
            Ok(created)
        }
        .boxed()
    }

    fn list(&self, path: &str, mut list: Listing) -> Listing {
        let own = self.0.lock().expect("nobody panics in there");
        list.names.retain(|name| path.ends_with("/held") || priority(name) >= own.as_str());
        list
    }
}

/// The digits before the number of a contender.
fn priority(name: &str) -> &str {
    let digits = |front: &str| front.len().checked_sub(5);
    name.rsplit_once('-').and_then(|(front, _)| front.get(digits(front)?..)).unwrap_or_default()
}

/// One client's part, with a lock that replaces each policy by another one.
fn run_with<C: Client>(task: Task<C>, taken_for: fn(Preempt) -> Preempt) -> BoxFuture<'static, ()> {
    client(task, Box::new(move |zk: &C::Zk, preempt| right(zk, taken_for(preempt)))).boxed()
}

/// A mutant that replaces a policy by another one. Its waiters meet less urgent holders, some of which do not listen.
const fn preempting(name: &'static str, about: &'static str, sim: TaskFn<SimProcess>) -> Workload {
    mutant(name, about, Caught::by(Rv5), |_| Plan { clients: 4, rounds: 12, ..Plan::calm() }, sim)
}

/// A priority lock whose waiters ask no holder to release, whatever their policy: urgent waiters wait as long as all
/// others.
static NEVER_ASKS: Workload = preempting(
    "priority-lock-never-asks",
    "a priority lock whose waiters ask no less urgent holder to release",
    |task| run_with(task, |_| Preempt::Never),
);

/// A priority lock whose waiters ask, but never force: a holder that does not listen holds for as long as it likes.
static NEVER_FORCES: Workload = preempting(
    "priority-lock-never-forces",
    "a priority lock whose waiters ask a less urgent holder to release and never delete its znode",
    |task| {
        run_with(task, |preempt| match preempt {
            Preempt::Force { .. } => Preempt::Ask,
            other => other,
        })
    },
);

/// A priority lock whose waiters ask less urgent holders to release although their policy is to wait.
static ASKS_ANYWAY: Workload = preempting(
    "priority-lock-asks-anyway",
    "a priority lock whose waiters ask holders to release though their policy is to wait",
    |task| {
        run_with(task, |preempt| match preempt {
            Preempt::Never => Preempt::Ask,
            other => other,
        })
    },
);

/// A priority lock whose waiters delete the znode of a holder that they should only ask.
static FORCES_ANYWAY: Workload = preempting(
    "priority-lock-forces-anyway",
    "a priority lock whose waiters delete the znode of a holder that they should only ask",
    |task| {
        run_with(task, |preempt| match preempt {
            Preempt::Ask => Preempt::Force { grace: GRACE },
            other => other,
        })
    },
);
