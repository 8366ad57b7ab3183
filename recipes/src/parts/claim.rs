//! Exclusive claims on names that other clients may use, too: registrations and group members.
//!
//! 1. *Claim*: create an ephemeral of that name. An existing znode belongs to another session, possibly to a former one of
//!    this client: fail, or wait for its deletion and retry. A persistent znode belongs to nobody, unless the recipe has permanent
//!    names: fail.
//! 2. *Lost reply*: a barrier read tells whether the znode is ours, absent, or another client's.
//! 3. *Hold* it like any tenure, but without a fence: a check on the name would hold for the next owner, too.
//! 4. *Release*: delete the znode only if it is the incarnation that was created here.
//!
//! One object claims a name at most once at a time. Only its session identifies the owner of a znode, so two claims of one
//! session could not be told apart. A claim that was given up reserves its name until its clean-up is done.

use super::barrier_read;
use super::locked::locked;
use super::parents::{Parents, behind};
use super::retry::{again, connected, present, reconnected, unless_again, until_answered};
use super::select::{first, within};
use super::tenure::{Grant, HoldState, LostReason, OnSuspect, Released, Stop, Tenure, margin_in};
use crate::observe::{self, operation};
use crate::zk::waiters::{Place, Waiters};
use crate::zk::{Armed, CreateMode, Duty, Error, ErrorKind, Reserved, Stat, Time, ZooKeeper, path};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The target of the spans: filters name it.
const TARGET: &str = "zk_recipes::claim";

/// What to do when another client owns the name, or the id in a group.
///
/// It means the same for names and for the ids of groups, and its default is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IfTaken {
    /// Fail with [`Error::is_taken`]: a call does not wait for what may never come.
    #[default]
    Fail,
    /// Wait until the owner gives the name up, or the owner's session ends; a former session of this client is an owner, too.
    /// A name that nobody can give up fails with [`Error::is_taken`] at once. In a group that is a leftover persistent znode, since
    /// only sessions are members; among names it may be a permanent registration.
    Wait,
}

/// Names that one object and its clones have claimed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims(Arc<Mutex<Reservations>>);

#[derive(Debug, Default)]
struct Reservations {
    names: BTreeMap<String, ReservedName>,
    /// The number of reservations so far.
    made: u64,
}

#[derive(Debug)]
struct ReservedName {
    /// Tells it from other reservations of the same name.
    number: u64,
    /// The claim was given up, and its clean-up is not done.
    is_left: bool,
    waiting: Waiters,
}

impl Claims {
    fn all(&self) -> MutexGuard<'_, Reservations> {
        locked(&self.0)
    }

    /// Reserves a name. The error says whether a live claim has reserved it.
    fn reserve(&self, path: &str) -> Result<Claimant, bool> {
        let mut all = self.all();
        if let Some(entry) = all.names.get(path) {
            return Err(!entry.is_left);
        }
        all.made += 1;
        let entry = ReservedName { number: all.made, is_left: false, waiting: Waiters::default() };
        all.names.insert(path.to_owned(), entry);
        Ok(Claimant(Arc::new(Reservation { path: path.to_owned(), claims: self.clone() })))
    }

    /// Resolves when the reservation of the name ends.
    async fn freed(&self, path: &str) {
        let mut waiter = Waiter { claims: self, path, number: 0, place: None };
        poll_fn(|context| waiter.poll(context)).await;
    }
}

/// A future that waits for the end of a reservation. Dropped, it leaves nothing behind.
struct Waiter<'a> {
    claims: &'a Claims,
    path: &'a str,
    /// The reservation of which `place` is.
    number: u64,
    place: Option<Place>,
}

impl Waiter<'_> {
    fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        let mut all = self.claims.all();
        let Some(entry) = all.names.get_mut(self.path) else { return Poll::Ready(()) };
        if entry.number != self.number {
            // The place went with the reservation that has ended.
            (self.number, self.place) = (entry.number, None);
        }
        let replaced = entry.waiting.wait(&mut self.place, context);
        drop(all);
        drop(replaced);
        Poll::Pending
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let Some(place) = self.place.take() else { return };
        let mut all = self.claims.all();
        let entry = all.names.get_mut(self.path).filter(|entry| entry.number == self.number);
        let waker = entry.and_then(|entry| entry.waiting.leave(place));
        drop(all);
        drop(waker);
    }
}

