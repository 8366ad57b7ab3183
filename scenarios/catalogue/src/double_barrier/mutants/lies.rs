//! The right double barrier, one operation of which [lies](crate::lies).

use crate::double_barrier::workload::{Meeting, Participation, Setup, WORKLOAD, client, new, setup};
use crate::lies::{FEIGNED, How, Liar, Lie};
use crate::prelude::*;
use std::future::pending;
use std::time::Duration;
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;
use zk_recipes::{DoubleBarrier, Inside};

/// All mutants.
pub(in crate::double_barrier) static ALL: &[&Workload] = &[
    &ENTER_PRETENDS,
    &ENTER_DENIES,
    &ENTER_REFUSES,
    &LEAVE_PRETENDS,
    &LEAVE_DENIES,
    &LEAVE_REFUSES,
    &LEAVE_STOPS_HALFWAY,
];

struct LyingDoubleBarrier<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: DoubleBarrier<Z>,
}

impl<C: Client, Z: ZooKeeper> Meeting for LyingDoubleBarrier<C, Z> {
    type Participation = LyingPlace<C, Z>;

    async fn enter(&self, limit: Duration) -> Result<LyingPlace<C, Z>, Error> {
        let liar = &self.liar;
        let work = || async {
            let right = Meeting::enter(&self.right, limit).await?;
            Ok(LyingPlace { liar: liar.clone(), right: Some(right) })
        };
        liar.call(Verb::Enter, work, || Some(LyingPlace { liar: liar.clone(), right: None })).await
    }
}

/// A place inside, or a feigned one.
struct LyingPlace<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: Option<Inside<Z>>,
}

impl<C: Client, Z: ZooKeeper> Participation for LyingPlace<C, Z> {
    fn opening(&self) -> (u64, String) {
        self.right.as_ref().map_or((FEIGNED.cast_unsigned(), String::new()), Participation::opening)
    }

    async fn lost(&self) {
        match &self.right {
            Some(right) => Participation::lost(right).await,
            None => pending().await,
        }
    }

    async fn leave(self, limit: Option<Duration>) -> Result<(), Error> {
        let Some(right) = self.right else { return Ok(()) };
        let work = async { Participation::leave(right, limit).await };
        self.liar.call_once(Verb::Leave, work, || Some(())).await
    }
}

fn run<C: Client>(task: Task<C>, lie: &'static Lie) -> BoxFuture<'static, ()> {
    let liar = Liar::new(&task.client, lie);
    let make = move |zk: &C::Zk, setup: &Setup, id, round| LyingDoubleBarrier {
        liar: liar.clone(),
        right: new(zk, setup, id, round),
    };
    client(task, setup, Box::new(make)).boxed()
}

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, &[], |_| Plan { rounds: 5, ..Plan::calm() }, sim)
}

/// A participant that begins before the others have come.
static ENTER_PRETENDS: Workload = mutant(
    "double-barrier-enter-pretends",
    "enter returns at once, without a znode",
    Caught::by(Db1).breaks(Promise::Barriers),
    |task| run(task, &Lie { verb: Verb::Enter, how: How::Pretends }),
);

/// A participant that the others count on, and that is told that it is not inside.
static ENTER_DENIES: Workload =
    mutant("double-barrier-enter-denies", "enter is done, and fails", Caught::by(Db7), |task| {
        run(task, &Lie { verb: Verb::Enter, how: How::Denies(&[Failure::Other]) })
    });

/// A participant that is turned away for a reason that never occurred.
static ENTER_REFUSES: Workload = mutant(
    "double-barrier-enter-refuses",
    "enter fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Enter, how: How::Refuses(UNMET) }),
);

/// A participant that is said to have left, and is still there: the others wait for it.
static LEAVE_PRETENDS: Workload = mutant(
    "double-barrier-leave-pretends",
    "leave returns at once, and its znode stays",
    Caught::by(Db9).or(&[(An1, "its znode stays")]),
    |task| run(task, &Lie { verb: Verb::Leave, how: How::Pretends }),
);

/// A participant that has left together with the others, and is told that it has not.
static LEAVE_DENIES: Workload =
    mutant("double-barrier-leave-denies", "leave is done, and fails", Caught::by(An2), |task| {
        const REASONS: &[Failure] = &[Failure::TimedOut, Failure::Removed, Failure::Denied];
        run(task, &Lie { verb: Verb::Leave, how: How::Denies(REASONS) })
    });

/// A participant cannot leave, for a reason that never occurred.
static LEAVE_REFUSES: Workload = mutant(
    "double-barrier-leave-refuses",
    "leave fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Leave, how: How::Refuses(UNMET) }),
);

/// A participant that leaves, and does not wait for the others.
static LEAVE_STOPS_HALFWAY: Workload = mutant(
    "double-barrier-leave-stops-halfway",
    "leave returns done when its first request is answered, while others are inside",
    Caught::by(Db2).or(&[(An1, "its znode stays")]).breaks(Promise::Barriers),
    |task| run(task, &Lie { verb: Verb::Leave, how: How::StopsHalfway }),
);

/// Reasons for which a call may fail, none of which has occurred.
const UNMET: &[Failure] = &[Failure::TimedOut, Failure::Late, Failure::Denied, Failure::ConnectionLoss];
