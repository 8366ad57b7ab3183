//! Services that register under names and as members of a group, and clients that look them up.
//!
//! Each round: register one of two names, within a time limit, for as long as the session lives or permanently; or join
//! a group, with or without a time limit. An owner or member occasionally replaces its data, checks what other clients
//! see, and works until it is done or the hold is lost: it waits for the loss, or lets the recipe drop its work. A
//! suspect one continues when it is confirmed. A permanent registration is found again by its guid, and written to
//! after its removal. Other clients follow a name or the members with their data. Occasionally a name or data are
//! invalid, and a member joins twice.

use super::calls::{Calls, Right};
use crate::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use zk_checker::history::Names as Texts;
use zk_recipes::Parents;
use zk_recipes::group::{Group, GroupOptions};
use zk_recipes::names::{IfTaken, Names, NamesOptions};
use zk_recipes::zk::path;

/// Services under load.
pub static WORKLOAD: Workload = Workload {
    about: "services register names and join a group, replace their data, and others follow them",
    plan: |seed| Plan { clients: 4, rounds: 6, ..Plan::drawn(seed) },
    required: &[Ns1, Ns3, Ns4, Ns5, Gm1, Gm2, Gm3, Gm4, Gm5, Gm6, Gm7, Gm8, An1, An2, An3],
    ..Workload::own("changing-data", objects, |task| client(task, Arc::new(Right)).boxed(), &STATED)
};

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(180),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a registration times out",
        "a join times out",
        "data are replaced",
        "the znode whose data are to be replaced is gone",
        "a permanent registration is found again",
        "a permanent registration is not found again",
        "a client joins although it is a member",
        "a directory that must exist is missing",
        "a member works on after a suspicion",
        "the work of a member is dropped",
        "the state of a registration is lost",
        "bad input is refused",
    ],
};

/// The directory of the names.
pub(super) const SERVICES: &str = "/services";

/// The group's directory.
pub(super) const MEMBERS: &str = "/workers";

/// The names, among the objects of the run.
pub(super) const NAMES: ObjectId = ObjectId(0);

/// The group, among the objects of the run.
pub(super) const GROUP: ObjectId = ObjectId(1);

/// The names and the group, as they are declared to the checker.
pub fn objects(names: &mut Texts, setting: &Setting) -> Vec<Object> {
    let object = |kind, path| Object { margin: setting.margin_us(), ..Object::plain(kind, path) };
    vec![object(Kind::Names, names.intern(SERVICES)), object(Kind::Group, names.intern(MEMBERS))]
}

/// The calls of a service: the right ones, or those of a mutant.
pub(super) type Make<C> = Arc<dyn Calls<<C as Client>::Zk>>;

/// A client in one session.
pub(super) struct Service<'a, C: Client> {
    pub(super) client: &'a C,
    pub(super) calls: &'a dyn Calls<C::Zk>,
    pub(super) zk: C::Zk,
    pub(super) pace: Pace,
    pub(super) names: Names<C::Zk>,
    pub(super) group: Group<C::Zk>,
    /// Makes the data of a client unique.
    pub(super) round: u32,
}

/// One client's part.
pub(super) async fn client<C: Client>(task: Task<C>, calls: Make<C>) {
    let (client, pace, calls) = (&task.client, task.setting.pace, &*calls);
    let mut present = OfSession::default();
    let round = |zk: C::Zk, round| {
        // One object a session, since one session registers a name, and joins, through one object.
        let (names, group) = present.of(&zk, || open(client, &zk));
        let service = Service { client, calls, zk, pace, names, group, round };
        async move { service.round().await }
    };
    rounds(&task, round).await;
}

/// The names and the group for a session, with options of its own.
fn open<C: Client>(client: &C, zk: &C::Zk) -> (Names<C::Zk>, Group<C::Zk>) {
    let if_taken = || if client.choose(2) == 1 { IfTaken::Fail } else { IfTaken::Wait };
    let parents = || [Parents::Container, Parents::Persistent, Parents::MustExist][client.choose(3) as usize];
    let options = NamesOptions::default().with_parents(parents()).with_if_taken(if_taken());
    let names = Names::new(zk, SERVICES, options).expect("the directory is a good path");
    let options = GroupOptions::default().with_parents(parents()).with_if_taken(if_taken());
    let group = Group::new(zk, MEMBERS, options).expect("the directory is a good path");
    (names, group)
}

impl<C: Client> Service<'_, C> {
    async fn round(&self) -> Round {
        if self.client.choose(12) == 11 {
            self.makes_a_mistake().await;
        }
        match self.client.choose(8) {
            0 | 1 => self.serves_for_a_while().await,
            2 => self.serves_for_good().await,
            3 => self.looks_up().await,
            4 => self.follows_a_name().await,
            5 => self.follows_the_members().await,
            _ => self.is_a_member().await,
        }
    }

    /// One of two names.
    pub(super) fn name(&self) -> &'static str {
        ["db", "web"][self.client.choose(2) as usize]
    }

    /// Data that no client writes twice.
    pub(super) fn data(&self, number: u32) -> String {
        format!("{}-{}-{number}", self.client.number(), self.round)
    }

    /// A time to work: short, or longer than any reply takes.
    pub(super) fn time(&self) -> Duration {
        self.pace.work * (1 + self.client.choose(if self.client.choose(2) == 1 { 400 } else { 4 }))
    }

    /// Records the arguments of an operation.
    pub(super) fn gives<'t, const N: usize>(
        &self,
        texts: [&'t str; N],
    ) -> impl FnOnce(&mut Journal, u64, OpId) + use<'t, C, N> {
        let me = self.client.number();
        move |journal, at, op| texts.iter().for_each(|text| journal.given(at, me, op, text, 0))
    }

    /// A name that cannot be a component of a path, or data that exceed the servers' limit.
    async fn makes_a_mistake(&self) {
        let (name, size) =
            [("", 1), ("a/b", 1), ("large", path::MAX_REQUEST_BYTES)][self.client.choose(3) as usize];
        let data = vec![b'x'; size];
        let is_refused = if self.client.choose(2) == 1 {
            let call = Call::new(GROUP, Verb::Join).by_mistake();
            let join = || self.group.join(Some(name), &data);
            let (_, ended) = operation(self.client, call, self.gives([name]), join).await;
            is_bad_input(&ended)
        } else {
            let call = Call::new(NAMES, Verb::Register).by_mistake();
            let register = || self.names.register(name, &data);
            let (_, ended) = operation(self.client, call, self.gives([name]), register).await;
            is_bad_input(&ended)
        };
        sometimes!(self.client, "bad input is refused", is_refused);
    }
}

fn is_bad_input<T>(ended: &Ended<T>) -> bool {
    matches!(ended, Ended::Failed(error) if error.is_bad_input())
}

/// The end of a round after an operation that did not succeed.
pub(super) fn over<T>(ended: &Ended<T>) -> Round {
    if ended.is_session_over() { Round::Again } else { Round::Over }
}
