//! A fault proxy: a session whose requests and replies an [`Interceptor`] may alter, so that a right recipe over it
//! makes one step wrong.

use crate::recipe::Make;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either, select};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;
use zk_recipes::zk::{
    Armed, CreateMode, Created, Data, Discharge, Duty, DutyId, Error, Event, Guid, Listing, OnSessionOver,
    Op, OpResult, Runtime, SessionId, Stat, Status, Time, ZooKeeper,
};

/// A pending reply. Calling the method sends the request; polling the reply does not.
pub type Reply<T> = BoxFuture<'static, Result<T, Error>>;

/// A watch of any session.
pub type Watch = Reply<Event>;

/// The mutation of a session. Each method has the right form as default.
pub trait Interceptor<Z: ZooKeeper>: Send + Sync {
    /// The mode in which a znode is created.
    fn mode(&self, mode: CreateMode) -> CreateMode {
        mode
    }

    /// Whether the session runs its armed cleanups.
    fn cleans_up(&self) -> bool {
        true
    }

    /// The reply to a read of data.
    fn read(&self, path: &str, data: Data) -> Data {
        let _ = path;
        data
    }

    /// The reply to a watched read of data.
    fn watched(&self, path: &str, data: Data) -> Data {
        let _ = path;
        data
    }

    /// The reply to a list of children.
    fn list(&self, path: &str, list: Listing) -> Listing {
        let _ = path;
        list
    }

    /// The reply to a list of children without a request.
    fn remembered(&self) -> Option<Listing> {
        None
    }

    /// The guid of an attempt.
    fn guid(&self, guid: Guid) -> Guid {
        guid
    }

    /// The time until which the session cannot have ended.
    fn safe_until(&self, zk: &Z) -> Time {
        zk.safe_until()
    }

    /// The watch that the recipe receives.
    fn waits(&self, zk: &Z, path: &str, watch: Watch) -> Watch {
        let _ = (zk, path);
        watch
    }

    /// Creates a znode.
    fn create(&self, zk: &Z, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        zk.create(path, data, self.mode(mode)).boxed()
    }

    /// Deletes a znode.
    fn delete(&self, zk: &Z, path: &str, version: Option<i32>) -> Reply<()> {
        zk.delete(path, version).boxed()
    }

    /// Replaces the data of a znode.
    fn set(&self, zk: &Z, path: &str, data: &[u8], version: Option<i32>) -> Reply<Stat> {
        zk.set(path, data, version).boxed()
    }

    /// Applies several writes in one transaction.
    fn multi(&self, zk: &Z, ops: Vec<Op>) -> Reply<Vec<OpResult>> {
        zk.multi(ops).boxed()
    }

    /// Lists children and watches them.
    fn children_watch(&self, zk: &Z, path: &str) -> Reply<(Listing, Watch)> {
        watched_list(zk, path)
    }
}

/// Lists children and watches them, over a session of any type.
pub fn watched_list<Z: ZooKeeper>(zk: &Z, path: &str) -> Reply<(Listing, Watch)> {
    let list = zk.children_watch(path);
    async move { list.await.map(|(list, watch)| (list, watch.boxed())) }.boxed()
}

/// The constructor of a right recipe over intercepted sessions, with an interceptor for each recipe object.
pub fn over<Z: ZooKeeper, L: 'static>(
    interceptor: fn() -> Arc<dyn Interceptor<Z>>,
    new: fn(&Intercepted<Z>) -> L,
) -> Make<Z, L> {
    Box::new(move |zk| new(&Intercepted::new(zk, interceptor())))
}

/// The constructor of a right recipe over intercepted sessions, with one interceptor for all sessions of a process.
pub fn over_all<Z: ZooKeeper, L: 'static>(
    interceptor: Arc<dyn Interceptor<Z>>,
    new: fn(&Intercepted<Z>) -> L,
) -> Make<Z, L> {
    Box::new(move |zk| new(&Intercepted::new(zk, interceptor.clone())))
}

/// A client that polls beside its watches.
pub struct Polls;

impl<Z: ZooKeeper> Interceptor<Z> for Polls {
    fn waits(&self, zk: &Z, path: &str, mut watch: Watch) -> Watch {
        let (zk, path) = (zk.clone(), path.to_owned());
        async move {
            loop {
                match select(watch, pin!(zk.sleep_until(zk.now() + Duration::from_millis(20)))).await {
                    Either::Left((event, _)) => return event,
                    Either::Right((_, waits)) => watch = waits,
                }
                let _ = zk.exists(&path).await;
            }
        }
        .boxed()
    }
}

/// A client library that never runs its armed cleanups.
pub struct LeavesItsZnode;

impl<Z: ZooKeeper> Interceptor<Z> for LeavesItsZnode {
    fn cleans_up(&self) -> bool {
        false
    }
}

/// A cleanup that never happens.
struct DoesNothing;

impl Discharge for DoesNothing {
    fn start(self: Arc<Self>, _: DutyId, _: Duty) {}

    fn done(&self, _: DutyId) {}
}

/// The session.
pub struct Intercepted<Z> {
    inner: Z,
    interceptor: Arc<dyn Interceptor<Z>>,
}

impl<Z: Clone> Clone for Intercepted<Z> {
    fn clone(&self) -> Self {
        Intercepted { inner: self.inner.clone(), interceptor: self.interceptor.clone() }
    }
}

