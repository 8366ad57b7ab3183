//! The state that all clones of a handle share: the session machine, the slots of futures, and the bytes to send.
//!
//! 1. A call encodes its request and passes it to the machine, which numbers it; its frame joins the bytes to send.
//! 2. The session's task ([`link`](super::link)) is woken, writes them, reads replies, and passes those to the machine.
//! 3. Answers and notifications go to the slots of their futures, which are woken when the lock is free again.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::attempts::Attempts;
use super::clock::Clock;
use super::effect::Effect;
use super::ephemerals::Ephemerals;
use super::request::{Ask, Body, Real, Request, Root};
use zk_protocol::session::{
    Answered, ClientSession, Endings, Failure, Incoming, Out, Outgoing, Password, Servers, Slot, Slots,
    WatchItem,
};
use zk_recipes::zk::waiters::{Place, Waiters};
use zk_recipes::zk::{
    ErrorKind, Event, OnSessionOver, Over, SessionId, State, Status, Time, TreeEvent, path,
};

/// The slots of futures.
pub(super) type Waiting = Slots<Result<Body, Missed>, ()>;

/// The reason why a request has no answer.
#[derive(Debug)]
pub(super) enum Missed {
    Failed(Failure<i32>),
    /// Not sent: the session's ephemerals would take so many bytes, and that is the limit.
    Full {
        bytes: usize,
        limit: usize,
    },
}

/// A request of a user, its effect on the session's ephemerals, and the slots of its answer and of its watch.
struct Call {
    request: Arc<Request>,
    effect: Effect,
    ticket: u32,
    watch: Option<u32>,
}

impl Call {
    /// A request of the client's own, without an effect.
    fn own(request: Request, ticket: u32) -> Call {
        Call { request: Arc::new(request), effect: Effect::Nothing, ticket, watch: None }
    }
}

/// Behind one lock.
pub(super) struct Core {
    pub(super) machine: ClientSession<Real>,
    pub(super) slots: Waiting,
    /// What the session owns; while it is read, the ticket of the reading, and the calls that are held.
    ephemerals: Ephemerals,
    reading: Option<u32>,
    held: VecDeque<Call>,
    /// Pending actions of the machine. Empty between two calls; its capacity is reused.
    out: Vec<Out<Real>>,
    /// Frames to send, on the connection of this number.
    pub(super) frames: Vec<u8>,
    pub(super) conn: u32,
    /// The connect of an attempt.
    pub(super) hello: Option<Hello>,
    /// A connection is to be opened.
    pub(super) attempt: bool,
    /// The number of servers.
    servers: usize,
    /// The connection was given up.
    pub(super) hang_up: bool,
    /// The task that drives the session.
    pub(super) link: Option<Waker>,
    link_is_woken: bool,
    /// Futures that wait for a change of status, or for the end of a duty.
    waiting: Waiters,
    wakers: Vec<Waker>,
    endings: Endings,
    /// Those of `endings` that are to be told.
    ended: Vec<Arc<dyn OnSessionOver>>,
    pub(super) duties: u32,
    pub(super) next_duty: u64,
}

/// The first packet of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hello {
    pub(super) session: SessionId,
    pub(super) last_zxid: i64,
    /// In microseconds.
    pub(super) timeout: u64,
    pub(super) password: Password,
}

/// A request that was sent, the slot of its answer, and that of the watch that it arms.
pub(super) struct Sent {
    pub(super) request: Arc<Request>,
    pub(super) ticket: u32,
    pub(super) watch: Option<u32>,
}

/// The shared part of a session.
pub(super) struct Shared {
    core: Mutex<Core>,
    pub(super) clock: Clock,
    pub(super) root: Root,
    attempts: Mutex<Attempts>,
}

