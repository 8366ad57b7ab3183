//! Clients that stand for election repeatedly, lead for a while, and follow the leader.
//!
//! Each round: either stand (occasionally with a time limit), acknowledge, act as leader and write to the resource
//! behind the office, and resign or let the term go; or follow the leader for a while. Some lead and follow for so long
//! that followers must know the leader at the end; and occasionally a foreign client deletes the leader's candidate. A
//! client that must stop stops; a client whose session ends opens another.

use crate::prelude::*;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use zk_checker::history::{Budget, Sym, Victim, Who};
use zk_recipes::zk::path;
use zk_recipes::{Election, ElectionOptions, Leader, Leadership, Term};

/// The election under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients stand for election, lead, acknowledge their term, and follow the leader",
    required: &[Mx1, Le1, Le2, Le3, Le4, Le5, Le6, Le7, Le8, Le9, Mx7, Mx11],
    ..Workload::own("election", objects, |task| client(task, Box::new(new)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload =
    RealWorkload::new(&WORKLOAD, |task| client(task, Box::new(new)).boxed(), &[Mx1, Le4]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(90),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a write arrives when its holder has stopped",
        "a resource refuses a former holder's write",
        "a leader is told to stop before it leads",
        "a leader is deposed while it acknowledges",
        "the time limit of a candidacy is over",
    ],
};

/// The election's directory.
pub const DIRECTORY: &str = "/election/a";

/// The election, among the objects of its run.
pub const ELECTION: ObjectId = ObjectId(0);

/// The election, as it is declared to the checker.
pub fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    vec![object(names.intern(DIRECTORY), setting)]
}

/// An election in that directory, as it is declared to the checker.
pub fn object(directory: Sym, setting: &Setting) -> Object {
    Object {
        // The lock's budget, and the watch on the own candidate, which no call awaits.
        budget: Budget { free_acquire: 3, ..Budget::LOCK },
        ..setting.held(Kind::Election, directory)
    }
}

/// The election on [`DIRECTORY`].
pub fn new<Z: ZooKeeper>(zk: &Z) -> Election<Z> {
    Election::new(zk, DIRECTORY, ElectionOptions::default()).expect("the directory is a good path")
}

/// The methods of the election, which a mutant has too.
pub trait Electing: Clone + Send + Sync + 'static {
    /// The type of a term.
    type Office: Office;
    /// The follower's type.
    type Follower: Follower;

    /// Stands for office and waits until it is elected; a limit of zero is none.
    fn stand(&self, limit: Duration) -> impl Future<Output = Result<Self::Office, Error>> + Send;

    /// Follows the leader.
    fn follow(&self) -> Self::Follower;
}

/// A term of office.
pub trait Office: Held {
    /// Puts on record that the leader has begun.
    fn acknowledge(&self, data: &[u8]) -> impl Future<Output = Result<(), Error>> + Send;
}

/// A follower of the leader.
pub trait Follower: Send {
    /// The next change.
    fn next(&mut self) -> impl Future<Output = Result<Leader, Error>> + Send;
}

impl<Z: ZooKeeper> Office for Term<Z> {
    fn acknowledge(&self, data: &[u8]) -> impl Future<Output = Result<(), Error>> + Send {
        Term::acknowledge(self, data)
    }
}

impl<Z: ZooKeeper> Follower for Leadership<Z> {
    fn next(&mut self) -> impl Future<Output = Result<Leader, Error>> + Send {
        Leadership::next(self)
    }
}

impl<Z: ZooKeeper> Electing for Election<Z> {
    type Office = Term<Z>;
    type Follower = Leadership<Z>;

    fn stand(&self, limit: Duration) -> impl Future<Output = Result<Term<Z>, Error>> + Send {
        limited(Election::stand(self), limit)
    }

    fn follow(&self) -> Leadership<Z> {
        Election::follow(self)
    }
}

/// One client's part.
pub async fn client<C: Client, E: Electing>(task: Task<C>, make: Make<C::Zk, E>) {
    let (client, pace, make) = (&task.client, task.setting.pace, &make);
    let round = |zk: C::Zk, _| async move {
        let election = make(&zk);
        match client.choose(16) {
            11..=14 => follow(client, &election, pace).await,
            15 => depose(client, &zk).await,
            _ => take_office(client, &zk, &election, pace).await,
        }
    };
    rounds(&task, round).await;
}

/// One candidacy, and the term that follows.
async fn take_office<C: Client, E: Electing>(client: &C, zk: &C::Zk, election: &E, pace: Pace) -> Round {
    let call = Call::new(ELECTION, Verb::Stand);
    let call = if client.choose(8) == 7 { call.within(pace.limit) } else { call };
    let (op, term) = match operation(client, call, nothing, || election.stand(call.limit)).await {
        (op, Ended::Done(term)) => (op, term),
        (_, ended) if ended.is_session_over() => return Round::Again,
        (_, ended) => {
            sometimes!(client, "the time limit of a candidacy is over", ended.is_timed_out());
            return Round::Over;
        }
    };
    let belief = Belief::begin(client, zk.session(), &term, ELECTION, op);
    lead(client, belief, &term, op, pace).await;
    give_back(client, ELECTION, term).await;
    Round::Over
}