impl<Z: ZooKeeper> Intercepted<Z> {
    /// Puts the interceptor in front of a session.
    pub fn new(zk: &Z, interceptor: Arc<dyn Interceptor<Z>>) -> Self {
        Intercepted { inner: zk.clone(), interceptor }
    }

    fn waits(&self, path: &str) -> impl Fn(Watch) -> Watch + Send + use<Z> {
        let (zk, interceptor, path) = (self.inner.clone(), self.interceptor.clone(), path.to_owned());
        move |watch| interceptor.waits(&zk, &path, watch)
    }
}

impl<Z: ZooKeeper> Runtime for Intercepted<Z> {
    fn now(&self) -> Time {
        self.inner.now()
    }

    fn sleep_until(&self, until: Time) -> impl Future<Output = ()> + Send + use<Z> {
        self.inner.sleep_until(until)
    }

    fn guid(&self) -> Guid {
        self.interceptor.guid(self.inner.guid())
    }

    fn arm(&self, duty: Duty) -> Armed {
        if self.interceptor.cleans_up() {
            self.inner.arm(duty)
        } else {
            Armed::new(0, duty, Arc::new(DoesNothing))
        }
    }
}

impl<Z: ZooKeeper> ZooKeeper for Intercepted<Z> {
    type Watch = Watch;
    type TreeWatch = Z::TreeWatch;

    fn create(
        &self,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<Created, Error>> + Send + use<Z> {
        self.interceptor.create(&self.inner, path, data, mode)
    }

    fn delete(
        &self,
        path: &str,
        version: Option<i32>,
    ) -> impl Future<Output = Result<(), Error>> + Send + use<Z> {
        self.interceptor.delete(&self.inner, path, version)
    }

    fn set(
        &self,
        path: &str,
        data: &[u8],
        version: Option<i32>,
    ) -> impl Future<Output = Result<Stat, Error>> + Send + use<Z> {
        self.interceptor.set(&self.inner, path, data, version)
    }

    fn exists(&self, path: &str) -> impl Future<Output = Result<Option<Stat>, Error>> + Send + use<Z> {
        self.inner.exists(path)
    }

    fn exists_watch(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Option<Stat>, Watch), Error>> + Send + use<Z> {
        let (exists, waits) = (self.inner.exists_watch(path), self.waits(path));
        async move { exists.await.map(|(stat, watch)| (stat, waits(watch.boxed()))) }
    }

    fn get(&self, path: &str) -> impl Future<Output = Result<Data, Error>> + Send + use<Z> {
        let (get, interceptor, path) = (self.inner.get(path), self.interceptor.clone(), path.to_owned());
        async move { get.await.map(|data| interceptor.read(&path, data)) }
    }

    fn get_watch(&self, path: &str) -> impl Future<Output = Result<(Data, Watch), Error>> + Send + use<Z> {
        let (get, interceptor, waits, path) =
            (self.inner.get_watch(path), self.interceptor.clone(), self.waits(path), path.to_owned());
        async move { get.await.map(|(data, watch)| (interceptor.watched(&path, data), waits(watch.boxed()))) }
    }

    fn children(&self, path: &str) -> impl Future<Output = Result<Listing, Error>> + Send + use<Z> {
        let (interceptor, of) = (self.interceptor.clone(), path.to_owned());
        let remembered = interceptor.remembered();
        let list = remembered.is_none().then(|| self.inner.children(path));
        async move {
            match (remembered, list) {
                (Some(remembered), _) => Ok(remembered),
                (None, Some(list)) => list.await.map(|list| interceptor.list(&of, list)),
                (None, None) => unreachable!("it is asked for unless it is remembered"),
            }
        }
    }

    fn children_watch(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Listing, Watch), Error>> + Send + use<Z> {
        let (list, waits) = (self.interceptor.children_watch(&self.inner, path), self.waits(path));
        async move { list.await.map(|(list, watch)| (list, waits(watch))) }
    }

    fn get_many(
        &self,
        paths: &[String],
    ) -> impl Future<Output = Result<Vec<Option<Data>>, Error>> + Send + use<Z> {
        self.inner.get_many(paths)
    }

    fn multi(&self, ops: Vec<Op>) -> impl Future<Output = Result<Vec<OpResult>, Error>> + Send + use<Z> {
        self.interceptor.multi(&self.inner, ops)
    }

    fn sync(&self, path: &str) -> impl Future<Output = Result<(), Error>> + Send + use<Z> {
        self.inner.sync(path)
    }

    fn watch_tree(&self, path: &str) -> impl Future<Output = Result<Z::TreeWatch, Error>> + Send + use<Z> {
        self.inner.watch_tree(path)
    }

    fn session(&self) -> SessionId {
        self.inner.session()
    }

    fn status(&self) -> Status {
        self.inner.status()
    }

    fn changed(&self, seen: Status) -> impl Future<Output = Status> + Send + use<Z> {
        self.inner.changed(seen)
    }

    fn safe_until(&self) -> Time {
        self.interceptor.safe_until(&self.inner)
    }

    fn added_bytes(&self) -> usize {
        self.inner.added_bytes()
    }

    fn on_session_over(&self, listener: Weak<dyn OnSessionOver>) {
        self.inner.on_session_over(listener);
    }

    fn timeout(&self) -> Duration {
        self.inner.timeout()
    }

    fn max_request_bytes(&self) -> usize {
        self.inner.max_request_bytes()
    }

    fn close(&self, limit: Duration) -> impl Future<Output = Result<(), Error>> + Send + use<Z> {
        self.inner.close(limit)
    }
}