impl Shared {
    pub(super) fn new(timeout: Duration, servers: usize, root: Root, max_ephemerals: usize) -> Shared {
        let clock = Clock::start();
        let timeout = u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX);
        // To the machine the ensemble is one server: which of them is used is decided in each round of attempts.
        let ensemble = Servers::new(1, 0, false);
        let core = Core {
            machine: ClientSession::new(timeout, ensemble, clock.now().as_micros()),
            slots: Slots::default(),
            ephemerals: Ephemerals::new(max_ephemerals),
            reading: None,
            held: VecDeque::new(),
            out: Vec::new(),
            frames: Vec::new(),
            conn: 0,
            hello: None,
            attempt: false,
            servers,
            hang_up: false,
            link: None,
            link_is_woken: false,
            waiting: Waiters::default(),
            wakers: Vec::new(),
            endings: Endings::default(),
            ended: Vec::new(),
            duties: 0,
            next_duty: 0,
        };
        Shared { core: Mutex::new(core), clock, root, attempts: Mutex::default() }
    }

    /// The attempts to connect. Never locked together with the core.
    pub(super) fn attempts(&self) -> MutexGuard<'_, Attempts> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Core> {
        // No panic can occur between two related writes.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `act` on the machine, and distributes its actions.
    pub(super) fn act<R>(&self, act: impl FnOnce(&mut Core, u64, &mut Vec<Out<Real>>) -> R) -> R {
        let mut core = self.lock();
        let (now, mut out) = (self.clock.now().as_micros(), std::mem::take(&mut core.out));
        let result = act(&mut core, now, &mut out);
        let mut next = 0;
        // An action may cause further ones.
        while next < out.len() {
            let what = std::mem::replace(&mut out[next], Out::Retry { pause: 0, lost: false });
            next += 1;
            core.carry_out(what, now, &self.root, &mut out);
        }
        out.clear();
        core.out = out;
        let (wakers, ended) = (std::mem::take(&mut core.wakers), std::mem::take(&mut core.ended));
        drop(core);
        ended.into_iter().for_each(|listener| listener.session_over());
        wakers.into_iter().for_each(Waker::wake);
        result
    }

    /// Sends a request. `watch` takes the slot of the watch that it arms.
    pub(super) fn send(&self, mut request: Request, watch: Option<fn(&mut Waiting) -> u32>) -> Sent {
        let effect = std::mem::take(&mut request.effect);
        let request = Arc::new(request);
        self.act(|core, now, out| {
            let ticket = core.slots.take();
            let watch = watch.map(|take| take(&mut core.slots));
            core.call(Call { request: request.clone(), effect, ticket, watch }, now, out);
            Sent { request, ticket, watch }
        })
    }

    /// Packets of a connection arrive.
    pub(super) fn receive(&self, conn: u32, packet: Incoming<Real>) {
        self.act(|core, now, out| {
            core.machine.receive(now, conn, packet, |path| self.root.bytes_of(path), out)
        });
    }

    /// Drops a watch: its slot is freed and the machine notified in one step, since another request may reuse the number at
    /// once.
    pub(super) fn drop_watch(&self, watch: u32) {
        let slot = self.act(|core, now, out| {
            let slot = core.slots.release(watch);
            if let Slot::Pending(_) | Slot::Stream(..) = slot {
                core.machine.drop_watch(now, watch, (), out);
            }
            slot
        });
        // A waker may own the last reference to a task, so it is not dropped under the lock.
        drop(slot);
    }

    /// Ends the session on this side, regardless of the ensemble.
    pub(super) fn end(&self, why: Over) {
        self.act(|core, _, out| {
            core.hang_up = true;
            core.machine.end(why, out);
            core.wake_link();
        });
    }

    /// Why the session is over.
    pub(super) fn over(&self) -> Option<Over> {
        match self.status().state {
            State::Over(why) => Some(why),
            _ => None,
        }
    }

    /// The time until the machine's next timer.
    pub(super) fn until_next_timer(&self) -> Option<Duration> {
        let next = self.lock().machine.next_timer()?;
        Some(Time::from_micros(next).since(self.clock.now()))
    }

    pub(super) fn status(&self) -> Status {
        self.lock().machine.status()
    }

    /// Resolves with a status that is not that one.
    pub(super) fn changed(self: &Arc<Self>, seen: Status) -> impl Future<Output = Status> + Send + use<> {
        self.found(move |core| Some(core.machine.status()).filter(|status| *status != seen))
    }

    /// Resolves when no duty is being done.
    pub(super) fn idle(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        self.found(|core| (core.duties == 0).then_some(()))
    }

    /// Resolves with what is found now, or after a change.
    fn found<T, F>(self: &Arc<Self>, look: F) -> impl Future<Output = T> + Send + use<T, F>
    where
        F: Fn(&Core) -> Option<T> + Send,
    {
        let mut waiter = Waiter { shared: self.clone(), place: None };
        poll_fn(move |context| waiter.poll(&look, context))
    }

    pub(super) fn safe_until(&self) -> Time {
        let core = self.lock();
        Time::from_micros(core.machine.safe_from().saturating_add(core.machine.sound_timeout()))
    }

    /// See [`ZooKeeper::on_session_over`](zk_recipes::zk::ZooKeeper::on_session_over).
    pub(super) fn on_over(&self, listener: Weak<dyn OnSessionOver>) {
        let is_over = {
            let mut core = self.lock();
            core.endings.add(listener.clone());
            core.machine.is_over()
        };
        if is_over && let Some(listener) = listener.upgrade() {
            listener.session_over();
        }
    }

    pub(super) fn duty_done(&self) {
        self.act(|core, _, _| {
            core.duties -= 1;
            core.tell_all();
        });
    }
}

