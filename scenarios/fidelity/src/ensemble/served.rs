//! An ensemble behind sockets, in real time: its operator reports its state and injects its faults, and other clients
//! may be connected to it.
//!
//! | module | content |
//! |---|---|
//! | `socket` | one connection of a scenario's session |
//! | `tidy` | restores the ensemble after a scenario |

mod socket;
#[cfg(test)]
mod tests;
mod tidy;

use super::cluster::{Cluster, Link, MemberId, Micros, PipelineStage};
use crate::exchange::Arrival;
use crate::exchange::reply;
use crate::exchange::wire::{self, Hello};
use rustix::event::{PollFd, Timespec, poll};
use socket::Socket;
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest wait for sockets, in microseconds, before the state of the ensemble is read again.
const SLICE: u64 = 2_000;

/// A fault that lasts until it is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastingFault {
    /// The packets of a link are held, and delivered in order when the fault ends.
    Hold(Link),
    /// The packets of a link are lost, and sent again when the fault ends if their connection survives.
    Lose(Link),
    /// The process of a member is dead.
    Kill(MemberId),
    /// The process of a member is paused.
    Pause(MemberId),
    /// One stage of a member stalls.
    Stall(MemberId, PipelineStage),
}

/// The state of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberStatus {
    /// Whether it serves clients under the leader.
    pub serves: bool,
    /// The last zxid that it has applied; none while its process does not run.
    pub applied: Option<i64>,
}

/// The state of an ensemble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The leader that a quorum follows, even while it is paused.
    pub leader: Option<MemberId>,
    /// The members, by their places.
    pub members: Vec<MemberStatus>,
}

/// Why a scenario cannot use an ensemble any more, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Trouble(pub String);

/// The control of a served ensemble: its faults and its state.
pub trait ControlOfServed {
    /// The current state.
    ///
    /// # Errors
    ///
    /// There is no reply, or an unreadable one.
    fn status(&self) -> Result<Status, Trouble>;

    /// Begins a fault. Does not wait for its consequences.
    ///
    /// # Errors
    ///
    /// There is no reply, or the fault is refused.
    fn begin(&self, fault: LastingFault) -> Result<(), Trouble>;

    /// Ends a fault that [`begin`](Self::begin) began. Does not wait for its consequences.
    ///
    /// # Errors
    ///
    /// There is no reply, or the end is refused.
    fn end(&self, fault: LastingFault) -> Result<(), Trouble>;

    /// Ends a session as if it had expired; no effect if it has already ended.
    ///
    /// # Errors
    ///
    /// There is no reply, or the end is refused.
    fn end_session(&self, session: i64) -> Result<(), Trouble>;
}

/// An ensemble behind sockets. A reference to it is a [`Cluster`].
///
/// When the scenario cannot use the ensemble any more, such as after its end, time passes only by waits that time out,
/// and every connection is closed; [`trouble`](Self::trouble) returns the reason.
pub struct Served<C> {
    addresses: Vec<SocketAddr>,
    control: C,
    begun: Instant,
    /// The time of waits that were skipped, in microseconds.
    skipped: Cell<Micros>,
    sockets: RefCell<Vec<Socket>>,
    /// The cached state, until it may have changed.
    known: RefCell<Option<Status>>,
    /// The faults that have begun and not ended.
    lasting: RefCell<Vec<LastingFault>>,
    /// The opened sessions.
    sessions: RefCell<Vec<i64>>,
    trouble: RefCell<Option<Trouble>>,
    interrupted: Arc<AtomicBool>,
}

impl<C: ControlOfServed> Served<C> {
    /// An ensemble whose members have these addresses.
    pub fn new(addresses: Vec<SocketAddr>, control: C) -> Self {
        Served {
            addresses,
            control,
            begun: clock(),
            skipped: Cell::new(0),
            sockets: RefCell::default(),
            known: RefCell::default(),
            lasting: RefCell::default(),
            sessions: RefCell::default(),
            trouble: RefCell::default(),
            interrupted: Arc::default(),
        }
    }

    /// The same ensemble, with a flag that aborts the scenario once it is set, which then is its trouble.
    #[must_use]
    pub fn interrupted_by(self, interrupted: Arc<AtomicBool>) -> Self {
        Served { interrupted, ..self }
    }

    /// Why the scenario cannot use the ensemble any more, so that its results are no evidence.
    pub fn trouble(&self) -> Option<Trouble> {
        self.trouble.borrow().clone()
    }

    fn is_in_trouble(&self) -> bool {
        self.trouble.borrow().is_some()
    }

    fn try_to<T>(&self, done: Result<T, Trouble>) -> Option<T> {
        done.map_err(|trouble| self.trouble.borrow_mut().get_or_insert(trouble).clone()).ok()
    }

    fn status(&self) -> Option<Status> {
        if self.is_in_trouble() {
            return None;
        }
        let known = self.known.borrow().clone();
        if known.is_some() {
            return known;
        }
        let status = self.try_to(self.control.status())?;
        *self.known.borrow_mut() = Some(status.clone());
        Some(status)
    }

    fn begin(&self, fault: LastingFault) {
        *self.known.borrow_mut() = None;
        if !self.is_in_trouble() && self.try_to(self.control.begin(fault)).is_some() {
            self.lasting.borrow_mut().push(fault);
        }
    }

