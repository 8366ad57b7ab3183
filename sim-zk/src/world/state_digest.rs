//! The fingerprint of a state in interleaving mode: two runs with equal fingerprints continue alike, choice for
//! choice.
//!
//! 1. *The ensemble*: the tree, sessions and their deadlines, armed watches, and packets in flight on every
//!    connection.
//! 2. *The client libraries*: session machines and alarms.
//! 3. *The client code*: the observations of each process. They no longer matter once the process has crashed or its
//!    code has returned, and its requests have arrived.
//! 4. *The network and the faults*: lasting faults and their ends, the fault budget, the time.
//! 5. *The pattern of zxids*: which of the zxids in the tree and among the observations are equal, and which are
//!    larger. The number of transactions between two of them, refused ones for instance, has no effect on behaviour.
//!    The last zxid that a client has seen in reply headers only matters when watches are registered again: the
//!    server compares it with the znodes. So the fingerprint contains, for each watched znode, whether it has changed
//!    since. A reply in flight may arm a watch, so for it the fingerprint contains which znodes have changed since.
//!
//! Times are relative to now, because the same events would follow at any other time; only the ticks of the servers
//! follow the clock. The past times of packets do not matter, and client code is assumed not to act on the times in a
//! `Stat`.
//!
//! The fingerprint omits counters without effect on behaviour (steps, request numbers, reminders) and table
//! positions: processes are identified by number, sessions and connections by their order within a process, paths by
//! their text. It also omits the content of requests: the k-th request of a session follows from the observations of
//! its process.

use super::connections::Conn;
use super::observations::Observations;
use super::{HandleId, World};
use crate::digest::Digest;
use crate::ensemble::Member;
use crate::message::{Ask, Down, Up, Watching};
use crate::paths::PathId;
use crate::session::ClientSession;
use crate::tree::Znode;
use crate::txn::Life;

/// A fingerprint under construction: the structure, and every zxid in order of appearance.
#[derive(Default)]
struct State {
    digest: Digest,
    /// The zxids in the tree, and those that client code has observed.
    tree: Vec<i64>,
    observed: Vec<i64>,
    /// The zxids that clients will have seen after the replies in flight.
    seen: Vec<i64>,
}

impl State {
    /// Completes the fingerprint: the structure, then the pattern of the zxids.
    fn finish(self) -> Digest {
        let State { mut digest, tree, observed, seen } = self;
        let sorted = |mut zxids: Vec<i64>| {
            zxids.sort_unstable();
            zxids.dedup();
            zxids
        };
        let all = sorted(tree.iter().chain(&observed).copied().collect());
        for zxid in tree.iter().chain(&observed) {
            digest.add(all.partition_point(|other| other < zxid) as u64);
        }
        let tree = sorted(tree);
        for zxid in seen {
            digest.add(tree.partition_point(|other| *other <= zxid) as u64);
        }
        digest
    }
}

impl World {
    /// Sorts the lists of `setWatches` by text in interleaving mode. Path numbers depend on the order of first use,
    /// and the fingerprint must not.
    pub(super) fn by_text(&self, packet: &mut Up) {
        if let Up::Request { ask: Ask::SetWatches(watching), .. } = packet {
            let Watching { data, exist, child, persistent, recursive, .. } = &mut **watching;
            for list in [data, exist, child, persistent, recursive] {
                list.sort_by_key(|path| self.paths.text(*path));
            }
        }
    }

    /// Returns the fingerprint of the state, in interleaving mode only. `is_over` says whether the code of a process
    /// has returned.
    pub(crate) fn digest(&self, is_over: impl Fn(u8) -> bool) -> Digest {
        let mut state = State::default();
        state.digest.add(self.now % self.config.tick);
        let hostile_for =
            if self.hostile { self.config.hostile_until.saturating_sub(self.now) + 1 } else { 0 };
        state.digest.add(self.faults_left.into());
        state.digest.add(hostile_for);
        for lasting in self.lasting.values() {
            state.digest.add_two(lasting.fault as u8, lasting.until.saturating_sub(self.now));
        }
        for member in &self.members {
            self.digest_member(member, &mut state);
        }
        for process in 0..self.processes.len() {
            let process = process as u8;
            self.digest_process(process, is_over(process), &mut state);
        }
        state.finish()
    }

    fn digest_member(&self, member: &Member, state: &mut State) {
        assert!(member.is_idle(), "a server alone, whose stages take no time, is done with what it took in");
        let tree = member.replica.tree.iter();
        let mut nodes: Vec<(&str, &Znode)> = tree
            .filter(|(path, _)| !path.is_reserved() || path.0 == 0)
            .map(|(path, node)| (self.paths.text(path), node))
            .collect();
        nodes.sort_unstable_by_key(|(text, _)| *text);
        for (text, node) in nodes {
            let stat = node.stat();
            let digest = &mut state.digest;
            digest.add_bytes(text.as_bytes());
            digest.add_bytes(node.data.as_deref().unwrap_or_default());
            digest.add((stat.version as u64) << 32 ^ node.creations as u64);
            digest.add(stat.ephemeral_owner.0 as u64);
            if let Life::Ttl(_) = node.life {
                digest.add(self.now.wrapping_sub(stat.mtime as u64 * 1000));
            }
            state.tree.extend([stat.czxid, stat.mzxid, stat.pzxid]);
        }
        if let Some(leading) = member.leading() {
            leading.tracker.digest(self.now, &mut state.digest);
        }
        // Summed, because the order of watches has no effect.
        let mut sum = 0u128;
        for (table, path, session, mode) in member.replica.watches() {
            let mut watch = Digest::default();
            watch.add_two(table as u8, session.0 as u64);
            watch.add_two(mode as u8, 0);
            watch.add_bytes(self.paths.text(path).as_bytes());
            sum = sum.wrapping_add(watch.finish());
        }
        state.digest.add_wide(sum);
    }

