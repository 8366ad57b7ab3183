//! A session with a real ensemble: the trait [`ZooKeeper`] over TCP, with tokio.
//!
//! The session machine is [`zk_protocol::session`], which the simulation runs, too. This crate adds bytes, sockets, a
//! clock, TLS and SASL.
//!
//! ```toml
//! [dependencies]
//! zk-recipes = "0.1"
//! zk-client = "0.1"
//! tokio = { version = "1", features = ["macros", "rt-multi-thread", "time"] }
//! ```
//!
//! ```no_run
//! use std::time::Duration;
//! use zk_client::{Client, Options};
//! use zk_recipes::{Lock, LockOptions, ZooKeeper};
//!
//! # async fn print() -> Result<(), zk_recipes::Error> {
//! let zk = Client::open("zk1:2181,zk2:2181", Options::new(Duration::from_secs(20))).await?;
//! let held = Lock::new(&zk, "/locks/printer", LockOptions::default())?.acquire().await?;
//! println!("prints under token {}", held.token());
//! held.release().within(Duration::from_secs(5)).await?;
//! zk.close(Duration::from_secs(5)).await
//! # }
//! ```
//!
//! # What a session does
//!
//! With the session timeout T, and n servers or addresses:
//!
//! * A ping is sent after T/3 without a request. A connection is given up after 2/3 T without a byte from the server: a
//!   part of a long reply counts for that, but only whole answers renew the lease.
//! * A round of attempts takes T at the most, or [`connect_timeout`](Options::connect_timeout). It tries all servers,
//!   and all addresses of their names, and the attempts overlap (after RFC 8305): the next one begins when one has
//!   failed, and after 250 ms at the latest, or sooner, so that all n have begun after half of the round. A new session
//!   is asked of all of them, and closed where it was not needed. One that exists is asked of one server at a time,
//!   each of which has its n-th part of the round before the next one is asked. As long as one of them is silent, all
//!   begin again after a third of the round, and after two thirds: a silent connection may stay so.
//! * The next round follows after a random pause: up to T/20, and up to T/10 after a round without a connection, which
//!   is followed by a rest of up to a second besides.
//! * A request without a connection waits for the next round, and fails with it.
//! * A session ends when a server says so, in whichever answer, when it is closed, and when its credentials are refused
//!   or missed, however long no server can be reached: the session of an ensemble that was down continues afterwards
//!   (see [`Over::Expired`](zk_recipes::zk::Over)). An ensemble that came back empty or from an old backup turns the
//!   client away; after T without a confirmation it is asked whether it knows the session at all.
//! * Watches are registered again on each connection, before other requests, in requests of 128 kB.
//! * Credentials are sent on every connection, before other requests. If they are refused the session ends with
//!   [`Over::AuthFailed`](zk_recipes::zk::Over).
//!
//! # What is assumed
//!
//! The lease [`safe_until`](ZooKeeper::safe_until) is one session timeout after the *sending* of the last answered
//! request or ping. A holder until then assumes that
//!
//! 1. this machine's clock and the leader's agree on a session timeout to within the recipe's margin. The clock
//!    continues during a suspend on Linux, and so do alarms; elsewhere a machine that was suspended needs a fence;
//! 2. the server that answered was in touch with its leader.
//!
//! # What is never done
//!
//! * A read-only server (`readonlymode.enabled`) is not used, for sessions new or old: its state may be stale, and its
//!   sessions are local. It counts as unreachable.
//! * No request is sent twice. After a disconnect its outcome is unknown, and the recipe settles it.
//! * No request is sent that exceeds a server's limit (`jute.maxbuffer`, 1 MB), since the server would hang up: it is
//!   refused with its size, or sent in parts ([`get_many`](ZooKeeper::get_many)).
//! * An idle handle sends nothing but pings.
//!
//! # How many ephemerals a session may own
//!
//! Waiters, holders, members and registrations are ephemerals. When their session ends, its server logs one transaction
//! with the paths of all of them, however long it is; above twice `jute.maxbuffer` no server can read it again, and
//! none that has logged it starts again (ZOOKEEPER-4306; seen on 3.8.0). So a client counts the bytes of its session's
//! ephemerals, 4 and the path with its chroot for each, and refuses the create that would pass
//! [`max_ephemeral_bytes`](Options::max_ephemeral_bytes) before it is sent ([`Error::is_session_full`]). A recipe's
//! call ends with that error, and leaves nothing. The default is what servers with default settings survive:
//!
//! | bytes of each path | ephemerals of a session |
//! |---|---|
//! | 30 | 61,679 |
//! | 63, such as that of a contender for the lock `/locks/printer` | 31,299 |
//! | 100 | 20,164 |
//! | 220 | 9,361 |
//! | 500 | 4,160 |
//! | 905 | 2,307 |
//!
//! At the limit the ephemerals are read from the server before a create is refused, since other clients may have
//! deleted some; the calls behind it wait for that (`getEphemerals`: ZooKeeper 3.6 or later). Beyond it, use several
//! sessions.
//!
//! # Spans and events
//!
//! With the feature `tracing`, which is on by default, the client has a span `session` from `Client::open` to the
//! session's end, with the field `servers`, and in it a span `connect` for each time without a connection, with the
//! fields `session` and `outcome` (`opened`, `resumed`, `moved`, `expired`, `closed`, `auth_failed`, `given_up`). Spans
//! and events have the target `zk_client`. Names of fields follow OpenTelemetry's conventions. No field has
//! credentials, keys or data. A session with a connection says nothing at level INFO.
//!
//! | event | level | fields | when |
//! |---|---|---|---|
//! | `attempt` | DEBUG | `server.address`, `server.port`, `network.peer.address` | an attempt begins |
//! | `attempt failed` | INFO, the same failure again DEBUG | as `attempt`, `error.type`, `error.message` | `error.type` is the name of a [`ConnectFailureKind`](zk_recipes::zk::ConnectFailureKind): `unknown_host`, `connection_refused`, `network`, `timed_out`, `tls`, `not_zookeeper`, `not_serving`, `read_only`, `auth_failed` |
//! | `backoff` | DEBUG | `pause` | a pause before the next round of attempts |
//! | `no server can be used` | WARN | `session`, `disconnected`, `rounds`, `safe_for`, `errors` | after 1, 2, 4, … s without a connection, then once a minute, also over the attempts of a supervisor; from `safe_for=0ns` on another client may have what this session holds |
//! | `no session opened` | WARN, in the same outage again DEBUG | `limit`, `errors` | `open` ends without a session |
//! | `session opened`, `session resumed`, `session moved` | INFO | `session`, `server.address`, `server.port`, `network.peer.address`, `timeout`, and `took` or `disconnected` | a server accepted the session: for the first time; again, the same server as before or another one: the session has lived through the time without a connection |
//! | `another timeout was granted` | INFO | `session`, `asked`, `granted` | the ensemble's bounds changed the session timeout |
//! | `session suspect` | WARN | `session`, `server.address`, `server.port`, `error.type`, `error.message`, `connected`, `in_flight`, `safe_for` | the connection is lost; `error.type` is `closed_by_server`, `silence`, `network`, `not_zookeeper` or `unusable_answer`; `safe_for` is what is left of the lease, of which holds keep a margin |
//! | `late ping` | WARN | `session`, `delayed`: `sending`, `answer`, `by` | by more than a sixth of the timeout: this process, the network or the server stalls |
//! | `session expired` | WARN | `session`, `disconnected` | a server says so |
//! | `session refused` | ERROR | `session`, `error.type` | the ensemble refuses the credentials |
//! | `session closed` | INFO | `session` | this client has closed it |
//! | `session left` | WARN | `session`, `disconnected` | this client has closed it without a connection: what it has created goes when it expires |
//!
//! # Metrics
//!
//! With the feature `metrics`, through the facade of that name. `describe_metrics` describes them to a recorder.
//!
//! | metric | kind | labels | meaning |
//! |---|---|---|---|
//! | `zk_client_sessions_connected` | gauge | | sessions that have a connection |
//! | `zk_client_session_changes_total` | counter | `change`: `opened`, `suspect`, `resumed`, `moved`, `expired`, `closed`, `auth_failed` | changes in the life of sessions |
//! | `zk_client_connect_attempts_total` | counter | `server`, `error_type`, empty for success | attempts to connect |
//! | `zk_client_session_disconnected_seconds` | histogram | | time without a connection, until there was one |
//! | `zk_client_connect_backoff_seconds` | histogram | | pauses between rounds of attempts |
//! | `zk_client_bytes_total` | counter | `direction`: `sent`, `received` | bytes of connections, without those of TLS |
//! | `zk_client_requests_in_flight` | gauge | | requests without an answer yet |
//! | `zk_client_watches_armed` | gauge | | armed watches |
//! | `zk_client_reply_duration_seconds` | histogram | `kind`: `request`, `ping` | from the call to its answer |
//! | `zk_client_late_pings_total` | counter | `delayed`: `sending`, `answer` | pings that were late by more than a sixth of the timeout |
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `tracing` | the spans and events above; on by default |
//! | `metrics` | the metrics above |
//! | `tls` | `Tls`, by rustls with the process's default provider of cryptography, or with aws-lc-rs if it has none |
//! | `sasl` | `Sasl`, by DIGEST-MD5. Kerberos is not offered: its library is the system's |

