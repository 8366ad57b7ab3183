//! The other side of a connection in memory: what a server sends, from the bytes of a fuzzer or as it should.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use zk_protocol::wire::jute::{In, Out};
use zk_protocol::wire::{frame, number};
use zk_recipes::zk::{Code, Stat};

/// A client's frames are those of a correct program.
const LENGTHS: &str = "a client knows its lengths";

/// Decisions, read from the bytes of a fuzzer. After the end every decision is zero.
#[derive(Debug, Default)]
pub(super) struct Input(VecDeque<u8>);

impl Input {
    pub(super) fn new(bytes: &[u8]) -> Self {
        Input(bytes.iter().copied().collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.0.pop_front().unwrap_or_default()
    }

    /// A slice with its length in front.
    fn sized(&mut self) -> Vec<u8> {
        let length = usize::from(self.byte()).min(self.0.len());
        self.0.drain(..length).collect()
    }
}

/// The client's end of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Wire(Arc<Mutex<Ends>>);

#[derive(Debug, Default)]
struct Ends {
    to_client: VecDeque<u8>,
    from_client: Vec<u8>,
    /// What a server that is not well-behaved does next.
    script: Option<Script>,
    /// The most bytes of a read; 0 for any number.
    at_once: usize,
    /// Whether the server has hung up behind what it sent.
    is_over: bool,
}

/// A server that does what a fuzzer says.
#[derive(Debug)]
struct Script {
    input: Input,
    /// Whether the client has said hello.
    greeted: bool,
    /// Xid and operation of requests that are not answered.
    requests: VecDeque<(i32, i32)>,
    /// What the client is to do before the next step; with nothing it only writes.
    pause: Option<Option<u8>>,
}

impl Wire {
    /// A server that does what the bytes say, up to their end or to a step that hangs up.
    pub(super) fn arbitrary(input: Input, options: u8) -> Wire {
        let mut sent = Vec::new();
        let is_welcome = options & 8 == 0;
        if is_welcome {
            framed(&mut sent, &welcome(7));
            if options & 2 != 0 {
                framed(&mut sent, &reply(number::AUTH_XID, 0, 0, &[]));
            }
        }
        // What the client has to say is read before the first step.
        let pause = is_welcome.then_some(None);
        let script = Script { input, greeted: false, requests: VecDeque::new(), pause };
        let (to_client, at_once) = (sent.into(), usize::from(options >> 4));
        Wire(Arc::new(Mutex::new(Ends { to_client, at_once, script: Some(script), ..Ends::default() })))
    }

    /// The server's end.
    pub(super) fn well_behaved(&self) -> WellBehaved {
        WellBehaved { wire: self.clone(), greeted: false }
    }

    /// Whether the server has hung up.
    pub(super) fn is_over(&self) -> bool {
        self.ends().is_over
    }

    /// Takes what the client is to do, and lets the server go on.
    pub(super) fn take_act(&self) -> Option<u8> {
        self.ends().script.as_mut()?.pause.take()?
    }

    /// The bytes that are left.
    pub(super) fn into_input(self) -> Input {
        self.ends().script.take().map(|script| script.input).unwrap_or_default()
    }

    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ends {
    /// Lets the server go on until it has sent something, waits for the client, or hangs up.
    fn go_on(&mut self) {
        let Some(script) = &mut self.script else { return };
        script.reads(&mut self.from_client);
        while self.to_client.is_empty() && script.pause.is_none() && !self.is_over {
            let mut sent = Vec::new();
            self.is_over = script.input.is_empty() || script.step(&mut sent);
            self.to_client.extend(sent);
        }
    }
}

impl Script {
    /// Takes whole frames of the client: its hello, and requests.
    fn reads(&mut self, from_client: &mut Vec<u8>) {
        while let Some(frame) = frame::take(from_client).expect(LENGTHS) {
            let mut from = In::new(&frame);
            if std::mem::replace(&mut self.greeted, true)
                && let (Some(xid), Some(op)) = (from.int(), from.int())
            {
                self.requests.push_back((xid, op));
            }
        }
    }

    /// One step. Returns whether the server hangs up.
    fn step(&mut self, sent: &mut Vec<u8>) -> bool {
        let input = &mut self.input;
        let what = input.byte() % 10;
        // Answers to the next request: any body, an error, the body that belongs to it.
        if let 2..=4 = what {
            let (xid, op) = self.requests.pop_front().unwrap_or_default();
            let answer = match what {
                2 => reply(xid, i64::from(input.byte()), 0, &input.sized()),
                3 => reply(xid, 1, -i32::from(input.byte()), &[]),
                _ => reply(xid, 1, 0, &body(op)),
            };
            framed(sent, &answer);
            return false;
        }
        match what {
            // Bytes as they are, and a frame around any bytes.
            0 => sent.extend(input.sized()),
            1 => framed(sent, &input.sized()),
            5 => {
                let mut out = Out::default();
                out.int(i32::from(input.byte() as i8)).int(3).buffer(Some(&input.sized()));
                framed(sent, &reply(number::NOTIFICATION_XID, -1, 0, out.as_bytes()));
            }
            6 => framed(sent, &reply(number::PING_XID, i64::MAX, 0, &[])),
            // An answer to any request, or to none.
            7 => {
                let (xid, error) = (i32::from(input.byte() as i8), i32::from(input.byte() as i8));
                framed(sent, &reply(xid, i64::MIN, error, &input.sized()));
            }
            8 => self.pause = Some(Some(input.byte())),
            _ => return true,
        }
        false
    }
}

/// The body of the answer to a request.
fn body(op: i32) -> Vec<u8> {
    let (mut out, stat) = (Out::default(), Stat::default());
    match op {
        number::CREATE_2 => _ = out.text("/a0000000001").stat(&stat),
        number::SET_DATA | number::EXISTS => _ = out.stat(&stat),
        number::GET_DATA => _ = out.buffer(Some(b"data")).stat(&stat),
        number::GET_CHILDREN_2 => {
            out.list(&["a", "b"], |out, name| _ = out.text(name)).stat(&stat);
        }
        number::MULTI_READ => {
            out.int(number::GET_DATA).bool(false).int(0).buffer(None).stat(&stat);
            let no_node = Code::NoNode.number();
            out.int(number::ERROR).bool(false).int(no_node).int(no_node).int(-1).bool(true).int(-1);
        }
        number::MULTI => {
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
    sent.extend(frame::of(frame));
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
        let mut sent = Vec::new();
        while let Some(frame) = frame::take(&mut ends.from_client).expect(LENGTHS) {
            let mut from = In::new(&frame);
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
        ends.go_on();
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
