//! The workload: what clients do in their rounds.

use super::mutants::Wrong;
use super::standing::{Connecting, Kept, Open, Standing};
use crate::election;
use crate::prelude::*;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use zk_recipes::supervisor::{self, Backoff, Ended as Stopped, Follow, OnFailure, Policy, Supervisor};
use zk_recipes::{Config, ConfigOptions, Election, ElectionOptions, Lock, LockOptions, Update, Updates};

/// Supervised clients under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients lead, hold a lock, write and follow a value over many sessions, through a supervisor",
    plan: |seed| Plan { rounds: 4, ..Plan::drawn(seed) },
    required: &[Mx1, Mx2, Mx3, Mx7, Mx14, Le1, Cf1],
    ..Workload::own("supervised", objects, |task| client(task, Wrong::Nothing).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload =
    RealWorkload::new(&WORKLOAD, |task| client(task, Wrong::Nothing).boxed(), &[Mx1]);

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
    ],
};

const OFFICE: ObjectId = ObjectId(0);
const LOCK: ObjectId = ObjectId(1);
const VALUE: ObjectId = ObjectId(2);
const OFFICE_PATH: &str = "/supervised/office";
const LOCK_PATH: &str = "/supervised/lock";
const VALUE_PATH: &str = "/supervised/value";

fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    vec![
        election::workload::object(names.intern(OFFICE_PATH), setting),
        setting.held(Kind::Lock, names.intern(LOCK_PATH)),
        Object::plain(Kind::Config, names.intern(VALUE_PATH)),
    ]
}

/// The policy of the clients: the work never fails for good.
fn policy() -> Policy {
    let backoff = Backoff { first: Duration::from_millis(100), longest: Duration::from_secs(2) };
    Policy::default().with_on_failure(OnFailure::GiveBack).with_backoff(backoff)
}

