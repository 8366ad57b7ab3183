//! The workload: what clients do in their rounds.

use super::mutants::{Lingering, Wrong};
use super::standing::{Connecting, Kept, Open, Standing};
use super::{member, node};
use crate::election;
use crate::prelude::*;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;
use std::sync::OnceLock;
use std::time::Duration;
use zk_checker::history::Outcome;
use zk_recipes::supervisor::{self, Backoff, Connect, Ended as Stopped, OnFailure, Policy, Supervisor};
use zk_recipes::{Config, ConfigOptions, Election, ElectionOptions, Lock, LockOptions, Update};

/// Supervised clients under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients lead, hold a lock, keep a node, are members of a group and follow a value over many sessions, through a supervisor",
    plan: |seed| Plan { rounds: 4, ..Plan::drawn(seed) },
    required: &[Mx1, Mx2, Mx3, Mx7, Mx14, Le1, Cf1, Cf3, Sv1, Sv2, Pn1, Pn2, Pn3, Pn4, Gm1, Gm2, Gm4],
    ..Workload::own("supervised", objects, |task| right(task).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload = RealWorkload::new(&WORKLOAD, |task| right(task).boxed(), &[Mx1]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(180),
    rules: None,
    sometimes: &[
        "work is dropped in the middle",
        "work goes on in another session",
        "work goes on under the same hold",
        "a call is dropped by its caller",
        "a supervisor is shut down during a call",
        "a follower goes on in another session",
        "a permanent node is removed",
        "a node is evicted",
        "a node is created again",
        "a node waits for another owner",
        "a node gets its data in another session",
        "a member joins again",
        "a supervised member learns that it is out",
    ],
};

const OFFICE: ObjectId = ObjectId(0);
const LOCK: ObjectId = ObjectId(1);
const VALUE: ObjectId = ObjectId(2);
/// The persistent node.
pub(super) const NODE: ObjectId = ObjectId(3);
/// The group.
pub(super) const GROUP: ObjectId = ObjectId(4);
const OFFICE_PATH: &str = "/supervised/office";
const LOCK_PATH: &str = "/supervised/lock";
pub(super) const VALUE_PATH: &str = "/supervised/value";

pub(super) fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    vec![
        election::workload::object(names.intern(OFFICE_PATH), setting),
        setting.held(Kind::Lock, names.intern(LOCK_PATH)),
        Object::plain(Kind::Config, names.intern(VALUE_PATH)),
        Object::plain(Kind::PersistentNode, names.intern(node::PATH)),
        crate::group::workload::object(names.intern(member::DIRECTORY), setting),
    ]
}

/// The policy of the clients: the work never fails for good.
pub(super) fn policy() -> Policy {
    let backoff = Backoff { first: Duration::from_millis(100), longest: Duration::from_secs(2) };
    Policy::default().with_on_failure(OnFailure::GiveBack).with_backoff(backoff)
}

/// One client's part, without a wrong step.
async fn right<C: Client>(task: Task<C>) {
    client(task, |zk| zk, Wrong::Nothing).await;
}

