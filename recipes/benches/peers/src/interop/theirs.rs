//! A session of another library, in a process of its own, that contends for locks on request.
//!
//! | order | effect | event |
//! |---|---|---|
//! | `acquire ID KIND PATH` | acquires a lock in the background; KIND is `lock`, `read` or `write` | `acquired` |
//! | `release ID` | releases it | `released` |
//! | `turns ID KIND PATH COUNT` | acquires and releases it so many times, in the background | `turned` |
//! | `ping` | none | `pong` |
//!
//! An event is a line `{"event":…,"id":…}`. A holder of PATH also has a znode below PATH-inside: two holders that exclude each
//! other find each other there, which ends the process with an error.

use crate::interrupt::Interrupt;
use crate::library::{Library, Programs};
use crate::peer::Peer;
use serde_json::{Value, json};
use std::time::Duration;

/// The session timeout of all parties.
pub const SESSION: Duration = Duration::from_secs(6);

/// One session. Dropping it kills the process: the server then waits for the end of the session.
pub struct Theirs {
    peer: Peer,
    /// A JVM reads the classes of its program when it needs them.
    _programs: Programs,
}

impl Theirs {
    /// Starts the process, and waits until it is connected.
    pub fn start(library: Library, address: &str) -> Theirs {
        let programs = Programs::prepare(&[library]).expect("the library is installed");
        let words = [
            format!("connect={address}"),
            format!("session_ms={}", SESSION.as_millis()),
            "workload=session".to_owned(),
        ];
        let command = programs.command(library).expect("the program is prepared");
        let mut peer = Peer::start(command, &words, &Interrupt::default()).expect("the program starts");
        peer.ready().expect("the server accepts the session");
        Theirs { peer, _programs: programs }
    }

    /// Sends an order.
    pub fn order(&mut self, line: &str) {
        self.peer.order(line).expect("the process lives");
    }

    /// The next event must be that.
    pub fn expect(&mut self, event: &str, id: &str) {
        assert_eq!(self.next(), json!({ "event": event, "id": id }));
    }

    /// All of these events follow, in any order, and no others.
    pub fn expect_all(&mut self, event: &str, ids: &[String]) {
        let mut missing: Vec<Value> = ids.iter().map(|id| json!({ "event": event, "id": id })).collect();
        while !missing.is_empty() {
            let next = self.next();
            let at = missing.iter().position(|one| *one == next);
            missing.remove(at.unwrap_or_else(|| panic!("{next} instead of {missing:?}")));
        }
    }

    /// There was no event that was not expected.
    pub fn is_quiet(&mut self) {
        self.order("ping");
        self.expect("pong", "");
    }

    fn next(&mut self) -> Value {
        let line = self.peer.line().expect("the process lives");
        serde_json::from_str(&line).unwrap_or(Value::String(line))
    }
}
