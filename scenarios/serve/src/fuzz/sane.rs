//! A world for a fuzzer: a front without sockets, a clock that the fuzzer advances, and a well-behaved client, which
//! must be answered whatever the other clients do.

use crate::front::Front;
use crate::recorder::Recorder;
use crate::{Options, front_of};
use sim_zk::message::Password;
use sim_zk::wire::password;
use std::collections::BTreeMap;
use std::time::Duration;
use zk_protocol::wire::jute::{In, Out};
use zk_protocol::wire::{frame, number};
use zk_recipes::zk::SessionId;

/// The length of a tick, in microseconds.
pub(super) const TICK: u64 = 500_000;

/// The maximal time that the well-behaved client waits for an answer, in microseconds: longer than an election.
const PATIENCE: u64 = 60 * TICK;

/// A front, its clock, and the bytes sent to its connections.
pub(super) struct Bench {
    pub front: Front,
    pub recorder: Recorder,
    /// The number of members.
    pub servers: u8,
    /// Microseconds since the start.
    pub now: u64,
    told: BTreeMap<usize, Vec<u8>>,
}

impl Bench {
    /// A fresh ensemble.
    pub(super) fn new(servers: u8) -> Bench {
        Bench::that_keeps(servers, 50_000)
    }

    /// A fresh ensemble that keeps that many events.
    pub(super) fn that_keeps(servers: u8, most_events: usize) -> Bench {
        let options = Options {
            servers,
            tick: Duration::from_micros(TICK),
            extended_types: true,
            most_connections: 32,
            most_events,
            ..Options::default()
        };
        // 2020-01-01.
        let (front, recorder) = front_of(&options, Vec::new(), 1_577_836_800_000);
        let mut bench = Bench { front, recorder, servers, now: 0, told: BTreeMap::new() };
        bench.pass(0);
        bench
    }

    /// Advances the clock, and does what is due.
    pub(super) fn pass(&mut self, micros: u64) {
        self.now += micros;
        self.front.advance(self.now);
        self.front.answer_awaited();
        // Connections that may be read again are read whenever they send.
        self.front.take_thirsty();
        self.take();
    }

    /// Passes bytes to the front.
    pub(super) fn send(&mut self, number: usize, bytes: &[u8]) {
        self.front.receive(number, bytes);
        self.take();
    }

    /// Hangs up.
    pub(super) fn hang_up(&mut self, number: usize) {
        if self.front.connection(number).is_some() {
            self.front.hang_up(number);
        }
        self.take();
    }

    /// Connects to a member, unless there are too many connections.
    pub(super) fn connect(&mut self, server: u8) -> Option<usize> {
        if !self.front.listens(server) {
            return None;
        }
        let number = self.front.accept(server, None)?;
        self.told.remove(&number);
        Some(number)
    }

    /// Reads all outgoing bytes at once, as a client with an unlimited buffer.
    fn take(&mut self) {
        loop {
            let (outgoing, over) = (self.front.take_outgoing(), self.front.take_over());
            if outgoing.is_empty() && over.is_empty() {
                return;
            }
            for (number, rest) in over {
                let told = self.told.entry(number).or_default();
                rest.rest().for_each(|piece| told.extend_from_slice(piece));
            }
            for number in outgoing {
                while let Some(connection) = self.front.connection(number) {
                    let bytes = connection.unsent().to_vec();
                    let is_over = connection.is_over();
                    if bytes.is_empty() {
                        if is_over {
                            self.front.hang_up(number);
                        }
                        break;
                    }
                    self.front.wrote(number, bytes.len());
                    self.told.entry(number).or_default().extend(bytes);
                }
            }
        }
    }

    /// Takes the next complete frame sent to a connection.
    pub(super) fn frame(&mut self, number: usize) -> Option<Vec<u8>> {
        frame::take(self.told.get_mut(&number)?).expect("a server knows its lengths")
    }
}

/// A well-behaved client.
#[derive(Default)]
pub(super) struct Sane {
    session: SessionId,
    password: Password,
    number: Option<usize>,
    xid: i32,
    /// Whether a command may end its session, after which it begins another one.
    may_end: bool,
}

impl Sane {
    /// Reads the root, and waits for the answer; reconnects whenever the connection breaks.
    pub(super) fn expect_answer(&mut self, bench: &mut Bench) {
        let until = bench.now + PATIENCE;
        self.xid += 1;
        while bench.now < until {
            if self.ask(bench) {
                return;
            }
            bench.pass(TICK / 2);
        }
        panic!("the well-behaved client was not answered");
    }

    /// A client that begins another session when a command has ended its own.
    pub(super) fn that_begins_again() -> Sane {
        Sane { may_end: true, ..Sane::default() }
    }

    /// Reads the root, and does not wait for the answer.
    pub(super) fn reads(&mut self, bench: &mut Bench) {
        self.xid += 1;
        self.ask(bench);
    }

    /// Pings, to keep its session alive.
    pub(super) fn pings(&mut self, bench: &mut Bench) {
        // A connect request that names the session closes its connection, even with a wrong password.
        if let Some(number) = self.connected(bench) {
            send(
                bench,
                number,
                &frame::of(Out::default().int(number::PING_XID).int(number::PING).as_bytes()),
            );
        }
    }

    fn ask(&mut self, bench: &mut Bench) -> bool {
        let Some(number) = self.connected(bench) else { return false };
        let mut out = Out::default();
        out.int(self.xid).int(number::GET_DATA).text("/").bool(false);
        send(bench, number, &frame::of(out.as_bytes()));
        while let Some(frame) = bench.frame(number) {
            if In::new(&frame).int() == Some(self.xid) {
                return true;
            }
        }
        false
    }

    fn connected(&mut self, bench: &mut Bench) -> Option<usize> {
        if let Some(number) = self.number.filter(|number| bench.front.connection(*number).is_some()) {
            return Some(number);
        }
        let number = bench.connect(0)?;
        let mut hello = Out::default();
        hello.int(0).long(0).int(10_000).long(self.session.0).buffer(Some(&self.password)).bool(false);
        send(bench, number, &frame::of(hello.as_bytes()));
        let welcome = bench.frame(number)?;
        let mut from = In::new(&welcome);
        let (_, timeout, session) = (from.int()?, from.int()?, SessionId(from.long()?));
        if timeout == 0 {
            assert!(self.may_end, "the session of the well-behaved client is over");
            *self = Sane { xid: self.xid, may_end: true, ..Sane::default() };
            return None;
        }
        assert!(self.session == SessionId(0) || self.session == session, "it is another session");
        (self.session, self.password, self.number) = (session, password(session), Some(number));
        Some(number)
    }
}

/// Sends bytes, and lets the servers work.
fn send(bench: &mut Bench, number: usize, bytes: &[u8]) {
    bench.send(number, bytes);
    bench.pass(1);
}