mod acl;
mod address;
mod alarms;
mod attempts;
mod clock;
mod connector;
mod core;
mod duties;
mod effect;
mod ephemerals;
mod failed;
mod frames;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;
mod handshake;
mod life;
mod link;
mod options;
mod race;
mod reply;
mod request;
#[cfg(feature = "sasl")]
mod sasl;
mod session;
mod stream;
mod subject;
#[cfg(feature = "tls")]
mod tls;
mod tls_port;

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::Stream;
use futures_util::future::try_join_all;

use self::life::Outage;
use self::reply::{Convert, Reply};
use self::request::{Request, Root};
use self::session::Session;
use zk_protocol::session::Slots;
use zk_recipes::zk::{
    Armed, CreateMode, Created, Data, Duty, Error, Guid, InFlight, Listing, OnSessionOver, Op, OpResult,
    Runtime, SessionId, Stat, Status, Time, ZooKeeper,
};

pub use self::acl::Acl;
pub use self::connector::Connector;
#[cfg(feature = "metrics")]
pub use self::life::describe_metrics;
#[cfg(feature = "sasl")]
pub use self::options::Sasl;
pub use self::options::{Credentials, Options};
pub use self::reply::{TreeWatch, Watch};
#[cfg(feature = "tls")]
pub use self::tls::Tls;

