//! The follower: it logs proposals, applies commits, and reports touched sessions to the leader.

use super::stages::Item;
use super::{Env, Member, Packet, Role};
use crate::txn::Txn;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use zk_recipes::zk::SessionId;

/// The state of a follower.
#[derive(Clone, Debug)]
pub(crate) struct Following {
    pub leader: u8,
    /// The time at which the follower gives up a silent leader.
    pub gives_up_at: u64,
    /// Proposed and not yet committed.
    proposed: VecDeque<Arc<Txn>>,
    /// The sessions touched since the last ping of the leader, with their timeouts.
    heard: BTreeMap<SessionId, u64>,
}

impl Following {
    pub(super) fn new(leader: u8, env: &Env<'_>) -> Self {
        let gives_up_at = env.now + env.config.patience();
        Following { leader, gives_up_at, proposed: VecDeque::new(), heard: BTreeMap::new() }
    }

    /// Touches a session. The reply to the next ping reports the touch to the leader.
    pub(super) fn touch(&mut self, session: SessionId, timeout: u64) {
        self.heard.insert(session, timeout);
    }
}

impl Member {
    /// Handles a packet of the leader.
    pub(super) fn follow_packet(&mut self, packet: Packet, env: &mut Env<'_>) {
        let Role::Following(following) = &mut self.role else { return };
        following.gives_up_at = env.now + env.config.patience();
        let leader = following.leader;
        match packet {
            Packet::Proposal(txn) => {
                following.proposed.push_back(txn.clone());
                self.write(txn, env);
            }
            Packet::Commit(zxid) => {
                let txn = following.proposed.pop_front().expect("what is committed was proposed before");
                assert_eq!(txn.zxid, zxid, "proposals are committed in their order");
                self.commit(Item::Txn(txn), env);
            }
            Packet::Synced { session, number } => self.commit(Item::Synced { session, number }, env),
            Packet::Revalidated { number, valid } => self.revalidated(number, valid, env),
            Packet::Ping => {
                let heard = std::mem::take(&mut following.heard);
                env.post.push((leader, Packet::Heard(heard.into_iter().collect())));
            }
            Packet::Fin => self.cease(env),
            Packet::Write(_)
            | Packet::Ack(_)
            | Packet::Sync { .. }
            | Packet::Revalidate { .. }
            | Packet::Heard(_) => unreachable!("a leader does not send what followers send"),
        }
    }
}
