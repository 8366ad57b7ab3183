//! A persistent node: a znode that is created again whenever it is gone.

use super::Supervisor;
use super::hold::{Hold, Session};
use super::keep::{Failure, mends_itself};
use super::policy::Ended;
use super::sessions::Connect;
use super::shown::{Shown, Slot};
use crate::names::{IfTaken, Names, NamesOptions, PermanentName, Registration};
use crate::parts::parents::Parents;
use crate::parts::select::first;
use crate::parts::setters::setters;
use crate::parts::tenure::{LostReason, Released, Stop};
use crate::parts::watched::Watched;
use crate::zk::{Error, Guid, ZooKeeper, path};
use futures_util::future::Either;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Options of a persistent node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PersistentNodeOptions {
    /// How a missing directory is created.
    pub parents: Parents,
    /// When the znode goes.
    pub lifetime: Lifetime,
}

setters!(PersistentNodeOptions {
    with_parents(parents: Parents),
    with_lifetime(lifetime: Lifetime),
});

/// When the znode of a persistent node goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// With its session, or with [`PersistentNode::run`]: an ephemeral.
    #[default]
    Session,
    /// When it is unregistered: see [`PersistentNode`]. Its data begin with this guid, by which the owner knows it in a later
    /// session and after a restart; [`Names::resolve`] and [`Names::follow`] leave it away.
    Permanent(Guid),
}

/// A znode that is created again whenever it is gone, as Curator's `PersistentNode`: see [`Supervisor::persistent_node`].
///
/// Clones speak of the same znode.
///
/// # Promises
///
/// * *There again.* As long as [`run`](Self::run) is polled, the znode is created in each session, and when another client has
///   deleted it or its directory.
/// * *One owner.* It neither deletes nor replaces a znode that it has not created: it waits until that is gone. A former session of
///   this process is such an owner until it has ended. ZooKeeper can check a version, and not an incarnation: if another client
///   deletes the znode between a read and the write behind it, and the next owner is there by then, its znode may be struck.
/// * *The last data.* The znode is created with the data of the last [`set`](Self::set).
/// * *Nothing is left.* When `run` was dropped or has ended, an ephemeral is deleted, or goes with its session.
///
/// Not promised: that the znode is there at every instant, but for [`Lifetime::Permanent`] while nobody deletes it.
///
/// To remove a permanent one, drop `run`, and call [`unregister`](PermanentName::unregister) on what [`Names::registered`] returns.
///
/// # Cost
///
/// Each creation: one request, and one that sets the watch. A set: three requests and one notification.
pub struct PersistentNode<C: Connect> {
    supervisor: Supervisor<C>,
    path: Arc<str>,
    options: PersistentNodeOptions,
    wanted: Arc<Watched<Wanted>>,
    slot: Slot<Node<C::Zk>>,
}

/// The data that the znode is to have.
struct Wanted {
    data: Arc<[u8]>,
    /// The number of sets so far, and of those that the znode has.
    sets: u64,
    written: u64,
}

impl<C: Connect> Supervisor<C> {
    /// A persistent node at `path`. It is there as long as [`PersistentNode::run`] is polled.
    ///
    /// # Examples
    ///
    /// ```
    /// use zk_recipes::supervisor::{PersistentNodeOptions, Supervisor};
    /// # use futures_util::future::{Either, select};
    /// # use std::pin::pin;
    ///
    /// # sim_zk::doc_example_supervised(|connect| async move {
    /// # let supervisor = Supervisor::new(connect);
    /// let node = supervisor.persistent_node("/services/api", b"10.0.0.7:80", PersistentNodeOptions::default());
    /// let running = node.run();       // spawned as a task, for example
    /// # let rest = async {
    /// node.until_there().await;
    /// node.set(b"10.0.0.7:8080").await?;
    /// assert!(node.is_there());
    /// # Ok::<_, zk_recipes::supervisor::Ended<std::convert::Infallible>>(())
    /// # };
    /// # assert!(matches!(select(pin!(running), pin!(rest)).await, Either::Right((Ok(()), _))));
    /// # Ok(())
    /// # });
    /// ```
    pub fn persistent_node(
        &self,
        path: &str,
        data: &[u8],
        options: PersistentNodeOptions,
    ) -> PersistentNode<C> {
        let wanted = Wanted { data: data.into(), sets: 1, written: 0 };
        PersistentNode {
            supervisor: self.clone(),
            path: path.into(),
            options,
            wanted: Arc::new(Watched::new(wanted)),
            slot: Slot::default(),
        }
    }
}

