//! The right revocable lock, one operation of which [lies](crate::lies).

use crate::lies::{Hold, How, LOSSES, Liar, Lie, UNMET_OF_HOLDS, lossy};
use crate::prelude::*;
use crate::revocable_lock::workload::{HeldUntilAsked, Revocable, WORKLOAD, client, new};
use crate::shared_lock::mutants::lies::LyingLock;
use std::future::pending;
use std::time::Duration;
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;
use zk_recipes::{Contender, Fate};

/// All mutants.
pub(in crate::revocable_lock) static ALL: &[&Workload] = &[
    &ASK_PRETENDS,
    &ASK_REFUSES,
    &FORCE_PRETENDS,
    &FORCE_DENIES,
    &FORCE_REFUSES,
    &FORCE_STOPS_HALFWAY,
    &READ_PRETENDS,
    &READ_REFUSES,
    &WRITE_PRETENDS,
    &WRITE_REFUSES,
    &TRY_READ_REFUSES,
    &TRY_READ_FINDS_NOTHING,
    &TRY_WRITE_REFUSES,
    &TRY_WRITE_FINDS_NOTHING,
    &DOWNGRADE_PRETENDS,
    &RELEASE_PRETENDS,
    &RELEASE_DENIES,
    &RELEASE_ENDS_CLEAN,
];

impl<C: Client, L: Revocable> Revocable for LyingLock<C, L> {
    async fn contenders(&self) -> Result<Vec<Contender>, Error> {
        self.right.contenders().await
    }

    async fn ask(&self, contender: &Contender) -> Result<Fate, Error> {
        let work = || async { self.right.ask(contender).await };
        self.liar.call(Verb::Ask, work, || Some(Fate::Asked)).await
    }

    async fn force(&self, contender: &Contender, grace: Duration) -> Result<Fate, Error> {
        let work = || async { self.right.force(contender, grace).await };
        self.liar.call(Verb::Force, work, || Some(Fate::Forced)).await
    }
}

impl<C: Client, H: HeldUntilAsked> HeldUntilAsked for Hold<C, H> {
    async fn is_asked(&self) -> bool {
        match &self.held {
            Some(held) => held.is_asked().await,
            None => pending().await,
        }
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
    WORKLOAD.mutant(name, about, caught, &[], |_| Plan { clients: 4, rounds: 4, ..Plan::calm() }, sim)
}

/// A holder that is said to have been asked to go, and never hears of it.
static ASK_PRETENDS: Workload = mutant(
    "revocable-lock-ask-pretends",
    "a request to go is said to be written, and is not",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Ask, how: How::Pretends }),
);

/// A request to go fails for a reason that never occurred.
static ASK_REFUSES: Workload = mutant(
    "revocable-lock-ask-refuses",
    "a request to go fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Ask, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A holder that is said to be gone by force, and holds still.
static FORCE_PRETENDS: Workload = mutant(
    "revocable-lock-force-pretends",
    "a contender is said to be deleted, and is not even asked",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Force, how: How::Pretends }),
);

/// A contender that is said to stand, and was deleted by force.
///
/// Most contenders go within the grace period: it takes many rounds.
static FORCE_DENIES: Workload = Workload {
    plan: |_| Plan { clients: 4, rounds: 24, ..Plan::calm() },
    ..mutant(
        "revocable-lock-force-denies",
        "a contender is deleted by force, and the call fails",
        Caught::by(An3),
        |task| run(task, &Lie { verb: Verb::Force, how: How::Denies(&[Failure::Other]) }),
    )
};

/// A contender is not forced out, for a reason that never occurred.
static FORCE_REFUSES: Workload = mutant(
    "revocable-lock-force-refuses",
    "a forced revocation fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Force, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A contender that was asked to go, and is said to be deleted: the second step, after the grace period, is left out.
static FORCE_STOPS_HALFWAY: Workload = mutant(
    "revocable-lock-force-stops-halfway",
    "a contender is said to be deleted when the first request is answered",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Force, how: How::StopsHalfway }),
);

