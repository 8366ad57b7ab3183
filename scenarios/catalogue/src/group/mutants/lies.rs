//! The right group, one operation of which [lies](crate::lies).

use crate::group::workload::{Gathering, MemberHandle, Observes, WORKLOAD, client, new};
use crate::lies::{FEIGNED, How, LOSSES, Liar, Lie, lossy};
use crate::prelude::*;
use std::future::pending;
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;
use zk_recipes::Released;
use zk_recipes::group::{Group, GroupView, Membership, Views, WithData};

/// All mutants.
pub(in crate::group) static ALL: &[&Workload] = &[
    &JOIN_PRETENDS,
    &JOIN_DENIES,
    &JOIN_REFUSES,
    &JOIN_REPEATS,
    &RELEASE_PRETENDS,
    &RELEASE_DENIES,
    &RELEASE_REFUSES,
    &RELEASE_ENDS_CLEAN,
    &WATCH_PRETENDS,
    &WATCH_REFUSES,
    &WATCH_REPEATS,
];

#[derive(Clone)]
struct LyingGroup<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: Group<Z>,
}

impl<C: Client, Z: ZooKeeper> Gathering for LyingGroup<C, Z> {
    type MemberHandle = LyingMember<C, Z>;
    type Views = LyingViews<C, Z>;

    async fn join(&self, id: Option<&str>, data: &[u8]) -> Result<LyingMember<C, Z>, Error> {
        let liar = &self.liar;
        let work = || async {
            let right = self.right.join(id, data).await?;
            Ok(LyingMember { liar: liar.clone(), right: Some(right) })
        };
        liar.call(Verb::Join, work, || Some(LyingMember { liar: liar.clone(), right: None })).await
    }

    fn views(&self, data: WithData) -> LyingViews<C, Z> {
        LyingViews { liar: self.liar.clone(), right: self.right.views(data), told: None }
    }
}

/// A membership, or a feigned one.
struct LyingMember<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: Option<Membership<Z>>,
}

impl<C: Client, Z: ZooKeeper> MemberHandle for LyingMember<C, Z> {
    async fn out(&self) {
        match &self.right {
            Some(right) => right.out().await,
            None => pending().await,
        }
    }

    async fn leave(self) -> Result<Option<Released>, Error> {
        let Some(right) = self.right else { return Ok(None) };
        self.liar.ends(Verb::Release, MemberHandle::leave(right), Some(Released::Clean)).await
    }
}

struct LyingViews<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: Views<Z>,
    told: Option<GroupView>,
}

impl<C: Client, Z: ZooKeeper> Observes for LyingViews<C, Z> {
    async fn next(&mut self) -> Result<GroupView, Error> {
        let work = async { self.right.next().await };
        let nobody = || Some(GroupView { zxid: FEIGNED, members: Vec::new() });
        self.liar.next(Verb::Watch, &mut self.told, work, nobody).await
    }
}

fn run<C: Client>(task: Task<C>, lie: &'static Lie) -> BoxFuture<'static, ()> {
    let liar = Liar::new(&task.client, lie);
    let make = move |zk: &C::Zk| LyingGroup { liar: liar.clone(), right: new(zk) };
    client(task, Box::new(make)).boxed()
}

/// Sessions that expire now and then make the right group fail, too: for reasons that occurred.
const EXPIRY: &[Fault] = &[Fault::SessionExpiry];

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(
        name,
        about,
        caught,
        EXPIRY,
        |_| Plan { rounds: 6, ..Plan::calm() }.with(EXPIRY, 0.005),
        sim,
    )
}

/// A member that no other client sees.
static JOIN_PRETENDS: Workload =
    mutant("group-join-pretends", "join returns done and creates nothing", Caught::by(Gm4), |task| {
        run(task, &Lie { verb: Verb::Join, how: How::Pretends })
    });

/// A member that does not know that it is one: others give it work that is never done.
static JOIN_DENIES: Workload =
    mutant("group-join-denies", "join creates the znode and fails", Caught::by(Gm5), |task| {
        run(task, &Lie { verb: Verb::Join, how: How::Denies(&[Failure::Other]) })
    });

/// A client is not let in, for a reason that never occurred.
static JOIN_REFUSES: Workload =
    mutant("group-join-refuses", "join fails for a reason that never occurred", Caught::by(An2), |task| {
        const REASONS: &[Failure] =
            &[Failure::Taken, Failure::Removed, Failure::TimedOut, Failure::ConnectionLoss, Failure::Denied];
        run(task, &Lie { verb: Verb::Join, how: How::Refuses(REASONS) })
    });

/// A member that has two znodes, and knows one of them: it is counted twice, and stays when it has left.
static JOIN_REPEATS: Workload =
    mutant("group-join-repeats", "join creates a second znode", Caught::by(Gm5), |task| {
        run(task, &Lie { verb: Verb::Join, how: How::Repeats })
    });

/// A member that is said to have left, and is still there.
static RELEASE_PRETENDS: Workload =
    mutant("group-release-pretends", "leave returns done and deletes nothing", Caught::by(An1), |task| {
        run(task, &Lie { verb: Verb::Release, how: How::Pretends })
    });

/// A member that is said to be still there, and has left.
static RELEASE_DENIES: Workload =
    mutant("group-release-denies", "leave deletes the znode and fails", Caught::by(An3), |task| {
        run(task, &Lie { verb: Verb::Release, how: How::Denies(&[Failure::Other]) })
    });

/// A member cannot leave, for a reason that never occurred.
static RELEASE_REFUSES: Workload = mutant(
    "group-release-refuses",
    "leave fails for a reason that never occurred",
    Caught::by(An2),
    |task| {
        const REASONS: &[Failure] =
            &[Failure::TimedOut, Failure::Removed, Failure::NoNode, Failure::ConnectionLoss];
        run(task, &Lie { verb: Verb::Release, how: How::Refuses(REASONS) })
    },
);

/// A membership that was lost is said to have lasted until its member left: nobody asks what was missed.
static RELEASE_ENDS_CLEAN: Workload = WORKLOAD.mutant(
    "group-release-ends-clean",
    "leave says that the membership lasted until then, whatever has become of it",
    Caught::by(An1),
    LOSSES,
    |_| lossy(),
    |task| run(task, &Lie { verb: Verb::Release, how: How::EndsClean }),
);

/// A follower is told that the group is empty while it has members.
static WATCH_PRETENDS: Workload = mutant(
    "group-watch-pretends",
    "a follower is told that the group is empty, without asking",
    Caught::by(An1).or(&[(Gm1, "the group had members in every state of that time")]),
    |task| run(task, &Lie { verb: Verb::Watch, how: How::Pretends }),
);

/// A follower stops for a reason that never occurred.
static WATCH_REFUSES: Workload = mutant(
    "group-watch-refuses",
    "following ends for a reason that never occurred",
    Caught::by(An2),
    |task| {
        const REASONS: &[Failure] =
            &[Failure::Denied, Failure::NoNode, Failure::ConnectionLoss, Failure::TimedOut];
        run(task, &Lie { verb: Verb::Watch, how: How::Refuses(REASONS) })
    },
);

/// An observer acts on one view twice.
static WATCH_REPEATS: Workload =
    mutant("group-watch-repeats", "an observer is told the same view again", Caught::by(Gm1), |task| {
        run(task, &Lie { verb: Verb::Watch, how: How::Repeats })
    });
