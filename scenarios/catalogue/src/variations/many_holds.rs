//! Clients that hold many objects at once for many session timeouts, all of them through one session.
//!
//! Each round: take exclusive locks and offices that no other client takes, read holds that all clients share,
//! memberships and names; keep all of them for up to ten session timeouts, or until they are lost; release them, one
//! after the other. Meanwhile a client does nothing, or sends an occasional request, or waits for another client's
//! hold, or follows the members or the leader. So for most of the time only pings keep the session alive, and all its
//! holds.
//!
//! One operation at a time acquires or releases a hold, since a request is recorded as one of the current operation;
//! between acquire and release a hold belongs to no operation. A client has one hold of an object at a time.

use crate::election::workload as election;
use crate::group::workload::{self as group, MemberHandle};
use crate::prelude::*;
use crate::priority_lock::workload as priority_lock;
use crate::revocable_lock::workload as revocable_lock;
use futures_util::future::{Abortable, Either, Pending, abortable, pending, ready, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;
use zk_checker::history::Names as Texts;
use zk_harness::operation::{in_no_operation, operation_until};
use zk_recipes::Runtime;
use zk_recipes::group::{Group, GroupOptions, IfTaken, WithData};
use zk_recipes::names::{Names, NamesOptions, Registration};
use zk_recipes::{
    Election, ElectionOptions, Lock, LockOptions, Priority, PriorityLock, PriorityLockOptions, RevocableLock,
    RevocableLockOptions, SharedLock, SharedLockOptions,
};

/// Many holds of a session.
pub static WORKLOAD: Workload = Workload {
    about: "each client has many holds on one session, for many session timeouts",
    plan,
    required: &[Mx14, Mx16, Le10, Gm8],
    ..Workload::own("many-holds", objects, |task| client(task).boxed(), &STATED)
};

/// Taking so many holds gives faults so many occasions that the usual number would be spent before the first hold.
fn plan(seed: u64) -> Plan {
    let drawn = Plan::drawn(seed);
    Plan { faults: 4 * drawn.faults, ..drawn }
}

/// Many holds, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe::of(&WORKLOAD);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    // All holds, a waiter behind them, and the rest of a follower's time.
    finishes_within: Duration::from_secs(300),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "one of many holds is lost",
        "all of many holds are kept for ten session timeouts without a request",
        "a wait for another client's hold times out",
        "a wait for another client's hold succeeds after more than a session timeout",
    ],
};

/// The lengths of the rounds in session timeouts, by turns. All clients use the same, so that none is far ahead of the
/// others.
const TIMEOUTS: [u32; 3] = [1, 10, 3];

/// The time limit of a waiter for a hold of that length: longer, but not beyond the end of a run whose sessions have a
/// long timeout.
fn patience(held: Duration) -> Duration {
    held + held.min(Duration::from_secs(60))
}

/// An object that clients hold or wait for.
#[derive(Clone, Debug)]
struct Thing {
    sort: Sort,
    path: String,
    /// The only client that takes it in step 1; other clients may wait for it.
    owner: Option<u16>,
}

/// The use of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    /// Joined by all clients.
    Group,
    /// One client is in office, and others are candidates for long.
    Office,
    /// Read by all clients.
    Shared,
    /// Read by all clients; no holder is asked to go.
    Revocable,
    /// Held by its owner.
    Lock,
    /// Held by its owner.
    Priority,
    /// Won by its owner.
    Election,
    /// A directory of names, in which its owner registers one.
    Name,
}

/// The name that an owner registers.
const NAME: &str = "mine";

/// The election of [`Sort::Office`].
const OFFICE: ObjectId = ObjectId(1);

/// The number of objects of each sort: few in a simulation, and on a real server hundreds per session.
struct Counts {
    groups: u16,
    /// For each client.
    names: u16,
    locks: u16,
    elections: u16,
    priorities: u16,
}

impl Counts {
    fn of(setting: &Setting) -> Counts {
        if setting.pace.is_real() {
            Counts { groups: 8, names: 8, locks: 120, elections: 24, priorities: 8 }
        } else {
            Counts { groups: 2, names: 1, locks: 2, elections: 1, priorities: 1 }
        }
    }
}

