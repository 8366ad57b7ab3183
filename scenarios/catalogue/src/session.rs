//! A session like any other, but for what a [`Twist`] does to requests and answers: the right recipe over it does one thing
//! wrong.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use zk_recipes::zk::{
    Armed, CreateMode, Created, Data, Discharge, Duty, DutyId, Error, Event, Guid, Listing, Op, OpResult,
    SessionId, Stat, Status, Time, ZooKeeper,
};

/// What is altered.
pub trait Twist<Z: ZooKeeper>: Clone + Default + Send + Sync + 'static {
    /// How a znode is made.
    fn mode(&self, mode: CreateMode) -> CreateMode {
        mode
    }

    /// Whether what was armed is done when it is due.
    fn cleans_up(&self) -> bool {
        true
    }

    /// What a watched read of data gives.
    fn watched(&self, path: &str, data: Data) -> Data {
        let _ = path;
        data
    }

    /// What a list gives.
    fn list(&self, list: Listing) -> Listing {
        list
    }

    /// What is given for a list without asking for it.
    fn remembered(&self) -> Option<Listing> {
        None
    }

    /// As [`list`](Self::list), and of which znode.
    fn list_of(&self, path: &str, list: Listing) -> Listing {
        let _ = path;
        self.list(list)
    }

    /// The name of an attempt.
    fn guid(&self, guid: Guid) -> Guid {
        guid
    }

    /// Until when the session cannot have ended.
    fn safe_until(&self, zk: &Z) -> Time {
        zk.safe_until()
    }

    /// What is made when a znode is to be.
    fn create(
        &self,
        zk: &Z,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<Created, Error>> + Send + use<Self, Z> {
        zk.create(path, data, self.mode(mode))
    }

    /// What is done when several writes are to be.
    fn multi(
        &self,
        zk: &Z,
        ops: Vec<Op>,
    ) -> impl Future<Output = Result<Vec<OpResult>, Error>> + Send + use<Self, Z> {
        zk.multi(ops)
    }

    /// What is read and watched when children are to be.
    fn children_watch(
        &self,
        zk: &Z,
        path: &str,
    ) -> impl Future<Output = Result<(Listing, Watch), Error>> + Send + use<Self, Z> {
        let list = zk.children_watch(path);
        async move { list.await.map(|(list, watch)| (list, watch.boxed())) }
    }
}

/// For duties that nobody does.
struct DoesNothing;

impl Discharge for DoesNothing {
    fn start(&self, _: DutyId, _: Duty) {}

    fn done(&self, _: DutyId) {}
}

/// Any watch.
pub type Watch = BoxFuture<'static, Result<Event, Error>>;

/// The session.
#[derive(Clone)]
pub struct Twisted<Z, T> {
    inner: Z,
    twist: T,
}

impl<Z: ZooKeeper, T: Twist<Z>> Twisted<Z, T> {
    /// Over a right one.
    pub fn over(zk: &Z) -> Self {
        Twisted::with(zk, T::default())
    }

    /// Over a right one, with what is altered in hand.
    pub fn with(zk: &Z, twist: T) -> Self {
        Twisted { inner: zk.clone(), twist }
    }
}

impl<Z: ZooKeeper, T: Twist<Z>> ZooKeeper for Twisted<Z, T> {
    type Watch = Watch;
    type TreeWatch = Z::TreeWatch;

    fn create(
        &self,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<Created, Error>> + Send + use<Z, T> {
        self.twist.create(&self.inner, path, data, mode)
    }

    fn delete(
        &self,
        path: &str,
        version: Option<i32>,
    ) -> impl Future<Output = Result<(), Error>> + Send + use<Z, T> {
        self.inner.delete(path, version)
    }

    fn set(
        &self,
        path: &str,
        data: &[u8],
        version: Option<i32>,
    ) -> impl Future<Output = Result<Stat, Error>> + Send + use<Z, T> {
        self.inner.set(path, data, version)
    }

    fn exists(&self, path: &str) -> impl Future<Output = Result<Option<Stat>, Error>> + Send + use<Z, T> {
        self.inner.exists(path)
    }

    fn exists_watch(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Option<Stat>, Watch), Error>> + Send + use<Z, T> {
        let exists = self.inner.exists_watch(path);
        async move { exists.await.map(|(stat, watch)| (stat, watch.boxed())) }
    }

    fn get(&self, path: &str) -> impl Future<Output = Result<Data, Error>> + Send + use<Z, T> {
        self.inner.get(path)
    }

    fn get_watch(&self, path: &str) -> impl Future<Output = Result<(Data, Watch), Error>> + Send + use<Z, T> {
        let (get, twist, path) = (self.inner.get_watch(path), self.twist.clone(), path.to_owned());
        async move { get.await.map(|(data, watch)| (twist.watched(&path, data), watch.boxed())) }
    }

    fn children(&self, path: &str) -> impl Future<Output = Result<Listing, Error>> + Send + use<Z, T> {
        let (twist, of) = (self.twist.clone(), path.to_owned());
        let remembered = twist.remembered();
        let list = remembered.is_none().then(|| self.inner.children(path));
        async move {
            match (remembered, list) {
                (Some(remembered), _) => Ok(remembered),
                (None, Some(list)) => list.await.map(|list| twist.list_of(&of, list)),
                (None, None) => unreachable!("it is asked for unless it is remembered"),
            }
        }
    }

    fn children_watch(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Listing, Watch), Error>> + Send + use<Z, T> {
        self.twist.children_watch(&self.inner, path)
    }

    fn get_many(
        &self,
        paths: &[String],
    ) -> impl Future<Output = Result<Vec<Option<Data>>, Error>> + Send + use<Z, T> {
        self.inner.get_many(paths)
    }

    fn multi(&self, ops: Vec<Op>) -> impl Future<Output = Result<Vec<OpResult>, Error>> + Send + use<Z, T> {
        self.twist.multi(&self.inner, ops)
    }

    fn sync(&self, path: &str) -> impl Future<Output = Result<(), Error>> + Send + use<Z, T> {
        self.inner.sync(path)
    }

    fn watch_tree(&self, path: &str) -> impl Future<Output = Result<Z::TreeWatch, Error>> + Send + use<Z, T> {
        self.inner.watch_tree(path)
    }

    fn session(&self) -> SessionId {
        self.inner.session()
    }

    fn status(&self) -> Status {
        self.inner.status()
    }

    fn changed(&self, seen: Status) -> impl Future<Output = Status> + Send + use<Z, T> {
        self.inner.changed(seen)
    }

    fn safe_until(&self) -> Time {
        self.twist.safe_until(&self.inner)
    }

    fn timeout(&self) -> Duration {
        self.inner.timeout()
    }

    fn now(&self) -> Time {
        self.inner.now()
    }

    fn sleep_until(&self, until: Time) -> impl Future<Output = ()> + Send + use<Z, T> {
        self.inner.sleep_until(until)
    }

    fn guid(&self) -> Guid {
        self.twist.guid(self.inner.guid())
    }

    fn arm(&self, duty: Duty) -> Armed {
        if self.twist.cleans_up() { self.inner.arm(duty) } else { Armed::new(0, duty, Arc::new(DoesNothing)) }
    }

    fn close(&self, limit: Duration) -> impl Future<Output = Result<(), Error>> + Send + use<Z, T> {
        self.inner.close(limit)
    }
}
