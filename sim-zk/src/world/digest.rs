//! What of the world decides what can still happen, as a digest: two runs of the untimed order that come to the same digest
//! go on alike, choice for choice.
//!
//! 1. *The ensemble*: the transactions applied, in their order (of them every tree is made), sessions and their deadlines,
//!    armed watches, and what is under way on every connection.
//! 2. *The clients' libraries*: their sessions' machines, their alarms.
//! 3. *The clients' code*: it cannot be looked at, but it is a function of what it was told and when. So everything that a
//!    process is told is added to a rolling digest of its own: answers, notifications, changes of its sessions, alarms.
//! 4. *The network and the faults*: what lasts and until when, how many may still strike, the time.
//!
//! Left out are counters that nobody's behaviour depends on (steps, numbers of requests and of reminders), and who stands
//! at which place of a table: processes are told by their numbers, their sessions and connections by their order within a
//! process, paths by their texts. The content of a request or an answer is left out too: the k-th request of a session asks
//! for what its process, told what it was told, asks for; and its answer follows from that and from the zxid at which it was
//! made.

use super::links::Conn;
use super::{HandleId, World};
use crate::digest::Digest;
use crate::ensemble::Member;
use crate::fault::Fault;
use crate::message::{Ask, Down, Up, Watching};
use crate::paths::{PathId, Paths};
use crate::session::{Answered, Failure, Told};
use crate::txn::{Body, Change, Txn};

/// What a process was told, beside answers and notifications.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen {
    /// The status of one of its sessions has changed.
    Changed,
    /// An alarm went off, by the process's own number for it.
    Rang(u32),
    /// It goes on after it stood still.
    Resumed,
    /// A fault struck it: what is judged later may depend on that.
    Struck(Fault),
}

impl World {
    // ── what processes are told ──

    /// A process is told something.
    pub(super) fn remember(&mut self, process: u8, seen: Seen) {
        if self.config.is_untimed() {
            let (kind, which) = match seen {
                Seen::Changed => (1, 0),
                Seen::Rang(number) => (2, u64::from(number)),
                Seen::Resumed => (3, 0),
                Seen::Struck(fault) => (4, fault as u64),
            };
            self.add_told(process, kind, which);
        }
    }

    /// A process gets the answer to the request of a session that has waited longest.
    pub(super) fn remember_answer(&mut self, handle: HandleId, answered: &Answered) {
        if !self.config.is_untimed() {
            return;
        }
        let what = match &answered.result {
            Ok(_) => 1,
            Err(Failure::Refused(_)) => 2,
            Err(Failure::ConnectionLoss) => 3,
            Err(Failure::Over(_)) => 4,
        };
        let zxid = answered.zxid.unwrap_or_default() as u64;
        self.add_told(self.process_of(handle), 5, self.rank_of(handle) << 48 ^ zxid << 3 ^ what);
    }

    /// A watch of a session is told something.
    pub(super) fn remember_fired(&mut self, handle: HandleId, told: Told) {
        if !self.config.is_untimed() {
            return;
        }
        let (kind, path) = match told {
            Told::Event(kind, path) => (kind as u64, Some(path)),
            Told::Gap => (10, None),
            Told::Over(_) => (11, None),
        };
        let process = self.process_of(handle);
        self.add_told(process, 6, self.rank_of(handle) << 48 ^ kind);
        if let Some(path) = path {
            let text = self.paths.text(path).as_bytes();
            self.processes[usize::from(process)].told.add_bytes(text);
        }
    }

    /// Adds it, and what the process can see then without asking anybody.
    fn add_told(&mut self, process: u8, kind: u8, which: u64) {
        let mut told = self.processes[usize::from(process)].told;
        told.add_two(kind, which);
        told.add(self.local_time(process));
        for (_, session) in self.sessions.iter().filter(|(of, _)| *of == process) {
            told.add(u64::from(session.status.changes) << 32 ^ session.safe_from);
        }
        self.processes[usize::from(process)].told = told;
    }

    /// The how-manieth of its process's sessions it is.
    fn rank_of(&self, handle: HandleId) -> u64 {
        let process = self.process_of(handle);
        self.sessions[..usize::from(handle.0)].iter().filter(|(of, _)| *of == process).count() as u64
    }

    /// Paths are numbered as they are first spoken of, and a client hands its watches over by these numbers: in the untimed
    /// order by their texts, so that it does not matter who spoke first.
    pub(super) fn by_text(&self, packet: &mut Up) {
        if let Up::Request { ask: Ask::SetWatches(watching), .. } = packet {
            let Watching { data, exist, child, persistent, recursive, .. } = &mut **watching;
            for list in [data, exist, child, persistent, recursive] {
                list.sort_by_key(|path| self.paths.text(*path));
            }
        }
    }

    // ── the state ──

    /// The digest of the state. Only in the untimed order.
    pub(crate) fn digest(&self) -> Digest {
        let mut digest = self.counters.applied;
        digest.add(self.now);
        digest.add(u64::from(self.faults_left) | u64::from(self.hostile) << 32 | u64::from(self.ending) << 33);
        for lasting in self.lasting.values() {
            digest.add_two(lasting.fault as u8, lasting.until);
        }
        for member in &self.members {
            self.digest_member(member, &mut digest);
        }
        for process in 0..self.processes.len() {
            self.digest_process(process as u8, &mut digest);
        }
        digest
    }

