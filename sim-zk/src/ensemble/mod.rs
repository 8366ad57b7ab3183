//! The servers of an ensemble, and the packets between them.
//!
//! 1. *Take in*: the server of a client queues each request behind the earlier ones of its session. It answers reads
//!    from its own state; writes, and syncs at a follower, go to the leader.
//! 2. *Order*: the leader checks a write against the tree and the pending transactions, assigns a zxid even to a
//!    refused one, and proposes it.
//! 3. *Log*: every server writes it to its disk and acknowledges. A quorum commits it.
//! 4. *Apply*: every server applies committed transactions in the order of zxids; the server of the client then
//!    replies.
//!
//! A single server does the same with a quorum of one. This module handles one server at a time: packets in, packets
//! out. Leader election needs all servers, and is in `world/elections.rs`.
//!
//! | file | content |
//! |---|---|
//! | `intake` | connections and requests of clients |
//! | `leading` | the leader: ordering, proposing, committing, session expiry |
//! | `following` | the follower |
//! | `stages` | disk and apply stage: logging, applying, replying |
//! | `log`, `tracker`, `packet` | the log of a server; sessions as the leader tracks them; packets between servers |

mod following;
mod intake;
mod leading;
mod log;
mod packet;
mod stages;
mod tracker;

pub(crate) use intake::PING;
pub(crate) use log::Log;
pub(crate) use packet::Packet;

use crate::choose::Chooser;
use crate::config::Config;
use crate::injected_bug::InjectedBug;
use crate::message::{ConnId, Down, Up};
use crate::observer::{Observer, SimEvent};
use crate::paths::{Paths, UsedPaths};
use crate::server::{Replica, ReplicaEnv};
use crate::txn::Txn;
use following::Following;
use intake::{Opening, Read, Waiting};
pub(crate) use leading::Leading;
use stages::{Item, Withheld};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use zk_recipes::zk::SessionId;

/// Counters of the whole ensemble.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    /// The newest transaction that any server has applied.
    pub newest: i64,
    /// Requests sent to a leader.
    pub numbers: u64,
    /// Sessions opened.
    pub sessions: i64,
}

impl Counters {
    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }
}

/// The context of a server: everything that it uses beside its own state.
pub(crate) struct Env<'a> {
    pub now: u64,
    pub config: &'a Config,
    pub paths: &'a mut Paths,
    pub chooser: &'a mut dyn Chooser,
    pub observer: &'a mut dyn Observer,
    pub counters: &'a mut Counters,
    /// Packets to clients.
    pub outbox: &'a mut Vec<(ConnId, Down)>,
    /// Packets to other servers.
    pub post: &'a mut Vec<(u8, Packet)>,
}

impl Env<'_> {
    fn emit(&mut self, event: SimEvent<'_>) {
        self.observer.on_event(self.now, &event, self.paths);
    }

    fn replica_env(&mut self, server: u8, first: bool) -> ReplicaEnv<'_> {
        ReplicaEnv {
            now: self.now,
            server,
            first,
            settings: &self.config.settings,
            bug: self.config.injected_bug,
            paths: self.paths,
            observer: self.observer,
            outbox: self.outbox,
        }
    }
}

/// The role of a server in its ensemble.
#[derive(Clone, Debug)]
pub(crate) enum Role {
    /// The process has crashed.
    Down,
    /// It has no leader, and hangs up on clients.
    Looking,
    /// It follows.
    Following(Following),
    /// It leads.
    Leading(Box<Leading>),
}

/// A server.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub id: u8,
    /// The applied state, and the connections. Tree and sessions survive a crash.
    pub replica: Replica,
    /// The log on its disk.
    pub log: Log,
    pub role: Role,
    /// The newest epoch that it has accepted.
    pub epoch: u32,
    /// Requests by session that wait for an earlier write of the same session (`CommitProcessor.pendingRequests`).
    queues: BTreeMap<SessionId, VecDeque<Waiting>>,
    /// Connections that wait for their session, by the number of the awaited reply.
    openings: BTreeMap<u64, Opening>,
    /// Packets that waited for a session which is now set up.
    readable: VecDeque<(ConnId, Up)>,
    /// Negotiated timeouts of the connections it serves.
    timeouts: BTreeMap<ConnId, u64>,
    /// Transactions received and not yet on the disk.
    disk: VecDeque<(u64, Arc<Txn>)>,
    /// Transactions committed and not yet applied.
    stage: VecDeque<(u64, Item)>,
    /// Reads received during an apply stall, and whether a write was pending then.
    stalled: VecDeque<(Read, bool)>,
    /// A transaction that this leader has committed but withholds from its own apply stage; it blocks all packets that
    /// need the leader lock.
    withheld: Option<Withheld>,
    /// The current lag of its disk and its apply stage, in microseconds.
    pub disk_lag: u64,
    pub apply_lag: u64,
    /// The number of faults that stall its disk, its apply stage, its commits.
    pub disk_stops: u8,
    pub apply_stops: u8,
    pub commit_stops: u8,
    /// The offset of its wall clock, in milliseconds.
    pub clock_offset_ms: i64,
    /// The time before which its timers do not fire after a pause.
    pub paused_until: u64,
    /// The due time of its listed timer.
    pub listed: Option<u64>,
}

