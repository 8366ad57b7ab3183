//! The right group, one operation of which [lies](crate::lies).

use crate::group::workload::{Gathering, MemberHandle, Observes, WORKLOAD, client, new};
use crate::lies::How::{EndsClean, Pretends, Refuses, Repeats};
use crate::lies::{DENIES, FEIGNED, Hold, Lies, Lying, LyingStream, UNMET_OF_READS, refuses, row};
use crate::prelude::*;
use zk_checker::history::Failure::{ConnectionLoss, Denied, NoNode, Removed, Taken, TimedOut};
use zk_checker::history::Verb::{Join, Release, Watch};
use zk_recipes::Released;
use zk_recipes::group::{Group, GroupView, Membership, Views, WithData};

/// The lies.
pub(in crate::group) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: EXPIRY,
    plan: |_| Plan { rounds: 6, ..Plan::calm() }.with(EXPIRY, 0.005),
    part: |task, liar| client(task, Box::new(move |zk| liar.over(new(zk)))).boxed(),
    rows: &[
        // A member that no other client sees.
        row(Join, Pretends, Gm4, "join returns done and creates nothing"),
        // A member whose join is reported as failed: other clients give it work that is never done.
        row(Join, DENIES, Gm5, "join creates the znode and fails"),
        refuses(Join, &[Taken, Removed, TimedOut, ConnectionLoss, Denied], "join"),
        // A member with two znodes that knows only one: it is counted twice, and the second stays after it has left.
        row(Join, Repeats, Gm5, "join creates a second znode"),
        // The member is reported as having left, but its znode stays.
        row(Release, Pretends, An1, "leave returns done and deletes nothing"),
        // The leave is reported as failed, but took effect.
        row(Release, DENIES, An3, "leave deletes the znode and fails"),
        refuses(Release, &[TimedOut, Removed, NoNode, ConnectionLoss], "leave"),
        // A lost membership is reported as kept until its member left: the caller does not check what it missed.
        row(
            Release,
            EndsClean,
            An1,
            "leave says that the membership lasted until then, whatever has become of it",
        ),
        // A follower gets an empty view although the group has members.
        row(Watch, Pretends, An1, "a follower is told that the group is empty, without asking")
            .or(&[(Gm1, "the group had members in every state of that time")]),
        row(Watch, Refuses(UNMET_OF_READS), An2, "following ends for a reason that never occurred"),
        // An observer acts on the same view twice.
        row(Watch, Repeats, Gm1, "an observer is told the same view again"),
    ],
};

/// Under session expiry the right group fails too, for reasons that occurred.
const EXPIRY: &[Fault] = &[Fault::SessionExpiry];

impl<C: Client, Z: ZooKeeper> Gathering for Lying<C, Group<Z>> {
    type MemberHandle = Hold<C, Membership<Z>>;
    type Views = LyingStream<C, Views<Z>, GroupView>;

    async fn join(&self, id: Option<&str>, data: &[u8]) -> Result<Self::MemberHandle, Error> {
        self.liar.grants(Verb::Join, || self.right.join(id, data)).await
    }

    fn follow(&self, data: WithData) -> Self::Views {
        self.liar.follows(self.right.follow(data))
    }
}

impl<C: Client, Z: ZooKeeper> MemberHandle for Hold<C, Membership<Z>> {
    async fn out(&self) {
        self.waits(MemberHandle::out).await;
    }

    async fn leave(self) -> Result<Option<Released>, Error> {
        let Some(right) = self.held else { return Ok(None) };
        self.liar.ends(Verb::Release, MemberHandle::leave(right), Some(Released::Clean)).await
    }
}

impl<C: Client, Z: ZooKeeper> Observes for LyingStream<C, Views<Z>, GroupView> {
    async fn next(&mut self) -> Result<GroupView, Error> {
        let work = async { self.right.next().await };
        let nobody = || Some(GroupView { zxid: FEIGNED, members: Vec::new() });
        self.liar.next(Verb::Watch, &mut self.told, work, nobody).await
    }
}