    fn digest_process(&self, process: u8, is_over: bool, state: &mut State) {
        let of = &self.processes[usize::from(process)];
        let is_forgotten = (of.crashed || is_over) && self.all_has_arrived(process);
        let digest = &mut state.digest;
        digest.add(u64::from(of.crashed) << 1 | u64::from(is_forgotten));
        digest.add(of.muted.left(self.now) << 32 ^ of.deafened.left(self.now));
        let now = self.local_time(process);
        if !is_forgotten {
            digest.add_wide(of.observations.digest.finish());
            of.observations.times.iter().for_each(|time| digest.add(time.wrapping_sub(now)));
            state.observed.extend(&of.observations.zxids);
        }
        if !of.crashed {
            digest.add(of.paused.map_or(0, |until| until.saturating_sub(self.now) + 1));
            digest.add(u64::from(of.resumed == Some(self.now)));
            digest.add(of.clock.rate());
            let mut alarms: Vec<_> = self.alarms.values().filter(|alarm| alarm.process == process).collect();
            alarms.sort_by_key(|alarm| alarm.number);
            alarms
                .iter()
                .for_each(|alarm| digest.add(u64::from(alarm.number) << 48 ^ alarm.due.saturating_sub(now)));
        }
        for (handle, session) in self.sessions_of(process) {
            if !of.crashed {
                let text = |path: &PathId| self.paths.text(*path);
                let changed = |path: &PathId, seen| self.changed_since(*path, seen);
                session.digest(now, !is_forgotten, &mut state.digest, text, changed);
            }
            self.digest_conns(handle, state);
        }
    }

    /// Returns which changes since `seen` a server would find for a watch: of the znode, and of its parent.
    fn changed_since(&self, path: PathId, seen: i64) -> u64 {
        let tree = &self.members[0].replica.tree;
        let later = |zxid: i64| u64::from(zxid > seen);
        let above = self.paths.known_parent(path).and_then(|parent| tree.get(parent));
        let above = above.map_or(0, |node| later(node.pzxid));
        let own = tree.get(path).map_or(8, |node| {
            let stat = node.stat();
            later(stat.czxid) | later(stat.mzxid) << 1 | later(stat.pzxid) << 2
        });
        own << 1 | above
    }

    /// Returns whether all requests of a process but pings have reached the server, and none is left to send.
    fn all_has_arrived(&self, process: u8) -> bool {
        let has_crashed = self.processes[usize::from(process)].crashed;
        let asks_nothing = |packet: &Up| !matches!(packet, Up::Request { ask, .. } if *ask != Ask::Ping);
        self.sessions_of(process).all(|(handle, session)| {
            let mut conns = self.conns.iter().filter(|(_, conn)| conn.handle == Some(handle));
            (has_crashed || session.is_over() || session.is_idle())
                && conns.all(|(_, conn)| conn.up.packets.iter().all(|(_, _, packet)| asks_nothing(packet)))
        })
    }

    fn sessions_of(&self, process: u8) -> impl Iterator<Item = (HandleId, &ClientSession)> {
        let all = (0..).map(HandleId).zip(&self.sessions);
        all.filter(move |(_, (owner, _))| *owner == process).map(|(handle, (_, session))| (handle, session))
    }

    /// Adds the connections of a session, in the order of their creation, except those that are gone without a trace.
    fn digest_conns(&self, handle: HandleId, state: &mut State) {
        for (id, conn) in self.conns.iter() {
            if conn.handle != Some(handle) || conn.is_gone() {
                continue;
            }
            let served = self.members[usize::from(conn.server)].replica.session_of(id);
            state.digest.add(0x1000 ^ served.unwrap_or_default().0 as u64);
            conn.digest(self, state);
        }
    }
}

impl Conn {
    fn digest(&self, world: &World, state: &mut State) {
        let (now, paths) = (world.now, &world.paths);
        let digest = &mut state.digest;
        let open = u64::from(self.client_open) | u64::from(self.server_open) << 1;
        digest.add(open | u64::from(self.established) << 2);
        for (due, _, packet) in &self.up.packets {
            match packet {
                // A single server never refuses a client for a newer zxid.
                Up::Connect { session, .. } => digest.add_two(1, session.0 as u64),
                Up::Request { xid, ask, .. } => {
                    digest.add_two(2, *xid as u64 & 0xffff_ffff);
                    if let Ask::SetWatches(believed) = ask {
                        for path in believed.paths() {
                            digest.add_bytes(paths.text(*path).as_bytes());
                            digest.add(world.changed_since(*path, believed.relative));
                        }
                    }
                }
                Up::Unreadable => digest.add_two(3, 0),
                Up::Fin => digest.add_two(4, 0),
            }
            digest.add(due.saturating_sub(now));
        }
        for (due, _, packet) in &self.down.packets {
            match packet {
                Down::Connected { session, timeout, .. } => {
                    digest.add_two(5, session.0 as u64);
                    digest.add(*timeout);
                }
                Down::Reply { xid, zxid, result } => {
                    digest.add_two(6, *xid as u64 & 0xffff_ffff);
                    let mut observations = Observations::default();
                    observations.answer(result, paths);
                    digest.add_wide(observations.digest.finish());
                    state.seen.push(*zxid);
                    state.observed.append(&mut observations.zxids);
                }
                Down::Notify { kind, path } => {
                    digest.add_two(7, *kind as u64);
                    digest.add_bytes(paths.text(*path).as_bytes());
                }
                Down::Fin => digest.add_two(8, 0),
            }
            digest.add(due.saturating_sub(now));
        }
    }
}
