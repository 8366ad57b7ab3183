//! The right election, one operation of which [lies](crate::lies).

use crate::election::workload::{Electing, Follower, Office, WORKLOAD, client, new};
use crate::lies::{Hold, How, LOSSES, Liar, Lie, UNMET_OF_HOLDS, lossy};
use crate::prelude::*;
use std::time::Duration;
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;
use zk_recipes::{Election, Leader, Leadership, Term};

/// All mutants.
pub(in crate::election) static ALL: &[&Workload] = &[
    &STAND_PRETENDS,
    &STAND_DENIES,
    &STAND_REFUSES,
    &ACKNOWLEDGE_PRETENDS,
    &ACKNOWLEDGE_DENIES,
    &ACKNOWLEDGE_REFUSES,
    &ACKNOWLEDGE_STOPS_HALFWAY,
    &RELEASE_PRETENDS,
    &RELEASE_DENIES,
    &RELEASE_REFUSES,
    &RELEASE_ENDS_CLEAN,
    &OBSERVE_PRETENDS,
    &OBSERVE_REFUSES,
    &OBSERVE_REPEATS,
];

#[derive(Clone)]
struct LyingElection<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: Election<Z>,
}

impl<C: Client, Z: ZooKeeper> Electing for LyingElection<C, Z> {
    type Office = Hold<C, Term<Z>>;
    type Follower = LyingFollower<C, Z>;

    async fn stand(&self) -> Result<Self::Office, Error> {
        let liar = &self.liar;
        let work = || async { Ok(Hold::of(liar, self.right.stand().await?)) };
        liar.call(Verb::Stand, work, || Hold::feigned(liar)).await
    }

    async fn stand_within(&self, limit: Duration) -> Result<Self::Office, Error> {
        let liar = &self.liar;
        let work = || async { Ok(Hold::of(liar, self.right.stand_within(limit).await?)) };
        liar.call(Verb::Stand, work, || Hold::feigned(liar)).await
    }

    fn observe(&self) -> LyingFollower<C, Z> {
        LyingFollower { liar: self.liar.clone(), right: self.right.observe(), told: None }
    }
}

impl<C: Client, T: Office> Office for Hold<C, T> {
    async fn acknowledge(&self, data: &[u8]) -> Result<(), Error> {
        let Some(term) = &self.held else { return Ok(()) };
        let work = || async { term.acknowledge(data).await };
        self.liar.call(Verb::Acknowledge, work, || Some(())).await
    }
}

struct LyingFollower<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: Leadership<Z>,
    told: Option<Leader>,
}

impl<C: Client, Z: ZooKeeper> Follower for LyingFollower<C, Z> {
    async fn next(&mut self) -> Result<Leader, Error> {
        let work = async { self.right.next().await };
        let nobody = || Some(Leader::Unacknowledged { candidates: Vec::new() });
        self.liar.next(Verb::Observe, &mut self.told, work, nobody).await
    }
}