/// A reader that is said to hold, and has no znode: a writer enters beside it.
static READ_PRETENDS: Workload = mutant(
    "revocable-lock-read-pretends",
    "a reader is granted the lock without asking",
    Caught::by(Rw2).harm(&[Rw1]),
    |task| run(task, &Lie { verb: Verb::Read, how: How::Pretends }),
);

/// A reader is turned away for a reason that never occurred, such as a request to go that nobody has made.
static READ_REFUSES: Workload = mutant(
    "revocable-lock-read-refuses",
    "a reader is said to be asked to go, or fails for another reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Read, how: How::Refuses(NOT_ASKED) }),
);

/// A writer that is said to hold, and has no znode: others enter beside it.
static WRITE_PRETENDS: Workload = mutant(
    "revocable-lock-write-pretends",
    "a writer is granted the lock without asking",
    Caught::by(Rw2).harm(&[Rw1]),
    |task| run(task, &Lie { verb: Verb::Write, how: How::Pretends }),
);

/// A writer is turned away for a reason that never occurred, such as a request to go that nobody has made.
static WRITE_REFUSES: Workload = mutant(
    "revocable-lock-write-refuses",
    "a writer is said to be asked to go, or fails for another reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Write, how: How::Refuses(NOT_ASKED) }),
);

/// A reader's attempt fails for a reason that never occurred.
static TRY_READ_REFUSES: Workload = mutant(
    "revocable-lock-try-read-refuses",
    "a reader's attempt fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::TryRead, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A lock that is free is said not to be: its reader never gets it.
static TRY_READ_FINDS_NOTHING: Workload = mutant(
    "revocable-lock-try-read-finds-nothing",
    "a reader's attempt says that the lock is not free, without asking",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::TryRead, how: How::FindsNothing }),
);

/// A writer's attempt fails for a reason that never occurred.
static TRY_WRITE_REFUSES: Workload = mutant(
    "revocable-lock-try-write-refuses",
    "a writer's attempt fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::TryWrite, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A lock that is free is said not to be: its writer never gets it.
static TRY_WRITE_FINDS_NOTHING: Workload = mutant(
    "revocable-lock-try-write-finds-nothing",
    "a writer's attempt says that the lock is not free, without asking",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::TryWrite, how: How::FindsNothing }),
);

/// A writer that is said to hold as a reader, and stands in the way of all others still.
static DOWNGRADE_PRETENDS: Workload = mutant(
    "revocable-lock-downgrade-pretends",
    "downgrade returns done and leaves the writer's znode",
    Caught::by(Rw2),
    |task| run(task, &Lie { verb: Verb::Downgrade, how: How::Pretends }),
);

/// A hold that is said to be given back, and stands: the next waiter waits for as long as the session lives.
static RELEASE_PRETENDS: Workload = mutant(
    "revocable-lock-release-pretends",
    "release returns done and deletes nothing",
    Caught::by(Mx12),
    |task| run(task, &Lie { verb: Verb::Release, how: How::Pretends }),
);

/// A hold that is said to stand, and was given back.
static RELEASE_DENIES: Workload =
    mutant("revocable-lock-release-denies", "release deletes the znode and fails", Caught::by(An3), |task| {
        run(task, &Lie { verb: Verb::Release, how: How::Denies(&[Failure::Other]) })
    });

/// Reasons for which a contender may be turned away, none of which has occurred.
const NOT_ASKED: &[Failure] = &[Failure::Revoked, Failure::Removed, Failure::Denied];

/// A hold that was lost is said to have lasted until it was given back: whoever wrote meanwhile does not look back.
static RELEASE_ENDS_CLEAN: Workload = WORKLOAD.mutant(
    "revocable-lock-release-ends-clean",
    "release says that a hold lasted until then, whatever has become of it",
    Caught::by(An1),
    LOSSES,
    |_| lossy(),
    |task| run(task, &Lie { verb: Verb::Release, how: How::EndsClean }),
);
