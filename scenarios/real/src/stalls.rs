//! Stalls without an injected fault: this process is stopped or gets no processor, or a server does not reply.
//!
//! A hold may be lost only for a reason, and a busy machine is one. So a separate thread observes a run:
//!
//! 1. It calls [`Recorder::beat`], which notices a gap between two beats.
//! 2. It has a session with each server, and pings it. A ping takes the path of all requests, including the log on
//!    disk. While a reply is overdue, a fault of the server is recorded.
//!
//! These sessions use the wire protocol directly, because the client under test must not be its own observer.

use crate::process::Process;
use crate::proxy::message;
use crate::recorder::Recorder;
use crate::time::sleep;
use futures_util::future::{Either, select};
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use zk_checker::history::{FaultKind, OpId, Victim, What, Who};
use zk_protocol::wire::jute::Out;
use zk_protocol::wire::{frame, number};

/// The interval of the beats.
const BEAT: Duration = Duration::from_millis(50);

/// The pause between a reply and the next ping.
const PING: Duration = Duration::from_millis(100);

/// The pause before a retry after a server has closed or refused the connection.
const AGAIN: Duration = Duration::from_millis(100);

/// A client pings after a third of its timeout, and gives up the connection after another third: a server's silence is
/// on record after half of that, before any client acts on it.
const OVERDUE: u32 = 6;

/// The observer of one run. Dropping it ends the observation.
pub(super) struct Observer {
    _process: Process,
}

impl Observer {
    /// Begins to observe this process, and the servers at those addresses, for clients of that session timeout.
    pub(super) fn begin(tape: &Arc<Recorder>, servers: &str, timeout: Duration) -> io::Result<Observer> {
        let process = Process::start("observer")?;
        let beats = tape.clone();
        beats.beat();
        process.spawn(async move {
            loop {
                sleep(BEAT).await;
                beats.beat();
            }
        });
        for (server, address) in (0..).zip(servers.split(',').filter(|address| !address.is_empty())) {
            let probe = Probe { tape: tape.clone(), server, address: address.to_owned(), timeout };
            process.spawn(probe.observe());
        }
        Ok(Observer { _process: process })
    }
}

/// The observer's view of one server.
struct Probe {
    tape: Arc<Recorder>,
    server: u8,
    address: String,
    timeout: Duration,
}

impl Probe {
    /// Opens one connection after another, and pings over each until it breaks.
    async fn observe(self) {
        let mut connection = None;
        loop {
            // Failures are retried until one succeeds: all that time the server did not reply.
            connection = Some(self.in_time(self.answered(connection.take())).await);
            sleep(PING).await;
        }
    }

    /// Awaits one reply, to a ping or to a connect.
    async fn answered(&self, connection: Option<TcpStream>) -> TcpStream {
        if let Some(mut stream) = connection
            && ask(&mut stream, Out::default().int(number::PING_XID).int(number::PING).as_bytes())
                .await
                .is_ok()
        {
            return stream;
        }
        loop {
            if let Ok(stream) = self.connect().await {
                return stream;
            }
            sleep(AGAIN).await;
        }
    }

    async fn connect(&self) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let timeout = i32::try_from(self.timeout.as_millis()).unwrap_or(i32::MAX);
        let mut hello = Out::default();
        // Protocol version, last zxid, timeout, a new session, its password, and no read-only server.
        hello.int(0).long(0).int(timeout).long(0).buffer(Some(&[0; 16])).bool(false);
        ask(&mut stream, hello.as_bytes()).await?;
        Ok(stream)
    }

    /// Awaits a reply, and records while it is overdue.
    async fn in_time<T>(&self, answer: impl Future<Output = T>) -> T {
        let (overdue, victim) = (self.timeout / OVERDUE, Victim::Server { server: self.server });
        let mut answer = pin!(answer);
        if let Either::Left((answer, _)) = select(answer.as_mut(), pin!(sleep(overdue))).await {
            return answer;
        }
        let (kind, lasts) = (FaultKind::SlowServer, overdue.as_micros() as u64);
        self.note(What::Fault { kind, victim, lasts });
        let answer = answer.await;
        self.note(What::Mended { kind, victim });
        answer
    }

    fn note(&self, what: What) {
        self.tape.write(|journal, at| journal.note(at, Who::World, OpId(0), what));
    }
}

/// Sends one frame, and awaits one.
async fn ask(stream: &mut TcpStream, frame: &[u8]) -> io::Result<()> {
    stream.write_all(&frame::of(frame)).await?;
    if message(stream, &mut Vec::new()).await? { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
