//! A name service: clients register names, and others resolve or follow them.
//!
//! 1. Register for a session: claim the name as an ephemeral. Register permanently: create it with a guid in front of the
//!    data, by which it is found after a lost reply.
//! 2. Unregister: delete the znode only if it is the registered one.
//! 3. Resolve: read it, as fresh as requested, in one round trip.
//! 4. Follow: read it with a watch, in a loop.
//! 5. Unique names: create a sequential znode with a guid in front, by which it is found after a lost reply.
//!
//! ZooKeeper's recipes page says that a name service needs no more than the API. That leaves to the caller that an existing
//! znode is not success, that a lost reply is not failure, and that another client may own a name by the time it is
//! unregistered.

mod permanent;

pub use permanent::PermanentName;

use crate::call::{Call, Work};
use crate::observe::{self, operation};
use crate::parts::barrier_read;
use crate::parts::claim::{ClaimRules, ClaimedName, Claims, claim};
use crate::parts::hold_methods::hold_methods;
use crate::parts::naming::number;
use crate::parts::parents::{Parents, behind};
use crate::parts::retry::{again, connected, present, reconnected, unless_again};
use crate::parts::select::within;
use crate::parts::setters::setters;
use crate::parts::tenure::{HoldState, LostReason, OnSuspect, Released, Stop, margin_in};
use crate::parts::watch_loop::{Updates, Versioned};
use crate::zk::duty::{answered, settle};
use crate::zk::{CreateMode, Data, Error, ErrorKind, Guid, ZooKeeper, path};
use std::time::Duration;

pub use crate::parts::claim::IfTaken;

const RECIPE: &str = "names";

/// Options of a name service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamesOptions {
    /// How a missing directory is created.
    pub parents: Parents,
    /// What to do when another client owns the name.
    pub if_taken: IfTaken,
    /// The policy of an owner while the connection is lost.
    pub on_suspect: OnSuspect,
    /// How long before the end of the session the owner stops: at most half of the session timeout; `None` for a tenth. The
    /// margin covers clock drift over one timeout and the time that the owner takes to stop.
    pub margin: Option<Duration>,
}

impl Default for NamesOptions {
    /// Containers, fail if the name is taken, stop when the connection is lost, a tenth of the timeout.
    fn default() -> Self {
        NamesOptions {
            parents: Parents::Container,
            if_taken: IfTaken::default(),
            on_suspect: OnSuspect::Stop,
            margin: None,
        }
    }
}

setters!(NamesOptions {
    with_parents(parents: Parents),
    with_if_taken(if_taken: IfTaken),
    with_on_suspect(on_suspect: OnSuspect),
    with_margin(margin: Option<Duration>, into),
});

/// The freshness of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Freshness {
    /// The state of the connected server, which may be stale.
    Local,
    /// At least what the leader had proposed when the connected server asked it. This is no quorum read (ZOOKEEPER-1675): a
    /// deposed leader that does not know of its deposition answers too.
    Synced,
    /// No older than the call: a settling write goes first.
    Latest,
}

/// The names in a directory.
///
/// # Promises
///
/// * *One owner.* A name has one live owner at a time. `Ok` means that this session owns the znode, or that the znode has
///   this registration's guid; [`Error::is_taken`] that another client owns it. A lost reply means neither.
/// * *Own znode only.* Unregistering deletes the registered znode, and no other of that name.
/// * *Lookups.* A value existed during the lookup, or is as fresh as requested.
/// * *No leaks.* However a registration for the session ends without a [`Registration`], its znode is deleted.
///
/// Not promised: that a [`Freshness::Local`] lookup is fresh; that the numbers of unique names stay unique when the
/// directory is deleted and recreated (their names and czxids do). All this assumes that no client deletes another's znode
/// between a read of the name and its deletion.
///
/// One session registers a name through one object: clone it instead of creating another for the same directory.
///
/// # Cost
///
/// Register: one request. Resolve: one, or two, pipelined. Unregister: two. Following: one request and one notification a
/// change, one watch.
///
/// # Examples
///
/// ```
/// use zk_recipes::names::{Freshness, Names, NamesOptions};
///
/// # sim_zk::doc_example(|zk| async move {
/// let names = Names::new(&zk, "/names", NamesOptions::default())?;
/// let registered = names.register("db", b"db-1:5432").await?;
/// let found = names.resolve("db", Freshness::Latest).await?.expect("it is registered");
/// assert_eq!(found.data, b"db-1:5432");
/// assert!(names.register("db", b"db-2:5432").await.is_err_and(|e| e.is_taken()));
/// registered.release().await?;
/// assert_eq!(names.resolve("db", Freshness::Local).await?, None);
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Names<Z: ZooKeeper> {
    zk: Z,
    directory: String,
    options: NamesOptions,
    claims: Claims,
}