/// Begins to lead, acknowledges, and leads.
async fn lead<C: Client, T: Office>(client: &C, belief: Belief<'_, C, T>, term: &T, op: OpId, pace: Pace) {
    if let Some(why) = belief.unless_lost(client.sleep(pace.work * client.choose(3))).await {
        sometimes!(client, "a leader is told to stop before it leads", true);
        belief.end(why);
        // A client that does not check its term may try anyway.
        if client.choose(2) == 1 {
            acknowledge(client, term, op).await;
        }
        return;
    }
    if client.choose(4) != 3 {
        let mut acknowledging = pin!(acknowledge(client, term, op));
        let told = belief.unless_lost(acknowledging.as_mut()).await;
        if let Some(why) = told {
            sometimes!(client, "a leader is deposed while it acknowledges", true);
            belief.end(why);
            return acknowledging.await;
        }
    }
    // Occasionally for so long that followers must know the leader.
    if client.choose(16) == 15
        && let Some(why) = belief.unless_lost(client.sleep(pace.work * 700)).await
    {
        return belief.end(why);
    }
    belief.write_for_a_while(pace).await;
}

async fn acknowledge<C: Client, T: Office>(client: &C, term: &T, op: OpId) {
    let says = format!("leader {}", op.0);
    let token = term.token() as u64;
    let call = Call::new(ELECTION, Verb::Acknowledge);
    let given = |journal: &mut Journal, at, op| {
        journal.given(at, client.number(), op, &says, token);
    };
    let _ = operation(client, call, given, || term.acknowledge(says.as_bytes())).await;
}

/// Follows the leader for a while.
async fn follow<C: Client, E: Electing>(client: &C, election: &E, pace: Pace) -> Round {
    let for_long = client.choose(4) == 3;
    let time = pace.work * if for_long { 900 } else { 1 + client.choose(16) };
    let own = AtomicU32::new(0);
    let known = |_: &mut Journal, _, op: OpId| own.store(op.0, Ordering::Relaxed);
    let following = || async {
        let op = OpId(own.load(Ordering::Relaxed));
        let mut follower = election.follow();
        let mut over = pin!(client.sleep(time));
        loop {
            let news = match select(pin!(follower.next()), over.as_mut()).await {
                Either::Left((news, _)) => news?,
                Either::Right(_) => return Ok(()),
            };
            tell(client, op, &news);
        }
    };
    let (_, ended) = operation(client, Call::new(ELECTION, Verb::Observe), known, following).await;
    if ended.is_session_over() { Round::Again } else { Round::Over }
}

/// Acts as a foreign client: deletes the leader's candidate.
async fn depose<C: Client>(client: &C, zk: &C::Zk) -> Round {
    let Ok(listing) = zk.children(DIRECTORY).await else { return Round::Over };
    let number = |name: &&String| name.rsplit_once("-n_").map(|(_, number)| number.to_owned());
    let candidates = listing.names.iter().filter(|name| number(name).is_some());
    let Some(first) = candidates.min_by_key(number) else { return Round::Over };
    let victim = Victim::Process { client: client.number() };
    let what = What::Fault { kind: FaultKind::ForeignDelete, victim, lasts: 0 };
    // Retries until the outcome is certain: a delete in flight must not arrive after this client takes part again.
    let candidate = path::join(DIRECTORY, first);
    loop {
        // Each attempt may meet another candidate: numbers begin anew in a directory that was deleted and recreated.
        client.journal(|journal, at| journal.note(at, Who::World, OpId(0), what));
        let before = zk.status();
        match zk.delete(&candidate, None).await {
            Err(e) if e.is_connection_loss() && zk.status() == before => drop(zk.changed(before).await),
            Err(e) if e.is_connection_loss() => {}
            _ => return Round::Over,
        }
    }
}

/// Records the news that a follower received.
pub fn tell<C: Client>(client: &C, op: OpId, news: &Leader) {
    tell_of(client, ELECTION, op, news);
}

/// The same for any election.
pub fn tell_of<C: Client>(client: &C, object: ObjectId, op: OpId, news: &Leader) {
    let me = client.number();
    client.journal(|journal, at| match news {
        Leader::Acknowledged { token, data } => {
            let says = String::from_utf8_lossy(data);
            journal.observed(at, me, op, object, Seen::Leader, &says, *token as u64);
        }
        Leader::Unacknowledged { .. } => journal.observed(at, me, op, object, Seen::Vacant, "", 0),
    });
}
