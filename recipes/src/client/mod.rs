//! A session with a real ensemble: the trait [`ZooKeeper`] over the crate `zookeeper-client`, and nothing but
//! translation.
//!
//! | module | what it holds |
//! |---|---|
//! | `options` | how a session is opened: its timeout, who we are, TLS |
//! | `acl` | who may do what with what a handle creates |
//! | `session` | what all clones of a handle share: the library's client, the status, the clock, the end |
//! | `flight` | requests whose answer borrows the library's client, made to leave at the call all the same |
//! | `keeper` | until when the session is safe: asks a small question now and then, while somebody wants to know |
//! | `duties` | promises to clean up, on the runtime in which the handle was opened |
//! | `recheck` | watches that SASL may lose on the way, looked at again |
//! | `watch` | one notification; all changes in a tree |
//! | `translate` | errors, stats, modes and operations, from one vocabulary into the other |
//!
//! # What the library does
//!
//! Facts of `zookeeper-client` 0.11 that the translation rests on, with the session timeout T:
//!
//! * Requests are queued when its methods are called and written in that order. A request that is queued while the
//!   connection is away stays queued until the connection is back or the session is over: it does *not* fail at an
//!   attempt that fails.
//! * It pings when it has written nothing for 3/20 T, gives a connection up after 2/5 T without a byte from it, and a
//!   session after 7/5 T without a connection. Such a session is reported as [`Over::Expired`](crate::zk::Over), though
//!   an ensemble that was down all the time may still know it for a while.
//! * Watches are handed to the server again with the next connection, at once: over SASL before the server knows who we
//!   are, when it may fire them and tell nobody. There, a watch looks for itself after a reconnect. A watch dropped unfired
//!   is removed at the server when it was the last of its kind on its path.
//! * It does not hand persistent watches to the server again: what would be in the lists of `setWatches2` it leaves out
//!   (`WatchManager::resend_watches` counts the lists with `index.max(index)`). A tree watch arms itself again.
//! * The session closes when the last of its clients is gone, after everything that was queued before.
//! * Credentials are told anew on every connection. One that is refused ends the session, as
//!   [`Over::AuthFailed`](crate::zk::Over).
//!
//! # What is assumed
//!
//! [`safe_until`](ZooKeeper::safe_until) is one session timeout after the *sending* of the last request that was
//! answered. Whoever holds something until then assumes that
//!
//! 1. this machine's monotonic clock and the leader's agree on a session timeout to within the recipe's margin, and a
//!    suspended machine counts as one whose clock stood still: only a fence helps there;
//! 2. the server that answered was in touch with its leader;
//! 3. all servers grant the same session timeout, the one of the first connection.
//!
//! # What is never done
//!
//! * A server that only reads (`readonlymode.enabled`) is not used, for sessions new or old: it may be behind by any
//!   time, and its sessions are its own. It counts as one that cannot be reached.
//! * No request is sent twice. What a disconnect caught is unknown, and the recipe settles it.
//! * Nothing is sent while nobody wants anything, but for the library's pings.
//!
//! # Features of the crate
//!
//! | feature | what it adds |
//! |---|---|
//! | `client` | this module |
//! | `client-tls` | `Tls`, by rustls with the process's default provider of cryptography: a program in which there could be two (aws-lc-rs and ring) has to install one before it opens a session, else rustls panics |
//! | `client-sasl` | `Sasl`, by DIGEST-MD5. Kerberos is not offered: its library is the system's |

mod acl;
mod duties;
mod flight;
mod keeper;
mod options;
mod recheck;
mod session;
mod translate;
mod watch;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use zookeeper_client as lib;

use self::recheck::Watched;
use self::session::Session;
use crate::zk::{
    Armed, CreateMode, Created, Data, Duty, Error, Guid, Listing, Op, OpResult, SessionId, Stat, Status,
    Time, ZooKeeper, path,
};

pub use self::acl::Acl;
#[cfg(feature = "client-sasl")]
pub use self::options::Sasl;
#[cfg(feature = "client-tls")]
pub use self::options::Tls;
pub use self::options::{Credentials, Options};
pub use self::watch::{TreeWatch, Watch};

/// One session with a real ensemble.
///
/// Clones speak for the same session. When the last one is gone, and with it all futures and armed duties made from
/// them, the session closes by itself; [`close`](ZooKeeper::close) does it in an orderly way and waits for the end.
///
/// # Cancellation
///
/// As the trait has it: a dropped future forgets the answer, not the request.
#[derive(Clone)]
pub struct Client {
    session: Arc<Session>,
}