/// All objects. The group that clients follow and the office that they stand for come first.
fn things(setting: &Setting) -> Vec<Thing> {
    let counts = Counts::of(setting);
    let common = |sort, path: String| Thing { sort, path, owner: None };
    let mut things = vec![
        common(Sort::Group, group::DIRECTORY.to_owned()),
        common(Sort::Office, election::DIRECTORY.to_owned()),
        common(Sort::Shared, "/held/shared".to_owned()),
        common(Sort::Revocable, "/held/revocable".to_owned()),
    ];
    things.extend((1..counts.groups).map(|n| common(Sort::Group, format!("/held/group-{n}"))));
    for client in 0..u16::from(setting.clients) {
        for (sort, word, count) in [
            (Sort::Lock, "lock", counts.locks),
            (Sort::Election, "election", counts.elections),
            (Sort::Priority, "priority", counts.priorities),
            (Sort::Name, "name", counts.names),
        ] {
            let path = |n| format!("/held/{client}/{word}-{n}");
            things.extend((0..count).map(|n| Thing { sort, path: path(n), owner: Some(client) }));
        }
    }
    things
}

/// The objects, as they are declared to the checker.
pub fn objects(names: &mut Texts, setting: &Setting) -> Vec<Object> {
    let things = things(setting);
    let declare = |thing: &Thing| {
        let path = names.intern(&thing.path);
        match thing.sort {
            Sort::Group => group::object(path, setting),
            Sort::Office | Sort::Election => election::object(path, setting),
            Sort::Shared => setting.held(Kind::SharedLock, path),
            Sort::Revocable => revocable_lock::object(path, setting),
            Sort::Lock => setting.held(Kind::Lock, path),
            Sort::Priority => priority_lock::object(path, setting),
            Sort::Name => Object { margin: setting.margin_us(), ..Object::plain(Kind::Names, path) },
        }
    };
    things.iter().map(declare).collect()
}

/// The remaining work for a hold that has ended.
struct GiveBack<'a> {
    /// It was lost, and its belief has ended. Other holds, such as memberships, are believed in until they are
    /// released.
    was_lost: bool,
    work: BoxFuture<'a, ()>,
}

/// Keeps one hold, until it is lost or to be released.
type Kept<'a> = BoxFuture<'a, GiveBack<'a>>;

/// All kept holds.
type Keeping<'a> = FuturesUnordered<Kept<'a>>;

/// Resolves when a hold is to be released.
type Enough = Abortable<Pending<()>>;

/// One client's part.
pub async fn client<C: Client>(task: Task<C>) {
    let (client, setting, things) = (&task.client, task.setting, &things(&task.setting));
    let mut present = OfSession::default();
    let round = |zk: C::Zk, number| {
        let places: Arc<[_]> = present.of(&zk, || things.iter().map(|thing| Place::of(&zk, thing)).collect());
        async move {
            let holder = Holder { client, zk: &zk, setting, things, places: &places };
            holder.round(TIMEOUTS[number as usize % TIMEOUTS.len()]).await
        }
    };
    rounds(&task, round).await;
}

/// The recipe object that a session reuses, since one session registers a name, and joins, through one object.
enum Place<Z: ZooKeeper> {
    Group(Group<Z>),
    Names(Names<Z>),
    /// A new object each time.
    Other,
}

impl<Z: ZooKeeper> Place<Z> {
    /// Creates the object; sends no request.
    fn of(zk: &Z, Thing { sort, path, .. }: &Thing) -> Self {
        let good = "a good path";
        let patient = || GroupOptions::default().with_if_taken(IfTaken::Wait);
        match sort {
            Sort::Group => Place::Group(Group::new(zk, path, patient()).expect(good)),
            Sort::Name => Place::Names(Names::new(zk, path, NamesOptions::default()).expect(good)),
            _ => Place::Other,
        }
    }
}

/// One client in one round.
struct Holder<'a, C: Client> {
    client: &'a C,
    zk: &'a C::Zk,
    setting: Setting,
    things: &'a [Thing],
    /// One for each object.
    places: &'a [Place<C::Zk>],
}

/// The result of taking a hold.
enum Taken<'a> {
    Kept(Kept<'a>),
    Nothing,
    SessionOver,
}

impl Taken<'_> {
    /// The result of an operation that did not succeed.
    fn not<T>(ended: &Ended<T>) -> Self {
        if ended.is_session_over() { Taken::SessionOver } else { Taken::Nothing }
    }
}