fn run<C: Client>(task: Task<C>, lie: &'static Lie) -> BoxFuture<'static, ()> {
    let liar = Liar::new(&task.client, lie);
    let make = move |zk: &C::Zk| LyingElection { liar: liar.clone(), right: new(zk) };
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

/// A leader that nobody has elected: it leads beside another one.
static STAND_PRETENDS: Workload = mutant(
    "election-stand-pretends",
    "a candidate is told that it leads, without asking",
    Caught::by(Le3).harm(&[Le1]),
    |task| run(task, &Lie { verb: Verb::Stand, how: How::Pretends }),
);

/// A leader that is said not to be elected: for as long as its session lives nobody leads.
static STAND_DENIES: Workload = mutant(
    "election-stand-denies",
    "a candidate is elected and told that it is not",
    Caught::by(Le8).or(&[(Le5, "nobody else is elected while its candidate stands")]),
    |task| run(task, &Lie { verb: Verb::Stand, how: How::Denies(&[Failure::Other]) }),
);

/// A candidate is turned away for a reason that never occurred.
static STAND_REFUSES: Workload = mutant(
    "election-stand-refuses",
    "a candidacy fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Stand, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A leader that is said to be on record, and is not: followers never hear of it.
static ACKNOWLEDGE_PRETENDS: Workload = mutant(
    "election-acknowledge-pretends",
    "acknowledge returns done and writes no record",
    Caught::by(Le4),
    |task| run(task, &Lie { verb: Verb::Acknowledge, how: How::Pretends }),
);

/// A leader that is said not to be on record, and is: followers turn to it, and it does not serve them.
static ACKNOWLEDGE_DENIES: Workload = mutant(
    "election-acknowledge-denies",
    "acknowledge writes the record and fails",
    Caught::by(An3),
    |task| run(task, &Lie { verb: Verb::Acknowledge, how: How::Denies(&[Failure::Other]) }),
);

/// A leader is not put on record, for a reason that never occurred.
static ACKNOWLEDGE_REFUSES: Workload = mutant(
    "election-acknowledge-refuses",
    "acknowledge fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Acknowledge, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A leader that finds the record of its predecessor, and takes that for its own.
static ACKNOWLEDGE_STOPS_HALFWAY: Workload = mutant(
    "election-acknowledge-stops-halfway",
    "acknowledge returns done when its first request is answered, whatever the answer",
    Caught::by(Le4),
    |task| run(task, &Lie { verb: Verb::Acknowledge, how: How::StopsHalfway }),
);

/// A leader that is said to have resigned, and stands in the way of the others still.
static RELEASE_PRETENDS: Workload = mutant(
    "election-release-pretends",
    "resign returns done and deletes nothing",
    Caught::by(Le8).or(&[(An1, "it says that it ended clean")]),
    |task| run(task, &Lie { verb: Verb::Release, how: How::Pretends }),
);

/// A leader that is said to be in office, and has resigned.
static RELEASE_DENIES: Workload =
    mutant("election-release-denies", "resign deletes the candidate and fails", Caught::by(An3), |task| {
        run(task, &Lie { verb: Verb::Release, how: How::Denies(&[Failure::Other]) })
    });

/// A leader cannot resign, for a reason that never occurred.
static RELEASE_REFUSES: Workload = mutant(
    "election-release-refuses",
    "resign fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Release, how: How::Refuses(UNMET_OF_HOLDS) }),
);

/// A term that was lost is said to have lasted until it was resigned: whoever wrote meanwhile does not look back.
static RELEASE_ENDS_CLEAN: Workload = WORKLOAD.mutant(
    "election-release-ends-clean",
    "resign says that the term lasted until then, whatever has become of it",
    Caught::by(An1),
    LOSSES,
    |_| lossy(),
    |task| run(task, &Lie { verb: Verb::Release, how: How::EndsClean }),
);

/// A follower is told that nobody leads while somebody does.
static OBSERVE_PRETENDS: Workload = mutant(
    "election-observe-pretends",
    "a follower is told that nobody leads, without asking",
    Caught::by(An1).or(&[(Le4, "it had been told that before")]),
    |task| run(task, &Lie { verb: Verb::Observe, how: How::Pretends }),
);

/// A follower stops for a reason that never occurred.
static OBSERVE_REFUSES: Workload = mutant(
    "election-observe-refuses",
    "following ends for a reason that never occurred",
    Caught::by(An2),
    |task| {
        const REASONS: &[Failure] = &[Failure::Denied, Failure::NoNode, Failure::ConnectionLoss];
        run(task, &Lie { verb: Verb::Observe, how: How::Refuses(REASONS) })
    },
);

/// An observer acts on one change of the leader twice.
static OBSERVE_REPEATS: Workload =
    mutant("election-observe-repeats", "an observer is told the same again", Caught::by(Le4), |task| {
        run(task, &Lie { verb: Verb::Observe, how: How::Repeats })
    });