/// One client's part.
pub(super) async fn client<C: Client>(task: Task<C>, wrong: Wrong) {
    let (client, pace) = (&task.client, task.setting.pace);
    let open = || Supervisor::new(Connecting(client.clone())).with_policy(policy());
    let mut supervisor = open();
    let mut written = 0;
    for round in task.rounds.clone() {
        client.sleep(pace.think * client.choose(8)).await;
        let is_last = round + 1 == task.setting.rounds;
        let user = User { client, supervisor: &supervisor, pace, wrong };
        let choice = client.choose(8);
        let call = async {
            match choice {
                0..=2 => user.leads().await,
                3 | 4 => user.holds().await,
                5 => {
                    written += 1;
                    user.writes(&format!("{}-{written}", client.number())).await;
                }
                _ => user.follows(if is_last { LONG } else { 8 + 300 * client.choose(4) }).await,
            }
        };
        // A caller may lose its patience, and a process may be told to end.
        // A follower is no work that a shutdown waits for.
        let ends = client.choose(if choice < 6 { 8 } else { 7 });
        let ended = match ends {
            6 | 7 => {
                match select(pin!(call), pin!(client.sleep(pace.work * (1 + client.choose(40))))).await {
                    Either::Left(((), _)) => true,
                    Either::Right(((), call)) if ends == 7 => {
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

/// A follower in one session, with an operation of its own.
struct Journaled<'a, C: Client> {
    updates: Updates<C::Zk>,
    open: Open<'a, C>,
}

impl<C: Client> Follow for Journaled<'_, C> {
    type News = Update;

    async fn next(&mut self) -> Result<Update, Error> {
        let update = self.updates.next().await;
        let (seen, text, number) = match &update {
            Ok(Update::Value(value)) => {
                (Seen::Value, String::from_utf8_lossy(&value.data), value.mzxid as u64)
            }
            Ok(Update::Missing) => (Seen::Missing, "".into(), 0),
            Err(error) => {
                self.open.failed(error);
                return update;
            }
        };
        let (client, op) = (self.open.client, self.open.op());
        client.journal(|journal, at| journal.observed(at, client.number(), op, VALUE, seen, &text, number));
        update
    }
}

/// Within this time every fault is over and the last value must have arrived.
const LONG: u32 = 2_000;

/// A client in a round.
struct User<'a, C: Client> {
    client: &'a C,
    supervisor: &'a Supervisor<Connecting<C>>,
    pace: Pace,
    wrong: Wrong,
}

impl<C: Client> User<'_, C> {
    async fn leads(&self) {
        let stand =
            async |zk: C::Zk| Election::new(&zk, OFFICE_PATH, ElectionOptions::default())?.stand().await;
        self.keeps(OFFICE, Verb::Stand, stand).await;
    }

    async fn holds(&self) {
        let acquire = async |zk: C::Zk| Lock::new(&zk, LOCK_PATH, LockOptions::default())?.acquire().await;
        self.keeps(LOCK, Verb::Acquire, acquire).await;
    }

    /// Holds an object, writes to the resource behind it a few times, and gives it back.
    async fn keeps<H: Kept, A>(&self, object: ObjectId, verb: Verb, acquire: impl Fn(C::Zk) -> A + Sync)
    where
        A: Future<Output = Result<H, Error>> + Send,
    {
        let User { client, pace, wrong, .. } = *self;
        let acquire = &acquire;
        let mut first = None;
        let granted = |zk: C::Zk| {
            let first: &C::Zk = first.get_or_insert_with(|| zk.clone());
            let zk = if wrong == Wrong::StaysInTheFirst { first.clone() } else { zk };
            async move {
                let (open, of_hold) = (Open::new(client), zk.clone());
                let call = Call::new(object, verb);
                let (op, ended) = operation(client, call, |_, _, op| open.begins(op), || acquire(zk)).await;
                open.ended();
                match ended {
                    Ended::Done(hold) => Ok(Standing::granted(client, object, op, of_hold, hold, wrong)),
                    Ended::Failed(error) => Err(error),
                    // Its user has dropped it: as good as a lost reply.
                    _ => Err(ErrorKind::ConnectionLoss.into()),
                }
            }
        };
        let (mut begun, mut last) = (0, None);
        let work = |standing: supervisor::Held<Standing<C, H>>| {
            let again = last.replace(standing.op) == Some(standing.op);
            sometimes!(client, "work goes on under the same hold", begun > 0 && again);
            sometimes!(client, "work goes on in another session", begun > 0 && !again);
            begun += 1;
            async move {
                let acting = standing.acts();
                // Occasionally for so long that a session ends meanwhile.
                let slow = if client.choose(4) == 3 { 40 } else { 1 };
                for _ in 0..1 + client.choose(3) {
                    client.sleep(pace.work * slow * (1 + client.choose(8))).await;
                    acting.writes();
                }
                Ok::<_, Error>(())
            }
        };
        let kept = self.supervisor.keep("supervised", granted, work).await;
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
        let work = |session: supervisor::Held<supervisor::Session<C::Zk>>| async move {
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
    async fn follows(&self, time: u32) {
        let User { client, supervisor, pace, .. } = *self;
        let make = |zk: &C::Zk| {
            let updates = Config::new(zk, VALUE_PATH, ConfigOptions::default())?.follow();
            Ok(Journaled { updates, open: Open::call(client, VALUE, Verb::Follow) })
        };
        let mut follower = supervisor.follow(make);
        let mut over = pin!(client.sleep(pace.think * time));
        let (mut session, mut newest) = (0, 0);
        while let Either::Left((Ok(followed), _)) = select(pin!(follower.next()), over.as_mut()).await {
            let is_next = session != 0 && session != followed.session;
            sometimes!(client, "a follower goes on in another session", is_next);
            session = followed.session;
            if let Update::Value(value) = &followed.news {
                // Over sessions, what CF-1 says of each.
                assert!(value.mzxid > newest, "a follower goes back from {newest:#x} to {:#x}", value.mzxid);
                newest = value.mzxid;
            }
        }
    }
}
