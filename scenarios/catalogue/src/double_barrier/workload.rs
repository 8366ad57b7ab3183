//! Clients that begin together and end together, round after round.
//!
//! Each round: enter (occasionally with a short time limit), be inside for a while, leave (occasionally without
//! waiting, or with a short time limit). Rounds alternate over three double barriers: one for all clients, one for two
//! of them in which they leave one after the other, and one for two that is used once, so that others come late. A
//! client that finds no others to begin with gives up in the end: they may be done.

use crate::prelude::*;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use zk_recipes::{DoubleBarrier, DoubleBarrierOptions, Inside, Leave, Reuse};

/// The double barrier under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients begin together and end together, round after round",
    plan: |seed| Plan { rounds: 5, ..Plan::drawn(seed) },
    required: &[Db1, Db2, Db3, Db4, Db5, Db6, Db7, Db8, Db9, Db10],
    ..Workload::own("double-barrier", objects, |task| client(task, setup, Box::new(new)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload =
    RealWorkload::new(&WORKLOAD, |task| client(task, setup, Box::new(new)).boxed(), &[Db1, Db2]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(90),
    rules: None,
    sometimes: &[SESSIONS[0], SESSIONS[1], "an entrant gives up", "a place inside is lost"],
};

/// The time that a patient client waits for others, longer than any operation takes.
const PATIENCE: Duration = Duration::from_secs(25);

/// The setup of a double barrier.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its path.
    pub path: &'static str,
    /// Its number among the objects of the run.
    pub object: ObjectId,
    /// The number of participants.
    pub participants: usize,
    /// Whether it is used once, or in every round.
    pub reuse: Reuse,
    /// How participants leave.
    pub leave: Leave,
}

/// The three double barriers; rounds alternate over them.
fn setups(setting: &Setting) -> [Setup; 3] {
    let setup = |number: u16, path, participants, reuse, leave| Setup {
        path,
        object: ObjectId(number),
        participants,
        reuse,
        leave,
    };
    let few = usize::from(setting.clients.min(2));
    [
        setup(0, "/steps/all", usize::from(setting.clients), Reuse::Generations, Leave::Keeper),
        setup(1, "/steps/chain", few, Reuse::Generations, Leave::Chain),
        setup(2, "/steps/once", few, Reuse::Once, Leave::Keeper),
    ]
}

/// A double barrier, as it is declared to the checker.
pub fn object(names: &mut Names, setup: &Setup) -> Object {
    Object {
        size: setup.participants as u32,
        manner: Manner {
            chain: setup.leave == Leave::Chain,
            once: setup.reuse == Reuse::Once,
            ..Manner::default()
        },
        ..Object::plain(Kind::DoubleBarrier, names.intern(setup.path))
    }
}

fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    setups(setting).iter().map(|setup| object(names, setup)).collect()
}

/// The double barrier that a round uses.
pub(super) fn setup(setting: &Setting, round: u32) -> Setup {
    let which = [0, 0, 1, 2, 1][round as usize % 5];
    setups(setting)[which].clone()
}

/// The constructor of a double barrier, from its setup, the participant's id and the round: the right one's, or a
/// mutant's.
pub type Make<Z, M> = Box<dyn Fn(&Z, &Setup, Option<String>, u32) -> M + Send + Sync>;

/// The double barrier with that setup.
pub(super) fn new<Z: ZooKeeper>(zk: &Z, setup: &Setup, id: Option<String>, _: u32) -> DoubleBarrier<Z> {
    let Setup { participants, reuse, leave, .. } = *setup;
    let options = DoubleBarrierOptions::new(participants, reuse, leave).with_id(id.as_deref());
    DoubleBarrier::new(zk, setup.path, options).expect("the input is good")
}

/// The methods of the double barrier, which a mutant has too.
pub trait Meeting: Send + Sync + 'static {
    /// A participant's place inside.
    type Participation: Participation;
    /// Whether participants can give up soon, and leave without waiting.
    const MAY_GIVE_UP: bool = true;

    /// Enters within a time limit.
    fn enter(&self, limit: Duration) -> impl Future<Output = Result<Self::Participation, Error>> + Send;
}

