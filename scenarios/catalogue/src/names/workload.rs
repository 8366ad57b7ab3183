//! Clients that register names for a while, look names up, and make unique ones.
//!
//! Each round: register one of two names (with a limit and waiting, or giving up if it is taken), keep it for a while
//! or until it is lost, and release or drop it; or look a name up, with the drawn freshness; or make a unique name; or
//! register a permanent name and remove it. A client whose session ends opens another, in which it releases its former
//! name.

use crate::prelude::*;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use zk_checker::history::Names as Texts;
use zk_recipes::names::{Freshness, IfTaken, Names, NamesOptions, PermanentName, Registration, UniqueName};
use zk_recipes::{Released, Versioned};

/// Names under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients register names for a while, look names up and make unique ones",
    plan: |seed| Plan { rounds: 4, ..Plan::drawn(seed) },
    required: &[Ns1, Ns2, Ns3, Ns4, Ns5],
    ..Workload::own("names", objects, |task| client(task, Box::new(new)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload =
    RealWorkload::new(&WORKLOAD, |task| client(task, Box::new(new)).boxed(), &[Ns1, Ns2]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(90),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a name is taken already",
        "a registration times out",
        "a registration is lost before its release",
        "a name is released in a later session",
    ],
};

/// The directory of the names.
pub const DIRECTORY: &str = "/names";

/// The names, among the objects of their run.
pub const NAMES: ObjectId = ObjectId(0);

/// The names, as they are declared to the checker.
pub fn objects(names: &mut Texts, setting: &Setting) -> Vec<Object> {
    vec![Object { margin: setting.margin_us(), ..Object::plain(Kind::Names, names.intern(DIRECTORY)) }]
}

/// The constructor of a name service over a session: the right one's, or a mutant's. The flag is set if a client
/// waits for a taken name.
pub type MakeNames<Z, S> = Box<dyn Fn(&Z, bool) -> S + Send + Sync>;

/// The names in [`DIRECTORY`].
pub fn new<Z: ZooKeeper>(zk: &Z, waits: bool) -> Names<Z> {
    let if_taken = if waits { IfTaken::Wait } else { IfTaken::Fail };
    let options = NamesOptions::default().with_if_taken(if_taken);
    Names::new(zk, DIRECTORY, options).expect("the directory is a good path")
}

/// The methods of the name service, which a mutant has too.
pub trait NameService<Z: ZooKeeper>: Clone + Send + Sync + 'static {
    /// The type of a registration.
    type Registered: Registered<Z>;

    /// Registers a name for the session.
    fn register(
        &self,
        name: &str,
        data: &[u8],
    ) -> impl Future<Output = Result<Self::Registered, Error>> + Send;

    /// Registers a permanent name, in a directory whose names do not wait.
    fn register_permanent(
        &self,
        names: &Names<Z>,
        name: &str,
        data: &[u8],
    ) -> impl Future<Output = Result<PermanentName<Z>, Error>> + Send {
        names.register_permanent(name, data)
    }

    /// Removes such a name; returns whether it existed until then.
    fn unregister(&self, registered: &PermanentName<Z>) -> impl Future<Output = Result<bool, Error>> + Send {
        registered.unregister()
    }

    /// Looks a name up.
    fn resolve(
        &self,
        names: &Names<Z>,
        name: &str,
        freshness: Freshness,
    ) -> impl Future<Output = Result<Option<Versioned>, Error>> + Send {
        names.resolve(name, freshness)
    }

    /// Makes a unique name.
    fn unique(
        &self,
        names: &Names<Z>,
        prefix: &str,
    ) -> impl Future<Output = Result<UniqueName, Error>> + Send {
        names.unique(prefix)
    }
}

/// A name that was registered.
pub trait Registered<Z: ZooKeeper>: Send + Sync + 'static {
    /// The transaction that registered it.
    fn czxid(&self) -> i64;

    /// Resolves when it may be lost.
    fn lost(&self) -> impl Future<Output = ()> + Send;

    /// Releases it; `zk` is a session that lives, as far as the client knows. Returns how the registration ended, if
    /// known.
    fn release(self, zk: Z) -> impl Future<Output = Result<Option<Released>, Error>> + Send;
}