impl Client {
    /// Opens a session: `host:port`, several of them separated by commas, and at the end a path below which
    /// everything takes place, if it is not the root (`zk1:2181,zk2:2181/app`). It must be there: who would make something
    /// below a path that is not is told `NoNode`.
    ///
    /// Must be called within a tokio runtime with its timer switched on. That runtime drives the session and the
    /// duties: a handle lives no longer than its runtime.
    ///
    /// # Errors
    ///
    /// [`is_bad_input`](Error::is_bad_input) for a connect string that is not one, for a timeout of zero, for certificates
    /// that are none, and outside a runtime. [`Error::Unreachable`] when no server accepted the session within the session
    /// timeout asked for, or 7/5 of it if one listens and says nothing. [`is_auth_failed`](Error::is_auth_failed), at once,
    /// when the ensemble refuses the credentials.
    ///
    /// # Cancellation
    ///
    /// A session that was opened although the future was dropped closes by itself, or expires.
    pub async fn open(connect_string: &str, options: Options) -> Result<Client, Error> {
        let session = Session::open(connect_string, &options).await?;
        Ok(Client { session })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("session", &self.session()).field("status", &self.status()).finish()
    }
}

// Every request is made in the same three steps: refuse what is known to be wrong, let the request leave, and give
// back a future that translates the answer. Only the third step is inside the future.
impl ZooKeeper for Client {
    type Watch = Watch;
    type TreeWatch = TreeWatch;

    fn create(
        &self,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<Created, Error>> + Send + use<> {
        let (to, data) = (path.to_owned(), data.to_vec());
        let acl = self.session.acl.clone();
        let checked = translate::check_create(path, &data, mode, &acl);
        let sent = self.session.launch(checked, |zk| async move {
            let (stat, number) = zk.create(&to, &data, &translate::create_options(mode, &acl)).await?;
            // The number prints as the server has written it: ten digits, or a sign and nine or ten.
            let path = if mode.is_sequential() { format!("{to}{number}") } else { to };
            Ok(Created { path, stat: translate::stat(stat) })
        });
        self.session.answer(sent)
    }

    fn delete(
        &self,
        path: &str,
        version: Option<i32>,
    ) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        let sent = self.session.send(path::validate(path), |zk| zk.delete(path, version));
        self.session.answer(sent)
    }

    fn set(
        &self,
        path: &str,
        data: &[u8],
        version: Option<i32>,
    ) -> impl Future<Output = Result<Stat, Error>> + Send + use<> {
        let checked = path::validate(path).and_then(|()| path::validate_size(path, data));
        let sent = self.session.send(checked, |zk| zk.set_data(path, data, version));
        let answer = self.session.answer(sent);
        async move { answer.await.map(translate::stat) }
    }

    fn exists(&self, path: &str) -> impl Future<Output = Result<Option<Stat>, Error>> + Send + use<> {
        let sent = self.session.send(path::validate(path), |zk| zk.check_stat(path));
        let answer = self.session.answer(sent);
        async move { Ok(answer.await?.map(translate::stat)) }
    }

    fn exists_watch(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Option<Stat>, Watch), Error>> + Send + use<> {
        let (to, connection) = (path.to_owned(), self.session.watched_on());
        let sent =
            self.session.launch(path::validate(path), |zk| async move { zk.check_and_watch_stat(&to).await });
        let (answer, session, path) = (self.session.answer(sent), self.session.clone(), path.to_owned());
        async move {
            let (stat, watcher) = answer.await?;
            let stat = stat.map(translate::stat);
            let watched = Watched::znode(path, stat.as_ref(), connection);
            Ok((stat, Watch::new(watcher, watched, &session)))
        }
    }

    fn get(&self, path: &str) -> impl Future<Output = Result<Data, Error>> + Send + use<> {
        let sent = self.session.send(path::validate(path), |zk| zk.get_data(path));
        let answer = self.session.answer(sent);
        async move {
            let (data, stat) = answer.await?;
            Ok(Data { data, stat: translate::stat(stat) })
        }
    }

    fn get_watch(&self, path: &str) -> impl Future<Output = Result<(Data, Watch), Error>> + Send + use<> {
        let (to, connection) = (path.to_owned(), self.session.watched_on());
        let sent =
            self.session.launch(path::validate(path), |zk| async move { zk.get_and_watch_data(&to).await });
        let (answer, session, path) = (self.session.answer(sent), self.session.clone(), path.to_owned());
        async move {
            let (data, stat, watcher) = answer.await?;
            let stat = translate::stat(stat);
            let watched = Watched::znode(path, Some(&stat), connection);
            Ok((Data { data, stat }, Watch::new(watcher, watched, &session)))
        }
    }

    fn children(&self, path: &str) -> impl Future<Output = Result<Listing, Error>> + Send + use<> {
        let sent = self.session.send(path::validate(path), |zk| zk.get_children(path));
        let answer = self.session.answer(sent);
        async move {
            let (names, stat) = answer.await?;
            Ok(Listing { names, stat: translate::stat(stat) })
        }
    }

