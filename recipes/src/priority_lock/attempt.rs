//! One attempt at a priority lock: steps 1 to 5.

use super::node_names::{self, ContenderName};
use super::{Preempt, Priority, PriorityLock, WORD};
use crate::observe;
use crate::parts::contenders::{Joining, OwnContender, Seen, czxids, is_good};
use crate::parts::naming::{READ, Role};
use crate::parts::owned_node::OwnedNode;
use crate::parts::parents::behind;
use crate::parts::promotion::{self, Promotion, delete};
use crate::parts::retry::{again, connected, until_answered};
use crate::parts::revoke;
use crate::parts::select::first;
use crate::parts::tenure::{Grant, Tenure, margin_in};
use crate::shared_lock::conflicts;
use crate::zk::{CreateMode, Duty, Error, ErrorKind, Listing, Op, Stat, Status, Time, ZooKeeper, path};
use futures_util::FutureExt;
use futures_util::future::{Either, try_join_all};
use std::cmp::Ordering;
use std::future::Future;

/// The reads of one look. The gates are read before the holders, so every grant to another client is either listed or
/// refuses the next transaction at the gates.
pub(super) struct View {
    /// The version that every writer's grant changes.
    writers: i32,
    /// The version that every reader's grant changes.
    readers: i32,
    waiting: Vec<String>,
    /// `None`: the directory is missing.
    held: Option<Vec<String>>,
}

/// The verdict of a look.
enum Turn {
    /// No contender or holder conflicts.
    Ours,
    /// This contender goes first.
    Behind(String),
    /// These holders conflict; no contender goes first.
    Blocked(Vec<(String, Priority)>),
}

/// A holder that was asked to release.
struct Asked {
    path: String,
    /// The end of its grace period, if it will be forced.
    until: Option<Time>,
}

/// An attempt: the own contender, until the grant.
pub(super) struct Attempt<'a, Z: ZooKeeper> {
    lock: &'a PriorityLock<Z>,
    role: Role,
    priority: Priority,
    contender: OwnContender,
    /// The znode that will stand for the hold.
    held: String,
    /// Watched from the first wait on.
    own: Option<OwnedNode<Z>>,
    asked: Vec<Asked>,
}

/// Step 2: the three reads, in this order, pipelined.
pub(super) fn look<Z: ZooKeeper>(
    lock: &PriorityLock<Z>,
) -> impl Future<Output = Result<View, Error>> + Send + use<Z> {
    let gate = lock.zk.exists(&lock.directory);
    let waiting = lock.zk.children(&lock.contenders.directory);
    let held = lock.zk.children(&lock.held);
    async move {
        let writers = gate.await?.ok_or(ErrorKind::NoNode)?.version;
        let Listing { names: waiting, stat: Stat { version: readers, .. } } = waiting.await?;
        let held = match held.await {
            Ok(listing) => Some(listing.names),
            Err(e) if e.is_no_node() => None,
            Err(e) => return Err(e),
        };
        Ok(View { writers, readers, waiting, held })
    }
}

impl<'a, Z: ZooKeeper> Attempt<'a, Z> {
    /// Steps 1 to 5, until the grant.
    pub(super) async fn run(
        lock: &'a PriorityLock<Z>,
        role: Role,
        priority: Priority,
    ) -> Result<Tenure<Z>, Error> {
        margin_in(&lock.zk, lock.options.margin)?;
        let guid = lock.zk.guid();
        let name = node_names::held(guid, role, priority);
        let prefix = format!("{name}-");
        let entry = Joining { guid, prefix: &prefix, data: &lock.options.data };
        let joined = lock.contenders.join_as(&lock.zk, entry, || look(lock)).await?;
        let mut seen = match joined.seen {
            Seen::Answered(view, _) => Some(view),
            Seen::Found(_) | Seen::Lost => None,
        };
        let (contender, held) = (joined.contender, path::join(&lock.held, &name));
        let mut attempt = Attempt { lock, role, priority, contender, held, own: None, asked: Vec::new() };
        loop {
            let view = match seen.take() {
                Some(view) => view,
                None => attempt.look().await?,
            };
            let status = connected(&lock.zk).await?;
            match attempt.judge(&view).await {
                Ok(Turn::Ours) => {
                    if let Some((own, token)) = attempt.grant(&view).await? {
                        return attempt.into_tenure(own, token).await;
                    }
                }
                Ok(Turn::Behind(nearest)) => attempt.wait_behind(&nearest).await?,
                Ok(Turn::Blocked(holders)) => attempt.wait_for(&holders).await?,
                Err(e) => again(&lock.zk, status, e).await?,
            }
        }
    }

    fn removed(&self) -> Error {
        ErrorKind::Removed(self.contender.path.clone()).into()
    }

    async fn look(&self) -> Result<View, Error> {
        match until_answered(&self.lock.zk, || look(self.lock)).await {
            Err(e) if e.is_no_node() => Err(self.removed()),
            looked => looked,
        }
    }

