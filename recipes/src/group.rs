//! Group membership: a directory whose children are the live members.
//!
//! 1. Join: claim the member's name as an ephemeral; one's own former session is waited for. Without an id the name is a
//!    guid.
//! 2. A membership is held like a lock: it ends with the session, and says so. Leave: delete the znode.
//! 3. Observe: list the directory and arm a watch, by one request; hand the list out if it differs from the last one. If
//!    there is no directory nobody is a member: watch for its creation.
//! 4. Any notification: list again.

use crate::names::znode;
use crate::observe::{self, operation};
use crate::parts::claim::{ClaimRules, ClaimedName, Claims, claim};
use crate::parts::guard::guard_methods;
use crate::parts::parents::Parents;
use crate::parts::retry::{again, connected};
use crate::parts::select::{first, within};
use crate::parts::tenure::{HoldState, LostReason, OnSuspect, Released, Stop, margin_in};
use crate::zk::{Error, Listing, Stat, Status, ZooKeeper, path};
use futures_util::future::Either;
use std::future::Future;
use std::time::Duration;

/// The recipe's name in spans and metrics.
const RECIPE: &str = "group";

pub use crate::parts::claim::IfTaken;

/// Options of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupOptions {
    /// How a missing directory is created.
    pub parents: Parents,
    /// What to do when a member of that id is there.
    pub if_taken: IfTaken,
    /// The policy of a member while the connection is lost.
    pub on_suspect: OnSuspect,
    /// How long before the end of the session the member stops: at most half of the session timeout; `None` for a tenth.
    /// The margin covers clock drift over one timeout and the time that the member takes to stop.
    pub margin: Option<Duration>,
}

impl Default for GroupOptions {
    /// Containers, wait for a member of the same id to go, stop when the connection is lost, a tenth of the timeout.
    fn default() -> Self {
        GroupOptions {
            parents: Parents::Container,
            if_taken: IfTaken::Wait,
            on_suspect: OnSuspect::Stop,
            margin: None,
        }
    }
}

/// Whether views come with what the members have published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WithData {
    /// Ids only.
    No,
    /// Ids and data. A member that replaces its data is not told of by itself; the next view has them.
    Yes,
}

/// A group: the children of a directory.
///
/// # Promises
///
/// * *Joined.* Who is told that it has joined has a znode of its present session, one for each id.
/// * *Told.* Who is no longer a member is told: by [`Membership::lost`], and by [`Membership::state`] at any time.
/// * *Views.* Every view is what the children were at some instant, and views do not go back. In the end every observer
///   sees every live member and no dead one; a member that lives and stays connected is in every view.
/// * *No leaks.* However a join ends without a [`Membership`], its znode goes.
///
/// Not promised: every intermediate view; that a view is fresh. Every child is a member, whoever made it.
///
/// One session joins a group through one object: clone it, rather than making another of the same directory.
///
/// # Cost
///
/// Join and leave: one request each. A change costs an observer one notification and one request, with data two; one watch.
///
/// # Examples
///
/// ```
/// use zk_recipes::group::{Group, GroupOptions, WithData};
///
/// # sim_zk::doc_example(|zk| async move {
/// let group = Group::new(&zk, "/workers", GroupOptions::default())?;
/// let mut views = group.views(WithData::No);
/// assert_eq!(views.next().await?.members.len(), 0);
/// let me = group.join(Some("w-17"), b"10.0.0.17").await?;
/// assert_eq!(views.next().await?.members[0].id, "w-17");
/// me.leave().await?;
/// assert_eq!(views.next().await?.members.len(), 0);
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Group<Z: ZooKeeper> {
    zk: Z,
    directory: String,
    options: GroupOptions,
    claims: Claims,
}

impl<Z: ZooKeeper> Group<Z> {
    /// The group in `directory`. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`is_bad_input`](Error::is_bad_input): the path is not absolute, is the root, lies in ZooKeeper's own directory, or
    /// violates ZooKeeper's path rules; the margin is greater than half of the session timeout.
    pub fn new(zk: &Z, directory: &str, options: GroupOptions) -> Result<Self, Error> {
        path::validate_directory(directory)?;
        margin_in(zk, options.margin)?;
        let directory = directory.to_owned();
        Ok(Group { zk: zk.clone(), directory, options, claims: Claims::default() })
    }