    fn children_watch(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Listing, Watch), Error>> + Send + use<> {
        let (to, connection) = (path.to_owned(), self.session.watched_on());
        let sent = self
            .session
            .launch(path::validate(path), |zk| async move { zk.get_and_watch_children(&to).await });
        let (answer, session, path) = (self.session.answer(sent), self.session.clone(), path.to_owned());
        async move {
            let (names, stat, watcher) = answer.await?;
            let stat = translate::stat(stat);
            let watched = Watched::children(path, &stat, connection);
            Ok((Listing { names, stat }, Watch::new(watcher, watched, &session)))
        }
    }

    fn get_many(
        &self,
        paths: &[String],
    ) -> impl Future<Output = Result<Vec<Option<Data>>, Error>> + Send + use<> {
        // All or none are sent: what is refused is refused before the first one leaves.
        let checked = paths.iter().try_for_each(|path| path::validate(path));
        let reads: Vec<_> = match checked {
            Ok(()) => paths.iter().map(|path| self.get(path)).collect(),
            Err(_) => Vec::new(),
        };
        async move {
            checked?;
            try_join_all(reads.into_iter().map(|read| async move {
                match read.await {
                    Ok(data) => Ok(Some(data)),
                    Err(Error::NoNode) => Ok(None),
                    Err(e) => Err(e),
                }
            }))
            .await
        }
    }

    fn multi(&self, ops: Vec<Op>) -> impl Future<Output = Result<Vec<OpResult>, Error>> + Send + use<> {
        let acl = self.session.acl.clone();
        let checked = translate::check_multi(&ops, &acl);
        let sent = self.session.launch(checked, |zk| async move {
            let mut writer = zk.new_multi_writer();
            for op in &ops {
                translate::add(&mut writer, op, &acl)?;
            }
            // What was refused by an operation is an answer of its own, beside the failures of the whole request.
            match writer.commit().await {
                Ok(results) => Ok(Ok(results)),
                Err(lib::MultiWriteError::OperationFailed { index, source }) => Ok(Err((index, source))),
                Err(lib::MultiWriteError::RequestFailed { source }) => Err(source),
            }
        });
        let (answer, session) = (self.session.answer(sent), self.session.clone());
        async move {
            match answer.await? {
                Ok(results) => results.into_iter().map(translate::op_result).collect(),
                Err((index, cause)) => Err(Error::multi(index, session.translate(cause))),
            }
        }
    }

    fn sync(&self, path: &str) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        let to = path.to_owned();
        let sent = self.session.launch(path::validate(path), |zk| async move { zk.sync(&to).await });
        self.session.answer(sent)
    }

    fn watch_tree(&self, path: &str) -> impl Future<Output = Result<TreeWatch, Error>> + Send + use<> {
        let sent = self.session.launch(path::validate(path), watch::tree(path));
        let answer = self.session.answer(sent);
        let (path, session) = (path.to_owned(), Arc::downgrade(&self.session));
        async move { Ok(TreeWatch::new(answer.await?, path, session)) }
    }

    fn session(&self) -> SessionId {
        self.session.id
    }

    fn status(&self) -> Status {
        self.session.status()
    }

    fn changed(&self, seen: Status) -> impl Future<Output = Status> + Send + use<> {
        let session = self.session.clone();
        async move { session.changed(seen).await }
    }

    /// The send time of the last request of *this handle* that was answered, plus the session timeout. The library's
    /// own pings are not counted: it does not tell when an answered one was sent, and that it takes itself for
    /// connected proves nothing in a process that was paused. Instead, from a first call on and for two session
    /// timeouts after the last one, the handle itself asks whether the root exists whenever it has had no answer for a
    /// quarter of the session timeout.
    fn safe_until(&self) -> Time {
        self.session.safe_until()
    }

    /// What the ensemble granted at the start. The library asks for exactly that again at every reconnect; assumed is
    /// that all servers of an ensemble have the same bounds, so that they grant it again.
    fn timeout(&self) -> Duration {
        self.session.timeout
    }

    fn now(&self) -> Time {
        self.session.clock.now()
    }

    fn sleep_until(&self, until: Time) -> impl Future<Output = ()> + Send + use<> {
        self.session.sleep_until(until)
    }

    /// Drawn by the operating system.
    ///
    /// # Panics
    ///
    /// When the operating system has no random numbers to give.
    fn guid(&self) -> Guid {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system gives random numbers");
        Guid(u128::from_be_bytes(bytes))
    }

    /// The duty runs on the runtime in which the handle was opened, also when it is dropped outside of it.
    fn arm(&self, duty: Duty) -> Armed {
        duties::arm(self, duty)
    }

    /// Waits for the duties that have begun, not for armed ones that somebody still holds; then for the answers of
    /// what was sent; then for the ensemble's word that the session has ended. From the second of these on, the handle
    /// is over ([`Over::Closed`](crate::zk::Over)). A session that was over already, or is closed twice, is `Ok`.
    ///
    /// # Cancellation
    ///
    /// Dropped while it waits for duties, nothing has happened; later, the session ends all the same.
    fn close(&self, limit: Duration) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        let session = self.session.clone();
        async move { session.close(limit).await }
    }
}
