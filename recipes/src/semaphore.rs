//! A semaphore: a number of permits, granted in the order of the requests.
//!
//! Waiters are znodes in `<s>/line`, holders in `<s>/held`. The number of permits is in the name of a znode below `held`: a list
//! of `held` tells how many there are and how many are taken, and a watch on it also reports a change of the number.
//!
//! 1. Join: create an ephemeral sequential znode in `line`, pipelined with lists of `line` and `held`.
//! 2. Not first in line: watch the znode just ahead, and only that one; look again when it goes.
//! 3. First in line: list `held`. If enough permits are free, one transaction checks that the number of permits is still the
//!    one that was read, deletes the waiter's znode, creates the holder's, and writes `held`: the zxid is the fencing token.
//! 4. Otherwise watch `held`, and list it again when it changes. A release wakes the first in line alone.
//! 5. Release: delete the own znode in `held`.
//! 6. Another number of permits: one transaction deletes the znode that names the old one, and creates the other.
//!
//! Never more than there are permits: only the first in line adds to `held`, and its grant takes it out of the line. So between
//! its list of `held` and its grant permits can only be given back, or their number be changed, which refuses the transaction.
//!
//! ```text
//! <s>/line/<guid>-<m>-permits-<n>    a waiter that wants m permits
//! <s>/held/<guid>-<m>-permits        a holder of m permits
//! <s>/held/permits-<k>               there are k permits
//! ```
//!
//! ZooKeeper's recipes page has no semaphore. Curator's and Kazoo's take an inner lock, count, and create a lease: the lock may
//! be lost before the lease is created.

use crate::call::{Call, Work};
use crate::guard::{Guard, Permits};
use crate::observe::{self, operation};
use crate::parts::contenders::{ContenderList, Contenders, Joining, OwnContender, Seen};
use crate::parts::naming::{Marks, Role};
use crate::parts::owned_node::OwnedNode;
use crate::parts::parents::{Parents, behind};
use crate::parts::promotion::{self, Promotion, delete};
use crate::parts::retry::{Doubt, again, connected, present, unless_again, until_answered};
use crate::parts::select::{while_connected, within};
use crate::parts::setters::setters;
use crate::parts::tenure::{Grant, OnSuspect, RunUntil, Tenure, margin_in};
use crate::zk::duty::{answered, settle};
use crate::zk::{CreateMode, Duty, Error, ErrorKind, Guid, Listing, Op, ZooKeeper, path};
use std::time::Duration;

const RECIPE: &str = "semaphore";

/// What names have behind the number of permits.
const INFIX: &str = "-permits";

/// The name of the znode that tells the number of permits begins with this.
const TOTAL: &str = "permits-";

/// Every waiter waits for those ahead.
const EVERYBODY: fn(Role) -> bool = |_| true;

/// Options of a semaphore. By default: containers, [`OnSuspect::Stop`], a tenth of the timeout as margin, no data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SemaphoreOptions {
    /// How missing directories are created. `held` and the number of permits below it are persistent.
    pub parents: Parents,
    /// The policy of a holder while the connection is lost.
    pub on_suspect: OnSuspect,
    /// How long before the end of the session the holder stops: at most half of the session timeout; `None` for a tenth.
    /// The margin covers clock drift over one timeout and the time that the holder takes to stop.
    pub margin: Option<Duration>,
    /// Data of the waiter's and the holder's znode, for operators: the client's address, for example.
    pub data: Vec<u8>,
}

setters!(SemaphoreOptions {
    with_parents(parents: Parents),
    with_on_suspect(on_suspect: OnSuspect),
    with_margin(margin: Option<Duration>, into),
    with_data(data: Vec<u8>, into),
});

/// A client that holds permits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermitHolder {
    /// The full path of its znode.
    pub path: String,
    /// The number of permits that it holds.
    pub permits: u32,
}