impl<Z: ZooKeeper> NameService<Z> for Names<Z> {
    type Registered = Registration<Z>;

    fn register(
        &self,
        name: &str,
        data: &[u8],
    ) -> impl Future<Output = Result<Registration<Z>, Error>> + Send {
        Names::register(self, name, data)
    }
}

impl<Z: ZooKeeper> Registered<Z> for Registration<Z> {
    fn czxid(&self) -> i64 {
        Registration::token(self)
    }

    async fn lost(&self) {
        Registration::lost(self).await;
    }

    async fn release(self, _: Z) -> Result<Option<Released>, Error> {
        Registration::release(self).await.map(Some)
    }
}

/// One client's part.
pub async fn client<C: Client, S: NameService<C::Zk>>(task: Task<C>, make: MakeNames<C::Zk, S>) {
    let (client, pace) = (&task.client, task.setting.pace);
    let (mut value, mut present) = (0, OfSession::default());
    let round = |zk: C::Zk, _| {
        value += 1;
        let value = format!("{}-{value}", client.number());
        // One object a session, since one session registers a name through one object.
        let (names, waits) = present.of(&zk, || {
            let waits = client.choose(2) == 1;
            (make(&zk, waits), waits)
        });
        async move {
            match client.choose(8) {
                4 | 5 => look_up(client, &zk, &names, pace).await,
                6 => unique(client, &zk, &names).await,
                7 => for_good(client, &zk, &names, &value, pace).await,
                _ => for_a_while(client, zk, (names, waits), &value, pace).await,
            }
        }
    };
    rounds(&task, round).await;
}

fn a_name<C: Client>(client: &C) -> &'static str {
    ["db", "web"][client.choose(2) as usize]
}

/// The end of a round after an operation that did not succeed.
fn over<T>(ended: &Ended<T>) -> Round {
    if ended.is_session_over() { Round::Again } else { Round::Over }
}

/// Registers a name, keeps it for a while, and releases it.
async fn for_a_while<C: Client, S: NameService<C::Zk>>(
    client: &C,
    zk: C::Zk,
    (names, waits): (S, bool),
    value: &str,
    pace: Pace,
) -> Round {
    let name = a_name(client);
    let call = Call::new(NAMES, Verb::Register);
    let call = if waits { call.within(pace.limit) } else { call };
    let register = || async {
        let registering = names.register(name, value.as_bytes());
        if call.limit.is_zero() {
            return registering.await;
        }
        within(client, call.limit, registering).await
    };
    let (_, ended) = observed_operation(
        client,
        call,
        |journal, at, op| journal.given(at, client.number(), op, name, 0),
        register,
        |journal, at, op, registered| {
            let czxid = registered.czxid() as u64;
            journal.observed(at, client.number(), op, NAMES, Seen::Name, name, czxid);
        },
    )
    .await;
    let registered = match ended {
        Ended::Done(registered) => registered,
        ended => {
            sometimes!(client, "a name is taken already", matches!(&ended, Ended::Failed(e) if e.is_taken()));
            sometimes!(client, "a registration times out", ended.is_timed_out());
            return over(&ended);
        }
    };
    let (is_lost, for_long) = {
        let lost = pin!(registered.lost());
        let for_long = client.choose(2) == 1;
        let time = pace.work * (1 + client.choose(if for_long { 800 } else { 4 }));
        (matches!(select(lost, pin!(client.sleep(time))).await, Either::Left(_)), for_long)
    };
    sometimes!(client, "a registration is lost before its release", is_lost);
    // Some clients wait until the session is connected again or over.
    let mut status = zk.status();
    while is_lost && for_long && !status.is_connected() && status.over().is_none() {
        status = zk.changed(status).await;
    }
    let zk = match zk.status().over() {
        None => zk,
        // The client releases its former name in its next session, if it can.
        Some(_) => {
            sometimes!(client, "a name is released in a later session", true);
            client.open().await.unwrap_or(zk)
        }
    };
    let given = |journal: &mut zk_harness::journal::Journal, at, op| {
        journal.given(at, client.number(), op, name, 0);
    };
    let call = Call::new(NAMES, Verb::Unregister);
    if client.choose(8) == 7 {
        // The dropped guard releases the name in the background.
        give_up(client, call, given, registered);
    } else {
        gives_back(client, call, given, || registered.release(zk)).await;
    }
    Round::Over
}

