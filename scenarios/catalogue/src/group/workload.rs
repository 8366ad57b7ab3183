//! Clients that are members of a group for a while, and clients that follow its members.
//!
//! Each round: join, under one of two ids or without one, be a member for a while or until the notification that it is
//! out, and leave, or drop the membership; or follow the members. In the last round some follow for so long that every
//! follower must have received the last change. A member that may be out waits until it knows; a member that is out
//! reports it.

use crate::prelude::*;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use zk_checker::history::{Names as Texts, Sym};
use zk_recipes::group::{Group, GroupOptions, GroupView, IfTaken, Membership, Views, WithData};
use zk_recipes::{Released, Stop};

/// A group under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients join and leave a group, and follow its members",
    plan: |seed| Plan { rounds: 4, ..Plan::drawn(seed) },
    required: &[Gm1, Gm2, Gm3, Gm4, Gm5, Gm6, Gm7, Gm8],
    ..Workload::own("group", objects, |task| client(task, Box::new(new)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload =
    RealWorkload::new(&WORKLOAD, |task| client(task, Box::new(new)).boxed(), &[Gm1, Gm4]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(180),
    rules: None,
    sometimes: &[SESSIONS[0], SESSIONS[1], "a member learns that it is out", "a join times out"],
};

/// The group's directory.
pub const DIRECTORY: &str = "/group";

/// The group, among the objects of its run.
pub const GROUP: ObjectId = ObjectId(0);

/// The group, as it is declared to the checker.
pub fn objects(names: &mut Texts, setting: &Setting) -> Vec<Object> {
    vec![object(names.intern(DIRECTORY), setting)]
}

/// A group in that directory, as it is declared to the checker.
pub fn object(directory: Sym, setting: &Setting) -> Object {
    Object { margin: setting.margin_us(), ..Object::plain(Kind::Group, directory) }
}

/// The group in [`DIRECTORY`].
pub fn new<Z: ZooKeeper>(zk: &Z) -> Group<Z> {
    Group::new(zk, DIRECTORY, GroupOptions::default().with_if_taken(IfTaken::Wait)).expect("a good path")
}

/// The methods of the group, which a mutant has too.
pub trait Gathering: Clone + Send + Sync + 'static {
    /// The type of a membership.
    type MemberHandle: MemberHandle;
    /// The follower's type.
    type Views: Observes;

    /// Joins.
    fn join(
        &self,
        id: Option<&str>,
        data: &[u8],
    ) -> impl Future<Output = Result<Self::MemberHandle, Error>> + Send;

    /// Follows the members.
    fn follow(&self, data: WithData) -> Self::Views;
}

/// A membership.
pub trait MemberHandle: Send + Sync + 'static {
    /// Resolves when the membership is over although the member has not left.
    fn out(&self) -> impl Future<Output = ()> + Send;

    /// Leaves; returns how the membership ended, if known.
    fn leave(self) -> impl Future<Output = Result<Option<Released>, Error>> + Send;
}

/// A follower of the members.
pub trait Observes: Send + 'static {
    /// The next view.
    fn next(&mut self) -> impl Future<Output = Result<GroupView, Error>> + Send;
}

impl<Z: ZooKeeper> Gathering for Group<Z> {
    type MemberHandle = Membership<Z>;
    type Views = Views<Z>;

    fn join(
        &self,
        id: Option<&str>,
        data: &[u8],
    ) -> impl Future<Output = Result<Membership<Z>, Error>> + Send {
        Group::join(self, id, data)
    }

    fn follow(&self, data: WithData) -> Views<Z> {
        Group::follow(self, data)
    }
}

impl<Z: ZooKeeper> MemberHandle for Membership<Z> {
    async fn out(&self) {
        while let Stop::Suspect { .. } = self.lost().await {
            if self.resumed().await.is_err() {
                return;
            }
        }
    }

    async fn leave(self) -> Result<Option<Released>, Error> {
        Membership::leave(self).await.map(Some)
    }
}

impl<Z: ZooKeeper> Observes for Views<Z> {
    fn next(&mut self) -> impl Future<Output = Result<GroupView, Error>> + Send {
        Views::next(self)
    }
}