/// A number of permits on a directory.
///
/// The number of permits is kept in ZooKeeper. The one that [`new`](Self::new) is given counts for the first client; for the
/// others [what is there](Self::permits) counts, until somebody [changes](Self::set_permits) it for all.
///
/// # Promises
///
/// * *Never more.* No grant makes the permits that are held more than there are at that moment.
/// * *All or none.* A request for several permits is granted by one transaction.
/// * *Belief.* A guard may act only while its znode exists, under the conditions of [`Lock`](crate::Lock).
/// * *Order.* Grants follow the order in which the waiters' znodes were created, also if a later request asks for fewer.
/// * *No thundering herd.* One release wakes at most one waiter.
/// * *No leaks.* However an acquire ends without a guard, its znodes are deleted, at the latest by the expiry of the session.
///
/// Not promised: exclusion by [token](Guard::token) alone, since several clients hold at once; tokens grow in the order of the
/// grants. When the number is made smaller, those who hold keep what they have.
///
/// # Cost
///
/// With a free permit: four requests in two round trips, and one to release. Waiting: one watch at a time, on the znode just ahead
/// and then on `held`. When it fires: two requests, for two lists, or for a list and the grant.
///
/// # Examples
///
/// ```
/// use zk_recipes::{Semaphore, SemaphoreOptions};
///
/// # sim_zk::doc_example(|zk| async move {
/// let slots = Semaphore::new(&zk, "/batch/slots", 3, SemaphoreOptions::default())?;
/// let one = slots.acquire(1).await?;
/// let two = slots.acquire(2).await?;
/// assert!(slots.try_acquire(1).await?.is_none());
/// two.release().await?;
/// assert!(slots.try_acquire(1).await?.is_some());
/// one.release().await?;
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Semaphore<Z: ZooKeeper> {
    zk: Z,
    directory: String,
    /// The number for the first client.
    permits: u32,
    contenders: Contenders,
    held: String,
    options: SemaphoreOptions,
}

/// What a list of `held` tells.
struct Room {
    /// The number of permits; `None` if no znode tells it.
    permits: Option<u32>,
    /// The number of permits that are held.
    taken: u64,
}

impl Room {
    fn of(listing: &Listing) -> Room {
        Room {
            // Of several, which other clients have made, all take the smallest.
            permits: totals_in(listing).min(),
            taken: listing.names.iter().filter_map(|name| permits_in(name)).map(u64::from).sum(),
        }
    }
}

/// The numbers of permits that the names in a list of `held` tell.
fn totals_in(listing: &Listing) -> impl Iterator<Item = u32> {
    // A name that differs from the one that a grant checks counts for nothing.
    let total = |name: &String| {
        let permits = name.strip_prefix(TOTAL)?.parse().ok()?;
        (*name == total_name(permits)).then_some(permits)
    };
    listing.names.iter().filter_map(total)
}

fn total_name(permits: u32) -> String {
    format!("{TOTAL}{permits}")
}

/// The number of permits in the name of a holder's znode.
fn permits_in(name: &str) -> Option<u32> {
    name.strip_suffix(INFIX)?.rsplit_once('-')?.1.parse().ok()
}

fn bad_input(why: impl Into<String>) -> Error {
    ErrorKind::BadInput(why.into()).into()
}

/// A waiter in line, and what it read behind its create.
struct Waiter {
    contender: OwnContender,
    /// The name of the znode that will stand for its hold.
    name: String,
    line: Option<ContenderList>,
    /// The list of `held`; the inner `None`: it is missing.
    held: Option<Option<Listing>>,
}

impl<Z: ZooKeeper> Semaphore<Z> {
    /// The semaphore on `directory`; `permits` is their number if there is none yet. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: no permits; the path is not absolute, is the root, lies in ZooKeeper's own directory, or violates
    /// ZooKeeper's path rules; the data do not fit into a request; the margin is greater than half of the session timeout.
    pub fn new(zk: &Z, directory: &str, permits: u32, options: SemaphoreOptions) -> Result<Self, Error> {
        path::validate_directory(directory)?;
        some(permits)?;
        margin_in(zk, options.margin)?;
        let (line, held) = (path::join(directory, "line"), path::join(directory, "held"));
        let contenders =
            Contenders { directory: line, marks: Marks::standard(&["-permits-"]), parents: options.parents };
        let semaphore =
            Semaphore { zk: zk.clone(), directory: directory.to_owned(), permits, contenders, held, options };
        // A grant is the longest request.
        let name = format!("{}-{}{INFIX}", Guid(0), u32::MAX);
        let waiter = path::join(&semaphore.contenders.directory, &format!("{name}-{}", i32::MIN));
        let longest = semaphore.grant_ops(u32::MAX, &waiter, &path::join(&semaphore.held, &name));
        path::validate_total(zk.max_request_bytes(), &longest, || {
            format!("{} bytes of data make", semaphore.options.data.len())
        })?;
        Ok(semaphore)
    }

