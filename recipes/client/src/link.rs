//! The task that drives a session: it opens connections, moves bytes, and runs the machine's timers.
//!
//! 1. Wait until the machine requests an attempt.
//! 2. Open a connection with one of the servers, and shake hands: see [`race`](super::race).
//! 3. Read and write until either side gives the connection up.
//! 4. Notify the machine, and repeat until the session is over.
//!
//! Requests that are called before the task runs again are sent in one write.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::clock::{self, instant_in};
use super::core::{Core, Shared};
use super::frames::{Frames, nonsense};
use super::handshake::{Handshake, Opened};
use super::life::{self, Life, Loss, Outage};
use super::options::Limits;
use super::race::{self, Ended};
use super::request::{Real, notification};
use super::stream::Stream;
use zk_protocol::session::{Incoming, Out};
use zk_protocol::wire::jute::In;
use zk_protocol::wire::number;
use zk_recipes::zk::PINGS_PER_TIMEOUT;
use zk_recipes::zk::{Over, Time};

/// Drives a session until it is over. If the future is dropped before, with its runtime, the session ends on this side.
pub(super) fn drive(
    shared: Arc<Shared>,
    handshake: Handshake,
    limits: Limits,
    outage: &Outage,
) -> impl Future<Output = ()> + Send + use<> {
    let abandoned = Abandoned(shared.clone());
    let life = Life::begin(&handshake.servers, outage, shared.clock.now());
    #[cfg(feature = "tracing")]
    let span = life.span();
    let work = async move {
        Driver { shared: &shared, handshake: &handshake, limits, life, next: 0 }.run().await;
        drop(abandoned);
    };
    #[cfg(feature = "tracing")]
    let work = tracing::Instrument::instrument(work, span);
    work
}

struct Driver<'a> {
    shared: &'a Shared,
    handshake: &'a Handshake,
    limits: Limits,
    life: Life,
    /// The server that the next round begins with: the one after the last that was connected.
    next: usize,
}

impl Driver<'_> {
    async fn run(mut self) {
        let shared = self.shared;
        while next_attempt(shared, |pause| self.life.backs_off(pause)).await {
            let conn = begin(shared);
            let opened = self.round().await;
            if let Ok(opened) = &opened {
                self.next = (opened.server + 1) % self.handshake.servers.len();
            }
            carry(shared, conn, opened, &self.limits, &mut self.life).await;
        }
        if let Some(why) = shared.over() {
            self.life.over(why, shared.clock.now());
        }
    }

    /// Step 2. The machine has a limit for it, and so have the options. Who opens the session ends the last round itself, and
    /// says why: two timers for one instant would tell of it in the one way or the other.
    async fn round(&mut self) -> Result<Opened, Ended> {
        let shared = self.shared;
        let timeout = Duration::from_micros(shared.lock().machine.timeout());
        let limit = self.limits.connect_timeout.min(timeout);
        let round = race::round(self.handshake, shared, &self.life, self.next, limit);
        let ends_with_open = !self.life.has_connected() && self.limits.connect_timeout <= timeout;
        let late = pin!(async {
            let given_up = pin!(given_up(shared));
            if ends_with_open {
                return given_up.await;
            }
            select(given_up, pin!(tokio::time::sleep_until(instant_in(limit)))).await;
        });
        let ended = match select(pin!(self.life.within(round)), late).await {
            Either::Left((Ok(opened), _)) => {
                shared.attempts().succeed();
                return Ok(opened);
            }
            Either::Left((Err(ended), _)) => ended,
            Either::Right(_) => Ended::Failed,
        };
        if !shared.lock().machine.is_over() {
            self.failed(limit);
        }
        Err(ended)
    }

    fn failed(&mut self, limit: Duration) {
        let (late, failures, are_hopeless) = {
            let mut attempts = self.shared.attempts();
            let late = attempts.time_out(limit);
            attempts.are_hopeless =
                self.limits.fails_fast && !self.life.has_connected() && attempts.are_lasting();
            (late, attempts.failures(), attempts.are_hopeless)
        };
        self.life.round_failed(&late, &failures, self.shared.safe_until(), self.shared.clock.now());
        if are_hopeless {
            self.shared.end(Over::Closed);
        }
    }
}

