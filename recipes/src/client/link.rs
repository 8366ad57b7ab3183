//! The task that drives a session: it opens connections, moves bytes, and runs the machine's timers.
//!
//! 1. Wait until the machine requests an attempt.
//! 2. Open a connection to its server, and shake hands: see [`handshake`](super::handshake).
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
use tokio::time::Sleep;

use super::clock::instant_in;
use super::core::{Core, Shared};
use super::handshake::{Failed, Handshake};
use super::request::{Real, notification};
use crate::session::{Incoming, Out};
use crate::wire::jute::In;
use crate::wire::number;
use crate::zk::{Over, Time};

/// A connection, plain or by TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// The size of a read.
const READ_BYTES: usize = 64 * 1024;

/// The capacity that is kept for the next replies.
const MAX_IDLE_BYTES: usize = 1024 * 1024;

/// The longest valid frame: a list of a million children is shorter.
const MAX_FRAME_BYTES: usize = 256 * 1024 * 1024;

/// Drives a session until it is over. If the future is dropped before, with its runtime, the session ends on this side.
pub(super) fn drive(shared: Arc<Shared>, handshake: Handshake) -> impl Future<Output = ()> + Send {
    let abandoned = Abandoned(shared.clone());
    async move {
        while let Some(server) = next_attempt(&shared).await {
            let conn = begin(&shared);
            let opening = pin!(handshake.open(server, &shared));
            // The machine has a limit for the attempt.
            let opened = match select(opening, pin!(given_up(&shared))).await {
                Either::Left((opened, _)) => opened,
                Either::Right(_) => continue,
            };
            carry(&shared, conn, opened).await;
        }
        drop(abandoned);
    }
}

/// Steps 3 and 4, with the result of step 2.
pub(super) async fn carry(
    shared: &Shared,
    conn: u32,
    opened: Result<(Box<dyn Stream>, Incoming<Real>), Failed>,
) {
    match opened {
        Ok((stream, welcome)) => {
            shared.receive(conn, welcome);
            pump(shared, conn, stream).await;
        }
        Err(Failed::Refused) => shared.end(Over::AuthFailed),
        Err(Failed::Lost) => {}
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

/// Step 1: the server of the next attempt; none when the session is over.
pub(super) async fn next_attempt(shared: &Shared) -> Option<u8> {
    let mut timer = Timer::new();
    poll_fn(|context| {
        loop {
            let mut core = shared.lock();
            core.link_looks(context);
            if core.machine.is_over() {
                return Poll::Ready(None);
            }
            if let Some(server) = core.attempt.take() {
                return Poll::Ready(Some(server));
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
    let mut timer = Timer::new();
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

/// Step 3.
async fn pump(shared: &Shared, conn: u32, stream: Box<dyn Stream>) {
    let mut pump = Pump {
        shared,
        conn,
        stream,
        timer: Timer::new(),
        leaving: Vec::new(),
        written: 0,
        needs_flush: false,
        arrived: vec![0; READ_BYTES],
        filled: 0,
    };
    poll_fn(|context| pump.poll(context)).await;
}

struct Pump<'a> {
    shared: &'a Shared,
    conn: u32,
    stream: Box<dyn Stream>,
    timer: Timer,
    /// Frames being sent, and the number of bytes sent.
    leaving: Vec<u8>,
    written: usize,
    needs_flush: bool,
    /// The receive buffer, and the number of bytes in it: the beginning of a frame.
    arrived: Vec<u8>,
    filled: usize,
}

impl Pump<'_> {
    /// Ready when the connection has come to its end.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let mut core = self.shared.lock();
            core.link_looks(context);
            if core.hang_up {
                return Poll::Ready(());
            }
            drop(core);
            // Received bytes count before timers: a process that was paused reads its socket first.
            if self.read(context).is_err() {
                return Poll::Ready(());
            }
            let is_due = self.timer.poll(self.shared, context).is_ready();
            if is_due {
                self.shared.act(|core, now, out| core.machine.timer(now, out));
            }
            if self.write(context).is_err() {
                return Poll::Ready(());
            }
            if !is_due && !self.has_more() {
                return Poll::Pending;
            }
        }
    }

    /// Whether there is work for which this task is not woken.
    fn has_more(&self) -> bool {
        let core = self.shared.lock();
        core.hang_up || (self.written == self.leaving.len() && !core.frames.is_empty())
    }

    /// Reads available bytes, and passes whole frames on.
    fn read(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        loop {
            if self.arrived.len() - self.filled < READ_BYTES / 4 {
                self.arrived.resize(self.arrived.len() * 2, 0);
            }
            let mut buffer = ReadBuf::new(&mut self.arrived[self.filled..]);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(())) if buffer.filled().is_empty() => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                Poll::Ready(result) => result?,
            }
            self.filled += buffer.filled().len();
            self.take_frames()?;
        }
    }

    fn take_frames(&mut self) -> io::Result<()> {
        let (arrived, mut from) = (&self.arrived[..self.filled], 0);
        let all = self.shared.act(|core, now, out| {
            while let Some(frame) = next_frame(&arrived[from..])? {
                from += frame.len() + LENGTH_BYTES;
                arrive(core, self.shared, self.conn, frame, now, out)?;
            }
            Ok(())
        });
        self.arrived.copy_within(from..self.filled, 0);
        self.filled -= from;
        if self.filled == 0 && self.arrived.len() > MAX_IDLE_BYTES {
            self.arrived = vec![0; READ_BYTES];
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
                Poll::Ready(written) => self.written += written?,
            }
            self.needs_flush = true;
        }
        if self.needs_flush && Pin::new(&mut self.stream).poll_flush(context)?.is_ready() {
            self.needs_flush = false;
        }
        Ok(())
    }
}

