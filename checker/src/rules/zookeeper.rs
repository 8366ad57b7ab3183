//! What ZooKeeper itself promises: ZK-1 to ZK-14, and the probes of ZK-15.
//!
//! All of it is judged against the order of transactions and the tree that they make ([`Oracle`](crate::view::Oracle)).
//! Only simulations tell enough.

pub(super) mod asked;
pub(super) mod changes;
pub(super) mod clients;
mod kept;
pub(super) mod order;
pub(super) mod probes;
pub(super) mod reads;
pub(super) mod sessions;
pub(super) mod watches;

use crate::rules::prelude::*;

/// A number by a dense index, made where it is not there yet.
fn slot<T: Clone + Default>(table: &mut Vec<T>, at: usize) -> &mut T {
    if table.len() <= at {
        table.resize(at + 1, T::default());
    }
    &mut table[at]
}

/// The server of an event.
fn server(who: Who) -> u8 {
    if let Who::Server(number) = who { number } else { 0 }
}

/// A zxid that a reply bears, if it is one: answers that come from no state bear -1 or zero.
pub(super) fn told(zxid: u64) -> Option<u64> {
    (zxid != 0 && zxid < 1 << 63).then_some(zxid)
}

/// The client of a session, for texts.
fn party(scene: &Scene<'_>, session: Session) -> String {
    match scene.view.session(session).client {
        Some(client) => format!("{} ({})", scene.client(client), scene.session(session)),
        None => scene.session(session),
    }
}