/// A name that is never assigned twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueName {
    /// The name: a child of the directory.
    pub name: String,
    /// The number at its end. Past 2147483647 numbers repeat (ZOOKEEPER-4372); name and czxid stay unique.
    pub number: i32,
    /// The zxid of the transaction that created it: unique and growing.
    pub czxid: i64,
}

impl<Z: ZooKeeper> Names<Z> {
    /// The names in `directory`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`]: the path is not absolute, is the root, lies in ZooKeeper's own directory, or
    /// violates ZooKeeper's path rules; the margin is greater than half of the session timeout.
    pub fn new(zk: &Z, directory: &str, options: NamesOptions) -> Result<Self, Error> {
        path::validate_directory(directory)?;
        margin_in(zk, options.margin)?;
        let directory = directory.to_owned();
        Ok(Names { zk: zk.clone(), directory, options, claims: Claims::default() })
    }

    /// Registers a name until the registration is dropped or the session ends.
    ///
    /// A former session of this client counts as another client.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up: the znode is deleted in the background, after which the name can be registered again.
    /// Nothing is sent before the first poll.
    ///
    /// An unpolled future blocks no other call, but from its first poll on it counts as the owner of the name: another
    /// registration of that name through this object waits or fails, by [`IfTaken`]. Drop it to give up the name.
    ///
    /// # When the connection is lost
    ///
    /// After a lost reply the znode is looked for, and the create is retried only if it was not applied.
    ///
    /// # With a limit
    ///
    /// When it is over, the error is [`Error::is_timed_out`], and the clean-up is under way.
    ///
    /// # Errors
    ///
    /// [`Error::is_taken`] with [`IfTaken::Fail`]; [`Error::is_bad_input`] for a name that is
    /// empty, has a slash, or violates ZooKeeper's path rules, for data that do not fit into a request, and when a
    /// reconnect has made the session timeout too short for the margin; [`Error::is_session_over`];
    /// [`Error::is_denied`]; with [`Parents::MustExist`] also [`Error::is_no_node`].
    pub fn register(
        &self,
        name: &str,
        data: &[u8],
    ) -> Call<Z, impl Work<Output = Result<Registration<Z>, Error>>> {
        Call::new(&self.zk, move |until| async move {
            let path = znode(&self.directory, name)?;
            operation!(&self.zk, RECIPE, "register", &path)
                .of(within(&self.zk, until, self.claim(&path, data)))
                .await
        })
    }

    /// The same names, which share their claims with other objects of the session.
    pub(crate) fn with_claims(self, claims: Claims) -> Self {
        Names { claims, ..self }
    }

    async fn claim(&self, path: &str, data: &[u8]) -> Result<Registration<Z>, Error> {
        let terms = ClaimRules {
            recipe: RECIPE,
            parents: self.options.parents,
            if_taken: self.options.if_taken,
            has_permanent: true,
            twice: None,
            on_suspect: self.options.on_suspect,
            margin: self.options.margin,
        };
        claim(&self.zk, &self.claims, terms, path, data).await.map(|claimed| Registration { claimed })
    }