    /// Begins a fault of a link, unless the other kind lasts there: the verb that ends one of them ends both.
    fn begin_on_link(&self, fault: LastingFault, other: LastingFault) {
        if self.lasting.borrow().contains(&other) {
            let why = "a link of a served ensemble holds packets or loses them, and not both at a time";
            self.try_to::<()>(Err(Trouble(why.to_owned())));
        }
        self.begin(fault);
    }

    /// Ends a fault, but none of another client.
    fn end(&self, fault: LastingFault) {
        *self.known.borrow_mut() = None;
        if self.lasting.borrow().contains(&fault)
            && !self.is_in_trouble()
            && self.try_to(self.control.end(fault)).is_some()
        {
            self.lasting.borrow_mut().retain(|lasting| *lasting != fault);
        }
    }

    /// Reads and writes all that is ready; waits for that time if nothing is.
    fn exchange(&self, wait: Duration) {
        let mut sockets = self.sockets.borrow_mut();
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
        let mut watched: Vec<PollFd<'_>> = sockets.iter().filter_map(Socket::watched).collect();
        // An interrupted wait is just shorter.
        let _ = poll(&mut watched, Some(&timeout));
        drop(watched);
        for socket in sockets.iter_mut() {
            socket.write();
            socket.read();
        }
    }
}

impl<C: ControlOfServed> Cluster for &Served<C> {
    /// An index into the connections.
    type Connection = usize;

    fn now(&self) -> Micros {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX) + self.skipped.get()
    }

    fn advance(&mut self, limit: Micros) {
        let left = limit.saturating_sub(self.now());
        if self.interrupted.load(Ordering::Relaxed) {
            self.try_to::<()>(Err(Trouble("it was interrupted".to_owned())));
        }
        if self.is_in_trouble() {
            self.skipped.set(self.skipped.get() + left);
            return;
        }
        self.exchange(Duration::from_micros(left.min(SLICE)));
        *self.known.borrow_mut() = None;
    }

    fn members(&self) -> usize {
        self.addresses.len()
    }

    fn leader(&self) -> Option<MemberId> {
        self.status()?.leader
    }

    fn serving(&self) -> Vec<MemberId> {
        let Some(status) = self.status().filter(|status| status.leader.is_some()) else { return Vec::new() };
        let all = (0..).map(MemberId).zip(status.members);
        all.filter(|(member, of)| of.serves || Some(*member) == status.leader)
            .map(|(member, _)| member)
            .collect()
    }

    fn last_applied(&self, member: MemberId) -> Option<i64> {
        self.status()?.members.get(member.0)?.applied
    }

    fn open(&mut self, member: MemberId, hello: &Hello) -> usize {
        let mut socket = Socket::open(self.addresses[member.0]);
        socket.send(&wire::hello(hello));
        self.sockets.borrow_mut().push(socket);
        self.sockets.borrow().len() - 1
    }

    fn send(&mut self, connection: &usize, frame: Vec<u8>) {
        self.sockets.borrow_mut()[*connection].send(&frame);
    }

    fn receive(&mut self, connection: &usize) -> Arrival {
        if self.is_in_trouble() {
            return Arrival::Closed;
        }
        let mut sockets = self.sockets.borrow_mut();
        let socket = &mut sockets[*connection];
        let is_first = socket.frames == 0;
        let arrival = socket.take();
        if let Arrival::Frame(frame) = &arrival
            && is_first
            && let Ok(welcome) = reply::welcome(frame)
            && welcome.timeout > 0
            && !self.sessions.borrow().contains(&welcome.session)
        {
            self.sessions.borrow_mut().push(welcome.session);
        }
        arrival
    }

    fn cut(&mut self, connection: &usize) {
        self.sockets.borrow_mut()[*connection].reset();
    }

    fn hold(&mut self, link: Link) {
        self.begin_on_link(LastingFault::Hold(link), LastingFault::Lose(link));
    }

    fn release(&mut self, link: Link) {
        self.end(LastingFault::Hold(link));
    }

    fn lose(&mut self, link: Link) {
        self.begin_on_link(LastingFault::Lose(link), LastingFault::Hold(link));
    }

    fn heal(&mut self, link: Link) {
        self.end(LastingFault::Lose(link));
    }

    fn kill(&mut self, member: MemberId) {
        self.begin(LastingFault::Kill(member));
    }

    fn start(&mut self, member: MemberId) {
        self.end(LastingFault::Kill(member));
    }

    fn pause(&mut self, member: MemberId) {
        self.begin(LastingFault::Pause(member));
    }

    fn resume(&mut self, member: MemberId) {
        self.end(LastingFault::Pause(member));
    }

    fn stall(&mut self, member: MemberId, stage: PipelineStage) {
        self.begin(LastingFault::Stall(member, stage));
    }

    fn unstall(&mut self, member: MemberId, stage: PipelineStage) {
        self.end(LastingFault::Stall(member, stage));
    }
}

#[expect(clippy::disallowed_methods, reason = "an ensemble behind sockets lives in real time")]
fn clock() -> Instant {
    Instant::now()
}
