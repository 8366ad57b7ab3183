//! The right priority lock, one operation of which [lies](crate::lies).

use crate::lies::{Hold, How, LOSSES, Liar, Lie, NOT_HELD, UNMET_OF_HOLDS, lossy};
use crate::prelude::*;
use crate::priority_lock::workload::{HeldUrgently, Urgent, WORKLOAD, client, right};
use std::future::pending;
use std::time::Duration;
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;
use zk_recipes::{LostReason, Preempt, Priority, PriorityLock};

/// All mutants.
pub(in crate::priority_lock) static ALL: &[&Workload] = &[
    &READ_PRETENDS,
    &READ_DENIES,
    &READ_REFUSES,
    &WRITE_PRETENDS,
    &WRITE_DENIES,
    &WRITE_REFUSES,
    &RELEASE_PRETENDS,
    &RELEASE_DENIES,
    &RELEASE_REFUSES,
    &RELEASE_ENDS_CLEAN,
];

struct LyingLock<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: PriorityLock<Z>,
}

impl<C: Client, Z: ZooKeeper> Urgent for LyingLock<C, Z> {
    type Guard = Hold<C, <PriorityLock<Z> as Urgent>::Guard>;

    async fn acquire(&self, verb: Verb, priority: Priority, limit: Duration) -> Result<Self::Guard, Error> {
        let liar = &self.liar;
        let work = || async {
            let held = Urgent::acquire(&self.right, verb, priority, limit).await?;
            Ok(Hold::of(liar, held))
        };
        liar.call(verb, work, || Hold::feigned(liar)).await
    }
}

impl<C: Client, H: HeldUrgently> HeldUrgently for Hold<C, H> {
    async fn revoked(&self) -> Result<(), LostReason> {
        match &self.held {
            Some(held) => held.revoked().await,
            None => pending().await,
        }
    }
}

fn run<C: Client>(task: Task<C>, lie: &'static Lie) -> BoxFuture<'static, ()> {
    let liar = Liar::new(&task.client, lie);
    let make =
        move |zk: &C::Zk, preempt: Preempt| LyingLock { liar: liar.clone(), right: right(zk, preempt) };
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

/// A reader that is said to hold, and has no znode: a writer enters beside it.
static READ_PRETENDS: Workload = mutant(
    "priority-lock-read-pretends",
    "a reader is granted the lock without asking",
    Caught::by(Mx4),
    |task| run(task, &Lie { verb: Verb::Read, how: How::Pretends }),
);

/// A reader that is said not to hold, and does: for as long as its session lives no writer enters.
static READ_DENIES: Workload = mutant(
    "priority-lock-read-denies",
    "a reader is granted the lock and told that it is not",
    Caught::by(An2).or(&[(Mx12, "its znode stays")]),
    |task| run(task, &Lie { verb: Verb::Read, how: How::Denies(NOT_HELD) }),
);

/// A reader is turned away for a reason that never occurred.
static READ_REFUSES: Workload = mutant(
    "priority-lock-read-refuses",
    "a reader is turned away for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Read, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A writer that is said to hold, and has no znode: others enter beside it.
static WRITE_PRETENDS: Workload = mutant(
    "priority-lock-write-pretends",
    "a writer is granted the lock without asking",
    Caught::by(Mx4),
    |task| run(task, &Lie { verb: Verb::Write, how: How::Pretends }),
);

/// A writer that is said not to hold, and does: for as long as its session lives nobody enters.
static WRITE_DENIES: Workload = mutant(
    "priority-lock-write-denies",
    "a writer is granted the lock and told that it is not",
    Caught::by(An2).or(&[(Mx12, "its znode stays")]),
    |task| run(task, &Lie { verb: Verb::Write, how: How::Denies(NOT_HELD) }),
);

/// A writer is turned away for a reason that never occurred.
static WRITE_REFUSES: Workload = mutant(
    "priority-lock-write-refuses",
    "a writer is turned away for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Write, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A hold that is said to be given back, and stands: the next waiter waits for as long as the session lives.
static RELEASE_PRETENDS: Workload = mutant(
    "priority-lock-release-pretends",
    "release returns done and deletes nothing",
    Caught::by(Mx12),
    |task| run(task, &Lie { verb: Verb::Release, how: How::Pretends }),
);

/// A hold that is said to stand, and was given back.
static RELEASE_DENIES: Workload =
    mutant("priority-lock-release-denies", "release deletes the znode and fails", Caught::by(An3), |task| {
        run(task, &Lie { verb: Verb::Release, how: How::Denies(&[Failure::Other]) })
    });

/// A hold is not given back, for a reason that never occurred.
static RELEASE_REFUSES: Workload = mutant(
    "priority-lock-release-refuses",
    "release fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Release, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A hold that was lost is said to have lasted until it was given back: whoever wrote meanwhile does not look back.
static RELEASE_ENDS_CLEAN: Workload = WORKLOAD.mutant(
    "priority-lock-release-ends-clean",
    "release says that a hold lasted until then, whatever has become of it",
    Caught::by(An1),
    LOSSES,
    |_| lossy(),
    |task| run(task, &Lie { verb: Verb::Release, how: How::EndsClean }),
);