/// Steps 3 and 4, with the result of step 2.
pub(super) async fn carry(
    shared: &Shared,
    conn: u32,
    opened: Result<Opened, Ended>,
    limits: &Limits,
    life: &mut Life,
) {
    match opened {
        Ok(opened) => {
            shared.act(|core, _, _| core.machine.connect_sent(opened.asked_at.as_micros()));
            shared.receive(conn, opened.welcome.clone());
            // A probe is never connected.
            let is_connected = shared.lock().machine.conn() == Some(conn);
            if is_connected {
                life.connected(&opened, shared, shared.clock.now());
            }
            let loss = pump(shared, conn, opened.stream, limits, life).await;
            if is_connected && shared.over().is_none() {
                life.suspect(&loss, shared.safe_until(), shared.clock.now());
            }
        }
        Err(Ended::Refused) => shared.end(Over::AuthFailed),
        Err(Ended::Failed) => shared.receive(conn, Incoming::Unreachable),
    }
    shared.receive(conn, Incoming::Fin);
}

struct Abandoned(Arc<Shared>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        // Over already, unless the runtime ends before the session.
        self.0.end(Over::Closed);
    }
}

/// Step 1: whether there is a next attempt; none when the session is over. `rests` is told the pause before it.
pub(super) async fn next_attempt(shared: &Shared, rests: impl Fn(Duration)) -> bool {
    if let Some(pause) = shared.until_next_timer().filter(|pause| !pause.is_zero()) {
        rests(pause);
    }
    let mut timer = Timer::new(shared);
    poll_fn(|context| {
        loop {
            let mut core = shared.lock();
            core.link_looks(context);
            if core.machine.is_over() {
                return Poll::Ready(false);
            }
            if std::mem::take(&mut core.attempt) {
                return Poll::Ready(true);
            }
            drop(core);
            ready!(timer.poll(shared, context));
            shared.act(|core, now, out| core.machine.timer(now, out));
        }
    })
    .await
}

/// Step 2 begins. The lease counts from this instant, before any byte is sent.
pub(super) fn begin(shared: &Shared) -> u32 {
    shared.act(|core, now, out| {
        core.conn += 1;
        core.frames.clear();
        core.hang_up = false;
        core.machine.attempt(now, core.conn, out);
        core.conn
    })
}

/// Resolves when the machine has given up the attempt.
async fn given_up(shared: &Shared) {
    let mut timer = Timer::new(shared);
    poll_fn(|context| {
        loop {
            let mut core = shared.lock();
            core.link_looks(context);
            if core.hang_up || core.machine.is_over() {
                return Poll::Ready(());
            }
            drop(core);
            ready!(timer.poll(shared, context));
            shared.act(|core, now, out| core.machine.timer(now, out));
        }
    })
    .await;
}

/// Step 3. Returns why the connection has come to its end.
async fn pump(shared: &Shared, conn: u32, stream: Box<dyn Stream>, limits: &Limits, life: &Life) -> Loss {
    let mut pump = Pump {
        shared,
        conn,
        life,
        stream,
        timer: Timer::new(shared),
        leaving: Vec::new(),
        written: 0,
        needs_flush: false,
        arriving: Frames::new(limits.max_reply_bytes),
        flow: life::Flow::default(),
        in_flight: 0,
    };
    let loss = poll_fn(|context| pump.poll(context)).await;
    Loss { in_flight: pump.in_flight, ..loss }
}

struct Pump<'a> {
    shared: &'a Shared,
    conn: u32,
    life: &'a Life,
    stream: Box<dyn Stream>,
    timer: Timer,
    /// Frames being sent, and the number of bytes sent.
    leaving: Vec<u8>,
    written: usize,
    needs_flush: bool,
    arriving: Frames,
    flow: life::Flow,
    in_flight: usize,
}

