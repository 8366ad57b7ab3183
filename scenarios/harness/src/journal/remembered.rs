//! The part of the past that rules may depend on and that the state of the world does not contain.
//!
//! The actions of a client follow from its observations, which the world keeps. Some facts do not follow from them:
//!
//! * The operations that had ended when another one began: rules about real time compare these, so the start of an operation
//!   or belief records the number of ended ones of each client.
//! * The answers of the resource behind a lock, which depend on the tokens of other clients.
//! * The faults of each client, which excuse findings. They are recorded among its operations.
//! * The start of open operations and beliefs, and the time of the last fault, from which time limits are measured.

use sim_zk::digest::Digest;
use zk_checker::history::{OpId, Victim, What, Who};

/// The record of each client.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered {
    clients: Vec<Client>,
}

#[derive(Clone, Debug, Default)]
struct Client {
    rolling: Digest,
    /// The number of its operations and beliefs that have ended.
    ended: u64,
    /// Its open operations and beliefs: the operation, whether it is a belief, and its start.
    open: Vec<(OpId, bool, u64)>,
    struck: u64,
}

/// Marker before the numbers of ended operations at a start: larger than any client's number.
const BEGINS: u64 = 1 << 32;

/// Markers of the start and the end of a fault of a client.
const STRIKES: u64 = 1 << 33;
const MENDS: u64 = 1 << 34;

impl Remembered {
    /// Notes an event.
    pub(super) fn note(&mut self, at: u64, who: Who, op: OpId, what: &What) {
        let client = match (who, what) {
            (Who::Client(client), _)
            | (
                _,
                &(What::Fault { victim: Victim::Process { client }, .. }
                | What::Mended { victim: Victim::Process { client }, .. }
                | What::Crash { client }),
            ) => usize::from(client),
            _ => return,
        };
        if self.clients.len() <= client {
            self.clients.resize_with(client + 1, Default::default);
        }
        match what {
            What::Call { .. } => self.begin(at, client, Some((op, false))),
            What::Believe { .. } => self.begin(at, client, Some((op, true))),
            What::Return { .. } => self.end(client, (op, false)),
            What::Unbelieve { .. } => self.end(client, (op, true)),
            What::Resource { accepted, .. } => {
                self.begin(at, client, None);
                let client = &mut self.clients[client];
                client.rolling.add(u64::from(*accepted));
                client.ended += 1;
            }
            What::Fault { kind, lasts, .. } => self.strike(at, client, STRIKES | *kind as u64, *lasts),
            What::Mended { kind, .. } => self.strike(at, client, MENDS | *kind as u64, 0),
            What::Crash { .. } => self.clients[client].open.clear(),
            _ => {}
        }
    }

    fn begin(&mut self, at: u64, client: usize, what: Option<(OpId, bool)>) {
        let mut rolling = self.clients[client].rolling;
        rolling.add(BEGINS);
        // Clients without an ended operation are left out.
        for (number, other) in (0u64..).zip(&self.clients).filter(|(_, other)| other.ended > 0) {
            rolling.add(number);
            rolling.add(other.ended);
        }
        let client = &mut self.clients[client];
        client.rolling = rolling;
        client.open.extend(what.map(|(op, is_belief)| (op, is_belief, at)));
    }

    fn end(&mut self, client: usize, what: (OpId, bool)) {
        let client = &mut self.clients[client];
        client.open.retain(|(op, is_belief, _)| (*op, *is_belief) != what);
        client.ended += 1;
    }

    fn strike(&mut self, at: u64, client: usize, what: u64, lasts: u64) {
        let client = &mut self.clients[client];
        [what, lasts, client.ended].into_iter().for_each(|word| client.rolling.add(word));
        client.struck = at;
    }

    /// The digest of everything; times count as ages.
    pub(super) fn digest(&self, now: u64) -> u128 {
        let mut all = Digest::default();
        for client in &self.clients {
            all.add_wide(client.rolling.finish());
            all.add(client.ended);
            client.open.iter().for_each(|(_, _, since)| all.add(now - since));
            all.add(if client.struck == 0 { 0 } else { now - client.struck + 1 });
        }
        all.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_checker::history::{Failure, FaultKind, ObjectId, Outcome, Verb};

    fn digest(order: &[(u16, bool)]) -> u128 {
        let mut remembered = Remembered::default();
        for (client, begins) in order {
            let what = if *begins {
                What::Call { object: ObjectId(0), verb: Verb::Acquire, limit: 0 }
            } else {
                What::Return { outcome: Outcome::Done, failure: Failure::None }
            };
            remembered.note(0, Who::Client(*client), OpId(u32::from(*client)), &what);
        }
        remembered.digest(0)
    }

    #[test]
    fn an_end_before_a_beginning_is_told_apart_and_two_beginnings_are_not() {
        let (a, b) = (0, 1);
        let one_after_the_other = digest(&[(a, true), (a, false), (b, true), (b, false)]);
        let at_once = digest(&[(a, true), (b, true), (a, false), (b, false)]);
        assert_ne!(one_after_the_other, at_once);
        assert_eq!(digest(&[(b, true), (a, true), (b, false), (a, false)]), at_once);
    }

    #[test]
    fn a_fault_stands_among_its_clients_operations() {
        let fault =
            What::Fault { kind: FaultKind::ReplyLost, victim: Victim::Process { client: 0 }, lasts: 0 };
        let call = What::Call { object: ObjectId(0), verb: Verb::Acquire, limit: 0 };
        let digest = |struck: u16, called: u64, order: [&What; 2]| {
            let mut remembered = Remembered::default();
            for what in order {
                match what {
                    What::Call { .. } => remembered.note(called, Who::Client(struck), OpId(1), what),
                    _ => remembered.note(5, Who::World, OpId(0), what),
                }
            }
            remembered.digest(9)
        };
        assert_ne!(
            digest(0, 5, [&fault, &call]),
            digest(0, 5, [&call, &fault]),
            "it is the one who was struck"
        );
        assert_eq!(digest(1, 5, [&fault, &call]), digest(1, 5, [&call, &fault]), "it is another one");
        assert_ne!(digest(1, 5, [&fault, &call]), digest(1, 6, [&fault, &call]), "since when it goes on");
    }

    #[test]
    fn times_are_told_by_how_long_ago_they_are() {
        let digest = |at: u64, now: u64, ends: bool| {
            let mut remembered = Remembered::default();
            let call = What::Call { object: ObjectId(0), verb: Verb::Acquire, limit: 0 };
            remembered.note(at, Who::Client(0), OpId(1), &call);
            if ends {
                remembered.note(
                    at,
                    Who::Client(0),
                    OpId(1),
                    &What::Return { outcome: Outcome::Done, failure: Failure::None },
                );
            }
            remembered.digest(now)
        };
        assert_eq!(digest(1, 3, false), digest(11, 13, false));
        assert_ne!(digest(1, 3, false), digest(1, 4, false));
        assert_eq!(digest(1, 3, true), digest(1, 4, true), "what is over counts no time");
    }
}
