//! Guards with one wrong step: the right recipes behind a thin wrapper.

use super::holds::{Grants, Guarding, Hold, Line, Listed, THINGS, Thing};
use super::workload::{WORKLOAD, client};
use crate::lies::{How, Liar, Lie, Lies, UNMET_OF_HOLDS, refuses, row};
use crate::prelude::*;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use zk_checker::RuleId;
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;
use zk_recipes::zk::{Op, OpResult, path};
use zk_recipes::{Fate, HoldState, Interrupt, LostReason, Released, Stop};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &TRANSACT_UNFENCED,
    &FENCE_OF_DIRECTORY,
    &ONCE_RESENDS,
    &ONCE_TAKES_LOSS_FOR_SUCCESS,
    &STATE_ALWAYS_HELD,
    &MARGIN_OVERLOOKED,
    &RESUMES_TOO_EARLY,
    &RUN_GOES_ON,
    &EVICTS_THE_FIRST,
    &LISTS_BY_NAME,
    &LISTS_WITHOUT_THE_FIRST,
    &STOPS_TOO_SOON,
    &WITHOUT_DATA,
    &LOST_FOR_ANOTHER_REASON,
    &SUSPECT_FOR_TOO_LONG,
    &RESULTS_REVERSED,
];

/// The wrong step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    None,
    TransactUnfenced,
    FenceOfDirectory,
    OnceResends,
    OnceTakesLossForSuccess,
    StateAlwaysHeld,
    MarginOverlooked,
    ResumesTooEarly,
    RunGoesOn,
    EvictsTheFirst,
    ListsByName,
    ListsWithoutTheFirst,
    StopsTooSoon,
    WithoutData,
    LostForAnotherReason,
    SuspectForTooLong,
    ResultsReversed,
}

/// A recipe with a wrong step, or a lie.
struct WrongLine<C, Z: ZooKeeper> {
    wrong: Wrong,
    liar: Liar<C>,
    right: Line<Z>,
    zk: Z,
}

/// Its guard.
struct WrongGuard<C, Z: ZooKeeper> {
    wrong: Wrong,
    liar: Liar<C>,
    right: Hold<Z>,
    zk: Z,
}

impl<C: Client, Z: ZooKeeper> Grants for WrongLine<C, Z> {
    type Guard = WrongGuard<C, Z>;

    async fn take(&self, call: Call, priority: u16) -> Result<Option<Self::Guard>, Error> {
        let taken = self.right.take(call, priority).await?;
        let guard =
            |right| WrongGuard { wrong: self.wrong, liar: self.liar.clone(), right, zk: self.zk.clone() };
        Ok(taken.map(guard))
    }

    async fn contenders(&self) -> Result<Vec<Listed>, Error> {
        let work = || self.right.contenders();
        let mut all = self.liar.call(Verb::Contenders, work, || None).await?;
        if self.wrong == Wrong::ListsByName {
            all.sort_by(|one, other| one.path().cmp(other.path()));
        }
        if self.wrong == Wrong::ListsWithoutTheFirst && !all.is_empty() {
            all.remove(0);
        }
        Ok(all)
    }

    async fn evict(&self, whom: &Listed) -> Result<Option<()>, Error> {
        if self.wrong == Wrong::EvictsTheFirst
            && let Some(first) = self.right.contenders().await?.first()
        {
            return self.right.evict(first).await;
        }
        self.liar.call(Verb::Evict, || self.right.evict(whom), || Some(Some(()))).await
    }

    async fn revoke(&self, whom: &Listed, grace: Option<Duration>) -> Result<Fate, Error> {
        let (verb, fate) = match grace {
            None => (Verb::Ask, Fate::Asked),
            Some(_) => (Verb::Force, Fate::Forced),
        };
        self.liar.call(verb, || self.right.revoke(whom, grace), || Some(fate)).await
    }
}

impl<C, Z: ZooKeeper> WrongGuard<C, Z> {
    /// The state, with a wrong reason or a wrong instant.
    fn told(&self, state: HoldState) -> HoldState {
        match (self.wrong, state) {
            (Wrong::LostForAnotherReason, HoldState::Lost(LostReason::Removed)) => {
                HoldState::Lost(LostReason::SessionOver)
            }
            (Wrong::LostForAnotherReason, HoldState::Lost(_)) => HoldState::Lost(LostReason::Removed),
            (Wrong::SuspectForTooLong, HoldState::Suspect { .. }) => {
                HoldState::Suspect { until: self.zk.safe_until() }
            }
            _ => state,
        }
    }
}

impl<C: Client, Z: ZooKeeper> Held for WrongGuard<C, Z> {
    fn token(&self) -> i64 {
        self.right.token()
    }