/// One client's part.
pub async fn client<C: Client, G: Gathering>(task: Task<C>, make: Make<C::Zk, G>) {
    let (client, pace) = (&task.client, task.setting.pace);
    let mut present = OfSession::default();
    let round = |zk: C::Zk, number| {
        // One object a session, since one session joins a group through one object.
        let group = present.of(&zk, || make(&zk));
        let is_last = number + 1 == task.setting.rounds;
        async move {
            match client.choose(8) {
                choice @ (4 | 5 | 7) => {
                    let time = if choice == 7 && is_last { LONG } else { 8 };
                    follow(client, &group, pace.think * time * (1 + client.choose(4))).await
                }
                _ => take_part(client, &group, pace).await,
            }
        }
    };
    rounds(&task, round).await;
}

/// Within this time every fault is over and the last change must have arrived.
const LONG: u32 = 2000;

/// The end of a round after an operation that did not succeed.
fn over<T>(ended: &Ended<T>) -> Round {
    if ended.is_session_over() { Round::Again } else { Round::Over }
}

/// Is a member for a while.
async fn take_part<C: Client, G: Gathering>(client: &C, group: &G, pace: Pace) -> Round {
    let (op, member) = match join(client, group, pace).await {
        Ok(joined) => joined,
        Err(round) => return round,
    };
    let time = pace.work * (1 + client.choose(if client.choose(2) == 1 { 800 } else { 4 }));
    stay(client, op, &member, time).await;
    leave(client, member).await;
    Round::Over
}

/// Joins, under one of two ids or without one. `Err`: the join failed.
pub async fn join<C: Client, G: Gathering>(
    client: &C,
    group: &G,
    pace: Pace,
) -> Result<(OpId, G::MemberHandle), Round> {
    let id = [Some("one"), Some("two"), None][client.choose(3) as usize];
    // Under a name that others may have, it waits for a limited time.
    let call = Call::new(GROUP, Verb::Join).within(pace.limit * 20);
    let joining = || async {
        match select(pin!(group.join(id, b"here")), pin!(client.sleep(call.limit))).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => Err(ErrorKind::TimedOut.into()),
        }
    };
    let given = |journal: &mut zk_harness::journal::Journal, at, op| {
        journal.given(at, client.number(), op, id.unwrap_or_default(), 0);
    };
    let (op, ended) = operation(client, call, given, joining).await;
    sometimes!(client, "a join times out", ended.is_timed_out());
    match ended {
        Ended::Done(member) => Ok((op, member)),
        ended => Err(over(&ended)),
    }
}

/// Stays a member for that time, or until it is notified that it is out, which it reports.
pub async fn stay<C: Client, M: MemberHandle>(client: &C, op: OpId, member: &M, time: Duration) {
    if let Either::Left(_) = select(pin!(member.out()), pin!(client.sleep(time))).await {
        sometimes!(client, "a member learns that it is out", true);
        is_out(client, op);
    }
}

/// Leaves, or drops the membership.
pub async fn leave<C: Client, M: MemberHandle>(client: &C, member: M) {
    let call = Call::new(GROUP, Verb::Release);
    if client.choose(8) == 7 {
        // The dropped handle leaves in the background.
        give_up(client, call, nothing, member);
    } else {
        gives_back(client, call, nothing, || member.leave()).await;
    }
}

/// A member reports that it is out.
fn is_out<C: Client>(client: &C, op: OpId) {
    client.journal(|j, at| j.observed(at, client.number(), op, GROUP, Seen::Missing, "", 0));
}

/// Follows the members for a while.
pub async fn follow<C: Client, G: Gathering>(client: &C, group: &G, time: Duration) -> Round {
    let data = if client.choose(2) == 1 { WithData::Yes } else { WithData::No };
    let views = &mut group.follow(data);
    let op = &std::sync::OnceLock::new();
    let following = move || async move {
        let following = async {
            loop {
                let view = views.next().await?;
                let ids: Vec<_> = view.members.iter().map(|member| member.id.as_str()).collect();
                let (op, ids) = (*op.get().expect("it has been called"), ids.join(","));
                let zxid = view.zxid as u64;
                client.journal(|j, at| j.observed(at, client.number(), op, GROUP, Seen::View, &ids, zxid));
            }
        };
        match select(pin!(following), pin!(client.sleep(time))).await {
            Either::Left((Err::<(), Error>(error), _)) => Err(error),
            _ => Ok(()),
        }
    };
    let called = |_: &mut zk_harness::journal::Journal, _, id| op.set(id).expect("it is called once");
    let (_, ended) = operation(client, Call::new(GROUP, Verb::Watch), called, following).await;
    over(&ended)
}