/// One client's part, in sessions that its supervisor sees as `sees` shows them.
pub(super) async fn client<C: Client, Z: ZooKeeper>(
    task: Task<C>,
    sees: impl Fn(C::Zk) -> Z + Clone + Send + Sync + 'static,
    wrong: Wrong,
) {
    let (client, pace) = (&task.client, task.setting.pace);
    let open = || {
        let connecting = Connecting { client: client.clone(), sees: sees.clone() };
        Supervisor::new(connecting).with_policy(policy())
    };
    let mut supervisor = open();
    let (mut written, first_tokens) = (0, <[OnceLock<i64>; 2]>::default());
    let present = member::Present::default();
    for round in task.rounds.clone() {
        client.sleep(pace.think * client.choose(8)).await;
        let is_last = round + 1 == task.setting.rounds;
        let user = User { client, supervisor: &supervisor, pace, wrong, first_tokens: &first_tokens };
        let choice = client.choose(14);
        // Every fault is over within the longer time, and what must happen has happened.
        let time = pace.think * if is_last { LONG } else { 8 + 300 * client.choose(4) };
        let call = async {
            match choice {
                0..=2 => user.leads().await,
                3 | 4 => user.holds().await,
                5 => {
                    written += 1;
                    user.writes(&format!("{}-{written}", client.number())).await;
                }
                6 | 7 => user.follows(time).await,
                8 | 9 => {
                    written += 4;
                    node::keeps(client, &supervisor, pace, written - 4, time * 2).await;
                }
                10 | 11 => node::evicts(client, &supervisor).await,
                12 => member::serves(client, &supervisor, &present, time, wrong).await,
                _ => member::follows(client, &supervisor, &present, time).await,
            }
        };
        // A caller may lose its patience, and a process may be told to end. A session that no work needs may be closed. A
        // follower is no work that a shutdown waits for.
        let ends = client.choose(if matches!(choice, 6 | 7 | 13) { 7 } else { 8 });
        let closes = ends < 2 && matches!(choice, 6..=9 | 13);
        let call = async {
            let close = async {
                if !closes {
                    return;
                }
                client.sleep(time / 4).await;
                if let Ok(session) = supervisor.session().await {
                    let _ = session.close(pace.limit).await;
                }
            };
            futures_util::future::join(call, close).await;
        };
        let ended = match ends {
            6 | 7 => {
                match select(pin!(call), pin!(client.sleep(pace.work * (1 + client.choose(40))))).await {
                    Either::Left(((), _)) => true,
                    Either::Right(((), call)) if ends == 7 => {
                        if wrong == Wrong::ClosesFirst
                            && let Ok(session) = supervisor.session().await
                        {
                            let _ = session.close(pace.limit).await;
                        }
                        let shutdown = pin!(supervisor.shutdown(task.setting.timeout * 2));
                        let (_closed, ()) = futures_util::future::join(shutdown, call).await;
                        sometimes!(client, "a supervisor is shut down during a call", true);
                        false
                    }
                    Either::Right(_) => {
                        sometimes!(client, "a call is dropped by its caller", true);
                        true
                    }
                }
            }
            _ => {
                call.await;
                true
            }
        };
        if !ended {
            supervisor = open();
        }
        (task.done)(round + 1);
    }
    // What is not confirmed ends by expiry.
    let _ = supervisor.shutdown(task.setting.timeout * 2).await;
}

/// In pauses: longer than faults last.
const LONG: u32 = 2_000;

/// A client in a round.
pub(super) struct User<'a, C: Client, X: Connect> {
    pub client: &'a C,
    pub supervisor: &'a Supervisor<X>,
    pub pace: Pace,
    pub wrong: Wrong,
    /// The first fencing token of the office, and of the lock.
    pub first_tokens: &'a [OnceLock<i64>; 2],
}

