//! Guards under load.

use super::holds::{Grants, Guarding, Line, Listed, THINGS, Thing};
use crate::prelude::*;
use crate::priority_lock::workload::GRACE;
use crate::revocable_lock::workload::name as fate_name;
use crate::told::tells;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use zk_harness::holding::why;
use zk_harness::operation::{in_no_operation, observed_operation};
use zk_recipes::zk::{CreateMode, Op, OpResult};
use zk_recipes::{Interrupt, Parents};

/// Guards under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients hold something by any recipe, and use everything that its guard offers",
    plan: |seed| Plan { rounds: THINGS.len() as u32, ..Plan::drawn(seed) },
    required: &[Mx1, Mx5, Mx12, Mx14, Mx16, Mx17, An1, An2, An3],
    ..Workload::own(
        "guard-methods",
        objects,
        |task| client(task, &THINGS, Box::new(Line::new)).boxed(),
        &STATED,
    )
};

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(120),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a write under a hold is refused since the hold is over",
        "a write under a hold has an unknown outcome",
        "a hold that was suspect is confirmed",
        "a hold that was suspect is lost",
        "work ends with its hold",
        "work ends since its holder is asked to go",
        "a contender is evicted",
        "a contender is asked to go",
        "a contender is made to go",
        "an acquire has bad input",
    ],
};

/// The directory of the znodes that are written under holds.
const GUARDED: &str = "/guarded";

/// The things, as they are declared to the checker.
pub fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    THINGS.iter().map(|thing| thing.object(names, setting)).collect()
}

/// The constructor of a recipe whose holders have that margin: the right one's, or a mutant's.
pub type MakeLine<Z, L> = Box<dyn Fn(&Z, &Thing, Option<Duration>) -> Result<L, Error> + Send + Sync>;

/// One client's part.
pub async fn client<C: Client, L: Grants>(task: Task<C>, things: &'static [Thing], make: MakeLine<C::Zk, L>) {
    let (client, setting, make) = (&task.client, task.setting, &make);
    let round = |zk: C::Zk, number: u32| async move {
        let at = number as usize % things.len();
        let part = Part { client, zk: &zk, setting, thing: &things[at], object: ObjectId(at as u16) };
        part.round(make).await
    };
    rounds(&task, round).await;
}

/// A client in a round.
struct Part<'a, C: Client> {
    client: &'a C,
    zk: &'a C::Zk,
    setting: Setting,
    thing: &'static Thing,
    object: ObjectId,
}