impl Member {
    pub(crate) fn new(id: u8) -> Self {
        Member {
            id,
            replica: Replica::new(),
            log: Log::default(),
            role: Role::Looking,
            epoch: 0,
            queues: BTreeMap::new(),
            openings: BTreeMap::new(),
            readable: VecDeque::new(),
            timeouts: BTreeMap::new(),
            disk: VecDeque::new(),
            stage: VecDeque::new(),
            stalled: VecDeque::new(),
            withheld: None,
            disk_lag: 0,
            apply_lag: 0,
            disk_stops: 0,
            apply_stops: 0,
            commit_stops: 0,
            clock_offset_ms: 0,
            paused_until: 0,
            listed: None,
        }
    }

    pub(crate) fn is_leading(&self) -> bool {
        matches!(self.role, Role::Leading(_))
    }

    pub(crate) fn is_looking(&self) -> bool {
        matches!(self.role, Role::Looking)
    }

    /// Returns whether it follows that leader in that epoch.
    pub(crate) fn follows(&self, leader: u8, epoch: u32) -> bool {
        self.epoch == epoch && matches!(&self.role, Role::Following(following) if following.leader == leader)
    }

    pub(crate) fn is_down(&self) -> bool {
        matches!(self.role, Role::Down)
    }

    /// Returns whether it serves clients.
    pub(crate) fn serves(&self) -> bool {
        matches!(self.role, Role::Following(_) | Role::Leading(_))
    }

    /// Returns its leader, which may be itself.
    pub(crate) fn leader(&self) -> Option<u8> {
        match &self.role {
            Role::Following(following) => Some(following.leader),
            Role::Leading(_) => Some(self.id),
            Role::Down | Role::Looking => None,
        }
    }

    pub(crate) fn leading(&self) -> Option<&Leading> {
        match &self.role {
            Role::Leading(leading) => Some(leading),
            _ => None,
        }
    }

    /// Returns its wall clock, in milliseconds.
    pub(crate) fn wall_clock_ms(&self, env: &Env<'_>) -> i64 {
        env.config.wall_clock_ms + (env.now / 1000) as i64 + self.clock_offset_ms
    }

    /// Returns whether it has no pending work.
    pub(crate) fn is_idle(&self) -> bool {
        let outstanding = self.leading().is_some_and(Leading::is_busy);
        !outstanding
            && self.queues.is_empty()
            && self.openings.is_empty()
            && self.disk.is_empty()
            && self.stage.is_empty()
            && self.stalled.is_empty()
            && self.withheld.is_none()
    }

