//! The right two-phase commit, one operation of which [lies](crate::lies).

use crate::lies::{How, Liar, Lie};
use crate::prelude::*;
use crate::two_phase_commit::recipe::{Participant, TwoPhases};
use crate::two_phase_commit::workload::{WORKLOAD, client};
use std::time::Duration;
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;
use zk_recipes::two_phase_commit::{Coordinator, Decision, Site, Transaction, Vote, Voted};

/// All mutants.
pub(in crate::two_phase_commit) static ALL: &[&Workload] = &[
    &BEGIN_PRETENDS,
    &BEGIN_DENIES,
    &BEGIN_REFUSES,
    &VOTE_PRETENDS,
    &VOTE_DENIES,
    &VOTE_REFUSES,
    &DECIDE_PRETENDS,
    &DECIDE_DENIES,
    &DECIDE_REFUSES,
    &FINISH_PRETENDS,
    &FINISH_DENIES,
    &FINISH_REFUSES,
    &FINISH_STOPS_HALFWAY,
];

struct LyingParticipant<C, Z> {
    liar: Liar<C>,
    right: Participant<Z>,
}

impl<C: Client, Z: ZooKeeper> LyingParticipant<C, Z> {
    /// The decision for a site, of which nobody knows if its vote was feigned.
    async fn decides(&self, voted: Option<&Voted<Z>>, limit: Option<Duration>) -> Result<Decision, Error> {
        let Some(voted) = voted else { return self.waits_in_vain(limit).await };
        let work = || async {
            match limit {
                Some(limit) => self.right.decision_within(voted, limit).await,
                None => self.right.decision(voted).await,
            }
        };
        self.liar.call(Verb::Decide, work, || Some(Decision::Commit)).await
    }

    async fn waits_in_vain(&self, limit: Option<Duration>) -> Result<Decision, Error> {
        let zk = &self.right.zk;
        zk.sleep_until(zk.now() + limit.unwrap_or_default()).await;
        Err(if limit.is_some() { ErrorKind::TimedOut.into() } else { ErrorKind::Unimplemented.into() })
    }
}

impl<C: Client, Z: ZooKeeper> TwoPhases for LyingParticipant<C, Z> {
    type Site = Site<Z>;
    /// None: it is feigned.
    type Voted = Option<Voted<Z>>;
    /// None: it is feigned.
    type Coordinator = Option<Coordinator<Z>>;

    async fn begin(&self, transaction: Transaction) -> Result<Self::Coordinator, Error> {
        let work = async { self.right.begin(transaction).await.map(Some) };
        self.liar.call_once(Verb::Begin, work, || Some(None)).await
    }

    async fn resume(&self) -> Result<Self::Coordinator, Error> {
        self.right.resume().await.map(Some)
    }

    async fn open(&self) -> Result<(Site<Z>, Option<Vote>), Error> {
        self.right.open().await
    }

    async fn vote(&self, site: Site<Z>, vote: Vote) -> Result<Self::Voted, Error> {
        let work = async { self.right.vote(site, vote).await.map(Some) };
        self.liar.call_once(Verb::Vote, work, || Some(None)).await
    }

    async fn decision(&self, voted: &Self::Voted) -> Result<Decision, Error> {
        self.decides(voted.as_ref(), None).await
    }

    async fn decision_within(&self, voted: &Self::Voted, limit: Duration) -> Result<Decision, Error> {
        self.decides(voted.as_ref(), Some(limit)).await
    }

    async fn next_vote(&self, voted: &Self::Voted) -> Result<Option<(String, Vote)>, Error> {
        match voted {
            Some(voted) => self.right.next_vote(voted).await,
            None => Ok(None),
        }
    }

    async fn coordinate_within(
        &self,
        coordinator: &Self::Coordinator,
        limit: Duration,
    ) -> Result<Decision, Error> {
        let Some(coordinator) = coordinator else { return self.waits_in_vain(Some(limit)).await };
        let work = || async { self.right.coordinate_within(coordinator, limit).await };
        self.liar.call(Verb::Decide, work, || Some(Decision::Commit)).await
    }

    async fn finish(&self, voted: Self::Voted) -> Result<(), Error> {
        let Some(voted) = voted else { return Ok(()) };
        let work = async { self.right.finish(voted).await };
        self.liar.call_once(Verb::Finish, work, || Some(())).await
    }

    async fn forget(&self, coordinator: Self::Coordinator) -> Result<(), Error> {
        let Some(coordinator) = coordinator else { return Ok(()) };
        let work = async { self.right.forget(coordinator).await };
        self.liar.call_once(Verb::Finish, work, || Some(())).await
    }
}

