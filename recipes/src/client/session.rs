//! What all clones of a handle share.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use zookeeper_client as lib;

use super::acl::Acl;
use super::duties::Duties;
use super::flight::{Flight, Flights};
use super::keeper::Keeper;
use super::{Options, translate};
use crate::zk::{Error, Over, SessionId, State, Status, Time};

/// A request on its way, with the time before which it was not sent; or why it was not sent at all.
pub(super) type Sent<F> = (Time, Result<F, Error>);

/// One session.
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) timeout: Duration,
    /// What is created bears this. A request on its way has a share of it, and none of the session.
    pub(super) acl: Arc<Acl>,
    pub(super) clock: Clock,
    pub(super) runtime: Handle,
    pub(super) keeper: Keeper,
    pub(super) duties: Duties,
    /// Whether a server may take watches back before it knows who we are: see [`recheck`](super::recheck).
    is_known_late: bool,
    flights: Flights,
    /// Gone when the handle is closed. The session closes when the last share of it is gone.
    zk: Mutex<Option<Arc<lib::Client>>>,
    seen: Mutex<Seen>,
    /// Tells the end of a session that outlives its client.
    states: lib::StateWatcher,
    closed: AtomicBool,
    closing: Notify,
}

/// The handle's clock.
#[derive(Clone, Copy)]
pub(super) struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "a real session lives in real time")]
    fn start() -> Self {
        Clock(Instant::now())
    }

    pub(super) fn now(self) -> Time {
        Time::from_micros(u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    fn instant(self, time: Time) -> Option<Instant> {
        self.0.checked_add(Duration::from_micros(time.as_micros()))
    }
}

impl Session {
    pub(super) async fn open(connect_string: &str, options: &Options) -> Result<Arc<Session>, Error> {
        let runtime = Handle::try_current()
            .map_err(|_| Error::BadInput("a session is opened within a tokio runtime".to_owned()))?;
        let clock = Clock::start();
        let zk = options.connect(connect_string).await?;
        let states = zk.state_watcher();
        let session = Arc::new(Session {
            id: SessionId(zk.session_id().0),
            timeout: zk.session_timeout(),
            acl: Arc::new(options.acl.clone()),
            clock,
            runtime,
            keeper: Keeper::new(Time::default()),
            duties: Duties::default(),
            is_known_late: options.is_known_late(),
            flights: Flights::default(),
            seen: Mutex::new(Seen::new(states.clone())),
            states,
            zk: Mutex::new(Some(Arc::new(zk))),
            closed: AtomicBool::new(false),
            closing: Notify::new(),
        });
        Keeper::keep(&session);
        Ok(session)
    }

    /// Lets a request leave whose future borrows nothing.
    pub(super) fn send<F>(
        &self,
        checked: Result<(), Error>,
        call: impl FnOnce(&lib::Client) -> F,
    ) -> Sent<F> {
        let now = self.clock.now();
        (now, checked.and_then(|()| self.zk()).map(|zk| call(&zk)))
    }

    /// Lets a request leave whose future borrows the client: `call` gets a share of it to keep.
    pub(super) fn launch<T, F>(
        &self,
        checked: Result<(), Error>,
        call: impl FnOnce(Arc<lib::Client>) -> F,
    ) -> Sent<Flight<T>>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, lib::Error>> + Send + 'static,
    {
        let now = self.clock.now();
        (now, checked.and_then(|()| self.zk()).map(|zk| self.flights.depart(call(zk))))
    }

    /// The answer, in our words.
    pub(super) fn answer<T, F>(
        self: &Arc<Self>,
        (at, sent): Sent<F>,
    ) -> impl Future<Output = Result<T, Error>> + Send + use<T, F>
    where
        F: Future<Output = Result<T, lib::Error>> + Send,
    {
        let session = self.clone();
        async move { session.receive(at, sent?.await) }
    }

    /// Notes that a request was answered, if it was.
    pub(super) fn receive<T>(&self, at: Time, answer: Result<T, lib::Error>) -> Result<T, Error> {
        if answer.as_ref().err().is_none_or(translate::is_servers_word) {
            self.keeper.answered(at);
        }
        answer.map_err(|e| self.translate(e))
    }

    pub(super) fn translate(&self, error: lib::Error) -> Error {
        translate::error(error, self.why_closed())
    }

    /// Why a session that the library calls closed is over: unless we did it, the library gave up looking for a server.
    pub(super) fn why_closed(&self) -> Over {
        if self.closed.load(SeqCst) { Over::Closed } else { Over::Expired }
    }

    fn zk(&self) -> Result<Arc<lib::Client>, Error> {
        let zk = self.zk.lock().unwrap_or_else(PoisonError::into_inner).clone();
        zk.ok_or(Error::SessionOver(self.status_over().unwrap_or(Over::Closed)))
    }

    fn status_over(&self) -> Option<Over> {
        match self.status().state {
            State::Over(why) => Some(why),
            _ => None,
        }
    }

    /// What has happened so far, read from the library at this very moment.
    pub(super) fn status(&self) -> Status {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.look(self.closed.load(SeqCst))
    }

    pub(super) async fn changed(&self, seen: Status) -> Status {
        // Each waiter has its own view of the library's states, taken before the status is compared.
        let mut states = self.states.clone();
        states.state();
        loop {
            let mut closing = pin!(self.closing.notified());
            closing.as_mut().enable();
            let status = self.status();
            if status != seen {
                return status;
            }
            select(pin!(states.changed()), closing).await;
        }
    }

    /// The connection that a watch is asked for on, if it has to be looked at after the next reconnect.
    pub(super) fn watched_on(&self) -> Option<u32> {
        self.is_known_late.then(|| self.status().connection)
    }

    /// Waits until the session is connected by another connection than that one; none when it is over, or nobody's. It
    /// has no share of the session meanwhile.
    pub(super) async fn reconnected(session: &Weak<Session>, before: Option<u32>) -> Option<u32> {
        let mut states = session.upgrade()?.states.clone();
        loop {
            // Taken before the status is looked at: what comes later is seen by `changed`.
            states.state();
            let status = session.upgrade()?.status();
            match status.state {
                State::Over(_) => return None,
                State::Connected if Some(status.connection) != before => return Some(status.connection),
                _ => {}
            }
            states.changed().await;
        }
    }

    /// Asks something, in the session's own name.
    pub(super) async fn ask<T, F>(
        session: &Weak<Session>,
        call: impl FnOnce(Arc<lib::Client>) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, lib::Error>> + Send + 'static,
    {
        let closed = Error::SessionOver(Over::Closed);
        let (at, sent) = session.upgrade().ok_or(closed.clone())?.launch(Ok(()), call);
        let answer = sent?.await;
        session.upgrade().ok_or(closed)?.receive(at, answer)
    }

    pub(super) fn safe_until(&self) -> Time {
        self.keeper.ask(self.clock.now(), self.timeout) + self.timeout
    }

    pub(super) fn sleep_until(&self, until: Time) -> impl Future<Output = ()> + Send + use<> {
        let (runtime, at) = (self.runtime.clone(), self.clock.instant(until));
        async move {
            let Some(at) = at else { return std::future::pending().await };
            // Made in the session's runtime, so that it can be waited for anywhere.
            let sleep = {
                let _entered = runtime.enter();
                tokio::time::sleep_until(at.into())
            };
            sleep.await;
        }
    }

    /// 1. Wait for duties. 2. Let nothing more be sent. 3. Wait for the answers of what was. 4. End the session.
    pub(super) async fn close(&self, limit: Duration) -> Result<(), Error> {
        let until = self.clock.now() + limit;
        let _ = self.before(until, self.duties.idle()).await;
        let zk = self.zk.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(zk) = zk {
            self.closed.store(!self.states.peek_state().is_terminated(), SeqCst);
            self.closing.notify_waiters();
            if !self.flights.is_empty() {
                // Answers come in order: behind this one, all are there.
                let _ = self.before(until, zk.check_stat("/")).await;
            }
            drop(zk);
            self.flights.land();
        }
        self.before(until, self.end()).await.ok_or(Error::ConnectionLoss)
    }

    /// Resolves when the library is done with the session.
    async fn end(&self) {
        let mut states = self.states.clone();
        while !states.state().is_terminated() {
            states.changed().await;
        }
    }

    async fn before<T>(&self, until: Time, work: impl Future<Output = T>) -> Option<T> {
        match select(pin!(work), pin!(self.sleep_until(until))).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }
}

/// The library's states, counted.
struct Seen {
    states: lib::StateWatcher,
    status: Status,
}

impl Seen {
    fn new(mut states: lib::StateWatcher) -> Self {
        let first = states.state();
        let mut seen = Seen { states, status: Status { state: State::Connected, connection: 1, changes: 0 } };
        if first != lib::SessionState::SyncConnected {
            seen.note(first, false);
        }
        seen
    }

    fn look(&mut self, closed: bool) -> Status {
        while let Some(state) = self.states.changed().now_or_never() {
            self.note(state, closed);
        }
        if closed {
            self.note(lib::SessionState::Closed, true);
        }
        self.status
    }

    /// A change of state. The library tells the last one only, so what comes unexpectedly has another before it.
    fn note(&mut self, state: lib::SessionState, closed: bool) {
        use lib::SessionState as S;
        let Status { state: old, connection, changes } = &mut self.status;
        let new = match state {
            S::SyncConnected => State::Connected,
            S::Disconnected | S::ConnectedReadOnly => State::Suspended,
            S::AuthFailed => State::Over(Over::AuthFailed),
            S::Expired => State::Over(Over::Expired),
            S::Closed if closed => State::Over(Over::Closed),
            S::Closed => State::Over(Over::Expired),
        };
        match (*old, new) {
            (State::Over(_), _) => return,
            (State::Connected, State::Connected) | (State::Suspended, State::Suspended) => {
                *connection += 1;
                *changes += 2;
            }
            (_, State::Connected) => {
                *connection += 1;
                *changes += 1;
            }
            _ => *changes += 1,
        }
        *old = new;
    }
}
