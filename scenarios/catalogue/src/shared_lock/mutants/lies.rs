//! The right shared lock, one operation of which [lies](crate::lies).

use crate::lies::{Hold, How, LOSSES, Liar, Lie, NOT_HELD, UNMET_OF_HOLDS, lossy};
use crate::prelude::*;
use crate::shared_lock::workload::{Granted, Shared, Taken, WORKLOAD, client, new};
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;
use zk_recipes::NotDowngraded;

/// All mutants.
pub(in crate::shared_lock) static ALL: &[&Workload] = &[
    &READ_PRETENDS,
    &READ_DENIES,
    &READ_REFUSES,
    &WRITE_PRETENDS,
    &WRITE_DENIES,
    &WRITE_REFUSES,
    &TRY_READ_REFUSES,
    &TRY_READ_FINDS_NOTHING,
    &TRY_WRITE_PRETENDS,
    &TRY_WRITE_REFUSES,
    &TRY_WRITE_FINDS_NOTHING,
    &DOWNGRADE_PRETENDS,
    &DOWNGRADE_DENIES,
    &RELEASE_PRETENDS,
    &RELEASE_DENIES,
    &RELEASE_REFUSES,
    &RELEASE_ENDS_CLEAN,
];

/// A shared lock that lies: the plain one or the revocable one.
#[derive(Clone)]
pub(crate) struct LyingLock<C, L> {
    pub liar: Liar<C>,
    pub right: L,
}

impl<C: Client, L: Shared> Shared for LyingLock<C, L> {
    type Read = Hold<C, L::Read>;
    type Write = Hold<C, L::Write>;

    async fn take(&self, call: Call) -> Taken<Self::Read, Self::Write> {
        let liar = &self.liar;
        let work = || async {
            let granted = self.right.take(call).await?;
            Ok(granted.map(|granted| match granted {
                Granted::Read(held) => Granted::Read(Hold::of(liar, held)),
                Granted::Write(held) => Granted::Write(Hold::of(liar, held)),
            }))
        };
        let feigned = || match call.verb {
            _ if liar.how() == How::FindsNothing => Some(None),
            Verb::Read | Verb::TryRead => Some(Hold::feigned(liar).map(Granted::Read)),
            _ => Some(Hold::feigned(liar).map(Granted::Write)),
        };
        liar.call(call.verb, work, feigned).await
    }