    fn digest_member(&self, member: &Member, digest: &mut Digest) {
        assert!(member.is_idle(), "a server alone, whose stages take no time, is done with what it took in");
        digest.add(member.replica.applied as u64);
        if let Some(leading) = member.leading() {
            leading.tracker.digest(digest);
        }
        // In no particular order: each watch has its own effect.
        let mut sum = 0u128;
        for (table, path, session, mode) in member.replica.watches() {
            let mut watch = Digest::default();
            watch.add_two(table as u8, session.0 as u64);
            watch.add_two(mode as u8, 0);
            watch.add_bytes(self.paths.text(path).as_bytes());
            sum = sum.wrapping_add(watch.finish());
        }
        digest.add_wide(sum);
    }

    fn digest_process(&self, process: u8, digest: &mut Digest) {
        let state = &self.processes[usize::from(process)];
        digest.add_wide(state.told.finish());
        digest.add_two(state.crashed.into(), state.paused.unwrap_or_default());
        digest.add(state.muted.until(self.now) << 32 ^ state.deafened.until(self.now));
        digest.add(u64::from(state.resumed == Some(self.now)));
        state.clock.digest(digest);
        let mut alarms: Vec<_> = self.alarms.values().filter(|alarm| alarm.process == process).collect();
        alarms.sort_by_key(|alarm| alarm.number);
        alarms.iter().for_each(|alarm| digest.add(u64::from(alarm.number) << 48 ^ alarm.due));
        for (handle, (of, session)) in (0..).zip(&self.sessions) {
            if *of == process {
                session.digest(digest, &self.paths);
                self.digest_conns(HandleId(handle), digest);
            }
        }
    }

    /// The connections of a session, in the order in which it made them, without those that are gone without a trace.
    fn digest_conns(&self, handle: HandleId, digest: &mut Digest) {
        for (id, conn) in (0..).zip(&self.conns) {
            if conn.handle != Some(handle) || conn.is_gone() {
                continue;
            }
            let served = self.members[usize::from(conn.server)].replica.session_of(crate::server::ConnId(id));
            digest.add(0x1000 ^ served.unwrap_or_default().0 as u64);
            conn.digest(digest, &self.paths);
        }
    }
}

impl Conn {
    fn digest(&self, digest: &mut Digest, paths: &Paths) {
        digest.add(u64::from(self.client_open) | u64::from(self.server_open) << 1 | u64::from(self.established) << 2);
        for (due, _, packet) in &self.up {
            match packet {
                Up::Connect { session, last_zxid, .. } => {
                    digest.add_two(1, session.0 as u64);
                    digest.add(*last_zxid as u64);
                }
                Up::Request { xid, .. } => digest.add_two(2, *xid as u64 & 0xffff_ffff),
                Up::Unreadable => digest.add_two(3, 0),
                Up::Fin => digest.add_two(4, 0),
            }
            digest.add(*due);
        }
        for (due, _, packet) in &self.down {
            match packet {
                Down::Connected { session, timeout, .. } => {
                    digest.add_two(5, session.0 as u64);
                    digest.add(*timeout);
                }
                Down::Reply { xid, zxid, result } => {
                    digest.add_two(6, (*xid as u64 & 0xffff_ffff) << 1 | u64::from(result.is_ok()));
                    digest.add(*zxid as u64);
                }
                Down::Notify { kind, path } => {
                    digest.add_two(7, *kind as u64);
                    digest.add_bytes(paths.text(*path).as_bytes());
                }
                Down::Fin => digest.add_two(8, 0),
            }
            digest.add(*due);
        }
    }
}

impl Txn {
    /// Adds the transaction to a digest.
    pub(crate) fn remember(&self, digest: &mut Digest, paths: &Paths) {
        let text = |digest: &mut Digest, path: &PathId| digest.add_bytes(paths.text(*path).as_bytes());
        digest.add_two(self.kind as u8, self.zxid as u64);
        digest.add(self.session.0 as u64);
        digest.add(self.time as u64);
        let changes: &[Change] = match &self.body {
            Body::Refused(_) => &[],
            Body::Half(changes, _) | Body::Many(changes) => changes,
            Body::One(change) => std::slice::from_ref(change),
            Body::Open { timeout } => return digest.add_two(1, *timeout),
            Body::Close { ephemerals } => return ephemerals.iter().for_each(|path| text(digest, path)),
        };
        for change in changes {
            match change {
                Change::Check => digest.add_two(2, 0),
                Change::Delete { path } => text(digest, path),
                Change::Create { path, data, .. }
                | Change::Set { path, data, .. } => {
                    text(digest, path);
                    digest.add_bytes(data.as_deref().unwrap_or_default());
                }
                Change::SetAcl { path, version, .. } => {
                    text(digest, path);
                    digest.add_two(3, *version as u64);
                }
            }
        }
    }
}
