//! The right barrier, one operation of which [lies](crate::lies).

use crate::barrier::workload::{Gate, WORKLOAD, client, new};
use crate::lies::{How, Liar, Lie};
use crate::prelude::*;
use std::time::Duration;
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;
use zk_recipes::{Barrier, While};

/// All mutants.
pub(in crate::barrier) static ALL: &[&Workload] = &[
    &RAISE_PRETENDS,
    &RAISE_DENIES,
    &RAISE_REFUSES,
    &RAISE_STOPS_HALFWAY,
    &LOWER_PRETENDS,
    &LOWER_DENIES,
    &LOWER_REFUSES,
    &WAIT_PRETENDS,
    &WAIT_REFUSES,
    &WAIT_DOWN_PRETENDS,
    &WAIT_DOWN_REFUSES,
];

#[derive(Clone)]
struct LyingBarrier<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: Barrier<Z>,
}

impl<C: Client, Z: ZooKeeper> Gate for LyingBarrier<C, Z> {
    async fn raise(&self) -> Result<(), Error> {
        self.liar.call(Verb::Raise, || async { self.right.raise().await }, || Some(())).await
    }

    async fn lower(&self) -> Result<(), Error> {
        self.liar.call(Verb::Lower, || async { self.right.lower().await }, || Some(())).await
    }

    async fn wait(&self, verb: Verb, limit: Duration) -> Result<(), Error> {
        self.liar.call(verb, || async { Gate::wait(&self.right, verb, limit).await }, || Some(())).await
    }
}

fn run<C: Client>(task: Task<C>, lie: &'static Lie) -> BoxFuture<'static, ()> {
    let liar = Liar::new(&task.client, lie);
    let make = move |zk: &C::Zk, lives: While| LyingBarrier { liar: liar.clone(), right: new(zk, lives) };
    client(task, Box::new(make)).boxed()
}

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, &[], |_| Plan { rounds: 4, ..Plan::calm() }, sim)
}

/// A barrier that is said to stand, and was never created: whoever comes to wait walks through.
static RAISE_PRETENDS: Workload =
    mutant("barrier-raise-pretends", "raise returns done and creates nothing", Caught::by(An1), |task| {
        run(task, &Lie { verb: Verb::Raise, how: How::Pretends })
    });

/// A barrier that is said not to stand, and does: its caller has no reason to lower it, and waiters stay.
static RAISE_DENIES: Workload =
    mutant("barrier-raise-denies", "raise creates the barrier and fails", Caught::by(An3), |task| {
        run(task, &Lie { verb: Verb::Raise, how: How::Denies(&[Failure::Other]) })
    });

/// A raise that fails for a reason that never occurred: its caller looks for a fault that there is not.
static RAISE_REFUSES: Workload = mutant(
    "barrier-raise-refuses",
    "raise fails for a reason that never occurred",
    Caught::by(An2),
    |task| {
        const REASONS: &[Failure] = &[
            Failure::TimedOut,
            Failure::Denied,
            Failure::NodeExists,
            Failure::NoNode,
            Failure::ConnectionLoss,
        ];
        run(task, &Lie { verb: Verb::Raise, how: How::Refuses(REASONS) })
    },
);

/// A raise that takes any answer to its first create for success: the parent was missing, and so is the barrier.
static RAISE_STOPS_HALFWAY: Workload = mutant(
    "barrier-raise-stops-halfway",
    "raise returns done when the first create is answered, whatever the answer",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Raise, how: How::StopsHalfway }),
);

/// A barrier that is said to be gone, and stands: its waiters wait for ever.
static LOWER_PRETENDS: Workload =
    mutant("barrier-lower-pretends", "lower returns done and deletes nothing", Caught::by(An1), |task| {
        run(task, &Lie { verb: Verb::Lower, how: How::Pretends })
    });

/// A barrier that is said to stand still, and has opened: its caller believes that the waiters wait.
static LOWER_DENIES: Workload =
    mutant("barrier-lower-denies", "lower deletes the barrier and fails", Caught::by(An3), |task| {
        run(task, &Lie { verb: Verb::Lower, how: How::Denies(&[Failure::Other]) })
    });

/// A lower that fails for a reason that never occurred.
static LOWER_REFUSES: Workload = mutant(
    "barrier-lower-refuses",
    "lower fails for a reason that never occurred",
    Caught::by(An2),
    |task| {
        const REASONS: &[Failure] = &[
            Failure::TimedOut,
            Failure::Denied,
            Failure::NoNode,
            Failure::BadVersion,
            Failure::ConnectionLoss,
        ];
        run(task, &Lie { verb: Verb::Lower, how: How::Refuses(REASONS) })
    },
);

/// A wait that lets its caller pass without a look at the barrier.
static WAIT_PRETENDS: Workload = mutant(
    "barrier-wait-pretends",
    "wait returns at once, and the barrier stands",
    Caught::by(Ba1).or(&[(Ba5, "no event has opened it")]).breaks(Promise::Barriers),
    |task| run(task, &Lie { verb: Verb::Wait, how: How::Pretends }),
);

/// A wait that says that its limit is over when it has just begun, or that it lost a connection that stood.
static WAIT_REFUSES: Workload = mutant(
    "barrier-wait-refuses",
    "wait fails before its limit is over, or for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Wait, how: How::Refuses(UNMET) }),
);

/// The same of the level-triggered wait: it says that no barrier stands while one stands.
static WAIT_DOWN_PRETENDS: Workload = mutant(
    "barrier-wait-down-pretends",
    "the level-triggered wait returns at once, and a barrier stands",
    Caught::by(Ba1).or(&[(Ba5, "no event has opened it")]).breaks(Promise::Barriers),
    |task| run(task, &Lie { verb: Verb::WaitDown, how: How::Pretends }),
);

/// The level-triggered wait fails for a reason that never occurred.
static WAIT_DOWN_REFUSES: Workload = mutant(
    "barrier-wait-down-refuses",
    "the level-triggered wait fails before its limit is over, or for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::WaitDown, how: How::Refuses(UNMET) }),
);

/// Reasons for which a wait may fail, none of which has occurred.
const UNMET: &[Failure] = &[Failure::TimedOut, Failure::ConnectionLoss, Failure::Denied];
