//! Group membership: a directory whose children are the live members.
//!
//! 1. Join: claim the member's name as an ephemeral; if a former session has the same id, fail or wait for its end. Without
//!    an id the name is a guid.
//! 2. A membership is held like a lock, and is lost with the session. Leave: delete the znode.
//! 3. Follow: list the directory with a watch, in one request; return the list if it differs from the last one. A missing
//!    directory has no members: watch for its creation.
//! 4. After any notification list again.

use crate::call::{Call, Work};
use crate::names::znode;
use crate::observe::{self, operation};
use crate::parts::claim::{ClaimRules, ClaimedName, Claims, claim};
use crate::parts::followed::{News, into_stream};
use crate::parts::hold_methods::hold_methods;
use crate::parts::parents::Parents;
use crate::parts::retry::{again, connected};
use crate::parts::select::{first, within};
use crate::parts::setters::setters;
use crate::parts::tenure::{HoldState, LostReason, OnSuspect, Released, Stop, margin_in};
use crate::zk::{Error, ErrorKind, Listing, Stat, Status, ZooKeeper, path};
use futures_util::future::Either;
use std::future::Future;
use std::time::Duration;

const RECIPE: &str = "group";

pub use crate::parts::claim::IfTaken;

/// Options of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupOptions {
    /// How a missing directory is created.
    pub parents: Parents,
    /// What to do when the id is taken.
    pub if_taken: IfTaken,
    /// The policy of a member while the connection is lost.
    pub on_suspect: OnSuspect,
    /// How long before the end of the session the member stops: at most half of the session timeout; `None` for a tenth.
    /// The margin covers clock drift over one timeout and the time that the member takes to stop.
    pub margin: Option<Duration>,
}

impl Default for GroupOptions {
    /// Containers, fail if the id is taken, stop when the connection is lost, a tenth of the timeout.
    fn default() -> Self {
        GroupOptions {
            parents: Parents::Container,
            if_taken: IfTaken::default(),
            on_suspect: OnSuspect::Stop,
            margin: None,
        }
    }
}

setters!(GroupOptions {
    with_parents(parents: Parents),
    with_if_taken(if_taken: IfTaken),
    with_on_suspect(on_suspect: OnSuspect),
    with_margin(margin: Option<Duration>, into),
});

/// Whether views include the members' data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WithData {
    /// Ids only.
    No,
    /// Ids and data. A change of data alone is not notified; the next view has it.
    Yes,
}

/// A group: the children of a directory.
///
/// # Promises
///
/// * *Joined.* A member has one znode of its current session for each id.
/// * *Loss is detected.* A former member learns of it by [`Membership::lost`], and by [`Membership::state`] at any time.
/// * *Views.* Every view is the set of children at some instant, and views never go back. Eventually every observer sees
///   every live member and no dead one; a live, connected member is in every view.
/// * *No leaks.* However a join ends without a [`Membership`], its znode is deleted.
///
/// Not promised: every intermediate view; a fresh view. Every child counts as a member, even of other clients.
///
/// One session joins a group through one object: clone it instead of creating another for the same directory.
///
/// # Cost
///
/// Join and leave: one request each. A change costs an observer one notification and one request, with data two; one watch.
/// One session may have 20,000 members with paths of 100 bytes, 9,000 with paths of 220: see `Options::max_ephemeral_bytes` of the
/// client.
///
/// # Examples
///
/// ```
/// use zk_recipes::group::{Group, GroupOptions, WithData};
///
/// # sim_zk::doc_example(|zk| async move {
/// let group = Group::new(&zk, "/workers", GroupOptions::default())?;
/// let mut views = group.follow(WithData::No);
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
    /// [`Error::is_bad_input`]: the path is not absolute, is the root, lies in ZooKeeper's own directory, or
    /// violates ZooKeeper's path rules; the margin is greater than half of the session timeout.
    pub fn new(zk: &Z, directory: &str, options: GroupOptions) -> Result<Self, Error> {
        path::validate_directory(directory)?;
        margin_in(zk, options.margin)?;
        let directory = directory.to_owned();
        Ok(Group { zk: zk.clone(), directory, options, claims: Claims::default() })
    }

    /// Joins with an id, or with a fresh guid.
    ///
    /// A member with that id, even of a former session of this client, is an owner: the call fails, or waits for its end, by
    /// [`IfTaken`]. A client that restarts under its old id waits.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up: the znode is deleted in the background. Nothing is sent before the first poll.
    ///
    /// An unpolled future blocks no other call, but from its first poll on it owns the id: another join with that id
    /// through this object fails with [`Error::is_already_joined`]. Drop it to give up the id.
    ///
    /// # When the connection is lost
    ///
    /// After a lost reply the znode is looked for, and the create is retried only if it was not applied.
    ///
    /// # When the session is over
    ///
    /// The caller joins again, with a new session.
    ///
    /// # With a limit
    ///
    /// When it is over, the error is [`Error::is_timed_out`], and the clean-up is under way.
    ///
    /// # Errors
    ///
    /// [`Error::is_already_joined`] for an id that this session has; [`Error::is_taken`] with [`IfTaken::Fail`],
    /// and for an id whose znode belongs to no session; [`Error::is_bad_input`] for an id that is empty, has a slash, or violates ZooKeeper's path rules, for data that do
    /// not fit into a request, and when a reconnect has made the session timeout too short for the margin;
    /// [`Error::is_session_over`]; [`Error::is_denied`]; with [`Parents::MustExist`] also [`Error::is_no_node`].
    pub fn join(
        &self,
        id: Option<&str>,
        data: &[u8],
    ) -> Call<Z, impl Work<Output = Result<Membership<Z>, Error>>> {
        Call::new(&self.zk, move |until| async move {
            let path = match id {
                Some(id) => znode(&self.directory, id)?,
                None => path::join(&self.directory, &self.zk.guid().to_string()),
            };
            operation!(&self.zk, RECIPE, "join", &path)
                .of(within(&self.zk, until, self.claim(&path, data)))
                .await
        })
    }

    async fn claim(&self, path: &str, data: &[u8]) -> Result<Membership<Z>, Error> {
        path::validate_size(self.zk.max_request_bytes(), path, data)?;
        let terms = ClaimRules {
            recipe: RECIPE,
            parents: self.options.parents,
            if_taken: self.options.if_taken,
            has_permanent: false,
            twice: Some(ErrorKind::AlreadyJoined),
            on_suspect: self.options.on_suspect,
            margin: self.options.margin,
        };
        claim(&self.zk, &self.claims, terms, path, data).await.map(|claimed| Membership { claimed })
    }

    /// Follows the members. Sends nothing.
    pub fn follow(&self, data: WithData) -> Views<Z> {
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
/// The membership is lost, and [`lost`](Self::lost) and [`state`](Self::state) say so.
#[must_use = "dropping the membership leaves the group"]
#[derive(Debug)]
pub struct Membership<Z: ZooKeeper> {
    claimed: ClaimedName<Z>,
}

impl<Z: ZooKeeper> Membership<Z> {
    hold_methods!(claim "membership");

    /// Returns the member's id.
    pub fn id(&self) -> &str {
        path::split(self.claimed.path()).1
    }

    /// Leaves, and waits until that is certain.
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
    pub fn leave(self) -> Call<Z, impl Work<Output = Result<Released, Error>>> {
        Call::new(&self.claimed.zk().clone(), |until| self.claimed.leave(until))
    }
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its id: the name of its znode.
    pub id: String,
    /// Its data, if requested.
    pub data: Option<Vec<u8>>,
}

/// The members at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView {
    /// The zxid of the last change, as far as the directory shows; without a directory that of the view before. It never
    /// goes back.
    pub zxid: i64,
    /// The members, by id.
    pub members: Vec<Member>,
}