/// The result of the work, or `TimedOut` by the client's own clock.
async fn within<C: Client, T>(
    client: &C,
    limit: Duration,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match select(pin!(work), pin!(client.sleep(limit))).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => Err(ErrorKind::TimedOut.into()),
    }
}

/// Looks a name up.
async fn look_up<C: Client, S: NameService<C::Zk>>(client: &C, zk: &C::Zk, service: &S, pace: Pace) -> Round {
    client.sleep(pace.work * client.choose(4)).await;
    let names = Names::new(zk, DIRECTORY, NamesOptions::default()).expect("the directory is a good path");
    let name = a_name(client);
    let (freshness, number) =
        [(Freshness::Local, 0), (Freshness::Synced, 1), (Freshness::Latest, 2)][client.choose(3) as usize];
    let (_, ended) = observed_operation(
        client,
        Call::new(NAMES, Verb::Resolve),
        |journal, at, op| journal.given(at, client.number(), op, name, number),
        || service.resolve(&names, name, freshness),
        |journal, at, op, found| match found {
            Some(found) => {
                let text = String::from_utf8_lossy(&found.data);
                journal.observed(at, client.number(), op, NAMES, Seen::Value, &text, found.mzxid as u64);
            }
            None => journal.observed(at, client.number(), op, NAMES, Seen::Missing, name, 0),
        },
    )
    .await;
    over(&ended)
}

/// Makes a unique name.
async fn unique<C: Client, S: NameService<C::Zk>>(client: &C, zk: &C::Zk, service: &S) -> Round {
    let names = Names::new(zk, DIRECTORY, NamesOptions::default()).expect("the directory is a good path");
    let (_, ended) = observed_operation(
        client,
        Call::new(NAMES, Verb::Unique),
        |journal, at, op| journal.given(at, client.number(), op, "job", 0),
        || service.unique(&names, "job"),
        |journal, at, op, unique| {
            journal.observed(at, client.number(), op, NAMES, Seen::Name, &unique.name, unique.czxid as u64);
        },
    )
    .await;
    over(&ended)
}

/// Registers a permanent name, and removes it after a while.
async fn for_good<C: Client, S: NameService<C::Zk>>(
    client: &C,
    zk: &C::Zk,
    service: &S,
    value: &str,
    pace: Pace,
) -> Round {
    let names = Names::new(zk, DIRECTORY, NamesOptions::default()).expect("the directory is a good path");
    let name = a_name(client);
    let register = || async {
        let registered = service.register_permanent(&names, name, value.as_bytes()).await?;
        // Identified by the guid in front: the znode may have been deleted, and another client's may have its name.
        let own = registered.guid().to_string();
        let czxid = loop {
            match zk.get(registered.path()).await {
                Ok(found) if found.data.starts_with(own.as_bytes()) => break found.stat.czxid,
                Ok(_) => break 0,
                Err(e) if e.is_no_node() => break 0,
                Err(e) if e.is_outcome_unknown() => return Err(e),
                // The client owns the name: an error of this read does not change that.
                Err(_) => client.sleep(pace.work).await,
            }
        };
        Ok((registered, czxid))
    };
    let given = |journal: &mut zk_harness::journal::Journal, at, op| {
        journal.given(at, client.number(), op, name, 0);
    };
    let (_, ended) = observed_operation(
        client,
        Call::new(NAMES, Verb::Register),
        given,
        register,
        |journal, at, op, (_, czxid)| {
            journal.observed(at, client.number(), op, NAMES, Seen::Name, name, *czxid as u64);
        },
    )
    .await;
    let Ended::Done((registered, _)) = ended else { return over(&ended) };
    client.sleep(pace.work * (1 + client.choose(4))).await;
    let call = Call::new(NAMES, Verb::Unregister);
    let _ = operation(client, call, given, || service.unregister(&registered)).await;
    Round::Over
}