impl Pump<'_> {
    /// Ready when the connection has come to its end.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Loss> {
        loop {
            let mut core = self.shared.lock();
            core.link_looks(context);
            if core.hang_up {
                return Poll::Ready(Loss::answer());
            }
            self.in_flight = core.machine.in_flight();
            self.flow.show(self.in_flight, core.machine.watched());
            drop(core);
            // Received bytes count before timers: a process that was paused reads its socket first.
            if let Err(error) = self.read(context) {
                return Poll::Ready(Loss::of(&error));
            }
            let is_due = self.timer.poll(self.shared, context).is_ready();
            if is_due && self.act() {
                let patience = self.shared.lock().machine.patience();
                return Poll::Ready(Loss::silence(Duration::from_micros(patience)));
            }
            if let Err(error) = self.write(context) {
                return Poll::Ready(Loss::of(&error));
            }
            if !is_due && !self.has_more() {
                return Poll::Pending;
            }
        }
    }

    /// Runs the machine's timer. Returns whether it gave the connection up.
    fn act(&mut self) -> bool {
        let (late, gave_up) = self.shared.act(|core, now, out| {
            let due = core.machine.next_timer().unwrap_or(now);
            let late = Duration::from_micros(now.saturating_sub(due));
            core.machine.timer(now, out);
            let gave_up = core.machine.conn() != Some(self.conn);
            (late.checked_sub(tolerance(core)), gave_up)
        });
        if let (Some(late), false) = (late, gave_up) {
            self.life.late_ping("sending", late);
        }
        gave_up
    }

    /// Whether there is work for which this task is not woken.
    fn has_more(&self) -> bool {
        let core = self.shared.lock();
        core.hang_up || (self.written == self.leaving.len() && !core.frames.is_empty())
    }

    /// Reads available bytes, and passes whole frames on.
    fn read(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        loop {
            let mut buffer = ReadBuf::new(self.arriving.room());
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(())) if buffer.filled().is_empty() => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                Poll::Ready(result) => result?,
            }
            let bytes = buffer.filled().len();
            self.arriving.arrived(bytes);
            life::bytes_arrived(bytes);
            self.take_frames()?;
        }
    }

    fn take_frames(&mut self) -> io::Result<()> {
        let (shared, conn) = (self.shared, self.conn);
        let mut late = None;
        let all = shared.act(|core, now, out| {
            // A reply may be long, and the link slow.
            core.machine.heard(now, conn);
            self.arriving.take(|frame| arrive(core, shared, conn, frame, now, out, &mut late))
        });
        if let Some(late) = late {
            self.life.late_ping("answer", late);
        }
        all
    }

    fn write(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        loop {
            if self.written == self.leaving.len() {
                self.leaving.clear();
                self.written = 0;
                std::mem::swap(&mut self.leaving, &mut self.shared.lock().frames);
            }
            if self.leaving.is_empty() {
                break;
            }
            match Pin::new(&mut self.stream).poll_write(context, &self.leaving[self.written..]) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(written) => {
                    let written = written?;
                    self.written += written;
                    life::bytes_left(written);
                }
            }
            self.needs_flush = true;
        }
        if self.needs_flush && Pin::new(&mut self.stream).poll_flush(context)?.is_ready() {
            self.needs_flush = false;
        }
        Ok(())
    }
}

/// How late a ping may be sent, or answered, before it is told.
fn tolerance(core: &Core) -> Duration {
    Duration::from_micros(core.machine.timeout() / u64::from(2 * PINGS_PER_TIMEOUT))
}

/// Hands a frame to the machine.
fn arrive(
    core: &mut Core,
    shared: &Shared,
    conn: u32,
    frame: &[u8],
    now: u64,
    out: &mut Vec<Out<Real>>,
    late: &mut Option<Duration>,
) -> io::Result<()> {
    let mut from = In::new(frame);
    let header = (|| Some((from.int()?, from.long()?, from.int()?)))();
    let (xid, zxid, error) = header.ok_or_else(|| nonsense("an answer without a header"))?;
    if let Some(sent) = core.machine.sent_first(xid) {
        let took = Duration::from_micros(now.saturating_sub(sent));
        let is_ping = xid == number::PING_XID;
        life::replied(took, is_ping);
        if is_ping && took > tolerance(core) {
            *late = Some(took);
        }
    }
    let packet = match xid {
        number::NOTIFICATION_XID => match notification(&shared.root, from.rest()) {
            Some((kind, path)) => Incoming::Notify { kind, path },
            None => return Ok(()),
        },
        number::AUTH_XID if error == 0 => return Ok(()),
        _ => {
            let result = if error == 0 { Ok(from.rest().to_vec()) } else { Err(error) };
            Incoming::Reply { xid, zxid, result }
        }
    };
    core.machine.receive(now, conn, packet, |path| shared.root.bytes_of(path), out);
    Ok(())
}

/// The timer for the machine's next act.
struct Timer {
    timer: clock::Timer,
    armed: Time,
}

impl Timer {
    fn new(shared: &Shared) -> Timer {
        Timer { timer: clock::Timer::new(shared.clock), armed: Time::NEVER }
    }

    /// Ready when a timer of the machine is due. The timer is moved only when it fires, or for an earlier time,
    /// since each request postpones the next ping.
    fn poll(&mut self, shared: &Shared, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let Some(due) = shared.lock().machine.next_timer().map(Time::from_micros) else {
                return Poll::Pending;
            };
            if due <= shared.clock.now() {
                return Poll::Ready(());
            }
            self.armed = self.armed.min(due);
            ready!(self.timer.poll(self.armed, context));
            self.armed = Time::NEVER;
        }
    }
}