/// A future that waits for a change. Dropped, it leaves nothing behind.
struct Waiter {
    shared: Arc<Shared>,
    place: Option<Place>,
}

impl Waiter {
    fn poll<T>(&mut self, look: impl Fn(&Core) -> Option<T>, context: &Context<'_>) -> Poll<T> {
        let mut core = self.shared.lock();
        if let Some(found) = look(&core) {
            return Poll::Ready(found);
        }
        let replaced = core.waiting.wait(&mut self.place, context);
        drop(core);
        drop(replaced);
        Poll::Pending
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let Some(place) = self.place.take() else { return };
        let waker = self.shared.lock().waiting.leave(place);
        // It may own the last reference to a task, so it is not dropped under the lock.
        drop(waker);
    }
}

impl Core {
    fn carry_out(&mut self, what: Out<Real>, now: u64, root: &Root, out: &mut Vec<Out<Real>>) {
        match what {
            Out::Send(conn, packet) => {
                match packet {
                    Outgoing::Connect { session, last_zxid, timeout, password } => {
                        self.hello = Some(Hello { session, last_zxid, timeout, password });
                    }
                    Outgoing::Request { xid, ask, .. } if conn == self.conn => {
                        root.frame(xid, &ask, &mut self.frames);
                    }
                    Outgoing::Request { .. } => {}
                }
                self.wake_link();
            }
            Out::Answered(answered) => self.answered(answered, out, now),
            Out::Fired(watch, told) => {
                let told = match told {
                    WatchItem::Event(kind, path) => {
                        Ok(TreeEvent::Changed(Event { kind, path: path.as_ref().to_owned() }))
                    }
                    WatchItem::Gap => Ok(TreeEvent::Gap),
                    WatchItem::Over(why) => Err(ErrorKind::SessionOver(why).into()),
                };
                self.slots.tell(watch, told, &mut self.wakers);
            }
            Out::Noticed(_, kind, path) => self.machine.dispatch(kind, path, parent, out),
            Out::Forgot(..) => {}
            Out::Changed(_) => {
                if self.machine.is_over() {
                    self.ended.extend(self.endings.take());
                }
                self.tell_all();
                self.wake_link();
            }
            Out::Close(conn) => {
                if conn == self.conn {
                    self.hang_up = true;
                    self.wake_link();
                }
            }
            Out::Attempt { .. } => {
                self.attempt = true;
                self.wake_link();
            }
            Out::Retry { pause, lost } => {
                let timeout = self.machine.sound_timeout();
                // Another server may be used at once, and the same one after a rest.
                let rest = if lost && self.servers > 1 { 0 } else { pause.min(timeout / 4) };
                self.machine.retry_at(now + pause_before_retry(timeout, lost) + rest);
            }
        }
    }

    fn answered(&mut self, answered: Answered<Real>, out: &mut Vec<Out<Real>>, now: u64) {
        let Answered { ticket, result, .. } = answered;
        self.ephemerals.answered(
            ticket,
            match &result {
                Ok(body) => Some(Ok(body)),
                Err(Failure::Refused(error)) => Some(Err(*error)),
                Err(Failure::ConnectionLoss | Failure::Over(_)) => None,
            },
        );
        if self.reading == Some(ticket) {
            self.slots.release(ticket);
            self.reading = None;
            return self.read(result, now, out);
        }
        self.give(ticket, result.map_err(Missed::Failed), now, out);
    }

    /// Sends a request of a user, if there is room for the ephemerals that it creates.
    fn call(&mut self, call: Call, now: u64, out: &mut Vec<Out<Real>>) {
        if self.reading.is_none() && (self.has_room(&call) || self.machine.is_over()) {
            return self.send(call, now, out);
        }
        if self.reading.is_none() {
            // Others may have deleted some.
            let settle = self.slots.take();
            self.slots.forget(settle, (), None);
            self.send(Call::own(Root::settle(), settle), now, out);
            let ticket = self.slots.take();
            self.send(Call::own(Root::ephemerals(), ticket), now, out);
            self.reading = Some(ticket);
        }
        self.held.push_back(call);
    }