    /// Joins under an id, or under a fresh guid. A member of that id, also of one's own former session, is waited for.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up: what was made is deleted in the background. Nothing is sent before the first poll.
    ///
    /// A future that is left unpolled holds up no other call, but from its first poll on it has the id: another call that joins
    /// under the same id here ends with [`Error::AlreadyJoined`]. Drop it to give up the id.
    ///
    /// # When the connection is lost
    ///
    /// After a lost reply the znode is looked for, and the create is retried only if it was not applied.
    ///
    /// # When the session is over
    ///
    /// Joining again is the caller's loop, with a new session.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyJoined`] for an id that this session has; [`is_taken`](Error::is_taken) with [`IfTaken::Fail`];
    /// [`is_bad_input`](Error::is_bad_input) for an id that is empty, has a slash, or violates ZooKeeper's path rules, for
    /// data that do not fit into a request, and when a reconnect has made the session timeout too short for the margin;
    /// [`is_session_over`](Error::is_session_over); [`is_denied`](Error::is_denied); with [`Parents::MustExist`] also
    /// [`Error::NoNode`].
    pub async fn join(&self, id: Option<&str>, data: &[u8]) -> Result<Membership<Z>, Error> {
        let path = match id {
            Some(id) => znode(&self.directory, id)?,
            None => path::join(&self.directory, &self.zk.guid().to_string()),
        };
        operation!(&self.zk, RECIPE, "join", &path).of(self.claim(&path, data)).await
    }

    async fn claim(&self, path: &str, data: &[u8]) -> Result<Membership<Z>, Error> {
        path::validate_size(path, data)?;
        let terms = ClaimRules {
            recipe: RECIPE,
            parents: self.options.parents,
            if_taken: self.options.if_taken,
            twice: Some(Error::AlreadyJoined),
            on_suspect: self.options.on_suspect,
            margin: self.options.margin,
        };
        claim(&self.zk, &self.claims, terms, path, data).await.map(|claimed| Membership { claimed })
    }

    /// As [`join`](Self::join), but for at most `limit`, counted from the call and over all retries; then the error is
    /// [`is_timed_out`](Error::is_timed_out), and the clean-up is under way.
    pub fn join_within(
        &self,
        limit: Duration,
        id: Option<&str>,
        data: &[u8],
    ) -> impl Future<Output = Result<Membership<Z>, Error>> + Send {
        let until = self.zk.now() + limit;
        within(&self.zk, until, self.join(id, data))
    }

    /// Observes the group. Sends nothing.
    pub fn views(&self, data: WithData) -> Views<Z> {
        Views {
            zk: self.zk.clone(),
            directory: self.directory.clone(),
            with_data: data == WithData::Yes,
            armed: None,
            last: None,
        }
    }
}

/// Membership of a group.
///
/// # Cancellation
///
/// Dropping it leaves in the background; [`leave`](Self::leave) also waits for the outcome and returns it.
///
/// # When the session is over
///
/// The member is out, and [`lost`](Self::lost) and [`state`](Self::state) say so.
#[must_use = "dropping the membership leaves the group"]
#[derive(Debug)]
pub struct Membership<Z: ZooKeeper> {
    claimed: ClaimedName<Z>,
}

guard_methods!(claim Membership, "membership");

impl<Z: ZooKeeper> Membership<Z> {
    /// Under which id.
    pub fn id(&self) -> &str {
        path::split(self.claimed.path()).1
    }

    /// Leaves, and waits until that is certain.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves the same to the background.
    ///
    /// # Errors
    ///
    /// Only what is unexpected for an own znode, such as [`is_denied`](Error::is_denied).
    pub async fn leave(self) -> Result<Released, Error> {
        self.claimed.leave().await
    }
}

/// One of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its id: the name of its znode.
    pub id: String,
    /// What it has published, if that was asked for.
    pub data: Option<Vec<u8>>,
}

/// The members at some instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView {
    /// The transaction that last changed them, as far as the directory tells; of a directory that is not there, that of the
    /// view before. It does not go back.
    pub zxid: i64,
    /// The members, by id.
    pub members: Vec<Member>,
}

/// The views of a group, as they come.
///
/// # Promises
///
/// See [`Group`].
pub struct Views<Z: ZooKeeper> {
    zk: Z,
    directory: String,
    with_data: bool,
    armed: Option<ChildWatch<Z>>,
    last: Option<GroupView>,
}