/// A reserved name, which is free again when the last reference to this value is dropped.
#[derive(Debug)]
struct Reservation {
    path: String,
    claims: Claims,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let entry = self.claims.all().names.remove(&self.path);
        let mut wakers = Vec::new();
        entry.into_iter().for_each(|mut entry| entry.waiting.wake_all(&mut wakers));
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// The one claim to which a name is reserved.
#[derive(Debug)]
struct Claimant(Arc<Reservation>);

impl Claimant {
    fn duty(&self, czxid: Option<i64>, connection: u32) -> Duty {
        let reserved = Reserved::new(self.0.clone());
        Duty::Claim { path: self.0.path.clone(), czxid, connection, reserved }
    }
}

impl Drop for Claimant {
    fn drop(&mut self) {
        if let Some(entry) = self.0.claims.all().names.get_mut(&self.0.path) {
            entry.is_left = true;
        }
    }
}

/// Rules for claiming and holding a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClaimRules {
    /// The recipe's name in spans and metrics.
    pub recipe: &'static str,
    pub parents: Parents,
    pub if_taken: IfTaken,
    /// Whether a persistent znode is one of an owner, who can give it up.
    pub has_permanent: bool,
    /// The kind of error of a second claim by the same session; without it a second claim is like any other.
    pub twice: Option<fn(String) -> ErrorKind>,
    pub on_suspect: OnSuspect,
    pub margin: Option<Duration>,
}

/// Steps 1 and 2. Sends nothing before the first poll.
pub(crate) async fn claim<Z: ZooKeeper>(
    zk: &Z,
    claims: &Claims,
    terms: ClaimRules,
    path: &str,
    data: &[u8],
) -> Result<ClaimedName<Z>, Error> {
    margin_in(zk, terms.margin)?;
    let claimant = reserve(zk, claims, terms, path).await?;
    let mut is_missing = false;
    loop {
        let status = connected(zk).await?;
        let mut armed = zk.arm(claimant.duty(None, status.connection));
        // Pipelined: missing levels if there are any, and the create.
        let making = if is_missing { Some(terms.parents.make_for(zk, path)?) } else { None };
        let create = zk.create(path, data, CreateMode::Ephemeral);
        is_missing = false;
        let czxid = match behind(making, create).await? {
            Ok(created) => created.stat.czxid,
            Err(e) if e.is_no_node() => {
                armed.done();
                if terms.parents == Parents::MustExist {
                    return Err(ErrorKind::NoNode.into());
                }
                is_missing = true;
                continue;
            }
            Err(e) if e.is_node_exists() => {
                armed.done();
                wait_for(zk, terms, path).await?;
                continue;
            }
            Err(e) if e.is_retryable_refusal() => {
                armed.done();
                again(zk, status, e).await?;
                continue;
            }
            // The create may have been applied, so read before retrying.
            Err(e) if e.is_connection_loss() => {
                reconnected(zk, status).await?;
                match barrier_read::stat(zk, path).await.map_err(Error::while_in_doubt)? {
                    Some(stat) if stat.ephemeral_owner == zk.session() => stat.czxid,
                    stat => {
                        armed.done();
                        if stat.is_some() {
                            wait_for(zk, terms, path).await?;
                        }
                        continue;
                    }
                }
            }
            Err(e) => {
                if !e.is_outcome_unknown() {
                    armed.done();
                }
                return Err(e);
            }
        };
        armed.narrow(claimant.duty(Some(czxid), status.connection));
        return ClaimedName::new(zk, terms, claimant, czxid, data, armed);
    }
}

/// Reserves the name within this object; waits for the clean-up of a claim that was given up.
async fn reserve<Z: ZooKeeper>(
    zk: &Z,
    claims: &Claims,
    terms: ClaimRules,
    path: &str,
) -> Result<Claimant, Error> {
    loop {
        let status = zk.status();
        if let Some(over) = status.over() {
            return Err(over);
        }
        match claims.reserve(path) {
            Ok(claimant) => return Ok(claimant),
            Err(true) if terms.twice.is_some() || terms.if_taken == IfTaken::Fail => {
                return Err(terms.twice.unwrap_or(ErrorKind::Taken)(path.to_owned()).into());
            }
            Err(_) => _ = first(claims.freed(path), zk.changed(status)).await,
        }
    }
}

/// Another client owns the name: fails, or waits until it may be free.
async fn wait_for<Z: ZooKeeper>(zk: &Z, terms: ClaimRules, path: &str) -> Result<(), Error> {
    if terms.if_taken == IfTaken::Fail {
        return Err(ErrorKind::Taken(path.to_owned()).into());
    }
    let status = connected(zk).await?;
    match zk.children_watch(path).await {
        Ok((listing, watch)) => match terms.twice {
            Some(twice) if listing.stat.ephemeral_owner == zk.session() => Err(twice(path.to_owned()).into()),
            _ if !terms.has_permanent && !is_owned_by_session(&listing.stat) => {
                Err(ErrorKind::Taken(path.to_owned()).into())
            }
            // An ephemeral has no children, so the watch fires at its deletion only.
            _ => {
                observe::waits(path);
                watch.await.map(drop)
            }
        },
        Err(e) if e.is_no_node() => Ok(()),
        Err(e) => again(zk, status, e).await,
    }
}