    async fn lost(&self) -> Stop {
        if self.wrong == Wrong::StopsTooSoon {
            let status = self.zk.status();
            if let Either::Left(_) = select(pin!(self.zk.changed(status)), pin!(self.right.lost())).await
                && let HoldState::Suspect { until } = self.right.state()
            {
                return Stop::Suspect { until };
            }
        }
        self.right.lost().await
    }

    async fn release(self) -> Result<Released, Error> {
        self.right.release().await
    }
}

impl<C: Client, Z: ZooKeeper> Guarding for WrongGuard<C, Z> {
    fn path(&self) -> &str {
        self.right.path()
    }

    fn state(&self) -> HoldState {
        match self.wrong {
            Wrong::StateAlwaysHeld => HoldState::Held,
            _ => self.told(self.right.state()),
        }
    }

    async fn resumed(&self) -> Result<(), LostReason> {
        match self.wrong {
            Wrong::ResumesTooEarly => {
                self.zk.sleep_until(self.zk.now() + Duration::from_millis(50)).await;
                Ok(())
            }
            _ => self.right.resumed().await,
        }
    }

    async fn revoked(&self) -> Result<(), LostReason> {
        self.right.revoked().await
    }

    fn check(&self) -> Op {
        match self.wrong {
            Wrong::FenceOfDirectory => {
                Op::Check { path: path::split(self.right.path()).0.to_owned(), version: None }
            }
            _ => self.right.check(),
        }
    }

    async fn transact(&self, ops: Vec<Op>) -> Result<Vec<OpResult>, Error> {
        if self.wrong == Wrong::TransactUnfenced {
            return self.zk.multi(ops).await;
        }
        let feigned = || Some(Vec::new());
        let mut results =
            self.liar.call(Verb::Transact, || self.right.transact(ops.clone()), feigned).await?;
        if self.wrong == Wrong::ResultsReversed {
            results.reverse();
        }
        Ok(results)
    }

    async fn transact_once(&self, ops: Vec<Op>) -> Result<(), Error> {
        if self.liar.how() == How::Repeats && self.liar.lies_in(Verb::TransactOnce) {
            self.right.transact_once(ops.clone()).await?;
        }
        loop {
            match self.wrong {
                Wrong::OnceResends => match self.right.transact(ops.clone()).await {
                    Err(e) if e.is_connection_loss() => {
                        let seen = self.zk.status();
                        if !seen.is_connected() {
                            self.zk.changed(seen).await;
                        }
                    }
                    other => return other.map(drop),
                },
                Wrong::OnceTakesLossForSuccess => match self.right.transact(ops).await {
                    Err(e) if e.is_connection_loss() => return Ok(()),
                    other => return other.map(drop),
                },
                _ => {
                    let work = self.right.transact_once(ops);
                    return self.liar.call_once(Verb::TransactOnce, work, || Some(())).await;
                }
            }
        }
    }

    fn has_receipts(&self) -> bool {
        self.right.has_receipts()
    }

    async fn run<T: Send>(&self, work: impl Future<Output = T> + Send) -> Result<T, Interrupt> {
        match self.wrong {
            Wrong::RunGoesOn => Ok(work.await),
            _ => self.right.run(work).await,
        }
    }
}

fn run<C: Client>(task: Task<C>, wrong: Wrong) -> BoxFuture<'static, ()> {
    // No operation of the workload: the liar never lies.
    static HONEST: Lie = Lie { verb: Verb::Snapshot, how: How::Pretends };
    let liar = Liar::new(&task.client, &HONEST);
    run_with(task, wrong, liar)
}

fn run_with<C: Client>(task: Task<C>, wrong: Wrong, liar: Liar<C>) -> BoxFuture<'static, ()> {
    let make = move |zk: &C::Zk, thing: &Thing, margin: Option<Duration>| {
        // A margin that no hold could survive is still refused.
        let margin = margin.filter(|margin| wrong != Wrong::MarginOverlooked || *margin >= zk.timeout());
        let data = if wrong == Wrong::WithoutData { b"" } else { thing.data };
        let right = Line::new(zk, &Thing { data, ..*thing }, margin)?;
        Ok(WrongLine { wrong, liar: liar.clone(), right, zk: zk.clone() })
    };
    client(task, &THINGS, Box::new(make)).boxed()
}

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    faults: &'static [Fault],
    plan: fn(u64) -> Plan,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, faults, plan, sim)
}

/// A mutant whose wrong step needs no faults.
const fn lie(name: &'static str, about: &'static str, caught: Caught, sim: TaskFn<SimProcess>) -> Workload {
    WORKLOAD.mutant(name, about, caught, &[], |_| crowded(), sim)
}