/// A watch on the directory, and over which connection it was armed.
struct ChildWatch<Z: ZooKeeper> {
    watch: Z::Watch,
    /// The directory counts its changes no longer: what happens while the client is away is told by nobody.
    is_worn: bool,
    status: Status,
}

impl<Z: ZooKeeper> Views<Z> {
    /// The next view: at first the members of now, then every change, or the last of several.
    ///
    /// # Cancellation, When the connection is lost
    ///
    /// Cancel-safe: may be dropped and called again at any time without missing a notification. The watch goes with this
    /// value. Resumes after the reconnect.
    ///
    /// # When the session is over
    ///
    /// That is an error, and not a group without members.
    ///
    /// # Errors
    ///
    /// [`is_session_over`](Error::is_session_over), from then on always; [`is_denied`](Error::is_denied).
    pub async fn next(&mut self) -> Result<GroupView, Error> {
        let operation = operation!(&self.zk, RECIPE, "next", &self.directory);
        operation.of(self.news()).await
    }

    async fn news(&mut self) -> Result<GroupView, Error> {
        loop {
            if let Some(armed) = &mut self.armed {
                observe::waits(&self.directory);
                let changed = armed.wait(&self.zk).await;
                self.armed = None;
                changed?;
            }
            let before = self.last.as_ref().map_or(0, |last| last.zxid);
            let looked = look(&self.zk, &self.directory, self.with_data, before).await?;
            let Some((view, armed)) = looked else { continue };
            self.armed = Some(armed);
            if self.last.as_ref().is_none_or(|last| last.members != view.members) {
                self.last = Some(view.clone());
                return Ok(view);
            }
        }
    }
}

/// Step 3, once. `None`: ask again. `before` is the transaction of the view before.
async fn look<Z: ZooKeeper>(
    zk: &Z,
    directory: &str,
    with_data: bool,
    before: i64,
) -> Result<Option<(GroupView, ChildWatch<Z>)>, Error> {
    let status = connected(zk).await?;
    let looked = match zk.children_watch(directory).await {
        Ok((listing, watch)) => {
            let armed = ChildWatch { watch, is_worn: is_worn(&listing.stat), status };
            let view = members(zk, directory, with_data, listing).await;
            view.map(|view| view.map(|view| (view, armed)))
        }
        Err(Error::NoNode) => match zk.exists_watch(directory).await {
            Ok((None, watch)) => {
                let armed = ChildWatch { watch, is_worn: false, status };
                Ok(Some((GroupView { zxid: before, members: Vec::new() }, armed)))
            }
            Ok((Some(_), _)) => Ok(None),
            Err(e) => Err(e),
        },
        Err(e) => Err(e),
    };
    match looked {
        Err(e) => again(zk, status, e).await.map(|()| None),
        looked => looked,
    }
}

/// `None`: a member went between the list and its data.
async fn members<Z: ZooKeeper>(
    zk: &Z,
    directory: &str,
    with_data: bool,
    listing: Listing,
) -> Result<Option<GroupView>, Error> {
    let (mut ids, zxid) = (listing.names, listing.stat.pzxid);
    ids.sort();
    let mut data = vec![None; ids.len()];
    if with_data && !ids.is_empty() {
        // All of them: one may have been deleted and recreated between two lists.
        let paths: Vec<String> = ids.iter().map(|id| path::join(directory, id)).collect();
        for (slot, found) in data.iter_mut().zip(zk.get_many(&paths).await?) {
            let Some(found) = found else { return Ok(None) };
            *slot = Some(found.data);
        }
    }
    let members = ids.into_iter().zip(data).map(|(id, data)| Member { id, data }).collect();
    Ok(Some(GroupView { zxid, members }))
}

impl<Z: ZooKeeper> std::fmt::Debug for Views<Z> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Views").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl<Z: ZooKeeper> ChildWatch<Z> {
    /// Resolves when the members may have changed.
    async fn wait(&mut self, zk: &Z) -> Result<(), Error> {
        if !self.is_worn {
            return (&mut self.watch).await.map(drop);
        }
        match first(&mut self.watch, zk.changed(self.status)).await {
            Either::Left(event) => event.map(drop),
            Either::Right(_) => Ok(()),
        }
    }
}

/// From here on `pzxid` stands still, and registering a watch again tells nothing (ZOOKEEPER-4372).
fn is_worn(stat: &Stat) -> bool {
    !(0..i32::MAX).contains(&stat.cversion)
}