/// A participant's place inside.
pub trait Participation: Send + Sync + 'static {
    /// The generation and the roster.
    fn opening(&self) -> (u64, String);

    /// Resolves when the place is lost.
    fn lost(&self) -> impl Future<Output = ()> + Send;

    /// Leaves, within the time limit if there is one.
    fn leave(self, limit: Option<Duration>) -> impl Future<Output = Result<(), Error>> + Send;
}

/// A roster, as the journal has it.
pub(crate) fn roster_text(ids: &[&str]) -> String {
    let text = ids.join(",");
    if text.is_empty() { ",".to_owned() } else { text }
}

impl<Z: ZooKeeper> Meeting for DoubleBarrier<Z> {
    type Participation = Inside<Z>;

    fn enter(&self, limit: Duration) -> impl Future<Output = Result<Inside<Z>, Error>> + Send {
        self.enter().within(limit)
    }
}

impl<Z: ZooKeeper> Participation for Inside<Z> {
    fn opening(&self) -> (u64, String) {
        (self.generation() as u64, roster_text(&self.roster()))
    }

    async fn lost(&self) {
        Inside::lost(self).await;
    }

    async fn leave(self, limit: Option<Duration>) -> Result<(), Error> {
        let left = match limit {
            Some(limit) => self.leave().within(limit).await,
            None => Inside::leave(self).await,
        };
        left.map(drop)
    }
}

/// One client's part. `setup` says which double barrier a round uses.
pub async fn client<C: Client, M: Meeting>(
    task: Task<C>,
    setup: fn(&Setting, u32) -> Setup,
    make: Make<C::Zk, M>,
) {
    let (client, setting, make) = (&task.client, &task.setting, &make);
    let round = |zk: C::Zk, number| async move {
        let setup = setup(setting, number);
        let id = (client.choose(4) < 3).then(|| format!("p{}", client.number()));
        let barrier = make(&zk, &setup, id.clone(), number);
        let limit = if M::MAY_GIVE_UP && client.choose(8) == 7 { setting.pace.limit } else { PATIENCE };
        let call = Call::new(setup.object, Verb::Enter).within(limit);
        let given = |journal: &mut Journal, at, op| {
            if let Some(id) = &id {
                journal.given(at, client.number(), op, id, 0);
            }
        };
        let observed = |journal: &mut Journal, at, op, place: &M::Participation| {
            let (generation, roster) = place.opening();
            let (me, object) = (client.number(), setup.object);
            journal.observed(at, me, op, object, Seen::Opening, &roster, generation);
        };
        let entering = || barrier.enter(limit);
        let place = match observed_operation(client, call, given, entering, observed).await {
            (_, Ended::Done(place)) => place,
            (_, ended) if ended.is_session_over() => return Round::Again,
            (_, ended) => {
                sometimes!(client, "an entrant gives up", ended.is_timed_out());
                return Round::Over;
            }
        };
        let working = client.sleep(setting.pace.work * client.choose(8));
        let is_lost = matches!(select(pin!(place.lost()), pin!(working)).await, Either::Left(_));
        sometimes!(client, "a place inside is lost", is_lost);
        leave(client, &setup, setting, place, M::MAY_GIVE_UP).await;
        Round::Over
    };
    rounds(&task, round).await;
}

async fn leave<C: Client, P: Participation>(
    client: &C,
    setup: &Setup,
    setting: &Setting,
    place: P,
    may_give_up: bool,
) {
    let call = Call::new(setup.object, Verb::Leave);
    let nothing = |_: &mut Journal, _: u64, _: OpId| {};
    match if may_give_up { client.choose(8) } else { 0 } {
        6 => {
            let limit = setting.pace.limit;
            let _ = operation(client, call.within(limit), nothing, || place.leave(Some(limit))).await;
        }
        7 => {
            // Occasionally the place is just dropped: it leaves in the background.
            give_up(client, call, nothing, place);
        }
        _ => {
            let _ = operation(client, call, nothing, || place.leave(None)).await;
        }
    }
}