    /// Registers a name permanently: it outlives the session.
    ///
    /// # Cancellation
    ///
    /// The outcome of a dropped call is unknown: it is applied once or not at all, and not after the end of the
    /// session.
    ///
    /// # Errors
    ///
    /// [`Error::is_taken`] with [`IfTaken::Fail`]; [`Error::is_bad_input`] for a name that is
    /// empty, has a slash, or violates ZooKeeper's path rules, and for data that do not fit into a request;
    /// [`Error::is_session_over`]: the outcome is unknown; [`Error::is_denied`]; with [`Parents::MustExist`] also
    /// [`Error::is_no_node`].
    pub async fn register_permanent(&self, name: &str, data: &[u8]) -> Result<PermanentName<Z>, Error> {
        self.register_permanent_as(self.zk.guid(), name, data).await
    }

    /// The same under a guid of the caller's. A registration that has this guid already is returned as it is, also if its data
    /// differ: an owner that restarts with its guid finds its name.
    ///
    /// # Cancellation
    ///
    /// As [`register_permanent`](Self::register_permanent).
    ///
    /// # Errors
    ///
    /// As [`register_permanent`](Self::register_permanent).
    pub async fn register_permanent_as(
        &self,
        guid: Guid,
        name: &str,
        data: &[u8],
    ) -> Result<PermanentName<Z>, Error> {
        let path = znode(&self.directory, name)?;
        let content = with_guid(guid, data);
        let own = PermanentName { zk: self.zk.clone(), path: path.clone(), guid, czxid: 0 };
        operation!(&self.zk, RECIPE, "register_permanent", &path).of(self.create(own, &content)).await
    }