impl<C: Client> Part<'_, C> {
    async fn round<L: Grants>(&self, make: &MakeLine<C::Zk, L>) -> Round {
        let Part { client, zk, thing, .. } = *self;
        if thing.parents == Parents::MustExist {
            // The first client creates it. An existing znode is as good.
            in_no_operation(client, async {
                let _ = zk.create("/guards", &[], CreateMode::Persistent).await;
                let _ = zk.create(thing.path, &[], CreateMode::Persistent).await;
            })
            .await;
        }
        if client.choose(16) == 15 {
            return self.asks_for_too_much(make).await;
        }
        let line = make(zk, thing, thing.margin(zk.timeout())).expect("the path and the margin are good");
        match client.choose(6) {
            4 => self.looks_at(&line, false).await,
            5 => self.looks_at(&line, true).await,
            _ => self.holds(&line).await,
        }
    }

    /// Asks for a margin that no hold could survive.
    async fn asks_for_too_much<L: Grants>(&self, make: &MakeLine<C::Zk, L>) -> Round {
        let Part { client, zk, thing, .. } = *self;
        let call = Call::new(self.object, thing.verb(false, false)).by_mistake();
        let acquiring = || async { make(zk, thing, Some(zk.timeout()))?.take(call, 0).await };
        let (_, ended) = operation(client, call, nothing, acquiring).await;
        let is_bad = matches!(&ended, Ended::Failed(error) if error.is_bad_input());
        sometimes!(client, "an acquire has bad input", is_bad);
        assert!(!matches!(ended, Ended::Done(_)), "a margin as long as the session timeout was accepted");
        Round::Over
    }

    /// Lists the contenders, and makes one of them go if asked to.
    async fn looks_at<L: Grants>(&self, line: &L, acts: bool) -> Round {
        let (client, me) = (self.client, self.client.number());
        let call = Call::new(self.object, Verb::Contenders);
        let seen = |journal: &mut Journal, at, op, listed: &Vec<Listed>| {
            let paths: Vec<&str> = listed.iter().map(Listed::path).collect();
            journal.observed(at, me, op, self.object, Seen::Line, &paths.join(","), 0);
        };
        let listing = || line.contenders();
        let (_, ended) = observed_operation(client, call, |_, _, _| {}, listing, seen).await;
        if ended.is_session_over() {
            return Round::Again;
        }
        let listed = ended.done().unwrap_or_default();
        if !acts || listed.is_empty() {
            return Round::Over;
        }
        let whom = &listed[client.choose(listed.len() as u32) as usize];
        let given = |journal: &mut Journal, at, op| journal.given(at, me, op, whom.path(), 0);
        if matches!(whom, Listed::Contender(_)) && !self.thing.is_revocable() {
            let call = Call::new(self.object, Verb::Evict);
            let (_, ended) = attempt(client, call, given, || line.evict(whom)).await;
            sometimes!(client, "a contender is evicted", matches!(ended, Ended::Done(Some(()))));
            return if ended.is_session_over() { Round::Again } else { Round::Over };
        }
        let grace = (client.choose(2) == 1).then_some(GRACE);
        let verb = if grace.is_some() { Verb::Force } else { Verb::Ask };
        let observed = |journal: &mut Journal, at, op, fate: &_| {
            journal.observed(at, me, op, self.object, Seen::Fate, fate_name(*fate), 0);
        };
        let revoking = || line.revoke(whom, grace);
        let (_, ended) =
            observed_operation(client, Call::new(self.object, verb), given, revoking, observed).await;
        let is_done = matches!(ended, Ended::Done(_));
        sometimes!(client, "a contender is asked to go", is_done && verb == Verb::Ask);
        sometimes!(client, "a contender is made to go", is_done && verb == Verb::Force);
        if ended.is_session_over() { Round::Again } else { Round::Over }
    }

    /// One hold, and its holder's actions.
    async fn holds<L: Grants>(&self, line: &L) -> Round {
        let (client, pace, me) = (self.client, self.setting.pace, self.client.number());
        let reads = client.choose(3) == 2;
        let call = match client.choose(8) {
            6 => Call::new(self.object, self.thing.verb(reads, false)).within(pace.limit),
            7 => Call::new(self.object, self.thing.verb(reads, true)),
            _ => Call::new(self.object, self.thing.verb(reads, false)),
        };
        let priority = client.choose(3) as u16;
        let own = AtomicU32::new(0);
        let given = |journal: &mut Journal, at, op: OpId| {
            own.store(op.0, Ordering::Relaxed);
            let data = String::from_utf8_lossy(self.thing.data);
            if self.thing.kind == Kind::PriorityLock {
                journal.given(at, me, op, &data, u64::from(priority));
            } else if !data.is_empty() {
                journal.given(at, me, op, &data, 0);
            }
        };
        let taking = || async {
            let taken = line.take(call, priority).await;
            if taken.as_ref().is_err_and(Error::is_revoked) {
                self.hears(OpId(own.load(Ordering::Relaxed)));
            }
            taken
        };
        let (op, guard) = match attempt(client, call, given, taking).await {
            (op, Ended::Done(Some(guard))) => (op, guard),
            (_, ended) if ended.is_session_over() => return Round::Again,
            _ => return Round::Over,
        };
        let stopped = loop {
            let stopped = self.acts(&guard, op).await;
            if stopped != Some(Why::Suspect) {
                break stopped;
            }
            self.tells_state(&guard, op);
            if !self.goes_on(&guard).await {
                break stopped;
            }
        };
        // A client that does not check its hold may write anyway.
        let writes = if stopped.is_some() {
            self.tells_state(&guard, op);
            2 + client.choose(2)
        } else {
            client.choose(4)
        };
        match writes {
            2 => self.writes(&guard).await,
            3 => self.writes_once(&guard).await,
            _ => {}
        }
        give_back(client, self.object, guard).await;
        Round::Over
    }

    /// Whether a suspect hold is confirmed.
    async fn goes_on<G: Guarding>(&self, guard: &G) -> bool {
        let resumed = in_no_operation(self.client, guard.resumed()).await;
        sometimes!(self.client, "a hold that was suspect is confirmed", resumed.is_ok());
        sometimes!(self.client, "a hold that was suspect is lost", resumed.is_err());
        resumed.is_ok()
    }

    /// Acts as holder, and records a request to go; returns why it must stop, if it must.
    async fn acts<G: Guarding>(&self, guard: &G, op: OpId) -> Option<Why> {
        let hears = async {
            if guard.revoked().await.is_ok() {
                self.hears(op);
            } else {
                // `acting` reports the loss.
                std::future::pending::<()>().await;
            }
        };
        let acting = pin!(self.steps(guard, op));
        match select(pin!(hears), acting).await {
            Either::Left(((), acting)) => acting.await,
            Either::Right((stopped, _)) => stopped,
        }
    }

    /// Some steps of a holder.
    async fn steps<G: Guarding>(&self, guard: &G, op: OpId) -> Option<Why> {
        let (client, pace) = (self.client, self.setting.pace);
        let belief = Belief::begin(client, self.zk.session(), guard, self.object, op);
        for _ in 0..1 + client.choose(3) {
            let time = pace.work * (1 + client.choose(4));
            let kind = client.choose(5);
            if kind == 1 {
                match self.works(guard, &belief, time).await {
                    Ok(()) => continue,
                    Err(Interrupt::Stop(stop)) => {
                        belief.end(why(stop));
                        return Some(why(stop));
                    }
                    Err(Interrupt::Revoked) => {
                        belief.end(Why::Released);
                        return None;
                    }
                }
            }
            if let Some(stopped) = belief.unless_lost(client.sleep(time)).await {
                belief.end(stopped);
                return Some(stopped);
            }
            match kind {
                0 => drop(belief.use_resource()),
                2 => self.tells_state(guard, op),
                _ => {
                    // A request in flight cannot be cancelled: the hold's znode fences it.
                    let mut writing = pin!(self.writes(guard));
                    if let Some(stopped) = belief.unless_lost(writing.as_mut()).await {
                        belief.end(stopped);
                        writing.await;
                        return Some(stopped);
                    }
                }
            }
        }
        belief.end(Why::Released);
        None
    }

    /// Uses the resource in work that ends with the hold.
    async fn works<G: Guarding>(
        &self,
        guard: &G,
        belief: &Belief<'_, C, G>,
        time: Duration,
    ) -> Result<(), Interrupt> {
        let work = async {
            self.client.sleep(time).await;
            belief.use_resource();
        };
        let worked = guard.run(work).await;
        sometimes!(self.client, "work ends with its hold", matches!(worked, Err(Interrupt::Stop(_))));
        let is_asked = matches!(worked, Err(Interrupt::Revoked));
        sometimes!(self.client, "work ends since its holder is asked to go", is_asked);
        worked
    }

    /// Records that the holder was asked to go.
    fn hears(&self, op: OpId) {
        let (me, object) = (self.client.number(), self.object);
        self.client.journal(|journal, at| journal.observed(at, me, op, object, Seen::Word, "unlock", 0));
    }

    /// Records the state of a hold, as its guard reports it.
    fn tells_state<G: Guarding>(&self, guard: &G, op: OpId) {
        tells(self.client, self.object, op, guard.state().into());
    }

    /// Writes in ZooKeeper under the hold: through its guard, or in a transaction of its own.
    async fn writes<G: Guarding>(&self, guard: &G) {
        let by_guard = self.client.choose(2) == 0;
        self.write(Verb::Transact, guard.path(), |data| async move {
            let ops = vec![self.set(data), Op::Check { path: self.guarded(), version: None }];
            if by_guard {
                return guard.transact(ops).await;
            }
            let checked = std::iter::once(guard.check()).chain(ops).collect();
            self.zk.multi(checked).await.map(|results| results.into_iter().skip(1).collect())
        })
        .await;
    }

    /// The same, exactly once, if the guard supports that.
    async fn writes_once<G: Guarding>(&self, guard: &G) {
        if !guard.has_receipts() {
            return self.writes(guard).await;
        }
        let path = guard.path().to_owned();
        self.write(Verb::TransactOnce, &path, |data| async move {
            guard.transact_once(vec![self.set(data)]).await.map(|()| Vec::new())
        })
        .await;
    }

    /// One write under the hold with that znode. If the target does not exist yet, the client creates it.
    async fn write<F: Future<Output = Result<Vec<OpResult>, Error>> + Send>(
        &self,
        verb: Verb,
        hold: &str,
        work: impl FnOnce(String) -> F + Send,
    ) {
        let (client, me, object) = (self.client, self.client.number(), self.object);
        let data = format!("c{me} under {hold}");
        let given = |journal: &mut Journal, at, op| {
            journal.given(at, me, op, hold, 0);
            journal.given(at, me, op, &data, 0);
            if verb == Verb::Transact {
                journal.given(at, me, op, "set,check", 0);
            }
        };
        let told = |journal: &mut Journal, at, op, results: &Vec<OpResult>| {
            if !results.is_empty() {
                let kinds = results.iter().map(kind).collect::<Vec<_>>().join(",");
                journal.observed(at, me, op, object, Seen::Results, &kinds, 0);
            }
        };
        let call = Call::new(object, verb);
        let (_, ended) = observed_operation(client, call, given, || work(data.clone()), told).await;
        let Ended::Failed(error) = ended else { return };
        sometimes!(client, "a write under a hold is refused since the hold is over", error.is_removed());
        sometimes!(client, "a write under a hold has an unknown outcome", error.is_outcome_unknown());
        if error.refused_operation().is_some_and(|(_, cause)| cause.is_no_node()) {
            in_no_operation(client, async {
                let _ = self.zk.create(GUARDED, &[], CreateMode::Persistent).await;
                let _ = self.zk.create(&self.guarded(), &[], CreateMode::Persistent).await;
            })
            .await;
        }
    }

    fn set(&self, data: String) -> Op {
        Op::Set { path: self.guarded(), data: data.into_bytes(), version: None }
    }

    /// The znode that is written under the holds of this thing.
    fn guarded(&self) -> String {
        format!("{GUARDED}/{}", self.object.0)
    }
}

/// The kind of a result, as the history records it.
fn kind(result: &OpResult) -> &'static str {
    match result {
        OpResult::Checked => "check",
        OpResult::Created(_) => "create",
        OpResult::Deleted => "delete",
        OpResult::Set(_) => "set",
    }
}