/// One session with a real ensemble.
///
/// Clones speak for the same session. When the last one is gone, and with it all futures and armed duties made from
/// them, the session closes by itself; [`close`](ZooKeeper::close) does it in an orderly way and waits for the end.
///
/// # Cancellation
///
/// As the trait says: a dropped future abandons the reply, not the request.
#[derive(Clone)]
pub struct Client {
    session: Arc<Session>,
}

impl Client {
    /// Opens a session: `host:port`, several of them separated by commas, and at the end an optional chroot
    /// (`zk1:2181,zk2:2181/app`), which must exist: otherwise creates fail with `NoNode`. The default port is 2181.
    /// `tcp+tls://host:port` is a server with TLS, `tcp://host:port` one without; an IPv6 address is `[address]:port`.
    /// Blanks around servers and a comma too many do no harm.
    ///
    /// Must be called within a tokio runtime with its timer and its I/O switched on. That runtime drives the session
    /// and the duties: a handle lives no longer than its runtime. Whether it has both can only be found out by a panic,
    /// which is caught: its message is all that is seen of it.
    ///
    /// # Errors
    ///
    /// An error is [`zk_recipes::Error`]. [`Error::is_bad_input`] for an invalid connect string, a timeout of zero,
    /// invalid certificates, and outside a runtime, or in one without timer or I/O. [`Error::is_unreachable`] when no
    /// server accepted the session within [`connect_timeout`](Options::connect_timeout), or, if the options say so, as
    /// soon as no waiting can help. [`Error::is_auth_failed`], at once, when the ensemble refuses the credentials.
    ///
    /// # Cancellation
    ///
    /// A session that was opened although the future was dropped closes by itself, or expires.
    pub async fn open(connect_string: &str, options: Options) -> Result<Client, Error> {
        Client::open_in(&Outage::default(), connect_string, &options).await
    }

