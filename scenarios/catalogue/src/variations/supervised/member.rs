//! The group of the workload: clients are members of it, in one session after the other, and follow it.

use super::mutants::Wrong;
use super::standing::Open;
use super::workload::GROUP;
use crate::prelude::*;
use futures_util::future::{Either, select};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use zk_checker::history::Outcome;
use zk_harness::operation::give_up;
use zk_harness::rounds::OfSession;
use zk_recipes::group::{Group, GroupOptions, IfTaken, Membership, WithData};
use zk_recipes::supervisor::{self, Connect, Ended as Stopped, Supervisor};
use zk_recipes::{LostReason, Released, Stop};

pub(super) const DIRECTORY: &str = "/supervised/group";

/// The group of a client's present session: one session joins it through one object.
pub(super) type Present<Z> = Mutex<OfSession<Group<Z>>>;

fn group<Z: ZooKeeper>(present: &Present<Z>, zk: &Z) -> Group<Z> {
    let options = GroupOptions::default().with_if_taken(IfTaken::Wait);
    let mut present = present.lock().unwrap_or_else(PoisonError::into_inner);
    present.of(zk, || Group::new(zk, DIRECTORY, options).expect("a good path"))
}

/// Is a member for a while, under one of two ids or without one.
pub(super) async fn serves<C: Client, X: Connect>(
    client: &C,
    supervisor: &Supervisor<X>,
    present: &Present<X::Zk>,
    time: Duration,
    wrong: Wrong,
) {
    let id = [Some("one"), Some("two"), None][client.choose(3) as usize];
    let mut joined = 0;
    let register = |zk: X::Zk| {
        sometimes!(client, "a member joins again", joined > 0);
        joined += 1;
        async move {
            let open = Open::new(client);
            let given = |journal: &mut Journal, at, op: OpId| {
                open.begins(op);
                journal.given(at, client.number(), op, id.unwrap_or_default(), 0);
            };
            let joining = || async { group(present, &zk).join(id, b"here").await };
            let (op, ended) = operation(client, Call::new(GROUP, Verb::Join), given, joining).await;
            open.ended();
            match ended {
                Ended::Done(member) => {
                    let (client, is_out) = (client.clone(), AtomicBool::new(false));
                    Ok(Serving { client, op, member: Some(member), is_out })
                }
                Ended::Failed(error) => Err(error),
                // Its user has dropped it: as good as a lost reply.
                _ => Err(ErrorKind::ConnectionLoss.into()),
            }
        }
    };
    let serving = pin!(supervisor.serve("serves", register));
    match select(serving, pin!(client.sleep(time))).await {
        // An access list forbids it, for a while. A mutant may have left its znode there.
        Either::Left((Err(Stopped::Recipe(error)), _))
            if error.is_denied() || error.is_refused() || wrong == Wrong::LeavesWhatIsDropped => {}
        Either::Left((Err(Stopped::Recipe(error)), _)) => {
            panic!("the supervisor gives up: {error}")
        }
        _ => {}
    }
}

/// Follows the members for a while.
pub(super) async fn follows<C: Client, X: Connect>(
    client: &C,
    supervisor: &Supervisor<X>,
    present: &Present<X::Zk>,
    time: Duration,
) {
    let open = Open::called(client, GROUP, Verb::Watch).sends();
    let data = if client.choose(2) == 1 { WithData::Yes } else { WithData::No };
    let mut follower = supervisor.follow(|zk: &X::Zk| Ok(group(present, zk).follow(data)));
    let following = async {
        while let Ok(followed) = follower.next().await {
            let ids: Vec<_> = followed.news.members.iter().map(|member| member.id.as_str()).collect();
            let (ids, zxid) = (ids.join(","), followed.news.zxid as u64);
            let (me, op) = (client.number(), open.op());
            client.journal(|journal, at| journal.observed(at, me, op, GROUP, Seen::View, &ids, zxid));
        }
    };
    let _: Either<_, ((), _)> = select(pin!(following), pin!(client.sleep(time))).await;
    open.returns(Outcome::Done);
}

/// A membership, and the operation that joined.
struct Serving<C: Client, Z: ZooKeeper> {
    client: C,
    op: OpId,
    /// Taken when it is given back.
    member: Option<Membership<Z>>,
    is_out: AtomicBool,
}

impl<C: Client, Z: ZooKeeper> Serving<C, Z> {
    fn member(&self) -> &Membership<Z> {
        self.member.as_ref().expect("it is not given back")
    }

    /// Its client learns that it is out.
    fn is_out(&self) {
        if self.is_out.swap(true, Ordering::Relaxed) {
            return;
        }
        sometimes!(&self.client, "a supervised member learns that it is out", true);
        let (me, op) = (self.client.number(), self.op);
        self.client.journal(|journal, at| journal.observed(at, me, op, GROUP, Seen::Missing, "", 0));
    }
}

impl<C: Client, Z: ZooKeeper> supervisor::Hold for Serving<C, Z> {
    async fn lost(&self) -> Stop {
        let stop = self.member().lost().await;
        if let Stop::Lost(_) = stop {
            self.is_out();
        }
        stop
    }

    async fn resumed(&self) -> Result<(), LostReason> {
        self.member().resumed().await.inspect_err(|_| self.is_out())
    }

    async fn give_back(mut self, limit: Duration) -> Result<Released, Error> {
        let member = self.member.take().expect("it is given back once");
        supervisor::Hold::give_back(member, limit).await
    }
}

impl<C: Client, Z: ZooKeeper> Drop for Serving<C, Z> {
    fn drop(&mut self) {
        let Some(member) = self.member.take() else { return };
        if !self.client.is_crashed() {
            give_up(&self.client, Call::new(GROUP, Verb::Release), |_, _, _| {}, member);
        }
    }
}
