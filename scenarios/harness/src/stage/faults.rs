//! Faults in a story, one method each.

use super::{Actor, Stage, TIMEOUT};
use sim_zk::fault::{Fault, Victim};
use std::time::Duration;
use zk_checker::history::{self, FaultKind, OpId, What, Who};
use zk_recipes::zk::ZooKeeper;

/// Faults of a client.
impl Actor {
    /// The connection breaks before the client's next request reaches the server.
    pub fn loses_its_next_request(&self) {
        self.process.process.order(Fault::RequestLost);
    }

    /// The reply to the client's next request is lost, although the request is applied.
    pub fn loses_its_next_reply(&self) {
        self.process.process.order(Fault::ReplyLost);
    }

    /// The client's connection breaks just as the next notification is about to arrive.
    pub fn loses_its_next_notification(&self) {
        self.process.process.order(Fault::WatchLost);
    }

    /// The client's connection breaks with its next request, or its next ping; nothing that was sent is lost.
    pub fn disconnects(&self) {
        self.process.process.order(Fault::Disconnect);
    }

    /// The client is partitioned from all servers for that many session timeouts.
    pub fn is_cut_off(&self, timeouts: f64) {
        self.process.process.inflict(Fault::ClientPartition, TIMEOUT.mul_f64(timeouts));
    }

    /// The client is partitioned until its session has expired; it learns of the expiry when it reconnects.
    pub fn session_expires(&self) {
        // Servers check for expired sessions once a tick.
        self.process.process.inflict(Fault::SessionExpiry, TIMEOUT * 2);
    }

    /// The client's process is paused for that many session timeouts.
    pub fn stands_still(&self, timeouts: u32) {
        self.process.process.inflict(Fault::ClientPause, TIMEOUT * timeouts);
    }

    /// The client's process is paused for that long.
    pub fn stands_still_for(&self, time: Duration) {
        self.process.process.inflict(Fault::ClientPause, time);
    }

    /// The client's process crashes.
    pub fn dies(&self) {
        self.process.process.inflict(Fault::ClientCrash, Duration::ZERO);
    }

    /// The client drops the operation that it waits for: the future ends as cancelled.
    pub fn gives_up(&self) {
        self.process.process.inflict(Fault::Cancel, Duration::ZERO);
    }
}

/// Faults of servers and znodes.
impl Stage {
    /// The leader, if there is one with a quorum.
    pub fn leader(&self) -> Option<u8> {
        self.sim.look(|world| world.leader_of_quorum())
    }

    /// A server neither applies committed transactions nor answers reads for that many session timeouts.
    pub fn lags(&self, server: u8, timeouts: f64) {
        self.strike(Fault::ApplyStall, server, timeouts);
    }

    /// A server is paused for that many session timeouts.
    pub fn server_stands_still(&self, server: u8, timeouts: f64) {
        self.strike(Fault::ServerPause, server, timeouts);
    }

    /// A server crashes, and restarts after that many session timeouts.
    pub fn server_dies(&self, server: u8, timeouts: f64) {
        self.strike(Fault::ServerCrash, server, timeouts);
    }

    fn strike(&self, fault: Fault, server: u8, timeouts: f64) {
        self.sim.inflict(fault, Victim::Server(server), TIMEOUT.mul_f64(timeouts));
    }

    /// A foreign client deletes a znode.
    ///
    /// # Panics
    ///
    /// If the znode does not exist.
    pub async fn deletes(&self, path: &str) {
        let foreign = self.client("foreign").await;
        let client = foreign.number();
        foreign.zk.exists(path).await.expect("a calm network answers").expect("the znode is there");
        let victim = history::Victim::Process { client };
        let what = What::Fault { kind: FaultKind::ForeignDelete, victim, lasts: 0 };
        foreign.journal(|journal, at| journal.note(at, Who::World, OpId(0), what));
        foreign.zk.delete(path, None).await.expect("the znode is there");
        foreign.leaves().await;
    }

    /// A foreign client writes the data of a znode, or creates it.
    pub async fn writes(&self, path: &str, data: &[u8]) {
        use zk_recipes::zk::CreateMode;
        let foreign = self.client("foreign").await;
        if foreign.zk.set(path, data, None).await.is_err_and(|e| e.is_no_node()) {
            let created = foreign.zk.create(path, data, CreateMode::Persistent).await;
            created.expect("a calm network and an existing parent");
        }
        foreign.leaves().await;
    }
}

impl Actor {
    /// Closes its session.
    pub async fn leaves(&self) {
        let _ = self.zk.close(TIMEOUT).await;
    }
}
