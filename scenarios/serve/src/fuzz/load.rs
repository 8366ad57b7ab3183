//! A client that keeps an ensemble busy: the memory of its past stays bounded, and everything is judged.
//!
//! Each round is that of a lock with fresh names: create an ephemeral sequential znode, list, delete it. Every tenth
//! round is reported. A watch on a missing znode stays armed until the end.

use super::sane::Bench;
use crate::command::{Command, Report};
use crate::verdict::Judged;
use zk_protocol::wire::jute::{In, Out};
use zk_protocol::wire::{frame, number};

/// The duration of a request in microseconds, as on a loopback socket.
const PACE: u64 = 30;

/// A busy ensemble.
pub struct Load {
    bench: Bench,
    number: usize,
    xid: i32,
    rounds: u64,
}

/// The results of a load.
#[derive(Debug)]
pub struct Loaded {
    /// The number of events so far.
    pub events: u64,
    /// The number of events that are kept.
    pub kept: usize,
    /// The number of names that are kept.
    pub names: usize,
    /// The verdict so far.
    pub judged: Judged,
}

impl Load {
    /// An ensemble of one server that keeps that many events, and a client with a session.
    pub fn new(most_events: usize) -> Load {
        let mut bench = Bench::that_keeps(1, most_events);
        let number = bench.connect(0).expect("a server listens");
        let mut hello = Out::default();
        hello.int(0).long(0).int(10_000).long(0).buffer(Some(&[0; 16])).bool(false);
        bench.send(number, &frame::of(hello.as_bytes()));
        bench.pass(PACE);
        bench.frame(number).expect("a welcome");
        let mut load = Load { bench, number, xid: 0, rounds: 0 };
        load.create("/locks", 0);
        load.ask(|out| _ = out.int(number::EXISTS).text("/later").bool(true));
        load
    }

    /// Runs that many rounds.
    pub fn go_rounds(&mut self, count: u64) {
        for _ in 0..count {
            self.rounds += 1;
            let made = self.create("/locks/lock-", 3);
            self.ask(|out| _ = out.int(number::GET_CHILDREN).text("/locks").bool(false));
            if self.rounds.is_multiple_of(10) {
                self.report("acquired");
                self.report("released");
            }
            self.ask(|out| _ = out.int(number::DELETE).text(&made).int(-1));
        }
    }

    /// Creates the znode that the watch waits for.
    pub fn fire(&mut self) {
        self.create("/later", 0);
    }

    /// The results so far.
    pub fn loaded(&mut self) -> Loaded {
        let recorder = &self.bench.recorder;
        let judged = recorder.verdict(true);
        let (kept, names) = recorder.sizes();
        Loaded { events: recorder.events(), kept, names, judged }
    }

    fn report(&mut self, event: &str) {
        let report = Report::from_line(&format!("client-1 {event} lock /locks")).expect("a report");
        let done = self.bench.front.perform(&Command::Report(report));
        self.bench.front.conclude(done, None).expect("a report that is taken");
    }

    /// Creates a znode, and returns its path.
    fn create(&mut self, path: &str, flags: i32) -> String {
        let reply = self.ask(|out| {
            out.int(number::CREATE).text(path).buffer(None);
            // The ACL allows everything to every client.
            out.int(1).int(31).text("world").text("anyone").int(flags);
        });
        let mut from = In::new(&reply);
        let (_, _, code) = (from.int(), from.long(), from.int());
        assert_eq!(code, Some(0), "{path}");
        from.text().flatten().expect("a path").into_owned()
    }

    /// Sends a request, and returns the reply; notifications before it are dropped.
    fn ask(&mut self, request: impl FnOnce(&mut Out)) -> Vec<u8> {
        self.xid += 1;
        let mut out = Out::default();
        request(out.int(self.xid));
        self.bench.send(self.number, &frame::of(out.as_bytes()));
        self.bench.pass(PACE);
        loop {
            let frame = self.bench.frame(self.number).expect("an answer");
            if In::new(&frame).int() == Some(self.xid) {
                return frame;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_checker::Verdict;

    #[test]
    fn a_long_history_is_judged_to_its_end_and_keeps_what_is_alive() {
        let mut load = Load::new(1000);
        load.go_rounds(12_000);
        load.fire();
        let loaded = load.loaded();
        assert!(loaded.events > 12_000 * 10, "{loaded:?}");
        assert_eq!(loaded.kept, 1000);
        assert!(loaded.names < 4_000, "{} names", loaded.names);
        assert_eq!(loaded.judged.verdict(), Verdict::Pass, "{}", loaded.judged);
        assert_eq!(loaded.judged.given_up().len(), 1);
    }
}
