//! What of the world decides what can still happen, as a digest: two runs of interleaving mode that come to the same digest
//! go on alike, choice for choice.
//!
//! 1. *The ensemble*: the tree, sessions and their deadlines, armed watches, and what is under way on every connection.
//! 2. *The clients' libraries*: their sessions' machines, their alarms.
//! 3. *The clients' code*: what each process was told (`told`). Of a process that has crashed, or whose code has come to its
//!    end, nobody remembers that any more, once what it has sent has arrived.
//! 4. *The network and the faults*: what lasts and until when, how many may still strike, the time.
//! 5. *The pattern of zxids*: of all that stand in the tree and that code was told, which are the same and which are larger.
//!    How many transactions lie between two of them, refused ones for instance, is nothing that anybody could act upon. How
//!    far a client has got, by the headers of its answers, is of use for one thing only: when it hands its watches over, the
//!    server looks which znodes have changed since. So no more is kept of it than which of those that it watches have: when
//!    it comes to watch another one, it has just been told how that one stands. Of an answer that is on its way, which may
//!    arm a watch, it is kept which of all znodes have changed since.
//!
//! Times are told by how far they lie from now: what happens next would happen at any other time as well. Only the server's
//! ticks are beaten by the clock. Past times of packets do not matter, and times in a `Stat` are something that nobody is
//! thought to act upon.
//!
//! Left out are counters that nobody's behaviour depends on (steps, numbers of requests and of reminders), and who stands
//! at which place of a table: processes are told by their numbers, their sessions and connections by their order within a
//! process, paths by their texts. The content of a request is left out too: the k-th request of a session asks for what its
//! process, told what it was told, asks for.

use super::connections::Conn;
use super::observations::Observations;
use super::{HandleId, World};
use crate::digest::Digest;
use crate::ensemble::Member;
use crate::message::{Ask, ConnId, Down, Up, Watching};
use crate::paths::PathId;
use crate::session::ClientSession;
use crate::tree::Znode;
use crate::txn::Life;

/// A digest that is being made: the structure, and every zxid as it comes up.
#[derive(Default)]
struct State {
    digest: Digest,
    /// Those of the tree, and those that code was told.
    tree: Vec<i64>,
    observed: Vec<i64>,
    /// How far clients will have got by answers on their way.
    seen: Vec<i64>,
}

impl State {
    /// The structure, and then the pattern of the zxids.
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

    /// The digest of the state. Only in interleaving mode. `is_over` says of a process whether its code has come to its end.
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
        // In no particular order: each watch has its own effect.
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

    /// What a server that is handed a watch can find changed since: of the znode itself, and above it.
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

    /// Whether everything that a process has sent, but for pings, has reached its server, and it has nothing more to send.
    fn all_has_arrived(&self, process: u8) -> bool {
        let has_crashed = self.processes[usize::from(process)].crashed;
        let asks_nothing = |packet: &Up| !matches!(packet, Up::Request { ask, .. } if *ask != Ask::Ping);
        self.sessions_of(process).all(|(handle, session)| {
            let mut conns = self.conns.iter().filter(|conn| conn.handle == Some(handle));
            (has_crashed || session.is_over() || session.is_idle())
                && conns.all(|conn| conn.up.iter().all(|(_, _, packet)| asks_nothing(packet)))
        })
    }

    fn sessions_of(&self, process: u8) -> impl Iterator<Item = (HandleId, &ClientSession)> {
        let all = (0..).map(HandleId).zip(&self.sessions);
        all.filter(move |(_, (owner, _))| *owner == process).map(|(handle, (_, session))| (handle, session))
    }

    /// The connections of a session, in the order in which it made them, without those that are gone without a trace.
    fn digest_conns(&self, handle: HandleId, state: &mut State) {
        for (id, conn) in (0..).zip(&self.conns) {
            if conn.handle != Some(handle) || conn.is_gone() {
                continue;
            }
            let served = self.members[usize::from(conn.server)].replica.session_of(ConnId(id));
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
        for (due, _, packet) in &self.up {
            match packet {
                // A server alone turns nobody away who has seen too much.
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
        for (due, _, packet) in &self.down {
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