/// Whether a znode goes with a session. The owner of a container, or of a znode with a lifetime, is a mark (`EphemeralType`).
fn is_owned_by_session(stat: &Stat) -> bool {
    const CONTAINER: i64 = i64::MIN;
    const WITH_LIFETIME: i64 = 0xff;
    let owner = stat.ephemeral_owner.0;
    owner != 0 && owner != CONTAINER && owner >> 56 & 0xff != WITH_LIFETIME
}

/// A name that this session owns.
#[derive(Debug)]
pub(crate) struct ClaimedName<Z: ZooKeeper> {
    zk: Z,
    recipe: &'static str,
    tenure: Tenure<Z>,
    czxid: i64,
    /// Reserves the name while this value lives.
    _claimant: Claimant,
}

impl<Z: ZooKeeper> ClaimedName<Z> {
    fn new(
        zk: &Z,
        terms: ClaimRules,
        claimant: Claimant,
        czxid: i64,
        data: &[u8],
        armed: Armed,
    ) -> Result<Self, Error> {
        let grant = Grant {
            recipe: terms.recipe,
            path: claimant.0.path.clone(),
            czxid,
            token: czxid,
            data: data.to_vec(),
            armed,
            on_suspect: terms.on_suspect,
            margin: margin_in(zk, terms.margin)?,
        };
        let tenure = Tenure::new(zk, grant);
        Ok(ClaimedName { zk: zk.clone(), recipe: terms.recipe, tenure, czxid, _claimant: claimant })
    }

    pub(crate) fn path(&self) -> &str {
        self.tenure.path()
    }

    pub(crate) fn czxid(&self) -> i64 {
        self.czxid
    }

    pub(crate) fn state(&self) -> HoldState {
        self.tenure.state()
    }

    pub(crate) fn zk(&self) -> &Z {
        &self.zk
    }

    pub(crate) async fn lost(&self) -> Stop {
        self.tenure.lost().await
    }

    pub(crate) async fn resumed(&self) -> Result<(), LostReason> {
        self.tenure.resumed().await
    }

    pub(crate) fn run<T>(&self, work: impl Future<Output = T>) -> impl Future<Output = Result<T, Stop>> {
        self.tenure.run(work)
    }

    fn removed(&self) -> Error {
        self.tenure.lose(LostReason::Removed);
        ErrorKind::Removed(self.path().to_owned()).into()
    }

    /// Replaces the data of this incarnation only.
    pub(crate) async fn set(&self, data: &[u8]) -> Result<(), Error> {
        operation!(target: TARGET, &self.zk, self.recipe, "set", self.path()).of(self.replace(data)).await
    }

    async fn replace(&self, data: &[u8]) -> Result<(), Error> {
        let (zk, path) = (&self.zk, self.path());
        path::validate_size(zk.max_request_bytes(), path, data)?;
        let mut stat = None;
        loop {
            let status = connected(zk).await?;
            let found = match stat.take() {
                Some(stat) => Ok(Some(stat)),
                None => zk.exists(path).await,
            };
            let version = match unless_again(zk, status, found).await? {
                Some(Some(stat)) if stat.czxid == self.czxid => stat.version,
                Some(_) => return Err(self.removed()),
                None => continue,
            };
            match zk.set(path, data, Some(version)).await {
                Ok(stat) if stat.czxid == self.czxid => return Ok(()),
                Ok(_) | Err(Error { kind: ErrorKind::NoNode, .. }) => return Err(self.removed()),
                Err(e) if e.is_bad_version() => {}
                Err(e) if e.is_retryable_refusal() => again(zk, status, e).await?,
                Err(e) if e.is_connection_loss() => {
                    // Retried if the write was not applied, or if another client has written since.
                    stat = barrier_read::stat(zk, path).await.map_err(Error::while_in_doubt)?;
                    let written = stat
                        .is_some_and(|now| now.czxid == self.czxid && now.version == version.wrapping_add(1));
                    if written && self.holds(data).await.map_err(Error::while_in_doubt)? {
                        return Ok(());
                    }
                }
                Err(e) => return Err(e),
            }
        }
    }