/// A stream of the views of a group.
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

/// A watch on the directory, and the connection over which it was armed.
struct ChildWatch<Z: ZooKeeper> {
    watch: Z::Watch,
    /// The directory's change counter is worn out: changes during a disconnect are not notified.
    is_worn: bool,
    status: Status,
}

into_stream!(of Views, GroupView);

impl News for GroupView {
    fn zxid(&self) -> Option<i64> {
        (self.zxid != 0).then_some(self.zxid)
    }

    fn after(self, zxid: i64) -> Self {
        GroupView { zxid: self.zxid().unwrap_or(zxid), ..self }
    }

    fn says_the_same(&self, known: &Self) -> bool {
        self.members == known.members
    }
}

impl<Z: ZooKeeper> Views<Z> {
    /// Returns the next view: the current members at first, then every change, or the last of several.
    ///
    /// # Cancellation, When the connection is lost
    ///
    /// Cancel-safe: may be dropped and called again at any time without missing a notification. The watch goes with this
    /// value. Resumes after the reconnect.
    ///
    /// # When the session is over
    ///
    /// The call fails; an ended session is not a group without members.
    ///
    /// # Errors
    ///
    /// [`Error::is_session_over`], from then on always; [`Error::is_denied`].
    pub async fn next(&mut self) -> Result<GroupView, Error> {
        let operation = operation!(unnamed: &self.zk, RECIPE, "next", &self.directory);
        operation.of(self.news()).await.map_err(|error| error.at("next", &self.directory))
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
            // The watch reports that a member went before its data were read.
            let Some(view) = view else { continue };
            if self.last.as_ref().is_none_or(|last| last.members != view.members) {
                self.last = Some(view.clone());
                return Ok(view);
            }
        }
    }
}

/// Step 3, once. `None`: list again. No view: list again when the watch fires. `before` is the zxid of the view before.
async fn look<Z: ZooKeeper>(
    zk: &Z,
    directory: &str,
    with_data: bool,
    before: i64,
) -> Result<Option<(Option<GroupView>, ChildWatch<Z>)>, Error> {
    let status = connected(zk).await?;
    let looked = match zk.children_watch(directory).await {
        Ok((listing, watch)) => {
            let armed = ChildWatch { watch, is_worn: is_worn(&listing.stat), status };
            members(zk, directory, with_data, listing).await.map(|view| Some((view, armed)))
        }
        Err(Error { kind: ErrorKind::NoNode, .. }) => match zk.exists_watch(directory).await {
            Ok((None, watch)) => {
                let armed = ChildWatch { watch, is_worn: false, status };
                Ok(Some((Some(GroupView { zxid: before, members: Vec::new() }), armed)))
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

/// Adds the data; `None` if a member went between the list and the read.
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
        // All data are read: a member may have been deleted and recreated between two lists.
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

/// Whether `pzxid` no longer changes, so that a re-armed watch reports nothing (ZOOKEEPER-4372).
fn is_worn(stat: &Stat) -> bool {
    !(0..i32::MAX).contains(&stat.cversion)
}