    /// Waits for so many permits.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up: its znodes are deleted in the background, even while a reply is in flight, and the watch is
    /// removed. Nothing is sent before the first poll.
    ///
    /// An unpolled future blocks no other call, but its znode stays in line: those behind it wait for it. Drop it to give up.
    ///
    /// # When the connection is lost
    ///
    /// The place in line, or among the holders, lasts as long as the session. The outcome of a lost reply is found out.
    ///
    /// # With a limit
    ///
    /// When it is over, the error is [`Error::is_timed_out`], and the clean-up is under way.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`] for no permits, and for more than there are, also when their number becomes smaller while it waits;
    /// [`Error::is_session_over`]; [`Error::is_removed`] when another client deleted its znode; [`Error::is_denied`]; with
    /// [`Parents::MustExist`] also [`Error::is_no_node`]; [`Error::is_bad_input`] when a reconnect has made the session timeout too
    /// short for the margin.
    pub fn acquire(&self, permits: u32) -> Call<Z, impl Work<Output = Result<Guard<Z, Permits>, Error>>> {
        Call::new(&self.zk, move |until| {
            operation!(&self.zk, RECIPE, "acquire", &self.directory).of(within(
                &self.zk,
                until,
                self.wait_for(permits),
            ))
        })
    }

    /// Takes so many permits if nobody waits and they are free at the first look; `None` otherwise, and after a connection loss.
    ///
    /// # Cancellation
    ///
    /// As [`acquire`](Self::acquire), also when it gives up by itself.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire); [`Error::is_retryable_refusal`] when an overloaded server has refused requests for a third of
    /// the session timeout: nothing is leaked.
    pub async fn try_acquire(&self, permits: u32) -> Result<Option<Guard<Z, Permits>>, Error> {
        let attempt = while_connected(&self.zk, self.take_if_free(permits));
        operation!(&self.zk, RECIPE, "try_acquire", &self.directory).attempt(attempt).await
    }

    /// Reads the number of permits; that of [`new`](Self::new) if there is no semaphore yet. The number may be stale.
    ///
    /// # When the connection is lost
    ///
    /// The request is sent again.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`], [`Error::is_denied`].
    pub async fn permits(&self) -> Result<u32, Error> {
        let reading = until_answered(&self.zk, || self.zk.children(&self.held));
        let listing =
            operation!(&self.zk, RECIPE, "permits", &self.directory).of(async { present(reading.await) });
        Ok(listing.await?.and_then(|listing| Room::of(&listing).permits).unwrap_or(self.permits))
    }

    /// Changes the number of permits for all clients. Waiters see it at once; those who hold keep what they have.
    ///
    /// # Cancellation
    ///
    /// After a drop it may or may not be changed, once, and not after the end of the session.
    ///
    /// # When the connection is lost
    ///
    /// The number is read behind a settling write. Unless it is the given one, the change is made again, also over the change that
    /// another client has made meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`] for no permits; [`Error::is_session_over`]: the outcome is unknown; [`Error::is_denied`]; with
    /// [`Parents::MustExist`] also [`Error::is_no_node`].
    pub async fn set_permits(&self, permits: u32) -> Result<(), Error> {
        operation!(&self.zk, RECIPE, "set_permits", &self.directory).of(self.change(permits)).await
    }

    /// Lists the clients that hold permits, in no order. The list may be stale.
    ///
    /// # Errors
    ///
    /// [`Error::is_transient`], [`Error::is_session_over`], [`Error::is_denied`].
    pub async fn holders(&self) -> Result<Vec<PermitHolder>, Error> {
        let names = present(self.zk.children(&self.held).await)?.map_or(Vec::new(), |listing| listing.names);
        let holder = |name: &String| {
            Some(PermitHolder { permits: permits_in(name)?, path: path::join(&self.held, name) })
        };
        Ok(names.iter().filter_map(holder).collect())
    }

    async fn wait_for(&self, permits: u32) -> Result<Guard<Z, Permits>, Error> {
        let mut waiter = self.join(permits).await?;
        // Step 2.
        let line = waiter.line.take();
        let at_once = self.contenders.wait_turn(&self.zk, &waiter.contender, line, EVERYBODY).await?;
        let mut seen = waiter.held.take().filter(|_| at_once);
        // Who comes from behind has seen the permit go that it waits for.
        let mut arms = !at_once;
        loop {
            let (listing, watch) = match seen.take() {
                Some(listing) => (listing, None),
                None => self.look(arms).await?,
            };
            let Some(room) = self.room(listing.as_ref()).await? else {
                arms = false;
                continue;
            };
            match (is_enough(&room, permits)?, watch) {
                (true, watch) => {
                    drop(watch);
                    arms = false;
                    if let Some(tenure) = self.grant(&mut waiter, &room).await? {
                        return self.guard(waiter, tenure).await;
                    }
                }
                (false, Some(watch)) => {
                    observe::waits(&self.held);
                    watch.await?;
                    arms = false;
                }
                (false, None) => arms = true,
            }
        }
    }

