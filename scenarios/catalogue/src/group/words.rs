//! The words of groups.

use super::workload::{self as group, DIRECTORY, GROUP, MemberHandle, follow, stay};
use crate::prelude::*;
use sim_zk::SimClient;
use std::future::Future;
use std::time::Duration;
use zk_checker::history::Names as Texts;
use zk_recipes::group::{Group, GroupOptions, IfTaken, Membership};

/// One group.
pub fn objects(texts: &mut Texts) -> Vec<Object> {
    group::objects(texts, &Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED })
}

fn of(zk: &SimClient) -> Group<SimClient> {
    Group::new(zk, DIRECTORY, GroupOptions::default().with_if_taken(IfTaken::Wait)).expect("a good path")
}

/// A membership, and the operation that gave it.
pub struct Joined {
    op: OpId,
    member: Membership<SimClient>,
}

impl Actor {
    /// Begins to join, and waits for a member of that id to go.
    pub fn asks_to_join(&self, id: &'static str) -> impl Future<Output = Option<Joined>> + Send + use<> {
        let number = self.number();
        let joining = self.does_and_then(
            Call::new(GROUP, Verb::Join),
            move |journal, at, op| journal.given(at, number, op, id, 0),
            move |zk| async move { of(&zk).join(Some(id), b"here").await },
            |_, op, member| Joined { op, member },
        );
        async move { joining.await.done() }
    }

    /// Joins.
    ///
    /// # Panics
    ///
    /// If the join fails.
    pub async fn joins_as(&self, id: &'static str) -> Joined {
        self.asks_to_join(id).await.expect("it has joined")
    }

    /// Leaves.
    pub async fn leaves_the_group(&self, joined: Joined) {
        let leave = move |_| async move { MemberHandle::leave(joined.member).await };
        let _ = self.does(Call::new(GROUP, Verb::Release), leave).await;
    }

    /// Stays a member for that long. Reports an earlier notification that it is out.
    pub async fn stays(&self, joined: &Joined, time: Duration) {
        stay(self.process(), joined.op, &joined.member, time).await;
    }

    /// Waits for the notification that it is out, and reports it.
    pub async fn is_out(&self, joined: &Joined) {
        joined.member.out().await;
        let (number, op) = (self.number(), joined.op);
        self.journal(|j, at| j.observed(at, number, op, GROUP, Seen::Missing, "", 0));
    }

    /// Begins to follow the members, for that long.
    pub fn follows_the_group(&self, time: Duration) -> impl Future<Output = Option<Round>> + Send + use<> {
        let (process, group) = (self.process().clone(), of(self.zk()));
        let following = self.process().process.spawn(async move { follow(&process, &group, time).await });
        async move { following.await.ok() }
    }
}
