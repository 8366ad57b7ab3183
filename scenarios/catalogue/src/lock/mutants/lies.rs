//! The right lock, one operation of which [lies](crate::lies).

use crate::lies::{Hold, How, LOSSES, Liar, Lie, NOT_HELD, UNMET_OF_HOLDS, lossy};
use crate::lock::workload::{Exclusive, WORKLOAD, client, new};
use crate::prelude::*;
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;
use zk_recipes::{Guard, Lock, guard};

/// All mutants.
pub(in crate::lock) static ALL: &[&Workload] = &[
    &ACQUIRE_PRETENDS,
    &ACQUIRE_DENIES,
    &ACQUIRE_REFUSES,
    &TRY_ACQUIRE_PRETENDS,
    &TRY_ACQUIRE_DENIES,
    &TRY_ACQUIRE_REFUSES,
    &TRY_ACQUIRE_FINDS_NOTHING,
    &RELEASE_PRETENDS,
    &RELEASE_DENIES,
    &RELEASE_REFUSES,
    &RELEASE_ENDS_CLEAN,
];

#[derive(Clone)]
struct LyingLock<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: Lock<Z>,
}

impl<C: Client, Z: ZooKeeper> Exclusive for LyingLock<C, Z> {
    type Guard = Hold<C, Guard<Z, guard::Exclusive>>;

    async fn take(&self, call: Call) -> Result<Option<Self::Guard>, Error> {
        let liar = &self.liar;
        let work = || async {
            let held = self.right.take(call).await?;
            Ok(held.map(|held| Hold::of(liar, held)))
        };
        let feigned = || match liar.how() {
            How::FindsNothing => Some(None),
            _ => Some(Hold::feigned(liar)),
        };
        liar.call(call.verb, work, feigned).await
    }
}

fn run<C: Client>(task: Task<C>, lie: &'static Lie) -> BoxFuture<'static, ()> {
    let liar = Liar::new(&task.client, lie);
    let make = move |zk: &C::Zk| LyingLock { liar: liar.clone(), right: new(zk) };
    client(task, Box::new(make)).boxed()
}

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, &[], |_| Plan { rounds: 6, ..Plan::calm() }, sim)
}

/// A client that is said to hold, and has no znode: the next one enters beside it.
static ACQUIRE_PRETENDS: Workload = mutant(
    "lock-acquire-pretends",
    "acquire grants the lock without asking",
    Caught::by(Mx4).harm(&[Mx3]).breaks(Promise::Exclusion),
    |task| run(task, &Lie { verb: Verb::Acquire, how: How::Pretends }),
);

/// A client that is said not to hold, and does: for as long as its session lives nobody else does.
static ACQUIRE_DENIES: Workload = mutant(
    "lock-acquire-denies",
    "acquire is granted and fails",
    Caught::by(An2).or(&[(Mx12, "its znode stays"), (Mx8, "nobody is granted the lock meanwhile")]),
    |task| run(task, &Lie { verb: Verb::Acquire, how: How::Denies(NOT_HELD) }),
);

/// A client is turned away for a reason that never occurred.
static ACQUIRE_REFUSES: Workload = mutant(
    "lock-acquire-refuses",
    "acquire fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Acquire, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A lock that is said to be free, and is held.
static TRY_ACQUIRE_PRETENDS: Workload = mutant(
    "lock-try-acquire-pretends",
    "an attempt is granted the lock without asking",
    Caught::by(Mx4),
    |task| run(task, &Lie { verb: Verb::TryAcquire, how: How::Pretends }),
);

/// An attempt that succeeds is said to have failed.
static TRY_ACQUIRE_DENIES: Workload = mutant(
    "lock-try-acquire-denies",
    "an attempt is granted the lock and fails",
    Caught::by(An2).or(&[(Mx12, "its znode stays")]),
    |task| run(task, &Lie { verb: Verb::TryAcquire, how: How::Denies(NOT_HELD) }),
);

/// An attempt fails for a reason that never occurred.
static TRY_ACQUIRE_REFUSES: Workload = mutant(
    "lock-try-acquire-refuses",
    "an attempt fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::TryAcquire, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A lock that is free is said to be taken: its caller never gets it.
static TRY_ACQUIRE_FINDS_NOTHING: Workload = mutant(
    "lock-try-acquire-finds-nothing",
    "an attempt says that the lock is not free, without asking",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::TryAcquire, how: How::FindsNothing }),
);

/// A hold that is said to be given back, and stands: the next waiter waits for as long as the session lives.
static RELEASE_PRETENDS: Workload =
    mutant("lock-release-pretends", "release returns done and deletes nothing", Caught::by(Mx12), |task| {
        run(task, &Lie { verb: Verb::Release, how: How::Pretends })
    });

/// A hold that is said to stand, and was given back.
static RELEASE_DENIES: Workload =
    mutant("lock-release-denies", "release deletes the znode and fails", Caught::by(An3), |task| {
        run(task, &Lie { verb: Verb::Release, how: How::Denies(&[Failure::Other]) })
    });

/// A hold is not given back, for a reason that never occurred.
static RELEASE_REFUSES: Workload = mutant(
    "lock-release-refuses",
    "release fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Release, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A hold that was lost is said to have lasted until it was given back: whoever wrote meanwhile does not look back.
static RELEASE_ENDS_CLEAN: Workload = WORKLOAD.mutant(
    "lock-release-ends-clean",
    "release says that a hold lasted until then, whatever has become of it",
    Caught::by(An1),
    LOSSES,
    |_| lossy(),
    |task| run(task, &Lie { verb: Verb::Release, how: How::EndsClean }),
);
