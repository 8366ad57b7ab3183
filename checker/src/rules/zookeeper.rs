//! ZooKeeper's own guarantees: ZK-1 to ZK-14, and the probes of ZK-15.
//!
//! The reference is the order of transactions and the tree that they make ([`Oracle`](crate::view::Oracle)). Only
//! simulations record enough.

pub(super) mod changes;
pub(super) mod clients;
mod kept;
pub(super) mod order;
pub(super) mod pairing;
pub(super) mod probes;
pub(super) mod reads;
pub(super) mod sessions;
pub(super) mod watches;

use crate::rule::prelude::*;

/// The server of an event.
fn server(who: Who) -> u8 {
    if let Who::Server(number) = who { number } else { 0 }
}

/// The zxid of a reply; none if the reply shows no state: then it is -1 or zero.
pub(super) fn zxid_of(zxid: u64) -> Option<u64> {
    (zxid != 0 && zxid < 1 << 63).then_some(zxid)
}

/// The client of a session, for explanations.
fn client_of(scene: &Scene<'_>, session: Session) -> String {
    match scene.view.session(session).client {
        Some(client) => format!("{} ({})", scene.client(client), scene.session(session)),
        None => scene.session(session),
    }
}