fn run<C: Client>(task: Task<C>, lie: &'static Lie) -> BoxFuture<'static, ()> {
    let liar = Liar::new(&task.client, lie);
    let make =
        move |right: &Participant<C::Zk>| LyingParticipant { liar: liar.clone(), right: right.clone() };
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

/// A transaction that is said to have begun, and does not exist: its sites wait for it.
static BEGIN_PRETENDS: Workload = mutant(
    "two-phase-commit-begin-pretends",
    "begin returns done and creates nothing",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Begin, how: How::Pretends }),
);

/// A transaction that is said not to have begun, and has: its coordinator does not care for it.
static BEGIN_DENIES: Workload = mutant(
    "two-phase-commit-begin-denies",
    "begin creates the transaction and fails",
    Caught::by(An3),
    |task| run(task, &Lie { verb: Verb::Begin, how: How::Denies(&[Failure::Other]) }),
);

/// A transaction does not begin, for a reason that never occurred.
static BEGIN_REFUSES: Workload = mutant(
    "two-phase-commit-begin-refuses",
    "begin fails for a reason that never occurred",
    Caught::by(An2),
    |task| {
        const REASONS: &[Failure] =
            &[Failure::TimedOut, Failure::NodeExists, Failure::Denied, Failure::ConnectionLoss];
        run(task, &Lie { verb: Verb::Begin, how: How::Refuses(REASONS) })
    },
);

/// A vote that is said to be cast, and is not: the transaction waits for it.
static VOTE_PRETENDS: Workload = mutant(
    "two-phase-commit-vote-pretends",
    "vote returns done and writes nothing",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Vote, how: How::Pretends }),
);

/// A vote that is said not to be cast, and binds its site: it may decide alone what the others decide otherwise.
static VOTE_DENIES: Workload =
    mutant("two-phase-commit-vote-denies", "vote writes the vote and fails", Caught::by(An3), |task| {
        run(task, &Lie { verb: Verb::Vote, how: How::Denies(&[Failure::Other]) })
    });

/// A site cannot vote, for a reason that never occurred.
static VOTE_REFUSES: Workload = mutant(
    "two-phase-commit-vote-refuses",
    "vote fails for a reason that never occurred",
    Caught::by(An2),
    |task| {
        const REASONS: &[Failure] =
            &[Failure::TimedOut, Failure::BadVersion, Failure::NoTransaction, Failure::ConnectionLoss];
        run(task, &Lie { verb: Verb::Vote, how: How::Refuses(REASONS) })
    },
);

/// A decision that was made up: a site commits what others abort.
static DECIDE_PRETENDS: Workload = mutant(
    "two-phase-commit-decide-pretends",
    "a party is told that the transaction commits, without asking",
    Caught::by(Tc9).harm(&[Tc1]).breaks(Promise::Agreement),
    |task| run(task, &Lie { verb: Verb::Decide, how: How::Pretends }),
);

/// A decision that was made is said to be unknown.
static DECIDE_DENIES: Workload = mutant(
    "two-phase-commit-decide-denies",
    "a party learns the decision, and is told that it did not",
    Caught::by(An3),
    |task| run(task, &Lie { verb: Verb::Decide, how: How::Denies(&[Failure::Other]) }),
);

/// A decision is not learned, for a reason that never occurred.
static DECIDE_REFUSES: Workload = mutant(
    "two-phase-commit-decide-refuses",
    "a party does not learn the decision, for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Decide, how: How::Refuses(UNMET) }),
);

/// A site that is said to have finished, and has not: the transaction stays.
static FINISH_PRETENDS: Workload = mutant(
    "two-phase-commit-finish-pretends",
    "finish returns done and deletes nothing",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Finish, how: How::Pretends }),
);

/// A site that is said not to have finished, and has.
static FINISH_DENIES: Workload = mutant(
    "two-phase-commit-finish-denies",
    "finish deletes the znode of the site and fails",
    Caught::by(An3),
    |task| run(task, &Lie { verb: Verb::Finish, how: How::Denies(&[Failure::Other]) }),
);

/// A site cannot finish, for a reason that never occurred.
static FINISH_REFUSES: Workload = mutant(
    "two-phase-commit-finish-refuses",
    "finish fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Finish, how: How::Refuses(UNMET) }),
);

/// A site that finishes by its own znode alone: the last one leaves the transaction behind.
static FINISH_STOPS_HALFWAY: Workload = mutant(
    "two-phase-commit-finish-stops-halfway",
    "finish returns done when its first request is answered, and the transaction stays",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Finish, how: How::StopsHalfway }),
);

/// Reasons for which a call may fail, none of which has occurred.
const UNMET: &[Failure] = &[Failure::TimedOut, Failure::Denied, Failure::ConnectionLoss];
