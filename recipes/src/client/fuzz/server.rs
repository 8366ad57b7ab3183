//! The other side of a connection in memory: what a server sends, from the bytes of a fuzzer or as it should.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::wire::jute::{In, Out};
use crate::wire::number;
use crate::zk::{Code, Stat};

/// How many steps are read of one input: a run is to take microseconds.
const MOST_STEPS: usize = 200;

/// Decisions, read from the bytes of a fuzzer. After the end every decision is zero.
pub(super) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Input(bytes)
    }

    pub(super) fn byte(&mut self) -> u8 {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *byte
    }

    /// A slice with its length in front.
    fn sized(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte());
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }
}

/// The client's end of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Wire(Arc<Mutex<Ends>>);

#[derive(Debug, Default)]
struct Ends {
    to_client: VecDeque<u8>,
    from_client: Vec<u8>,
    /// The most bytes of a read; 0 for any number.
    at_once: usize,
    /// Whether the server has hung up behind what it sent.
    is_over: bool,
}

impl Wire {
    /// A server that has sent what the bytes say, and has hung up. `requests` are the kinds of the client's requests.
    pub(super) fn arbitrary(input: &mut Input<'_>, options: u8, requests: Vec<u8>) -> Wire {
        let mut sent = Vec::new();
        if options & 8 == 0 {
            framed(&mut sent, &welcome(7));
            if options & 2 != 0 {
                framed(&mut sent, &reply(number::AUTH_XID, 0, 0, &[]));
            }
        }
        let mut requests = (1..).zip(requests);
        for _ in 0..MOST_STEPS {
            if input.0.is_empty() {
                break;
            }
            step(input, &mut requests, &mut sent);
        }
        let at_once = usize::from(options >> 4);
        let ends = Ends { to_client: sent.into(), at_once, is_over: true, ..Ends::default() };
        Wire(Arc::new(Mutex::new(ends)))
    }

    /// The server's end.
    pub(super) fn well_behaved(&self) -> WellBehaved {
        WellBehaved { wire: self.clone(), greeted: false }
    }

    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a server sends next.
fn step(input: &mut Input<'_>, requests: &mut impl Iterator<Item = (i32, u8)>, sent: &mut Vec<u8>) {
    match input.byte() % 8 {
        // Bytes as they are, and a frame around any bytes.
        0 => sent.extend(input.sized()),
        1 => framed(sent, input.sized()),
        // Answers to the next request: any body, an error, the body that belongs to it.
        2 => {
            let (xid, _) = requests.next().unwrap_or_default();
            let zxid = i64::from(input.byte());
            framed(sent, &reply(xid, zxid, 0, input.sized()));
        }
        3 => {
            let (xid, _) = requests.next().unwrap_or_default();
            framed(sent, &reply(xid, 1, -i32::from(input.byte()), &[]));
        }
        4 => {
            let (xid, kind) = requests.next().unwrap_or_default();
            framed(sent, &reply(xid, 1, 0, &body(kind)));
        }
        5 => {
            let mut out = Out::default();
            out.int(i32::from(input.byte() as i8)).int(3).buffer(Some(input.sized()));
            framed(sent, &reply(number::NOTIFICATION_XID, -1, 0, out.as_bytes()));
        }
        6 => framed(sent, &reply(number::PING_XID, i64::MAX, 0, &[])),
        // An answer to any request, or to none.
        _ => {
            let xid = i32::from(input.byte() as i8);
            framed(sent, &reply(xid, i64::MIN, i32::from(input.byte() as i8), input.sized()));
        }
    }
}

/// The body of the answer to a call of that kind.
fn body(kind: u8) -> Vec<u8> {
    let (mut out, stat) = (Out::default(), Stat::default());
    match kind {
        0 => _ = out.text("/a0000000001").stat(&stat),
        2..=4 | 15 => _ = out.stat(&stat),
        5 | 6 | 13 => _ = out.buffer(Some(b"data")).stat(&stat),
        7 | 8 | 14 => _ = out.list(&["a", "b"], |out, name| _ = out.text(name)).stat(&stat),
        9 => {
            out.int(number::GET_DATA).bool(false).int(0).buffer(None).stat(&stat);
            let no_node = Code::NoNode.number();
            out.int(number::ERROR).bool(false).int(no_node).int(no_node).int(-1).bool(true).int(-1);
        }
        10 => {
            out.int(number::CHECK).bool(false).int(0);
            out.int(number::SET_DATA).bool(false).int(0).stat(&stat).int(-1).bool(true).int(-1);
        }
        _ => {}
    }
    out.done()
}

/// The answer to a connect.
fn welcome(session: i64) -> Vec<u8> {
    let mut out = Out::default();
    out.int(0).int(600_000).long(session).buffer(Some(&[1; 16])).bool(false);
    out.done()
}

fn reply(xid: i32, zxid: i64, error: i32, body: &[u8]) -> Vec<u8> {
    let mut out = Out::default();
    out.int(xid).long(zxid).int(error);
    [out.as_bytes(), body].concat()
}

fn framed(sent: &mut Vec<u8>, frame: &[u8]) {
    super::super::request::header(sent, frame.len());
    sent.extend(frame);
}

/// A server that does nothing wrong: there are no znodes.
pub(super) struct WellBehaved {
    wire: Wire,
    greeted: bool,
}

impl WellBehaved {
    /// Answers the requests that have come.
    pub(super) fn answers(&mut self) {
        let mut ends = self.wire.ends();
        let asked = std::mem::take(&mut ends.from_client);
        let (mut rest, mut sent) = (&asked[..], Vec::new());
        while let Some((length, behind)) = rest.split_first_chunk() {
            let length = usize::try_from(i32::from_be_bytes(*length)).expect("a client writes whole frames");
            let (frame, behind) = behind.split_at(length);
            rest = behind;
            let mut from = In::new(frame);
            if std::mem::replace(&mut self.greeted, true) {
                let (xid, op) = (from.int().unwrap_or_default(), from.int().unwrap_or_default());
                let error = if op == number::EXISTS { Code::NoNode.number() } else { 0 };
                framed(&mut sent, &reply(xid, 1, error, &[]));
            } else {
                let session = (|| Some((from.int()?, from.long()?, from.int()?, from.long()?).3))();
                framed(&mut sent, &welcome(session.filter(|session| *session != 0).unwrap_or(7)));
            }
        }
        ends.to_client.extend(sent);
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut ends = self.ends();
        if ends.to_client.is_empty() && !ends.is_over {
            return Poll::Pending;
        }
        let most = if ends.at_once == 0 { usize::MAX } else { ends.at_once };
        let length = most.min(buffer.remaining()).min(ends.to_client.len());
        let bytes: Vec<u8> = ends.to_client.drain(..length).collect();
        buffer.put_slice(&bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.ends().from_client.extend(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