    /// The same in a time without a connection that earlier sessions may have told of.
    async fn open_in(outage: &Outage, connect_string: &str, options: &Options) -> Result<Client, Error> {
        Ok(Client { session: Session::open(connect_string, options, outage).await? })
    }

    /// The session's states, beginning with the current one, up to the end of the session. A reader that is slow may
    /// see several changes as one step; [`Status::changes`] counts them.
    ///
    /// The stream does not keep the session open.
    ///
    /// ```no_run
    /// # use futures_util::StreamExt;
    /// # use zk_client::Client;
    /// # async fn shows(zk: Client) {
    /// let mut states = zk.states();
    /// while let Some(status) = states.next().await {
    ///     println!("{:?}", status.state);
    /// }
    /// # }
    /// ```
    pub fn states(&self) -> impl Stream<Item = Status> + Send + Unpin + use<> {
        self.session.states()
    }

    fn root(&self) -> &Root {
        &self.session.shared.root
    }

    /// Sends a request, if it is one.
    fn send<T>(
        &self,
        request: Result<Request, Error>,
        convert: Convert<T>,
    ) -> impl Future<Output = Result<T, Error>> + Send + use<T> {
        let sent = request.map(|request| self.session.shared.send(request, None));
        let reply = Reply::new(&self.session, sent, convert);
        async move { Ok(reply.await?.0) }
    }

    /// The same, of a request that arms a watch.
    fn send_watch<T>(
        &self,
        request: Result<Request, Error>,
        convert: Convert<T>,
    ) -> impl Future<Output = Result<(T, Watch), Error>> + Send + use<T> {
        let sent = request.map(|request| self.session.shared.send(request, Some(Slots::take)));
        let reply = Reply::new(&self.session, sent, convert);
        async move {
            let (value, watch) = reply.await?;
            Ok((value, watch.expect("the request had a slot for its watch")))
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("session", &self.session()).field("status", &self.status()).finish()
    }
}

// Every request takes the same three steps: refuse invalid input, send the request, return a future that reads the reply.
// Only the third step is inside the future.
impl Runtime for Client {
    fn now(&self) -> Time {
        self.session.shared.clock.now()
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
        Guid(u128::from(core::random()) << 64 | u128::from(core::random()))
    }

    /// The duty runs on the runtime in which the handle was opened, also when it is dropped outside of it.
    fn arm(&self, duty: Duty) -> Armed {
        duties::arm(self, duty)
    }
}

impl ZooKeeper for Client {
    type Watch = Watch;
    type TreeWatch = TreeWatch;

    fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> impl InFlight<Created> + use<> {
        let acl = &self.session.acl;
        self.send(self.root().create(path, data, mode, acl), request::created)
    }

    fn delete(&self, path: &str, version: Option<i32>) -> impl InFlight<()> + use<> {
        self.send(self.root().delete(path, version), request::nothing)
    }

    fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> impl InFlight<Stat> + use<> {
        self.send(self.root().set(path, data, version), request::stat)
    }