    async fn create(&self, own: PermanentName<Z>, content: &[u8]) -> Result<PermanentName<Z>, Error> {
        let mut is_missing = false;
        loop {
            let status = connected(&self.zk).await?;
            let making =
                if is_missing { Some(self.options.parents.make_for(&self.zk, &own.path)?) } else { None };
            let create = self.zk.create(&own.path, content, CreateMode::Persistent);
            is_missing = false;
            match behind(making, create).await? {
                Ok(created) => return Ok(own.of(&created.stat)),
                Err(e) if e.is_no_node() && self.options.parents != Parents::MustExist => is_missing = true,
                // The server that refuses it has it.
                Err(e) if e.is_node_exists() => match present(self.zk.get(&own.path).await) {
                    Ok(Some(found)) if own.is_ours(&found) => return Ok(own.of(&found.stat)),
                    Ok(Some(_)) => self.wait_for(&own.path).await?,
                    Ok(None) => {}
                    Err(e) => again(&self.zk, status, e).await?,
                },
                Err(e) if e.is_retryable_refusal() => again(&self.zk, status, e).await?,
                Err(e) if e.is_connection_loss() => {
                    match barrier_read::data(&self.zk, own.path()).await.map_err(Error::while_in_doubt)? {
                        Some(found) if own.is_ours(&found) => return Ok(own.of(&found.stat)),
                        Some(_) => self.wait_for(&own.path).await?,
                        None => {}
                    }
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// Returns the permanent registration of a name, if it has that guid: for a restarted owner.
    ///
    /// # Errors
    ///
    /// As [`resolve`](Self::resolve).
    pub async fn registered(&self, name: &str, guid: Guid) -> Result<Option<PermanentName<Z>>, Error> {
        let path = znode(&self.directory, name)?;
        let operation = operation!(&self.zk, RECIPE, "registered", &path);
        let found = operation.attempt(barrier_read::data(&self.zk, &path)).await?;
        let own = PermanentName { zk: self.zk.clone(), path, guid, czxid: 0 };
        Ok(found.filter(|found| own.is_ours(found)).map(|found| own.of(&found.stat)))
    }

    async fn wait_for(&self, path: &str) -> Result<(), Error> {
        if self.options.if_taken == IfTaken::Fail {
            return Err(ErrorKind::Taken(path.to_owned()).into());
        }
        let status = connected(&self.zk).await?;
        match self.zk.children_watch(path).await {
            Ok((_, watch)) => {
                observe::waits(path);
                watch.await.map(drop)
            }
            Err(e) if e.is_no_node() => Ok(()),
            Err(e) => again(&self.zk, status, e).await,
        }
    }

    /// Resolves a name; `None` if it is not registered.
    ///
    /// # When the connection is lost
    ///
    /// The request is retried.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`], [`Error::is_session_over`], [`Error::is_denied`].
    pub async fn resolve(&self, name: &str, freshness: Freshness) -> Result<Option<Versioned>, Error> {
        let path = znode(&self.directory, name)?;
        let found = look_up(&self.zk, &path, freshness);
        Ok(operation!(&self.zk, RECIPE, "resolve", &path).attempt(found).await?.map(shown))
    }

    /// Follows the registrations of a name. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`].
    pub fn follow(&self, name: &str) -> Result<Updates<Z>, Error> {
        Ok(Updates::new(&self.zk, RECIPE, znode(&self.directory, name)?, shown))
    }

    /// Creates a unique permanent name.
    ///
    /// # Cancellation
    ///
    /// After a drop the name may have been created; it is never reused.
    ///
    /// # When the connection is lost
    ///
    /// After a lost reply the znode is looked for by its guid, and the create is retried only if it was not applied.
    ///
    /// # Errors
    ///
    /// [`Error::is_bad_input`] for a prefix that is empty, has a slash, or violates ZooKeeper's path rules;
    /// [`Error::is_session_over`]: the outcome is unknown; [`Error::is_denied`]; with [`Parents::MustExist`] also
    /// [`Error::is_no_node`].
    pub async fn unique(&self, prefix: &str) -> Result<UniqueName, Error> {
        let beginning = format!("{}-{prefix}-", self.zk.guid());
        znode(&self.directory, prefix)?;
        let path = path::join(&self.directory, &beginning);
        let operation = operation!(&self.zk, RECIPE, "unique", &path);
        operation.of(self.create_unique(&beginning, &path)).await
    }

    async fn create_unique(&self, beginning: &str, path: &str) -> Result<UniqueName, Error> {
        let mut is_missing = false;
        loop {
            let status = connected(&self.zk).await?;
            let making = if is_missing { Some(self.options.parents.make_for(&self.zk, path)?) } else { None };
            let create = self.zk.create(path, &[], CreateMode::PersistentSequential);
            is_missing = false;
            match behind(making, create).await? {
                Ok(created) => return unique_name(beginning, &created.path, created.stat.czxid),
                Err(e) if e.is_no_node() && self.options.parents != Parents::MustExist => is_missing = true,
                Err(e) if e.is_retryable_refusal() => again(&self.zk, status, e).await?,
                Err(e) if e.is_connection_loss() => {
                    reconnected(&self.zk, status).await?;
                    if let Some((found, czxid)) = self.find(beginning).await.map_err(Error::while_in_doubt)? {
                        return unique_name(beginning, &found, czxid);
                    }
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// Finds the znode of a lost create, by a barrier read of the directory.
    async fn find(&self, beginning: &str) -> Result<Option<(String, i64)>, Error> {
        loop {
            let status = connected(&self.zk).await?;
            let (settled, list) = (settle(&self.zk, &self.directory), self.zk.children(&self.directory));
            let settled = answered(Some(settled)).await;
            let list = present(settled.and(list.await));
            let Some(list) = unless_again(&self.zk, status, list).await? else { continue };
            let Some(names) = list.map(|list| list.names) else { return Ok(None) };
            let Some(name) = names.iter().find(|name| name.starts_with(beginning)) else { return Ok(None) };
            let found = path::join(&self.directory, name);
            match self.zk.exists(&found).await {
                Ok(stat) => return Ok(stat.map(|stat| (found, stat.czxid))),
                Err(e) => again(&self.zk, status, e).await?,
            }
        }
    }
}

/// Reads a znode as fresh as that; `None` if there is none.
pub(crate) async fn look_up<Z: ZooKeeper>(
    zk: &Z,
    path: &str,
    freshness: Freshness,
) -> Result<Option<Data>, Error> {
    loop {
        let status = connected(zk).await?;
        let synced = (freshness == Freshness::Synced).then(|| zk.sync(path));
        let settled = (freshness == Freshness::Latest).then(|| settle(zk, path));
        let found = zk.get(path);
        let synced = match synced {
            Some(synced) => synced.await,
            None => Ok(()),
        };
        let settled = answered(settled).await;
        match synced.and(settled).and(found.await) {
            Ok(found) => return Ok(Some(found)),
            Err(e) if e.is_no_node() => return Ok(None),
            Err(e) => again(zk, status, e).await?,
        }
    }
}

/// Returns the znode of a name, one level below the directory.
pub(crate) fn znode(directory: &str, name: &str) -> Result<String, Error> {
    if name.is_empty() || name.contains('/') {
        return Err(ErrorKind::BadInput(format!("the name {name:?} must be one part of a path")).into());
    }
    let znode = path::join(directory, name);
    path::validate(&znode)?;
    Ok(znode)
}

fn unique_name(beginning: &str, path: &str, czxid: i64) -> Result<UniqueName, Error> {
    let name = path::split(path).1;
    match name.strip_prefix(beginning).and_then(number) {
        Some(number) => Ok(UniqueName { name: name.to_owned(), number, czxid }),
        None => Err(ErrorKind::Unexpected(format!("{name:?} is no sequential name")).into()),
    }
}

/// The length of the guid in front of the data, with the newline.
const GUID_BYTES: usize = 33;

fn with_guid(guid: Guid, data: &[u8]) -> Vec<u8> {
    [format!("{guid}\n").as_bytes(), data].concat()
}

/// Decodes the value of a registration: without the guid, if it is permanent.
fn shown(found: Data) -> Versioned {
    let Data { mut data, stat } = found;
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let has_guid = data.get(GUID_BYTES - 1) == Some(&b'\n') && data[..GUID_BYTES - 1].iter().all(is_digit);
    if stat.ephemeral_owner.0 == 0 && has_guid {
        data.drain(..GUID_BYTES);
    }
    Versioned::new(data, &stat)
}

/// A name registered for this session.
///
/// # Cancellation
///
/// Dropping it unregisters in the background; [`release`](Self::release) also waits for the outcome and returns it.
///
/// # When the session is over
///
/// The name is gone, and [`state`](Self::state) says so.
#[must_use = "dropping the registration takes the name back"]
#[derive(Debug)]
pub struct Registration<Z: ZooKeeper> {
    claimed: ClaimedName<Z>,
}

impl<Z: ZooKeeper> Registration<Z> {
    hold_methods!(claim "name");

    /// Resolves when the registered znode is gone. Unlike [`lost`](Self::lost) it knows no deadline: for what is there, rather than
    /// for what acts.
    pub(crate) async fn gone(&self) -> LostReason {
        permanent::gone(self.zk(), self.path(), self.token()).await
    }

    /// Unregisters the name, if it is still this registration's, and waits until that is certain.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves the same to the background.
    ///
    /// # When the connection is lost
    ///
    /// It waits for the reconnect, or for the end of the session.
    ///
    /// # With a limit
    ///
    /// When it is over, the error is [`Error::is_timed_out`], and the same is left to the background.
    ///
    /// # Errors
    ///
    /// Only what is unexpected for an own znode, such as [`Error::is_denied`].
    pub fn release(self) -> Call<Z, impl Work<Output = Result<Released, Error>>> {
        Call::new(&self.claimed.zk().clone(), |until| self.claimed.release(until))
    }
}