/// Enough clients that some wait, and enough rounds that every object is used.
fn crowded() -> Plan {
    Plan { clients: 5, rounds: THINGS.len() as u32, ..Plan::calm() }
}

/// The same with these faults.
fn struck(faults: &[Fault], rate: f64) -> Plan {
    Plan { faults: 24, rounds: 2 * THINGS.len() as u32, ..crowded().with(faults, rate) }
}

/// Ends sessions whose clients do not notice at once.
const ENDS: &[Fault] = &[Fault::SessionExpiry, Fault::ClientPause];

/// Leaves pings without a reply.
const SILENCES: &[Fault] = &[Fault::ClientMuted, Fault::ClientDeafened];

/// Ends sessions, or only connections.
const BREAKS: &[Fault] = &[Fault::SessionExpiry, Fault::Disconnect];

/// A holder's session ends, the next client is granted the lock, and the first client's write is applied beside it.
static TRANSACT_UNFENCED: Workload = mutant(
    "guard-methods-transact-unfenced",
    "transact sends the writes without the check of the hold's znode",
    Caught::by(Mx17),
    ENDS,
    |_| struck(ENDS, 0.05),
    |task| run(task, Wrong::TransactUnfenced),
);

/// The directory exists whichever client holds the lock: the check fences nothing.
static FENCE_OF_DIRECTORY: Workload = mutant(
    "guard-methods-fence-of-directory",
    "the fence checks the lock's directory",
    Caught::by(Mx17),
    ENDS,
    |_| struck(ENDS, 0.05),
    |task| run(task, Wrong::FenceOfDirectory),
);

/// The reply is lost, and the write was applied: the second attempt applies it again.
static ONCE_RESENDS: Workload = mutant(
    "guard-methods-once-resends",
    "transact_once sends the writes again after a lost reply, without a receipt",
    Caught::by(Mx17).or(&[(An3, "the second attempt is refused, and the first was applied")]),
    &[Fault::ReplyLost],
    |_| struck(&[Fault::ReplyLost], 0.05),
    |task| run(task, Wrong::OnceResends),
);

/// The request is lost, and the write was not applied.
static ONCE_TAKES_LOSS_FOR_SUCCESS: Workload = mutant(
    "guard-methods-once-takes-loss-for-success",
    "transact_once returns done after a lost request",
    Caught::by(An1),
    &[Fault::RequestLost],
    |_| struck(&[Fault::RequestLost], 0.05),
    |task| run(task, Wrong::OnceTakesLossForSuccess),
);

/// A holder that checks its state before each effect continues beside the next holder.
static STATE_ALWAYS_HELD: Workload = mutant(
    "guard-methods-state-always-held",
    "the state says that the lock is held although the connection is lost, or the session is over",
    Caught::by(Mx14).or(&[(Le9, "of an office")]),
    BREAKS,
    |_| struck(BREAKS, 0.05),
    |task| run(task, Wrong::StateAlwaysHeld),
);

/// A holder without replies continues nearly until the ensemble may have ended its session, although its caller asked
/// for more time to stop.
static MARGIN_OVERLOOKED: Workload = mutant(
    "guard-methods-margin-overlooked",
    "a holder stops a tenth of the session timeout before its end, whatever margin its caller asked for",
    Caught::by(Mx14)
        .or(&[(Le9, "of an office"), (An1, "the instant that a suspicion tells lacks the margin")]),
    SILENCES,
    |_| struck(SILENCES, 0.05),
    |task| run(task, Wrong::MarginOverlooked),
);

/// A holder continues while its connection is lost.
static RESUMES_TOO_EARLY: Workload = mutant(
    "guard-methods-resumes-too-early",
    "resumed returns while the connection is lost",
    Caught::by(Mx14).or(&[
        (Le9, "of an office"),
        (Mx16, "it is told to stop once more, and nothing has happened since"),
        (Le10, "the same, of an office"),
        (Mx12, "the hold is over by then"),
        (Le8, "the same, of an office"),
        (Le1, "another client leads by then"),
    ]),
    BREAKS,
    |_| struck(BREAKS, 0.05),
    |task| run(task, Wrong::ResumesTooEarly),
);

/// Work continues after its hold.
static RUN_GOES_ON: Workload = mutant(
    "guard-methods-run-goes-on",
    "run drives the work to its end, whatever becomes of the hold",
    Caught::by(Mx14).or(&[(Le9, "of an office"), (Mx1, "another client writes meanwhile")]),
    BREAKS,
    |_| Plan { faults: 60, ..struck(BREAKS, 0.12) },
    |task| run(task, Wrong::RunGoesOn),
);