    async fn holds(&self, data: &[u8]) -> Result<bool, Error> {
        let found = present(until_answered(&self.zk, || self.zk.get(self.path())).await)?;
        Ok(found.is_some_and(|found| found.stat.czxid == self.czxid && found.data == data))
    }

    /// Step 4. Reads first, so that only the own incarnation is deleted.
    pub(crate) async fn release(self, until: Option<Time>) -> Result<Released, Error> {
        let (zk, path) = (self.zk.clone(), self.path().to_owned());
        operation!(target: TARGET, &zk, self.recipe, "release", &path)
            .telling(within(&zk, until, self.give_back()))
            .await
    }

    async fn give_back(mut self) -> Result<Released, Error> {
        // Whether a delete was sent that may have been applied.
        let mut tried = false;
        let lost = self.was_lost();
        let released = loop {
            match self.try_release(&mut tried).await {
                Ok(true) => break lost.map_or(Released::Clean, Released::WasLost),
                Ok(false) => break Released::WasLost(lost.unwrap_or(LostReason::Removed)),
                Err(e) if e.is_session_over() => {
                    break Released::WasLost(lost.unwrap_or(LostReason::SessionOver));
                }
                Err(Error { kind: ErrorKind::ConnectionLoss | ErrorKind::BadVersion, .. }) => {}
                Err(e) => return Err(if tried { e.while_in_doubt() } else { e }),
            }
        };
        self.is_released();
        Ok(released)
    }

    /// Step 4 in one request, while the hold is confirmed: as long as the session lives the znode is ours, unless another
    /// client deletes it against the rules.
    pub(crate) async fn leave(self, until: Option<Time>) -> Result<Released, Error> {
        let (zk, path) = (self.zk.clone(), self.path().to_owned());
        operation!(target: TARGET, &zk, self.recipe, "leave", &path)
            .telling(within(&zk, until, self.give_back_at_once()))
            .await
    }

    async fn give_back_at_once(mut self) -> Result<Released, Error> {
        let status = self.zk.status();
        if self.state() == HoldState::Held && status.is_connected() {
            match self.zk.delete(self.path(), None).await {
                Ok(()) => {
                    self.is_released();
                    return Ok(Released::Clean);
                }
                Err(e) if e.is_no_node() => {
                    self.is_released();
                    return Ok(Released::WasLost(LostReason::Removed));
                }
                Err(e) if e.is_connection_loss() => {
                    // A barrier read tells whether it was deleted; if not, nothing of this request is left to come.
                    if reconnected(&self.zk, status).await.is_ok() {
                        match barrier_read::stat(&self.zk, self.path()).await {
                            Ok(stat) if stat.is_none_or(|stat| stat.czxid != self.czxid) => {
                                self.is_released();
                                return Ok(Released::Clean);
                            }
                            _ => {}
                        }
                    }
                }
                // `give_back` reads first, and retries for as long as it takes.
                Err(e) if e.is_retryable_refusal() => drop(again(&self.zk, status, e).await),
                Err(e) if e.is_session_over() => drop(e),
                Err(e) => return Err(e),
            }
        }
        self.give_back().await
    }

    fn was_lost(&self) -> Option<LostReason> {
        match self.state() {
            HoldState::Lost(reason) => Some(reason),
            _ => None,
        }
    }

    /// Returns whether the claim lasted to the end. `ConnectionLoss` and `BadVersion` mean: try again.
    async fn try_release(&self, tried: &mut bool) -> Result<bool, Error> {
        let (zk, path) = (&self.zk, self.path());
        let status = connected(zk).await?;
        let found = match *tried {
            // A delete may be in flight, with the next owner's create behind it.
            true => barrier_read::stat(zk, path).await,
            false => zk.exists(path).await,
        };
        let version = match found {
            Ok(Some(stat)) if stat.czxid == self.czxid => stat.version,
            Ok(_) => return Ok(*tried),
            Err(e) if e.is_transient() => {
                again(zk, status, e).await?;
                return Err(ErrorKind::ConnectionLoss.into());
            }
            Err(e) => return Err(e),
        };
        match zk.delete(path, Some(version)).await {
            Ok(()) => Ok(true),
            Err(e) if e.is_no_node() => Ok(*tried),
            Err(e) if e.is_transient() => {
                *tried |= e.is_outcome_unknown();
                again(zk, status, e).await?;
                Err(ErrorKind::ConnectionLoss.into())
            }
            Err(e) => Err(e),
        }
    }

    fn is_released(&mut self) {
        if let Some(armed) = self.tenure.take_duty() {
            armed.done();
        }
    }
}