/// The bytes of a frame's length.
pub(super) const LENGTH_BYTES: usize = 4;

/// The first frame of these bytes, if all of it is there.
pub(super) fn next_frame(bytes: &[u8]) -> io::Result<Option<&[u8]>> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
    let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(usize::MAX);
    if length > MAX_FRAME_BYTES {
        return Err(nonsense());
    }
    Ok(rest.get(..length))
}

pub(super) fn nonsense() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

/// Hands a frame to the machine.
fn arrive(
    core: &mut Core,
    shared: &Shared,
    conn: u32,
    frame: &[u8],
    now: u64,
    out: &mut Vec<Out<Real>>,
) -> io::Result<()> {
    let mut from = In::new(frame);
    let header = (|| Some((from.int()?, from.long()?, from.int()?)))();
    let (xid, zxid, error) = header.ok_or_else(nonsense)?;
    let packet = match xid {
        number::NOTIFICATION_XID => match notification(&shared.root, from.rest()) {
            Some((kind, path)) => Incoming::Notify { kind, path },
            None => return Ok(()),
        },
        number::AUTH_XID => return Ok(()),
        _ => {
            let result = if error == 0 { Ok(from.rest().to_vec()) } else { Err(error) };
            Incoming::Reply { xid, zxid, result }
        }
    };
    core.machine.receive(now, conn, packet, |path| path.len(), out);
    Ok(())
}

/// The runtime's timer for the machine's next act.
struct Timer {
    sleep: Pin<Box<Sleep>>,
    armed: Time,
}

impl Timer {
    fn new() -> Timer {
        Timer { sleep: Box::pin(tokio::time::sleep_until(instant_in(Duration::ZERO))), armed: Time::NEVER }
    }

    /// Ready when a timer of the machine is due. The runtime's timer is moved only when it fires, or for an earlier time,
    /// since each request postpones the next ping.
    fn poll(&mut self, shared: &Shared, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let Some(due) = shared.lock().machine.next_timer().map(Time::from_micros) else {
                return Poll::Pending;
            };
            let now = shared.clock.now();
            if due <= now {
                return Poll::Ready(());
            }
            if due < self.armed {
                self.sleep.as_mut().reset(instant_in(due.since(now)));
                self.armed = due;
            }
            ready!(self.sleep.as_mut().poll(context));
            self.armed = Time::NEVER;
        }
    }
}