/// The holder is evicted instead of a waiter.
static EVICTS_THE_FIRST: Workload = lie(
    "guard-methods-evicts-the-first",
    "evict deletes the first contender, whichever it was given",
    Caught::by(An1).or(&[(An4, "the first was meant, and was looked up")]),
    |task| run(task, Wrong::EvictsTheFirst),
);

/// An operator takes a waiter for the holder.
static LISTS_BY_NAME: Workload = lie(
    "guard-methods-lists-by-name",
    "contenders are listed in the order of their names",
    Caught::by(An1),
    |task| run(task, Wrong::ListsByName),
);

/// A client that waits until no contender is ahead of it continues too early.
static LISTS_WITHOUT_THE_FIRST: Workload = lie(
    "guard-methods-lists-without-the-first",
    "the list of contenders lacks the first one",
    Caught::by(An1),
    |task| run(task, Wrong::ListsWithoutTheFirst),
);

/// A holder whose policy is to continue until the deadline stops at each short connection loss.
static STOPS_TOO_SOON: Workload = mutant(
    "guard-methods-stops-too-soon",
    "a holder is told to stop when the connection is lost, although by its policy it goes on until the deadline",
    Caught::by(Mx16).or(&[(Le10, "of an office")]),
    BREAKS,
    |_| struck(BREAKS, 0.05),
    |task| run(task, Wrong::StopsTooSoon),
);

/// The contenders' znodes do not identify the holder.
static WITHOUT_DATA: Workload = lie(
    "guard-methods-without-data",
    "the data that a contender's znode was to have are left out",
    Caught::by(An1),
    |task| run(task, Wrong::WithoutData),
);

/// An application that opens a new session after a session's end, and keeps the session after a deletion of its znode,
/// does the wrong thing.
static LOST_FOR_ANOTHER_REASON: Workload = mutant(
    "guard-methods-lost-for-another-reason",
    "a lost hold gives another reason than the one that there is",
    Caught::by(An1),
    BREAKS,
    |_| struck(BREAKS, 0.05),
    |task| run(task, Wrong::LostForAnotherReason),
);

/// A caller that plans by that instant acts within the margin that was left for the clocks.
static SUSPECT_FOR_TOO_LONG: Workload = mutant(
    "guard-methods-suspect-for-too-long",
    "a suspect hold is said to be the holder's until the session may end, without the margin",
    Caught::by(An1),
    BREAKS,
    |_| struck(BREAKS, 0.05),
    |task| run(task, Wrong::SuspectForTooLong),
);

/// The caller continues with the version of another znode.
static RESULTS_REVERSED: Workload = lie(
    "guard-methods-results-reversed",
    "transact returns the results in another order than its operations",
    Caught::by(An1),
    |task| run(task, Wrong::ResultsReversed),
);

/// One operation of which [lies](crate::lies).
pub(super) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: &[],
    plan: |_| crowded(),
    part: |task, liar| run_with(task, Wrong::None, liar),
    rows: &[
        // A write that was never sent.
        row(Verb::Transact, How::Pretends, An1, "transact returns done and writes nothing"),
        // The write is reported as failed, but was applied.
        row(Verb::Transact, How::Denies(UNDONE), An3, "transact writes and fails").or(DENIED),
        refuses(Verb::Transact, UNMET_OF_HOLDS, "transact"),
        // A write that must be applied exactly once is applied twice.
        row(Verb::TransactOnce, How::Repeats, Mx17, "transact_once writes twice"),
        // A write that was never sent.
        row(Verb::TransactOnce, How::Pretends, An1, "transact_once returns done and writes nothing"),
        // The write is reported as failed, but was applied.
        row(Verb::TransactOnce, How::Denies(UNDONE), An3, "transact_once writes and fails").or(DENIED),
        refuses(Verb::TransactOnce, UNMET_OF_HOLDS, "transact_once"),
        // The contender is reported as evicted, but stays.
        row(Verb::Evict, How::Pretends, An1, "evict returns done and deletes nothing"),
        // The eviction is reported as failed, but took effect.
        row(Verb::Evict, How::Denies(UNDONE), An3, "evict deletes the contender and fails").or(DENIED),
        refuses(Verb::Evict, UNMET_OF_HOLDS, "evict"),
        refuses(Verb::Contenders, UNMET_OF_HOLDS, "contenders"),
        // No contender was asked.
        row(Verb::Ask, How::Pretends, An1, "ask returns done and writes nothing"),
        // No contender was revoked.
        row(Verb::Force, How::Pretends, An1, "force returns done and deletes nothing"),
    ],
};

/// Errors that report that nothing was done, none of which has occurred.
const UNDONE: &[Failure] = &[Failure::Denied, Failure::BadVersion, Failure::Other];

/// The rule that may report such a lie instead, by its reason.
const DENIED: &[(RuleId, &str)] = &[(An2, "the reason never occurred")];
