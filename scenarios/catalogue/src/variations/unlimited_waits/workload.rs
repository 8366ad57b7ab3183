//! Clients that wait at a barrier and at double barriers without a time limit.
//!
//! Rounds alternate between a barrier and two double barriers. At the barrier some clients raise and lower it, and the
//! others wait, for the current one or until none stands, until it opens or their patience is over and they drop the
//! wait. At a double barrier they enter, work inside, continue after a suspicion, and leave; a client that finds no
//! others to begin with drops the call in the end; occasionally a client inside enters as if the barrier were for more
//! participants. Missing parents are created as containers or as persistent znodes, or must exist.

use super::calls::{Calls, Right};
use crate::double_barrier::workload as double;
use crate::prelude::*;
use crate::told::{State, tells};
use futures_util::future::{Either, select};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zk_harness::operation::{in_no_operation, observed_operation_until, operation_until};
use zk_recipes::{
    Barrier, BarrierOptions, DoubleBarrier, DoubleBarrierOptions, HoldState, Inside, Leave, Parents, Reuse,
    Stop, While,
};

/// Waits without a time limit.
pub static WORKLOAD: Workload = Workload {
    about: "clients wait at a barrier and at double barriers without a time limit",
    plan: |seed| Plan { rounds: 6, ..Plan::drawn(seed) },
    required: &[Ba1, Ba2, Ba3, Ba4, Ba5, Db1, Db2, Db3, Db6, Db7, Db10, An1, An2],
    ..Workload::own("unlimited-waits", objects, |task| client(task, Arc::new(Right)).boxed(), &STATED)
};

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(120),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a wait without a limit is dropped",
        "a wait without a limit ends with the barrier",
        "an entrant without a limit drops its call",
        "a barrier is for another number of participants",
        "a directory that must exist is missing",
        "a place inside is confirmed after a suspicion",
        "a place inside is lost",
    ],
};

/// The barrier's znode.
const PATH: &str = "/open/gate";

/// The barrier, among the objects of its run.
const GATE: ObjectId = ObjectId(0);

/// The time that a patient client waits, longer than any operation takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time that a patient client waits at a double barrier for others, which may be done.
const COMPANY: Duration = Duration::from_secs(25);

/// The two double barriers: one for all clients, which leave together, and one for two of them, which leave one after
/// the other.
fn setups(setting: &Setting) -> [double::Setup; 2] {
    let setup = |number, path, participants: u8, leave| double::Setup {
        path,
        object: ObjectId(number),
        participants: usize::from(participants),
        reuse: Reuse::Generations,
        leave,
    };
    [
        setup(1, "/open/all", setting.clients, Leave::Keeper),
        setup(2, "/open/chain", setting.clients.min(2), Leave::Chain),
    ]
}

/// The barrier and the double barriers, as they are declared to the checker.
pub fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    let gate = Object::plain(Kind::Barrier, names.intern(PATH));
    let margin = setting.margin_us();
    let doubles = setups(setting).map(|setup| Object { margin, ..double::object(names, &setup) });
    [gate].into_iter().chain(doubles).collect()
}

/// The calls of a client: the right ones, or those of a mutant.
pub(super) type Make<C> = Arc<dyn Calls<<C as Client>::Zk>>;

/// One client's part.
pub(super) async fn client<C: Client>(task: Task<C>, calls: Make<C>) {
    let (client, setting, calls) = (&task.client, task.setting, &*calls);
    // An earlier life of the client may have left it standing.
    let may_stand = &AtomicBool::new(true);
    let round = |zk: C::Zk, number: u32| async move {
        let visitor = Visitor { client, calls, zk, setting, may_stand };
        match number % 2 {
            0 => visitor.at_the_gate().await,
            _ => visitor.inside(&setups(&setting)[number as usize / 2 % 2]).await,
        }
    };
    rounds(&task, round).await;
}