impl<C: Client> Holder<'_, C> {
    /// 1. Take one hold after the other. 2. Keep them for the time, and do something else meanwhile. 3. Release them.
    async fn round(&self, timeouts: u32) -> Round {
        let (mut keeping, mut over, mut stops) = (Keeping::new(), Vec::new(), Vec::new());
        let mut is_over = false;
        // The group that clients follow comes last, so that followers see late clients join it.
        for (at, thing) in self.things.iter().enumerate().rev() {
            let object = ObjectId(at as u16);
            if is_over || thing.owner.is_some_and(|owner| owner != self.client.number()) {
                continue;
            }
            let (enough, stop) = abortable(pending());
            match beside(&mut keeping, &mut over, self.take(object, thing, enough)).await {
                Taken::Kept(kept) => keeping.push(kept),
                Taken::Nothing => continue,
                Taken::SessionOver => is_over = true,
            }
            stops.push(stop);
            // The first poll sends requests, which must not count as the next operation's.
            over.extend(look(&mut keeping).await);
        }
        if !is_over {
            let time = self.setting.timeout * timeouts;
            let idle = beside(&mut keeping, &mut over, self.meanwhile(time)).await;
            let kept = idle && timeouts == 10 && over.is_empty();
            sometimes!(
                self.client,
                "all of many holds are kept for ten session timeouts without a request",
                kept
            );
        }
        sometimes!(self.client, "one of many holds is lost", !over.is_empty());
        // Holds that are not released yet are kept.
        for stop in stops {
            stop.abort();
            while let Some(give_back) = look(&mut keeping).await {
                over.push(give_back);
            }
            // Holds that are still believed in go first: releasing those that were lost at the same time can take long.
            over.sort_by_key(|give_back| !give_back.was_lost);
            while let Some(GiveBack { work, .. }) = over.pop() {
                beside(&mut keeping, &mut over, work).await;
            }
        }
        while let Some(GiveBack { work, .. }) = keeping.next().await {
            work.await;
        }
        if is_over { Round::Again } else { Round::Over }
    }

    /// Step 1, for one object.
    async fn take(&self, object: ObjectId, thing: &Thing, enough: Enough) -> Taken<'_> {
        let (zk, path) = (self.zk, thing.path.as_str());
        let good = "a good path";
        match thing.sort {
            Sort::Office => Taken::Nothing,
            Sort::Lock => {
                let lock = Lock::new(zk, path, LockOptions::default()).expect(good);
                self.hold(object, Verb::Acquire, enough, || lock.acquire()).await
            }
            Sort::Shared => {
                let lock = SharedLock::new(zk, path, SharedLockOptions::default()).expect(good);
                self.hold(object, Verb::Read, enough, || lock.read()).await
            }
            Sort::Revocable => {
                let lock = RevocableLock::new(zk, path, RevocableLockOptions::default()).expect(good);
                self.hold(object, Verb::Read, enough, || lock.read()).await
            }
            Sort::Priority => {
                let lock = PriorityLock::new(zk, path, PriorityLockOptions::default()).expect(good);
                let priority = Priority(0);
                self.hold(object, Verb::Write, enough, || lock.write(priority)).await
            }
            Sort::Election => {
                let election = Election::new(zk, path, ElectionOptions::default()).expect(good);
                self.hold(object, Verb::Stand, enough, || election.stand()).await
            }
            Sort::Group => self.join(object, enough).await,
            Sort::Name => self.register(object, enough).await,
        }
    }

    /// The group of an object.
    fn group(&self, ObjectId(at): ObjectId) -> &Group<C::Zk> {
        match &self.places[usize::from(at)] {
            Place::Group(group) => group,
            _ => unreachable!("a group is asked for"),
        }
    }

    /// Takes a lock-like hold.
    async fn hold<H: Held, F: Future<Output = Result<H, Error>> + Send>(
        &self,
        object: ObjectId,
        verb: Verb,
        enough: Enough,
        acquire: impl FnOnce() -> F + Send,
    ) -> Taken<'_> {
        let (client, session) = (self.client, self.zk.session());
        let (op, held) = match operation(client, Call::new(object, verb), nothing, acquire).await {
            (op, Ended::Done(held)) => (op, held),
            (_, ended) => return Taken::not(&ended),
        };
        let keep = async move {
            let belief = Belief::begin(client, session, &held, object, op);
            belief.use_resource();
            let lost = belief.unless_lost(enough.map(drop)).await;
            if lost.is_none() {
                belief.use_resource();
            }
            belief.end(lost.unwrap_or(Why::Released));
            match lost {
                None => GiveBack { was_lost: false, work: give_back(client, object, held).boxed() },
                // Its session may live on while others wait: the znode must not stay until the round is over.
                Some(_) => {
                    drops(client, object, held);
                    GiveBack { was_lost: true, work: ready(()).boxed() }
                }
            }
        };
        Taken::Kept(in_no_operation(client, keep).boxed())
    }

    /// Joins a group, under an id that no other client has.
    async fn join(&self, object: ObjectId, enough: Enough) -> Taken<'_> {
        let (client, group) = (self.client, self.group(object));
        let call = Call::new(object, Verb::Join);
        let (op, member) = match operation(client, call, nothing, || group.join(None, b"here")).await {
            (op, Ended::Done(member)) => (op, member),
            (_, ended) => return Taken::not(&ended),
        };
        let keep = async move {
            let was_lost = matches!(select(pin!(MemberHandle::out(&member)), enough).await, Either::Left(_));
            if was_lost {
                client.journal(|journal, at| {
                    journal.observed(at, client.number(), op, object, Seen::Missing, "", 0);
                });
            }
            let call = Call::new(object, Verb::Release);
            let leaving =
                async move { gives_back(client, call, nothing, || MemberHandle::leave(member)).await };
            GiveBack { was_lost, work: leaving.boxed() }
        };
        Taken::Kept(in_no_operation(client, keep).boxed())
    }

    /// Registers its own name.
    async fn register(&self, object: ObjectId, enough: Enough) -> Taken<'_> {
        let client = self.client;
        let Place::Names(names) = &self.places[usize::from(object.0)] else {
            unreachable!("a name service is asked for");
        };
        let given = move |journal: &mut Journal, at, op| {
            journal.given(at, client.number(), op, NAME, 0);
        };
        let observed = |journal: &mut Journal, at, op, registered: &Registration<C::Zk>| {
            let czxid = registered.token() as u64;
            journal.observed(at, client.number(), op, object, Seen::Name, NAME, czxid);
        };
        let call = Call::new(object, Verb::Register);
        let registering = || names.register(NAME, b"here");
        let (_, ended) = observed_operation(client, call, given, registering, observed).await;
        let registered = match ended {
            Ended::Done(registered) => registered,
            ended => return Taken::not(&ended),
        };
        let keep = async move {
            let was_lost = matches!(select(pin!(registered.lost()), enough).await, Either::Left(_));
            let call = Call::new(object, Verb::Unregister);
            let releasing = async move { gives_back(client, call, given, || registered.release()).await };
            GiveBack { was_lost, work: releasing.boxed() }
        };
        Taken::Kept(in_no_operation(client, keep).boxed())
    }

    /// Step 2: another activity, for that time or until the run ends. Returns whether the client was idle.
    async fn meanwhile(&self, time: Duration) -> bool {
        let client = self.client;
        match client.choose(8) {
            1 => self.call_now_and_then(time).await,
            2 | 3 => self.wait_for_a_lock(time).await,
            4 => self.follow_group(time).await,
            5 => self.follow_leader(time).await,
            6 | 7 => self.stand_for_office(time).await,
            _ => {
                let _ = self.unless_ending(client.sleep(time)).await;
                return true;
            }
        }
        false
    }

    async fn call_now_and_then(&self, time: Duration) {
        let mut left = time;
        while !left.is_zero() {
            let next = left.min(self.setting.timeout);
            if self.unless_ending(self.client.sleep(next)).await.is_none() {
                return;
            }
            left -= next;
            // The reply is not awaited; it only has to arrive.
            drop(self.zk.exists("/"));
        }
    }

    /// Waits for a lock that the next client holds, and keeps it for a session timeout.
    async fn wait_for_a_lock(&self, time: Duration) {
        let next = (self.client.number() + 1) % u16::from(self.setting.clients);
        let is_it = |thing: &&Thing| thing.sort == Sort::Lock && thing.owner == Some(next);
        let Some(at) = self.things.iter().position(|thing| is_it(&thing)) else { return };
        let lock = Lock::new(self.zk, &self.things[at].path, LockOptions::default()).expect("a good path");
        let limit = patience(time);
        let acquiring = || lock.acquire().within(limit);
        self.wait_for(ObjectId(at as u16), Verb::Acquire, limit, acquiring).await;
    }

    /// Waits for the office, and leads for a session timeout.
    async fn stand_for_office(&self, time: Duration) {
        let election = Election::new(self.zk, election::DIRECTORY, ElectionOptions::default());
        let election = election.expect("a good path");
        let limit = patience(time);
        self.wait_for(OFFICE, Verb::Stand, limit, || election.stand().within(limit)).await;
    }

    /// Waits for another client's hold, and keeps it for a session timeout, or for longer if it was free.
    async fn wait_for<H: Held, F: Future<Output = Result<H, Error>> + Send>(
        &self,
        object: ObjectId,
        verb: Verb,
        limit: Duration,
        acquire: impl FnOnce() -> F + Send,
    ) {
        let (client, asked) = (self.client, self.zk.now());
        let call = Call::new(object, verb).within(limit);
        let (op, ended) = operation_until(client, call, client.ending(), acquire).await;
        sometimes!(client, "a wait for another client's hold times out", ended.is_timed_out());
        let Some(held) = ended.done() else { return };
        let waited = self.zk.now().since(asked) > self.setting.timeout;
        sometimes!(
            client,
            "a wait for another client's hold succeeds after more than a session timeout",
            waited
        );
        let belief = Belief::begin(client, self.zk.session(), &held, object, op);
        let time = if waited { self.setting.timeout } else { limit / 2 };
        let lost = belief.unless_lost(self.unless_ending(client.sleep(time)).map(drop)).await;
        belief.end(lost.unwrap_or(Why::Released));
        give_back(client, object, held).await;
    }

    /// Follows the members.
    async fn follow_group(&self, time: Duration) {
        let (client, views) = (self.client, &mut self.group(group::GROUP).follow(WithData::No));
        self.follow(group::GROUP, Verb::Watch, time, |op| async move {
            loop {
                let view = views.next().await?;
                let ids: Vec<_> = view.members.iter().map(|member| member.id.as_str()).collect();
                let (me, ids, zxid) = (client.number(), ids.join(","), view.zxid as u64);
                client.journal(|j, at| j.observed(at, me, op, group::GROUP, Seen::View, &ids, zxid));
            }
        })
        .await;
    }

    /// Follows the leader.
    async fn follow_leader(&self, time: Duration) {
        let election = Election::new(self.zk, election::DIRECTORY, ElectionOptions::default());
        let (client, follower) = (self.client, &mut election.expect("a good path").follow());
        self.follow(OFFICE, Verb::Observe, time, |op| async move {
            loop {
                election::tell_of(client, OFFICE, op, &follower.next().await?);
            }
        })
        .await;
    }

    /// Follows an object until the time or the session is over.
    async fn follow<F: Future<Output = Result<(), Error>> + Send>(
        &self,
        object: ObjectId,
        verb: Verb,
        time: Duration,
        news: impl FnOnce(OpId) -> F + Send,
    ) {
        let (client, own) = (self.client, &OnceLock::new());
        let known = |_: &mut Journal, _, op: OpId| own.set(op).expect("it is called once");
        let following = || async move {
            let news = news(*own.get().expect("it has been called"));
            match select(pin!(news), pin!(self.unless_ending(client.sleep(time)))).await {
                Either::Left((over, _)) => over,
                Either::Right(_) => Ok(()),
            }
        };
        drop(operation(client, Call::new(object, verb), known, following).await);
    }

    /// Returns the result of the work, or `None` if the run ends first.
    async fn unless_ending<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        match select(pin!(work), pin!(self.client.ending())).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }
}

/// Polls the kept holds once; returns the remaining work of one that has ended, if any.
async fn look<'a>(keeping: &mut Keeping<'a>) -> Option<GiveBack<'a>> {
    match poll_fn(|context| Poll::Ready(keeping.poll_next_unpin(context))).await {
        Poll::Ready(over) => over,
        Poll::Pending => None,
    }
}

/// Does some work while holds are kept; adds those that end meanwhile to `over`.
async fn beside<'a, T>(
    keeping: &mut Keeping<'a>,
    over: &mut Vec<GiveBack<'a>>,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    while !keeping.is_empty() {
        match select(work.as_mut(), keeping.next()).await {
            Either::Left((done, _)) => return done,
            Either::Right((lost, _)) => over.extend(lost),
        }
    }
    work.await
}