    /// Step 2. A stale view is safe: the gates have changed, or the view only lists contenders that are gone.
    async fn judge(&self, view: &View) -> Result<Turn, Error> {
        let own_name = path::split(&self.contender.path).1;
        if !view.waiting.iter().any(|name| name == own_name) {
            return Err(self.removed());
        }
        let conflicts = conflicts(self.role);
        let own = ContenderName::read(own_name).ok_or_else(|| self.removed())?;
        let own_rank = own.rank(self.contender.czxid);
        // Worn numbers do not tell who of the more urgent is the nearest: two that take another for it are both woken by it.
        let unclear = |other: ContenderName| match other.priority.cmp(&own.priority) {
            Ordering::Less => !is_good(other.number),
            Ordering::Equal if is_good(other.number) => other.number == own.number,
            Ordering::Equal => !is_good(own.number),
            Ordering::Greater => false,
        };
        let mut nearest = None;
        let mut asked = Vec::new();
        for (index, name) in view.waiting.iter().enumerate() {
            let Some(who) = ContenderName::read(name) else { continue };
            if !conflicts(who.role) || name == own_name {
                continue;
            }
            match unclear(who) {
                false => nearest = nearest.max(Some((who.rank(0), index)).filter(|one| one.0 < own_rank)),
                true => asked.push((who, index)),
            }
        }
        for (who, index, czxid) in
            czxids(&self.lock.zk, &self.lock.contenders.directory, &view.waiting, asked).await?
        {
            nearest = nearest.max(Some((who.rank(czxid), index)).filter(|one| one.0 < own_rank));
        }
        if let Some((_, nearest)) = nearest {
            return Ok(Turn::Behind(path::join(&self.lock.contenders.directory, &view.waiting[nearest])));
        }
        let holder = |name: &String| {
            let (role, priority) = node_names::read_held(name)?;
            conflicts(role).then(|| (path::join(&self.lock.held, name), priority))
        };
        let mut holders: Vec<_> = view.held.iter().flatten().filter_map(holder).collect();
        holders.sort();
        Ok(if holders.is_empty() { Turn::Ours } else { Turn::Blocked(holders) })
    }

    /// The transaction of step 3. The contender's znode is deleted only if it is unwritten, so no revocation is lost.
    fn granting(&self, view: &View) -> Vec<Op> {
        let touch = |path: &str, version| Op::Set { path: path.to_owned(), data: Vec::new(), version };
        let check = |path: &str, version| Op::Check { path: path.to_owned(), version: Some(version) };
        let (whole, waiting) = (&self.lock.directory, &self.lock.contenders.directory);
        // No writer was granted since the look; for a writer, no reader either.
        let gates = match self.role {
            READ => [check(whole, view.writers), touch(waiting, None)],
            _ => [touch(whole, Some(view.writers)), check(waiting, view.readers)],
        };
        let unread = self.own.as_ref().map_or(0, OwnedNode::version);
        let create = Op::Create {
            path: self.held.clone(),
            data: self.lock.options.data.clone(),
            mode: CreateMode::Ephemeral,
        };
        gates.into_iter().chain([delete(&self.contender.path, Some(unread)), create]).collect()
    }

    /// Step 3: returns the znode that stands for the hold, and the token. `None`: look again.
    async fn grant(&mut self, view: &View) -> Result<Option<(OwnedNode<Z>, i64)>, Error> {
        // The answer that says that it was asked to go may have come during the look.
        if let Some(error) = self.own.as_ref().and_then(|own| own.must_go().now_or_never()) {
            return Err(error);
        }
        let zk = &self.lock.zk.clone();
        let status = connected(zk).await?;
        let making = match &view.held {
            Some(_) => None,
            None => Some(self.lock.options.parents.make_for(zk, &self.held)?),
        };
        self.promotion().begin();
        let granting = zk.multi(self.granting(view));
        let own = self.watched_holder();
        let answer = behind(making, granting).await?;
        let is_lost = matches!(&answer, Err(e) if e.is_connection_loss());
        match self.promotion().outcome(zk, status, answer).await {
            Ok(token) => Ok(token.map(|token| (if is_lost { self.watched_holder() } else { own }, token))),
            Err(e) => self.refused(e, status).await.map(|()| None),
        }
    }