    fn exists(&self, path: &str) -> impl InFlight<Option<Stat>> + use<> {
        self.send(self.root().exists(path, false), request::maybe_stat)
    }

    fn exists_watch(&self, path: &str) -> impl InFlight<(Option<Stat>, Watch)> + use<> {
        self.send_watch(self.root().exists(path, true), request::maybe_stat)
    }

    fn get(&self, path: &str) -> impl InFlight<Data> + use<> {
        self.send(self.root().get(path, false), request::data)
    }

    fn get_watch(&self, path: &str) -> impl InFlight<(Data, Watch)> + use<> {
        self.send_watch(self.root().get(path, true), request::data)
    }

    fn children(&self, path: &str) -> impl InFlight<Listing> + use<> {
        self.send(self.root().children(path, false), request::listing)
    }

    fn children_watch(&self, path: &str) -> impl InFlight<(Listing, Watch)> + use<> {
        self.send_watch(self.root().children(path, true), request::listing)
    }

    fn get_many(&self, paths: &[String]) -> impl InFlight<Vec<Option<Data>>> + use<> {
        // All or none are sent: refusals come before the first request.
        let requests = self.root().get_many(paths);
        let reads = requests.map(|all| {
            let send = |request| self.send(Ok(request), request::many);
            all.into_iter().map(send).collect::<Vec<_>>()
        });
        async move { Ok(try_join_all(reads?).await?.into_iter().flatten().collect()) }
    }

    fn multi(&self, ops: Vec<Op>) -> impl InFlight<Vec<OpResult>> + use<> {
        self.send(self.root().multi(&ops, &self.session.acl), request::results)
    }

    fn sync(&self, path: &str) -> impl InFlight<()> + use<> {
        self.send(self.root().sync(path), request::nothing)
    }

    fn watch_tree(&self, path: &str) -> impl InFlight<TreeWatch> + use<> {
        let request = self.root().watch_tree(path);
        let sent = request.map(|request| self.session.shared.send(request, Some(Slots::take_stream)));
        let reply = Reply::new(&self.session, sent, request::nothing);
        async move { Ok(TreeWatch(reply.await?.1.expect("the request had a slot for its watch"))) }
    }

    fn session(&self) -> SessionId {
        self.session.shared.lock().machine.session()
    }

    fn status(&self) -> Status {
        self.session.shared.status()
    }

    fn changed(&self, seen: Status) -> impl Future<Output = Status> + Send + use<> {
        let (session, changed) = (self.session.clone(), self.session.changed(seen));
        async move {
            let status = changed.await;
            drop(session);
            status
        }
    }

    /// The send time of the last answered request or ping, plus the session timeout. Sends nothing: the pings of an
    /// idle session keep it within a third of the timeout.
    fn safe_until(&self) -> Time {
        self.session.shared.safe_until()
    }

    fn timeout(&self) -> Duration {
        Duration::from_micros(self.session.shared.lock().machine.sound_timeout())
    }

    fn max_request_bytes(&self) -> usize {
        self.root().max_request_bytes()
    }

    fn added_bytes(&self) -> usize {
        self.root().added_bytes() + self.session.acl.added_bytes()
    }

    fn on_session_over(&self, listener: Weak<dyn OnSessionOver>) {
        self.session.shared.on_over(listener);
    }

    /// Waits for duties in progress, not for armed ones; then for the ensemble's reply that the session has ended.
    /// After the first step nothing more is sent. Without a connection the session is over on this side at once, and
    /// expires at the ensemble. A session that was over already, or is closed twice, is `Ok`.
    ///
    /// # Cancellation
    ///
    /// Dropped while it waits for duties, the session stays open; later, it ends all the same.
    fn close(&self, limit: Duration) -> impl InFlight<()> + use<> {
        let session = self.session.clone();
        async move { session.close(limit).await.map_err(|error| error.during("closeSession")) }
    }
}