    async fn downgrade(write: Self::Write) -> Result<Self::Read, NotDowngraded<Self::Write>> {
        let Hold { liar, held } = write;
        let Some(held) = held else { return Ok(Hold { liar, held: None }) };
        if !liar.lies_in(Verb::Downgrade) {
            return match L::downgrade(held).await {
                Ok(held) => Ok(Hold { liar, held: Some(held) }),
                Err(NotDowngraded { guard, error }) => {
                    Err(NotDowngraded { guard: Hold { liar, held: Some(guard) }, error })
                }
            };
        }
        match liar.how() {
            How::Pretends => {
                // It goes on to hold as a writer.
                std::mem::forget(held);
                Ok(Hold { liar, held: None })
            }
            how => {
                let error = liar.reason_of(how);
                let denies = matches!(how, How::Denies(_));
                if denies && let Ok(read) = L::downgrade(held).await {
                    std::mem::forget(read);
                }
                Err(NotDowngraded { guard: Hold { liar, held: None }, error })
            }
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

/// A reader that is said to hold, and has no znode: a writer enters beside it.
static READ_PRETENDS: Workload = mutant(
    "shared-lock-read-pretends",
    "a reader is granted the lock without asking",
    Caught::by(Rw2).harm(&[Rw1]),
    |task| run(task, &Lie { verb: Verb::Read, how: How::Pretends }),
);

/// A reader that is said not to hold, and does: for as long as its session lives no writer enters.
static READ_DENIES: Workload = mutant(
    "shared-lock-read-denies",
    "a reader is granted the lock and told that it is not",
    Caught::by(An2).or(&[(Mx12, "its znode stays")]),
    |task| run(task, &Lie { verb: Verb::Read, how: How::Denies(NOT_HELD) }),
);

/// A reader is turned away for a reason that never occurred.
static READ_REFUSES: Workload = mutant(
    "shared-lock-read-refuses",
    "a reader is turned away for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Read, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A writer that is said to hold, and has no znode: others enter beside it.
static WRITE_PRETENDS: Workload = mutant(
    "shared-lock-write-pretends",
    "a writer is granted the lock without asking",
    Caught::by(Rw2).harm(&[Rw1]),
    |task| run(task, &Lie { verb: Verb::Write, how: How::Pretends }),
);

/// A writer that is said not to hold, and does: for as long as its session lives nobody enters.
static WRITE_DENIES: Workload = mutant(
    "shared-lock-write-denies",
    "a writer is granted the lock and told that it is not",
    Caught::by(An2).or(&[(Mx12, "its znode stays")]),
    |task| run(task, &Lie { verb: Verb::Write, how: How::Denies(NOT_HELD) }),
);

/// A writer is turned away for a reason that never occurred.
static WRITE_REFUSES: Workload = mutant(
    "shared-lock-write-refuses",
    "a writer is turned away for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Write, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A reader's attempt fails for a reason that never occurred.
static TRY_READ_REFUSES: Workload = mutant(
    "shared-lock-try-read-refuses",
    "a reader's attempt fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::TryRead, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A lock that is free is said not to be: its reader never gets it.
static TRY_READ_FINDS_NOTHING: Workload = mutant(
    "shared-lock-try-read-finds-nothing",
    "a reader's attempt says that the lock is not free, without asking",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::TryRead, how: How::FindsNothing }),
);

/// A lock that is said to be free, and is held.
static TRY_WRITE_PRETENDS: Workload = mutant(
    "shared-lock-try-write-pretends",
    "a writer's attempt is granted the lock without asking",
    Caught::by(Rw2).harm(&[Rw1]),
    |task| run(task, &Lie { verb: Verb::TryWrite, how: How::Pretends }),
);

/// A writer's attempt fails for a reason that never occurred.
static TRY_WRITE_REFUSES: Workload = mutant(
    "shared-lock-try-write-refuses",
    "a writer's attempt fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::TryWrite, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A lock that is free is said not to be: its writer never gets it.
static TRY_WRITE_FINDS_NOTHING: Workload = mutant(
    "shared-lock-try-write-finds-nothing",
    "a writer's attempt says that the lock is not free, without asking",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::TryWrite, how: How::FindsNothing }),
);

/// A writer that is said to hold as a reader, and stands in the way of all others still.
static DOWNGRADE_PRETENDS: Workload = mutant(
    "shared-lock-downgrade-pretends",
    "downgrade returns done and leaves the writer's znode",
    Caught::by(Rw2),
    |task| run(task, &Lie { verb: Verb::Downgrade, how: How::Pretends }),
);

/// A writer that is said to have kept its hold, and has a reader's.
static DOWNGRADE_DENIES: Workload = mutant(
    "shared-lock-downgrade-denies",
    "downgrade is done, and fails",
    Caught::by(Mx12).or(&[(An1, "the hold that it says it has is none, and ends clean")]),
    |task| run(task, &Lie { verb: Verb::Downgrade, how: How::Denies(&[Failure::Other]) }),
);

/// A hold that is said to be given back, and stands: the next waiter waits for as long as the session lives.
static RELEASE_PRETENDS: Workload = mutant(
    "shared-lock-release-pretends",
    "release returns done and deletes nothing",
    Caught::by(Mx12),
    |task| run(task, &Lie { verb: Verb::Release, how: How::Pretends }),
);

/// A hold that is said to stand, and was given back.
static RELEASE_DENIES: Workload =
    mutant("shared-lock-release-denies", "release deletes the znode and fails", Caught::by(An3), |task| {
        run(task, &Lie { verb: Verb::Release, how: How::Denies(&[Failure::Other]) })
    });

/// A hold is not given back, for a reason that never occurred.
static RELEASE_REFUSES: Workload = mutant(
    "shared-lock-release-refuses",
    "release fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Release, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A hold that was lost is said to have lasted until it was given back: whoever wrote meanwhile does not look back.
static RELEASE_ENDS_CLEAN: Workload = WORKLOAD.mutant(
    "shared-lock-release-ends-clean",
    "release says that a hold lasted until then, whatever has become of it",
    Caught::by(An1),
    LOSSES,
    |_| lossy(),
    |task| run(task, &Lie { verb: Verb::Release, how: How::EndsClean }),
);