    fn promotion(&mut self) -> Promotion<'_> {
        let Attempt { lock, contender, held, .. } = self;
        Promotion { directory: &lock.directory, contender, held }
    }

    /// Watches the znode that stands for the hold, for revocations.
    fn watched_holder(&self) -> OwnedNode<Z> {
        let own = OwnedNode::new(&self.lock.zk, self.held.clone(), None, Some(WORD));
        own.watch_now();
        own
    }

    /// Certainly not granted. `Ok`: another client was granted the lock in between.
    async fn refused(&mut self, error: Error, status: Status) -> Result<(), Error> {
        match error {
            // The own contender was written to.
            Error { kind: ErrorKind::Multi { index: 2, cause }, .. } if *cause == ErrorKind::BadVersion => {
                let own = self.own_in_line();
                own.read(status).await;
                match (own.is_removed(), own.is_asked()) {
                    (true, _) => Err(self.removed()),
                    (_, true) => Err(ErrorKind::Revoked.into()),
                    _ => Ok(()),
                }
            }
            Error { kind: ErrorKind::Multi { cause, .. }, .. } if *cause == ErrorKind::BadVersion => Ok(()),
            // The directory of holders was deleted: the next look finds it missing.
            Error { kind: ErrorKind::Multi { index: 3, cause }, .. } if *cause == ErrorKind::NoNode => Ok(()),
            Error { kind: ErrorKind::Multi { cause, .. }, .. } if *cause == ErrorKind::NoNode => {
                Err(self.removed())
            }
            e => again(&self.lock.zk, status, e).await,
        }
    }

    /// Confirms the hold on the current connection: on another one it may be over already.
    async fn into_tenure(self, own: OwnedNode<Z>, token: i64) -> Result<Tenure<Z>, Error> {
        let Attempt { lock: PriorityLock { zk, options, .. }, contender, held, .. } = self;
        let mut armed = contender.armed;
        armed.narrow(Duty::Path(held.clone()));
        promotion::confirm(zk, &own).await?;
        let holder = OwnContender { path: held, czxid: token, armed };
        let (on_suspect, margin) = (options.on_suspect, options.margin);
        let grant = Grant::of_contender(zk, super::RECIPE, holder, &options.data, on_suspect, margin)?;
        Ok(Tenure::of(zk, own, grant))
    }

    fn own_in_line(&mut self) -> &OwnedNode<Z> {
        let Attempt { lock, contender, own, .. } = self;
        own.get_or_insert_with(|| {
            OwnedNode::new(&lock.zk, contender.path.clone(), Some(contender.czxid), Some(WORD))
        })
    }

    /// Step 4, behind another contender. A notification alone decides nothing: look again.
    async fn wait_behind(&mut self, nearest: &str) -> Result<(), Error> {
        let zk = self.lock.zk.clone();
        let status = connected(&zk).await?;
        let going = gone(&zk, status, nearest);
        match first(self.own_in_line().must_go(), going).await {
            Either::Left(error) => Err(error),
            Either::Right(gone) => gone,
        }
    }

    /// Steps 4 and 5, behind holders.
    async fn wait_for(&mut self, holders: &[(String, Priority)]) -> Result<(), Error> {
        let zk = self.lock.zk.clone();
        let status = connected(&zk).await?;
        self.own_in_line().watch_now();
        let going = gone(&zk, status, &holders[0].0);
        let mut asked = std::mem::take(&mut self.asked);
        let grace = match self.lock.options.preempt {
            // No holder is asked while an equally or more urgent one blocks as well.
            _ if holders.iter().any(|(_, priority)| *priority <= self.priority) => None,
            Preempt::Never => None,
            Preempt::Ask => Some(None),
            Preempt::Force { grace } => Some(Some(grace)),
        };
        let step = async {
            let Some(grace) = grace else { return going.await };
            let not_yet = holders.iter().filter(|(path, _)| asked.iter().all(|other| other.path != *path));
            let asking = not_yet.map(|(path, _)| async {
                let fate = revoke::ask(&zk, path, WORD).await?;
                let until = grace.map(|grace| zk.now() + grace);
                Ok::<_, Error>((fate == revoke::Fate::Asked).then(|| Asked { path: path.clone(), until }))
            });
            let now_asked = try_join_all(asking).await?;
            asked.extend(now_asked.into_iter().flatten());
            asked.retain(|one| holders.iter().any(|(path, _)| *path == one.path));
            let Some(until) = asked.iter().filter_map(|one| one.until).min() else { return going.await };
            if let Either::Left(gone) = first(going, zk.sleep_until(until)).await {
                return gone;
            }
            let is_due = |one: &&Asked| one.until.is_some_and(|due| due <= until);
            for one in asked.iter().filter(is_due) {
                revoke::remove(&zk, &one.path).await?;
            }
            Ok(())
        };
        let waited = first(self.own_in_line().must_go(), step).await;
        self.asked = asked;
        match waited {
            Either::Left(error) => Err(error),
            Either::Right(gone) => gone,
        }
    }
}

/// Watches a znode; resolves when it is gone, or when it is time to look again. Sends the request at the call.
fn gone<Z: ZooKeeper>(
    zk: &Z,
    status: Status,
    path: &str,
) -> impl Future<Output = Result<(), Error>> + Send + use<Z> {
    let (watching, zk, path) = (zk.children_watch(path), zk.clone(), path.to_owned());
    async move {
        match watching.await {
            Ok((_, watch)) => {
                observe::waits(&path);
                watch.await.map(drop)
            }
            Err(e) if e.is_no_node() => Ok(()),
            Err(e) => again(&zk, status, e).await,
        }
    }
}