    async fn take_if_free(&self, permits: u32) -> Result<Option<Guard<Z, Permits>>, Error> {
        let mut waiter = self.join(permits).await?;
        let line = waiter.line.take();
        if !self.contenders.is_turn(&self.zk, &waiter.contender, line, EVERYBODY).await? {
            return Ok(None);
        }
        let mut seen = waiter.held.take();
        loop {
            let listing = match seen.take() {
                Some(listing) => listing,
                None => self.look(false).await?.0,
            };
            let Some(room) = self.room(listing.as_ref()).await? else { continue };
            if !is_enough(&room, permits)? {
                return Ok(None);
            }
            if let Some(own) = self.grant(&mut waiter, &room).await? {
                return self.guard(waiter, own).await.map(Some);
            }
        }
    }

    /// Step 1.
    async fn join(&self, permits: u32) -> Result<Waiter, Error> {
        some(permits)?;
        margin_in(&self.zk, self.options.margin)?;
        let zk = &self.zk;
        let guid = zk.guid();
        let name = format!("{guid}-{permits}{INFIX}");
        let prefix = format!("{name}-");
        let look = || {
            // In this order: the holders are listed when the line is known.
            let (line, held) = (zk.children(&self.contenders.directory), zk.children(&self.held));
            async { Ok((line.await?, present(held.await)?)) }
        };
        let entry = Joining { guid, prefix: &prefix, data: &self.options.data };
        let joined = self.contenders.join_as(zk, entry, look).await?;
        let contender = joined.contender;
        Ok(match joined.seen {
            Seen::Answered((line, held), connection) => {
                let line = Some(ContenderList { names: line.names, connection });
                Waiter { contender, name, line, held: Some(held) }
            }
            Seen::Found(line) => Waiter { contender, name, line: Some(line), held: None },
            Seen::Lost => Waiter { contender, name, line: None, held: None },
        })
    }

    /// Lists `held`, with a watch if it `arms` one; none of both if it is missing.
    async fn look(&self, arms: bool) -> Result<(Option<Listing>, Option<Z::Watch>), Error> {
        loop {
            let status = connected(&self.zk).await?;
            let answer = match arms {
                true => self.zk.children_watch(&self.held).await.map(|(list, watch)| (list, Some(watch))),
                false => self.zk.children(&self.held).await.map(|list| (list, None)),
            };
            if let Some(found) = unless_again(&self.zk, status, present(answer)).await? {
                return Ok(found.map_or((None, None), |(listing, watch)| (Some(listing), watch)));
            }
        }
    }

    /// What a list of `held` tells. `None`: nothing told the number of permits, and that of the first client was made.
    async fn room(&self, held: Option<&Listing>) -> Result<Option<Room>, Error> {
        if let Some(room) = held.map(Room::of).filter(|room| room.permits.is_some()) {
            return Ok(Some(room));
        }
        let status = connected(&self.zk).await?;
        match self.make(held, self.permits).await {
            Ok(_) => Ok(None),
            Err(e) => again(&self.zk, status, e).await.map(|()| None),
        }
    }

    /// Makes a number of permits known, with the directory of holders if that is missing too. Of clients with different numbers
    /// one succeeds. Returns whether this one has.
    async fn make(&self, held: Option<&Listing>, permits: u32) -> Result<bool, Error> {
        let zk = &self.zk;
        let first = match held {
            None => self.create(self.held.clone()),
            Some(held) => {
                Op::Set { path: self.held.clone(), data: Vec::new(), version: Some(held.stat.version) }
            }
        };
        let making = match held {
            None => Some(self.options.parents.make_for(zk, &self.held)?),
            Some(_) => None,
        };
        match behind(making, zk.multi(vec![first, self.create(self.total(permits))])).await? {
            Ok(_) => Ok(true),
            // Another client has made it, or deleted the directory. The next list tells.
            Err(e) if is_refused(&e) => Ok(false),
            Err(e) => Err(e),
        }
    }

    fn create(&self, path: String) -> Op {
        Op::Create { path, data: Vec::new(), mode: CreateMode::Persistent }
    }

    /// The znode that tells a number of permits.
    fn total(&self, permits: u32) -> String {
        path::join(&self.held, &total_name(permits))
    }

    /// The transaction that grants, by the number of permits and the paths of the waiter's and the holder's znode.
    fn grant_ops(&self, permits: u32, waiter: &str, holder: &str) -> Vec<Op> {
        let data = self.options.data.clone();
        vec![
            Op::Check { path: self.total(permits), version: None },
            delete(waiter, None),
            Op::Create { path: holder.to_owned(), data, mode: CreateMode::Ephemeral },
            Op::Set { path: self.held.clone(), data: Vec::new(), version: None },
        ]
    }