impl<C: Client, X: Connect> User<'_, C, X> {
    pub async fn leads(&self) {
        let stand =
            async |zk: X::Zk| Election::new(&zk, OFFICE_PATH, ElectionOptions::default())?.stand().await;
        self.keeps(OFFICE, Verb::Stand, stand).await;
    }

    async fn holds(&self) {
        let acquire = async |zk: X::Zk| Lock::new(&zk, LOCK_PATH, LockOptions::default())?.acquire().await;
        self.keeps(LOCK, Verb::Acquire, acquire).await;
    }

    /// Holds an object, writes to the resource behind it a few times, and gives it back.
    async fn keeps<H: Kept, A>(&self, object: ObjectId, verb: Verb, acquire: impl Fn(X::Zk) -> A + Sync)
    where
        A: Future<Output = Result<H, Error>> + Send,
    {
        let User { client, pace, wrong, .. } = *self;
        let acquire = &acquire;
        let keep = Open::called(client, object, Verb::Keep);
        let (mut first, mut begun) = (None, false);
        let granted = |zk: X::Zk| {
            let stands_no_more = wrong == Wrong::StandsNoMore && std::mem::replace(&mut begun, true);
            let first: &X::Zk = first.get_or_insert_with(|| zk.clone());
            let zk = if wrong == Wrong::StaysInTheFirst { first.clone() } else { zk };
            async move {
                if stands_no_more {
                    std::future::pending::<()>().await;
                }
                if wrong == Wrong::StandsTwice {
                    let mut forgotten = Box::pin(acquire(zk.clone()));
                    let _ = futures_util::poll!(&mut forgotten);
                    std::mem::forget(forgotten);
                }
                let (open, of_hold) = (Open::new(client), zk.clone());
                let call = Call::new(object, verb);
                let (op, ended) = operation(client, call, |_, _, op| open.begins(op), || acquire(zk)).await;
                open.ended();
                match ended {
                    Ended::Done(hold) => Ok(Standing::granted(self, (object, op), of_hold, hold)),
                    Ended::Failed(error) => Err(error),
                    // Its user has dropped it: as good as a lost reply.
                    _ => Err(ErrorKind::ConnectionLoss.into()),
                }
            }
        };
        let (mut begun, mut last, lingering) = (0, None, Lingering::default());
        let work = |standing: supervisor::Held<Standing<C, X::Zk, H>>| {
            let again = last.replace(standing.op) == Some(standing.op);
            sometimes!(client, "work goes on under the same hold", begun > 0 && again);
            sometimes!(client, "work goes on in another session", begun > 0 && !again);
            begun += 1;
            let lingering = lingering.clone();
            async move {
                if wrong == Wrong::TwoAtATime {
                    let _belief = standing.acts_by_itself();
                    lingering.works(client, object, pace).await;
                    return Ok(());
                }
                let acting = standing.acts();
                // Occasionally for so long that a session ends meanwhile.
                let slow = if client.choose(4) == 3 { 40 } else { 1 };
                for _ in 0..1 + client.choose(3) {
                    client.sleep(pace.work * slow * (1 + client.choose(8))).await;
                    acting.writes();
                }
                acting.ends_well();
                Ok::<_, Error>(())
            }
        };
        let kept = self.supervisor.keep("supervised", granted, work).await;
        keep.returns(Outcome::Done);
        sometimes!(client, "work is dropped in the middle", begun > 1);
        match kept {
            Ok(()) | Err(Stopped::ShutDown) => {}
            // An access list forbids it, for a while.
            Err(Stopped::Recipe(error)) if error.is_denied() || error.is_refused() => {}
            Err(ended) => panic!("the supervisor gives up: {ended}"),
        }
    }

    /// Writes the value once.
    async fn writes(&self, value: &str) {
        let client = self.client;
        let work = |session: supervisor::Held<supervisor::Session<X::Zk>>| async move {
            let config = Config::new(session.zk(), VALUE_PATH, ConfigOptions::default())?;
            let open = Open::new(client);
            let given = |journal: &mut Journal, at, op: OpId| {
                open.begins(op);
                journal.given(at, client.number(), op, value, 0);
            };
            let putting = || async { config.put(value.as_bytes()).await.map(drop) };
            let _ = operation(client, Call::new(VALUE, Verb::Put), given, putting).await;
            open.ended();
            Ok::<_, Error>(())
        };
        let _ = self.supervisor.run("writes", work).await;
    }

    /// Follows the value for a while.
    async fn follows(&self, time: Duration) {
        let User { client, supervisor, .. } = *self;
        let make = |zk: &X::Zk| Ok(Config::new(zk, VALUE_PATH, ConfigOptions::default())?.follow());
        // Over sessions, the follower keeps what it promises within each.
        let open = Open::called(client, VALUE, Verb::Follow).sends();
        let mut follower = supervisor.follow(make);
        let mut over = pin!(client.sleep(time));
        let mut session = 0;
        while let Either::Left((Ok(followed), _)) = select(pin!(follower.next()), over.as_mut()).await {
            let is_next = session != 0 && session != followed.session;
            sometimes!(client, "a follower goes on in another session", is_next);
            session = followed.session;
            let (seen, text, number) = match &followed.news {
                Update::Value(value) => {
                    (Seen::Value, String::from_utf8_lossy(&value.data), value.mzxid as u64)
                }
                Update::Missing => (Seen::Missing, "".into(), 0),
            };
            let (me, op) = (client.number(), open.op());
            client.journal(|journal, at| journal.observed(at, me, op, VALUE, seen, &text, number));
        }
        open.returns(Outcome::Done);
    }
}