/// A client in one round.
struct Visitor<'a, C: Client> {
    client: &'a C,
    calls: &'a dyn Calls<C::Zk>,
    zk: C::Zk,
    setting: Setting,
    may_stand: &'a AtomicBool,
}

/// The end of a round after an operation that did not succeed.
fn over<T>(ended: &Ended<T>) -> Round {
    if ended.is_session_over() { Round::Again } else { Round::Over }
}

impl<C: Client> Visitor<'_, C> {
    fn parents(&self) -> Parents {
        [Parents::Container, Parents::Persistent, Parents::MustExist][self.client.choose(3) as usize]
    }

    async fn at_the_gate(&self) -> Round {
        let lives = if self.client.choose(4) == 3 { While::SessionLives } else { While::Permanent };
        let options =
            BarrierOptions::default().with_parents(self.parents()).with_lives(self.calls.lives(lives));
        let gate = Barrier::new(&self.zk, PATH, options).expect("the path is good");
        if self.may_stand.load(Ordering::Relaxed) && self.lowers(&gate).await == Round::Again {
            return Round::Again;
        }
        match self.client.choose(3) {
            2 => self.raises(&gate, lives).await,
            _ => self.waits(&gate).await,
        }
    }

    /// Lowers the barrier; retries until the outcome is certain.
    async fn lowers(&self, gate: &Barrier<C::Zk>) -> Round {
        loop {
            let call = Call::new(GATE, Verb::Lower);
            match operation(self.client, call, nothing, || gate.lower()).await.1 {
                Ended::Done(()) => {
                    self.may_stand.store(false, Ordering::Relaxed);
                    return Round::Over;
                }
                ended if ended.is_session_over() => return Round::Again,
                _ => {}
            }
        }
    }

    /// Raises the barrier, and lowers it before long.
    async fn raises(&self, gate: &Barrier<C::Zk>, lives: While) -> Round {
        self.may_stand.store(true, Ordering::Relaxed);
        let word = if lives == While::SessionLives { "session" } else { "permanent" };
        let given = |journal: &mut Journal, at, op| journal.given(at, self.client.number(), op, word, 0);
        let call = Call::new(GATE, Verb::Raise);
        let ended = operation(self.client, call, given, || gate.raise()).await.1;
        if ended.is_session_over() {
            return Round::Again;
        }
        let is_missing = matches!(&ended, Ended::Failed(e) if e.is_no_node());
        sometimes!(self.client, "a directory that must exist is missing", is_missing);
        self.client.sleep(self.setting.pace.work * (1 + self.client.choose(16))).await;
        self.lowers(gate).await
    }

    /// Waits until the barrier opens, or the client's patience is over.
    async fn waits(&self, gate: &Barrier<C::Zk>) -> Round {
        let patience = match self.client.choose(4) {
            3 => self.setting.pace.limit / 4,
            _ => PATIENCE,
        };
        let enough = self.client.sleep(patience);
        let (_, ended) = match self.client.choose(2) {
            1 => {
                let call = Call::new(GATE, Verb::WaitDown);
                operation_until(self.client, call, enough, || self.calls.wait_until_down(gate)).await
            }
            _ => {
                let call = Call::new(GATE, Verb::Wait);
                operation_until(self.client, call, enough, || self.calls.wait(gate)).await
            }
        };
        sometimes!(self.client, "a wait without a limit is dropped", matches!(ended, Ended::Cancelled));
        let is_passed = matches!(ended, Ended::Done(()));
        sometimes!(self.client, "a wait without a limit ends with the barrier", is_passed);
        over(&ended)
    }

    /// Enters together with others, works for a while, and leaves.
    async fn inside(&self, setup: &double::Setup) -> Round {
        let client = self.client;
        let id = (client.choose(4) < 3).then(|| format!("p{}", client.number()));
        let double::Setup { participants, reuse, leave, .. } = *setup;
        let parents = if client.choose(2) == 1 { Parents::Persistent } else { Parents::Container };
        let options = DoubleBarrierOptions::new(participants, reuse, leave)
            .with_id(id.as_deref())
            .with_parents(parents);
        let barrier = DoubleBarrier::new(&self.zk, setup.path, options).expect("the input is good");
        let call = Call::new(setup.object, Verb::Enter);
        let given = |journal: &mut Journal, at, op| {
            if let Some(id) = &id {
                journal.given(at, client.number(), op, id, 0);
            }
        };
        let observed = |journal: &mut Journal, at, op, place: &Inside<C::Zk>| {
            let (me, object) = (client.number(), setup.object);
            let (roster, generation) = (double::roster_text(&place.roster()), place.generation() as u64);
            journal.observed(at, me, op, object, Seen::Opening, &roster, generation);
            journal.observed(at, me, op, object, Seen::Name, &self.calls.path(place), 0);
        };
        let patience = if client.choose(8) == 7 { self.setting.pace.limit } else { COMPANY };
        let enough = client.sleep(patience);
        let entering = || barrier.enter();
        let (op, ended) = observed_operation_until(client, call, given, enough, entering, observed).await;
        sometimes!(client, "an entrant without a limit drops its call", matches!(ended, Ended::Cancelled));
        let place = match ended {
            Ended::Done(place) => place,
            ended => return over(&ended),
        };
        self.works(setup.object, op, &place).await;
        if client.choose(8) == 7 {
            self.enters_otherwise(setup, parents).await;
        }
        let call = Call::new(setup.object, Verb::Leave);
        let _ = operation(client, call, nothing, || place.leave()).await;
        Round::Over
    }

    /// Enters with a number of participants one too high. The barrier exists, since this client is inside.
    async fn enters_otherwise(&self, setup: &double::Setup, parents: Parents) {
        let id = format!("q{}", self.client.number());
        let double::Setup { participants, reuse, leave, .. } = *setup;
        let options =
            DoubleBarrierOptions::new(self.calls.number(participants + 1, participants), reuse, leave)
                .with_id(id.as_str())
                .with_parents(parents);
        let barrier = DoubleBarrier::new(&self.zk, setup.path, options).expect("the input is good");
        let limit = self.setting.pace.limit;
        let call = Call::new(setup.object, Verb::Enter).within(limit).by_mistake();
        let given = |journal: &mut Journal, at, op| journal.given(at, self.client.number(), op, &id, 0);
        let ended = operation(self.client, call, given, || barrier.enter().within(limit)).await.1;
        let is_mismatch = matches!(&ended, Ended::Failed(error) if error.is_mismatch());
        sometimes!(self.client, "a barrier is for another number of participants", is_mismatch);
    }

    /// Works inside until the work is done or the place is lost.
    async fn works(&self, object: ObjectId, op: OpId, place: &Inside<C::Zk>) {
        let says = |state| tells(self.client, object, op, state);
        // Occasionally it works for longer, and reads meanwhile.
        let times = if self.client.choose(4) == 3 { 16 } else { 1 };
        let time = self.setting.pace.work * self.client.choose(16);
        let mut working = pin!(in_no_operation(self.client, async {
            for _ in 1..times {
                self.client.sleep(time).await;
                let _ = self.zk.exists(PATH).await;
            }
            self.client.sleep(time).await;
        }));
        says(State::Watched);
        while let Either::Left((stop, _)) = select(self.calls.lost(place), working.as_mut()).await {
            says(stop.into());
            if let Stop::Suspect { .. } = stop {
                let resumed = self.calls.resumed(&self.zk, place).await;
                says(State::of(&resumed));
                if resumed.is_ok() {
                    let state = self.calls.state(place);
                    says(state.into());
                    let is_held = state == HoldState::Held;
                    sometimes!(self.client, "a place inside is confirmed after a suspicion", is_held);
                    says(State::Watched);
                    continue;
                }
            }
            let state = self.calls.state(place);
            says(state.into());
            sometimes!(self.client, "a place inside is lost", matches!(state, HoldState::Lost(_)));
            return;
        }
        says(self.calls.state(place).into());
    }
}