    /// Returns whether it has no pending work and no unread packet of a client.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.is_idle() && self.readable.is_empty()
    }

    /// Adds the paths that its state refers to while it is at rest.
    pub(crate) fn paths(&self, used: &mut UsedPaths) {
        used.extend(self.replica.tree.iter().map(|(path, _)| path));
        used.extend(self.replica.watches().map(|(_, path, ..)| path));
        self.log.paths(used);
        if let Some(leading) = self.leading() {
            leading.paths(used);
        }
    }

    /// Handles a packet of another server.
    pub(crate) fn packet(&mut self, from: u8, packet: Packet, env: &mut Env<'_>) {
        match &mut self.role {
            Role::Leading(leading) if leading.hears(from) => self.lead_packet(from, packet, env),
            Role::Following(following) if following.leader == from => self.follow_packet(packet, env),
            // The packet belongs to a closed connection.
            _ => {}
        }
    }

    /// Returns the due time of its next timer.
    pub(crate) fn next_timer(&self) -> Option<u64> {
        let disk = self.disk.front().filter(|_| self.disk_stops == 0).map(|(due, _)| *due);
        let stage = self.stage.front().filter(|_| self.apply_stops == 0).map(|(due, _)| *due);
        let role = match &self.role {
            Role::Leading(leading) => leading.next_timer(self.replica.tree.has_mortals()),
            Role::Following(following) => Some(following.gives_up_at),
            Role::Down | Role::Looking => None,
        };
        [disk, stage, role].into_iter().flatten().min().map(|due| due.max(self.paused_until))
    }

    /// Runs everything that is due.
    pub(crate) fn timer(&mut self, env: &mut Env<'_>) {
        self.work_off_disk(env);
        self.work_off_stage(env);
        match &self.role {
            Role::Leading(_) => self.lead_timer(env),
            Role::Following(following) if following.gives_up_at <= env.now => self.cease(env),
            _ => {}
        }
    }

    /// Resumes after a pause. Silent servers are given up only after the sockets are drained, but the session tracker
    /// runs first and expires sessions whose pings are still in the sockets.
    pub(crate) fn wake(&mut self, env: &mut Env<'_>) {
        let not_before = env.now + env.config.tick / 2;
        match &mut self.role {
            Role::Leading(leading) => {
                leading.hear_out(not_before);
                self.expire(env);
            }
            Role::Following(following) => {
                following.gives_up_at = following.gives_up_at.max(not_before);
            }
            Role::Down | Role::Looking => {}
        }
    }

    /// Stops serving, hangs up on all clients, and looks for a leader. Received transactions are still written to the
    /// disk.
    pub(crate) fn cease(&mut self, env: &mut Env<'_>) {
        for (_, txn) in std::mem::take(&mut self.disk) {
            self.log.append(txn);
        }
        self.stop(env);
        self.role = Role::Looking;
    }

    /// Crashes: transactions that are not on the disk are lost. Earlier writes to sockets still arrive.
    pub(crate) fn crash(&mut self, env: &mut Env<'_>) {
        self.disk.clear();
        self.stop(env);
        self.role = Role::Down;
    }

    fn stop(&mut self, env: &mut Env<'_>) {
        if self.serves() {
            env.emit(SimEvent::Ceased { server: self.id });
        }
        match &self.role {
            Role::Following(following) => env.post.push((following.leader, Packet::Fin)),
            Role::Leading(leading) => env.post.extend(leading.followers().map(|id| (id, Packet::Fin))),
            Role::Down | Role::Looking => {}
        }
        for conn in std::mem::take(&mut self.timeouts).into_keys() {
            self.hang_up(conn, env);
        }
        for opening in std::mem::take(&mut self.openings).into_values() {
            env.outbox.push((opening.conn, Down::Fin));
        }
        self.readable.clear();
        self.replica.restart();
        self.queues.clear();
        self.stage.clear();
        self.stalled.clear();
        self.withheld = None;
    }

    /// Starts to lead. The log holds everything that a quorum ever logged, so all of it is committed. Sessions start
    /// again with their original timeouts.
    pub(crate) fn lead(&mut self, epoch: u32, env: &mut Env<'_>) {
        let log = self.log.clone();
        self.catch_up(&log, log.last(), env);
        self.epoch = epoch;
        // The leader counts from the beginning of the epoch, before its first transaction (`Leader.lead`).
        let zxid = self.replica.applied.max(i64::from(epoch) << 32);
        self.replica.applied = zxid;
        self.configure(env);
        let sessions = self.replica.sessions();
        self.role = Role::Leading(Box::new(Leading::new(zxid, self.log.last(), env, sessions)));
        env.emit(SimEvent::Elected { server: self.id, epoch });
        env.emit(SimEvent::Serving { server: self.id });
    }

    /// Writes the list of members into its tree, if the ensemble has one.
    fn configure(&mut self, env: &Env<'_>) {
        if let Some(members) = &env.config.settings.members {
            let time = self.wall_clock_ms(env);
            self.replica.tree.configure(members, time);
        }
    }

    /// Returns its log, including transactions on their way to the disk.
    pub(crate) fn known(&self) -> Log {
        let mut log = self.log.clone();
        self.disk.iter().for_each(|(_, txn)| log.append(txn.clone()));
        log
    }

    /// Starts to follow: its log becomes the committed part of the log of the leader.
    pub(crate) fn follow(&mut self, leader: u8, epoch: u32, log: &Log, committed: i64, env: &mut Env<'_>) {
        self.log.follow(log, committed);
        if env.config.has(InjectedBug::LosesAcknowledged) {
            self.rebuild(committed, env);
        }
        let own = self.log.clone();
        self.catch_up(&own, committed, env);
        self.configure(env);
        self.epoch = epoch;
        self.role = Role::Following(Following::new(leader, env));
        env.emit(SimEvent::Serving { server: self.id });
    }

    /// Rebuilds the state from the log: transactions that the leader does not have were never committed.
    fn rebuild(&mut self, committed: i64, env: &mut Env<'_>) {
        if !self.log.is_whole() {
            return;
        }
        let (told, mut replica) = (self.replica.applied, Replica::new());
        let (mut outbox, mut nobody) = (Vec::new(), ());
        for txn in self.log.between(0, told.min(committed)) {
            let mut replica_env = env.replica_env(self.id, false);
            (replica_env.outbox, replica_env.observer) = (&mut outbox, &mut nobody);
            let _ = replica.apply(txn, &mut replica_env);
        }
        self.replica = replica;
    }

    fn catch_up(&mut self, log: &Log, to: i64, env: &mut Env<'_>) {
        for txn in log.between(self.replica.applied, to) {
            self.apply(txn, env);
        }
    }
}