    /// Step 3. `None`: the number of permits was changed, or nothing was applied.
    async fn grant(&self, waiter: &mut Waiter, room: &Room) -> Result<Option<(OwnedNode<Z>, i64)>, Error> {
        let zk = &self.zk;
        let status = connected(zk).await?;
        let held = path::join(&self.held, &waiter.name);
        let ops = self.grant_ops(room.permits.unwrap_or(self.permits), &waiter.contender.path, &held);
        let contender = &mut waiter.contender;
        let mut promotion = Promotion { directory: &self.directory, contender, held: &held };
        promotion.begin();
        let own = OwnedNode::new(zk, held.clone(), None, None);
        let answer = zk.multi(ops).await;
        match promotion.outcome(zk, status, answer).await {
            Ok(token) => Ok(token.map(|token| (own, token))),
            Err(Error { kind: ErrorKind::Multi { index: 1, cause }, .. }) if *cause == ErrorKind::NoNode => {
                Err(ErrorKind::Removed(waiter.contender.path.clone()).into())
            }
            Err(e) if is_refused(&e) => Ok(None),
            Err(e) => again(zk, status, e).await.map(|()| None),
        }
    }

    async fn guard(
        &self,
        waiter: Waiter,
        (own, token): (OwnedNode<Z>, i64),
    ) -> Result<Guard<Z, Permits>, Error> {
        let OwnContender { mut armed, .. } = waiter.contender;
        let path = own.path().to_owned();
        armed.narrow(Duty::Path(path.clone()));
        promotion::confirm(&self.zk, &own).await?;
        let (holder, options) = (OwnContender { path, czxid: token, armed }, &self.options);
        let (on_suspect, margin) = (options.on_suspect, options.margin);
        let grant = Grant::of_contender(&self.zk, RECIPE, holder, &options.data, on_suspect, margin)?;
        Ok(Guard::new(Tenure::of(&self.zk, own, grant), self.contenders.marks, RunUntil::Lost))
    }

    /// Step 6.
    async fn change(&self, permits: u32) -> Result<(), Error> {
        some(permits)?;
        let zk = &self.zk;
        let mut doubt = Doubt::default();
        loop {
            let status = connected(zk).await?;
            let is_settled = doubt.is_there();
            let settled = is_settled.then(|| settle(zk, &self.directory));
            let listing = zk.children(&self.held);
            let answer = answered(settled).await;
            let listing = match answer.and(present(listing.await)) {
                Ok(listing) => listing,
                Err(e) => {
                    doubt.again(zk, status, e).await?;
                    continue;
                }
            };
            let before: Vec<u32> = listing.iter().flat_map(totals_in).collect();
            let ops = match &before[..] {
                [] => {
                    let status = connected(zk).await?;
                    match self.make(listing.as_ref(), permits).await {
                        Ok(true) => return Ok(()),
                        Ok(false) => {}
                        Err(e) => doubt.again(zk, status, e).await?,
                    }
                    continue;
                }
                [same] if *same == permits && is_settled => return Ok(()),
                // The list may be stale, and the number another one by now.
                [same] if *same == permits => vec![Op::Check { path: self.total(permits), version: None }],
                before => {
                    let others = before.iter().filter(|number| **number != permits);
                    let mut ops: Vec<Op> = others.map(|number| delete(&self.total(*number), None)).collect();
                    if !before.contains(&permits) {
                        ops.push(self.create(self.total(permits)));
                    }
                    ops
                }
            };
            match zk.multi(ops).await {
                Ok(_) => return Ok(()),
                Err(e) if is_refused(&e) => {}
                Err(e) => doubt.again(zk, status, e).await?,
            }
        }
    }
}

fn some(permits: u32) -> Result<(), Error> {
    if permits == 0 { Err(bad_input("0 permits: at least one is wanted")) } else { Ok(()) }
}

/// Whether a request for `wanted` permits can be granted.
///
/// # Errors
///
/// `BadInput` if there are not so many.
fn is_enough(room: &Room, wanted: u32) -> Result<bool, Error> {
    let permits = room.permits.unwrap_or(0);
    if wanted > permits {
        return Err(bad_input(format!("{wanted} permits are wanted, and the semaphore has {permits}")));
    }
    Ok(room.taken + u64::from(wanted) <= u64::from(permits))
}

/// Whether a transaction was refused because of what is in the tree.
fn is_refused(error: &Error) -> bool {
    match &error.kind {
        ErrorKind::Multi { cause, .. } => {
            matches!(cause.kind, ErrorKind::NoNode | ErrorKind::NodeExists | ErrorKind::BadVersion)
        }
        _ => false,
    }
}