impl<C: Connect> PersistentNode<C> {
    /// Creates the znode, and creates it again whenever it is gone.
    ///
    /// # Cancellation
    ///
    /// Dropping the future deletes an ephemeral in the background.
    ///
    /// # Errors
    ///
    /// See [`Ended`]. It returns only with one: [`Ended::Recipe`] with [`Error::is_bad_input`] for a path that violates
    /// ZooKeeper's rules and for data that do not fit into a request, with [`Error::is_denied`], and with [`Parents::MustExist`]
    /// with [`Error::is_no_node`].
    pub async fn run(&self) -> Result<Infallible, Ended<Infallible>> {
        let create = |session: Session<C::Zk>| async move {
            let (directory, name) = path::split(&self.path);
            let names = self.names_in(&session, directory)?;
            let (data, sets) = self.wanted.with(|wanted| (wanted.data.clone(), wanted.sets));
            let node = match self.options.lifetime {
                Lifetime::Session => {
                    let node = names.register(name, &data).await?;
                    self.is_written(sets);
                    Node::Session(node)
                }
                // It may be there already, with other data.
                Lifetime::Permanent(guid) => {
                    let node = names.register_permanent_as(guid, name, &data).await?;
                    self.wanted.with(|wanted| wanted.written = 0);
                    Node::Permanent(node)
                }
            };
            Ok(Shown::new(&self.slot, node))
        };
        let write = |node: super::Held<Shown<Node<C::Zk>>>| async move {
            loop {
                let pending = |wanted: &Wanted| {
                    (wanted.written < wanted.sets).then(|| (wanted.data.clone(), wanted.sets))
                };
                let (data, sets) = self.wanted.until(pending).await;
                match node.hold().set(&data).await {
                    Ok(()) => self.is_written(sets),
                    // Its loss ends this work.
                    Err(error) if error.is_session_over() || error.is_removed() => {
                        return std::future::pending().await;
                    }
                    Err(error) if mends_itself(&error) => self.supervisor.pause_once().await,
                    Err(error) => return Err(Failure::Recipe(error)),
                }
            }
        };
        self.supervisor.without_work().keeping(&self.path, &AtomicU32::new(0), create, write).await
    }

    fn names_in(&self, session: &Session<C::Zk>, directory: &str) -> Result<Names<C::Zk>, Error> {
        let options = NamesOptions::default().with_parents(self.options.parents).with_if_taken(IfTaken::Wait);
        let names = Names::new(session.zk(), directory, options)?;
        Ok(names.with_claims(self.supervisor.shared.claims(session.number())))
    }

    fn is_written(&self, sets: u64) {
        self.wanted.change(|wanted| wanted.written = wanted.written.max(sets));
    }

    /// Returns whether the znode is there, as far as this process knows: it was created, no deletion was reported, and there is a
    /// connection. Sends nothing.
    pub fn is_there(&self) -> bool {
        self.slot.with(|slot| slot.as_ref().is_some_and(|node| node.zk().status().is_connected()))
    }

    /// Resolves when the znode was created, at once if it is there.
    ///
    /// # Cancellation
    ///
    /// Cancel-safe.
    pub async fn until_there(&self) {
        self.slot.until(|slot| slot.as_ref().map(drop)).await;
    }

    /// Replaces the data, and resolves when the znode has them, or those of a later call. [`run`](Self::run) has to be polled
    /// meanwhile.
    ///
    /// # Cancellation
    ///
    /// A dropped call has the data written all the same.
    ///
    /// # Errors
    ///
    /// [`Ended::ShutDown`]. Data that cannot be written end `run`.
    pub async fn set(&self, data: &[u8]) -> Result<(), Ended<Infallible>> {
        let number = self.wanted.change(|wanted| {
            wanted.data = data.into();
            wanted.sets += 1;
            wanted.sets
        });
        let written = self.wanted.until(|wanted| (wanted.written >= number).then_some(()));
        match first(self.supervisor.shared.stopping(), written).await {
            Either::Left(()) => Err(Ended::ShutDown),
            Either::Right(()) => Ok(()),
        }
    }
}

impl<C: Connect> Clone for PersistentNode<C> {
    fn clone(&self) -> Self {
        PersistentNode {
            supervisor: self.supervisor.clone(),
            path: self.path.clone(),
            options: self.options.clone(),
            wanted: self.wanted.clone(),
            slot: self.slot.clone(),
        }
    }
}

impl<C: Connect> fmt::Debug for PersistentNode<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_there = self.is_there();
        f.debug_struct("PersistentNode").field("path", &self.path).field("is_there", &is_there).finish()
    }
}

/// The znode in one session. It is lost with the session and by a deletion, and by no deadline: nobody acts on it.
#[allow(clippy::large_enum_variant, reason = "there is one, behind its own `Arc`")]
enum Node<Z: ZooKeeper> {
    Session(Registration<Z>),
    Permanent(PermanentName<Z>),
}

impl<Z: ZooKeeper> Node<Z> {
    fn zk(&self) -> &Z {
        match self {
            Node::Session(node) => node.zk(),
            Node::Permanent(node) => node.zk(),
        }
    }

    async fn set(&self, data: &[u8]) -> Result<(), Error> {
        match self {
            Node::Session(node) => node.set(data).await,
            Node::Permanent(node) => node.set(data).await,
        }
    }
}

impl<Z: ZooKeeper> Hold for Node<Z> {
    async fn lost(&self) -> Stop {
        Stop::Lost(match self {
            Node::Session(node) => node.gone().await,
            Node::Permanent(node) => node.gone().await,
        })
    }

    async fn resumed(&self) -> Result<(), LostReason> {
        Ok(())
    }

    async fn give_back(self, limit: Duration) -> Result<Released, Error> {
        match self {
            Node::Session(node) => node.release().within(limit).await,
            Node::Permanent(_) => Ok(Released::Clean),
        }
    }
}
