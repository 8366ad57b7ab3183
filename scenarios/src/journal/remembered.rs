//! What of a history the rules may still ask about, although the world does not show it any more.
//!
//! What a client's code does follows from what it was told, and the world keeps that. Two things do not follow. Which
//! operations were over when another one began: rules that speak of real time compare just that, so the beginning of an
//! operation, or of a belief, remembers how many of each client had ended by then. And what the resource behind a lock
//! answered, which depends on the others' tokens.

use sim_zk::digest::Digest;
use zk_checker::history::{What, Who};

/// Rolling digests, one a client, and how many of its operations and beliefs have ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered {
    clients: Vec<(Digest, u64)>,
}

/// Stands before what had ended when something began: more than any client's number.
const BEGINS: u64 = 1 << 32;

impl Remembered {
    /// Something is written down.
    pub(super) fn note(&mut self, who: Who, what: &What) {
        let Who::Client(client) = who else { return };
        let client = usize::from(client);
        if self.clients.len() <= client {
            self.clients.resize_with(client + 1, Default::default);
        }
        match what {
            What::Call { .. } | What::Believe { .. } => self.begin(client),
            What::Return { .. } | What::Unbelieve { .. } => self.clients[client].1 += 1,
            What::Resource { accepted, .. } => {
                self.begin(client);
                self.clients[client].0.add(u64::from(*accepted));
                self.clients[client].1 += 1;
            }
            _ => {}
        }
    }

    fn begin(&mut self, client: usize) {
        let mut digest = self.clients[client].0;
        digest.add(BEGINS);
        // Of whom nothing was heard yet, nothing has ended.
        for (number, (_, ended)) in self.clients.iter().enumerate().filter(|(_, (_, ended))| *ended > 0) {
            digest.add(number as u64);
            digest.add(*ended);
        }
        self.clients[client].0 = digest;
    }

    /// The digest of all.
    pub(super) fn digest(&self) -> u128 {
        let mut all = Digest::default();
        for (digest, ended) in &self.clients {
            all.add_wide(digest.finish());
            all.add(*ended);
        }
        all.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_checker::history::{ObjectId, Outcome, Verb};

    fn digest(order: &[(u16, bool)]) -> u128 {
        let mut remembered = Remembered::default();
        for (client, begins) in order {
            let what = match begins {
                true => What::Call { object: ObjectId(0), verb: Verb::Acquire, limit: 0 },
                false => What::Return { outcome: Outcome::Done },
            };
            remembered.note(Who::Client(*client), &what);
        }
        remembered.digest()
    }

    #[test]
    fn an_end_before_a_beginning_is_told_apart_and_two_beginnings_are_not() {
        let (a, b) = (0, 1);
        let one_after_the_other = digest(&[(a, true), (a, false), (b, true), (b, false)]);
        let at_once = digest(&[(a, true), (b, true), (a, false), (b, false)]);
        assert_ne!(one_after_the_other, at_once);
        assert_eq!(digest(&[(b, true), (a, true), (b, false), (a, false)]), at_once);
    }
}