    fn has_room(&self, call: &Call) -> bool {
        self.ephemerals.have_room_for(&call.effect)
    }

    fn send(&mut self, call: Call, now: u64, out: &mut Vec<Out<Real>>) {
        let Call { request, effect, ticket, watch } = call;
        self.ephemerals.sent(ticket, effect);
        self.machine.ask(now, Ask::User(request), (), Some(ticket), watch, out);
    }

    /// The ephemerals of the session were read.
    fn read(&mut self, result: Result<Body, Failure<i32>>, now: u64, out: &mut Vec<Out<Real>>) {
        match result {
            Ok(body) => {
                self.ephemerals.are(&body);
                self.send_held(None, now, out);
            }
            // An old server does not know the request: what was counted stands.
            Err(Failure::Refused(_)) => self.send_held(None, now, out),
            Err(lost) => self.send_held(Some(lost), now, out),
        }
    }

    /// Sends the calls that are held. Those without room fail as the reading did, or since there is no room.
    pub(super) fn send_held(&mut self, lost: Option<Failure<i32>>, now: u64, out: &mut Vec<Out<Real>>) {
        while let Some(call) = self.held.pop_front() {
            if self.has_room(&call) {
                self.send(call, now, out);
                continue;
            }
            let missed = lost.map_or_else(|| self.full(&call), Missed::Failed);
            self.give(call.ticket, Err(missed), now, out);
        }
    }

    fn full(&self, call: &Call) -> Missed {
        Missed::Full { bytes: self.ephemerals.bytes_with(&call.effect), limit: self.ephemerals.limit() }
    }

    /// Fills the slot of an answer.
    fn give(&mut self, ticket: u32, result: Result<Body, Missed>, now: u64, out: &mut Vec<Out<Real>>) {
        match self.slots.take_forgotten(ticket) {
            None => self.slots.fill(ticket, Slot::Answered(result), &mut self.wakers),
            Some(((), Some(watch))) => {
                self.slots.release(watch);
                self.machine.drop_watch(now, watch, (), out);
            }
            Some(((), None)) => {}
        }
    }

    fn tell_all(&mut self) {
        self.waiting.wake_all(&mut self.wakers);
    }

    pub(super) fn wake_link(&mut self) {
        if !std::mem::replace(&mut self.link_is_woken, true) {
            self.wakers.extend(self.link.clone());
        }
    }

    /// Wakes the task that drives the session, from here on.
    pub(super) fn link_looks(&mut self, context: &Context<'_>) {
        self.link_is_woken = false;
        if !self.link.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            self.link = Some(context.waker().clone());
        }
    }
}

/// The path above a path; none above the root.
fn parent(path: &Arc<str>) -> Option<Arc<str>> {
    (path.as_ref() != "/").then(|| path::split(path).0.into())
}

/// The longest wait between two attempts (`ClientCnxn.startConnect`).
const MAX_RETRY: u64 = 1_000_000;

/// The pause before the next attempt: random, against a thundering herd of clients of a stopped server; and a small part of
/// the timeout, so that a short session has several attempts.
fn pause_before_retry(timeout: u64, lost: bool) -> u64 {
    let most = (timeout / if lost { 20 } else { 10 }).clamp(1, MAX_RETRY);
    random() % most
}

/// Drawn by the operating system.
///
/// # Panics
///
/// When the operating system has no random numbers to give.
pub(super) fn random() -> u64 {
    getrandom::u64().expect("the operating system gives random numbers")
}

/// Spreads clients over the servers (`StaticHostProvider`).
pub(super) fn shuffle<T>(all: &mut [T]) {
    for at in (1..all.len()).rev() {
        let other = random() % (at as u64 + 1);
        all.swap(at, usize::try_from(other).unwrap_or(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_before_a_reconnect_is_a_small_part_of_the_timeout() {
        const SECOND: u64 = 1_000_000;
        for (timeout, lost, most) in [
            (2 * SECOND, true, SECOND / 10),
            (2 * SECOND, false, SECOND / 5),
            (8 * SECOND, true, SECOND * 2 / 5),
            (60 * SECOND, true, SECOND),
            (60 * SECOND, false, SECOND),
        ] {
            let drawn: Vec<u64> = (0..1000).map(|_| pause_before_retry(timeout, lost)).collect();
            assert!(drawn.iter().all(|pause| *pause < most), "of {timeout} after {lost}");
            assert!(drawn.iter().any(|pause| *pause > most / 2), "clients are spread over {most}");
        }
    }
}
