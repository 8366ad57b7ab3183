//! Read access to the world from outside.

use super::{HandleId, World};
use crate::config::Config;
use crate::ensemble::Member;
use crate::message::{Ask, ConnId};
use crate::paths::Paths;
use crate::server::ReplySize;
use crate::session::ClientSession;
use zk_recipes::zk::SessionId;

impl World {
    /// Returns the time, in microseconds since the start.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Returns all paths used so far.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    pub(crate) fn paths_mut(&mut self) -> &mut Paths {
        &mut self.paths
    }

    /// Returns the number of steps performed.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns a rolling hash of all steps and their times: equal runs have equal hashes, and others differ, up to
    /// collisions.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns whether faults can still be injected.
    pub fn is_hostile(&self) -> bool {
        self.hostile
    }

    /// Returns whether the world is quiescent: nothing is in flight, every remaining session has a live client, every
    /// server serves and has applied everything, and no client is paused or partitioned.
    pub fn is_quiet(&self) -> bool {
        let living = || {
            let alive = |(process, session): &&(u8, ClientSession)| {
                !self.processes[usize::from(*process)].crashed && !session.is_over()
            };
            self.sessions.iter().filter(alive).map(|(_, session)| session)
        };
        !self.hostile
            && self.lasting.is_empty()
            && living().all(ClientSession::is_idle)
            && self.is_settled()
            && self.members.iter().filter_map(Member::leading).all(|leading| {
                leading.tracker.sessions().all(|known| living().any(|session| session.session() == known))
            })
            && !self.conns.iter().any(|(_, conn)| conn.notifies())
    }

    /// Returns whether every server serves under one leader and has applied everything.
    pub fn is_settled(&self) -> bool {
        let leader = self.leader();
        // A deposed leader that has not noticed is idle, too.
        let settled = |member: &Member| member.serves() && member.leader() == leader && member.is_idle();
        self.members.iter().all(settled)
            && self.server_links.iter().all(super::server_links::ServerLink::is_idle)
    }

    /// Returns the leader; among several that claim to lead, the one with the newest epoch.
    pub fn leader(&self) -> Option<u8> {
        self.leading().map(|member| member.id)
    }

    fn leading(&self) -> Option<&Member> {
        self.members.iter().filter(|member| member.is_leading()).max_by_key(|member| member.epoch)
    }

    /// Returns the servers that serve clients.
    pub fn serving(&self) -> Vec<u8> {
        self.members.iter().filter(|member| member.serves()).map(|member| member.id).collect()
    }

    /// Returns whether the process of a server runs.
    pub fn is_running(&self, server: u8) -> bool {
        !self.members[usize::from(server)].is_down()
    }

    /// Returns whether a pause or a hold stops a server.
    pub fn is_stopped(&self, server: u8) -> bool {
        self.stopped[usize::from(server)] > 0
    }

    /// Returns the leader of the newest epoch, if a quorum follows it.
    pub fn leader_of_quorum(&self) -> Option<u8> {
        self.leader().filter(|_| !self.following_quorum().is_empty())
    }

    /// Returns the leader of the newest epoch and its followers, if they are a quorum.
    pub fn following_quorum(&self) -> Vec<u8> {
        let leader = self.leader();
        let follows = |member: &&Member| member.leader().is_some() && member.leader() == leader;
        let found: Vec<u8> = self.members.iter().filter(follows).map(|member| member.id).collect();
        if found.len() >= usize::from(self.config.majority()) { found } else { Vec::new() }
    }

    /// Returns the last transaction that a server has applied.
    pub fn applied(&self, server: u8) -> i64 {
        self.members[usize::from(server)].replica.applied
    }

    /// Returns the server that has applied most.
    fn foremost(&self) -> &Member {
        self.members.iter().max_by_key(|member| member.replica.applied).expect("there is a server")
    }

    /// Returns the size of the answer that a connection would get to a read now. Counting stops once the size exceeds
    /// `limit`.
    pub fn reply_size(&self, conn: ConnId, ask: &Ask, limit: usize) -> ReplySize {
        let server = usize::from(self.conn(conn).server);
        self.members[server].replica.reply_size(conn, ask, limit, &self.paths)
    }

    /// Returns the znodes of the server that has applied most, with their owners.
    pub fn znodes(&self) -> impl Iterator<Item = (&str, SessionId)> {
        let owner = |path| self.foremost().replica.tree.get(path).map(|node| node.stat().ephemeral_owner);
        let all = self.foremost().replica.tree.iter();
        all.map(move |(path, _)| (self.paths.text(path), owner(path).unwrap_or_default()))
    }

    /// Returns the armed watches of all servers, with their sessions.
    pub fn watches(&self) -> impl Iterator<Item = (&str, SessionId)> {
        let all = self.members.iter().flat_map(|member| member.replica.watches());
        all.map(|(_, path, session, _)| (self.paths.text(path), session))
    }

    /// Returns the session of each connection of a server that has ever armed a data watch, with the paths that it
    /// watches.
    pub fn watchers(&self, server: u8) -> impl Iterator<Item = (SessionId, impl Iterator<Item = &str>)> {
        let all = self.members[usize::from(server)].replica.watchers();
        all.map(move |(session, paths)| (session, paths.map(move |path| self.paths.text(path))))
    }

    /// Returns the number of watches that are armed at a server.
    pub fn watch_count(&self, server: u8) -> usize {
        self.members[usize::from(server)].replica.watches().count()
    }

    /// Returns the znodes of one server: the path, the owner, and the length of the data in bytes.
    pub fn znodes_of(&self, server: u8) -> impl Iterator<Item = (&str, SessionId, usize)> {
        let all = self.members[usize::from(server)].replica.tree.iter();
        all.map(move |(path, node)| {
            (self.paths.text(path), node.owner(), node.data.as_ref().map_or(0, |data| data.len()))
        })
    }

    /// Returns the sessions that a server knows, with their timeouts, in microseconds.
    pub fn open_sessions(&self, server: u8) -> impl Iterator<Item = (SessionId, u64)> {
        self.members[usize::from(server)].replica.sessions()
    }

    /// Returns the live sessions with their expiry deadlines; `None` if that server does not lead.
    pub fn deadlines(&self, server: u8) -> Option<impl Iterator<Item = (u64, SessionId)>> {
        Some(self.members[usize::from(server)].leading()?.tracker.deadlines())
    }

    /// Returns whether the session is alive at the leader.
    pub fn lives(&self, session: SessionId) -> bool {
        self.leading().and_then(Member::leading).is_some_and(|leading| leading.tracker.knows(session))
    }

    pub(crate) fn is_crashed(&self, process: u8) -> bool {
        self.processes[usize::from(process)].crashed
    }

    pub(crate) fn session(&self, handle: HandleId) -> &ClientSession {
        &self.sessions[usize::from(handle.0)].1
    }

    pub(crate) fn process_of(&self, handle: HandleId) -> u8 {
        self.sessions[usize::from(handle.0)].0
    }

    /// Advances the time without an event.
    pub(crate) fn pass_to(&mut self, at: u64) {
        self.now = self.now.max(at);
    }

    /// Returns whether all clients have finished.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending
    }

    /// Returns the time of the clock of a process.
    pub(crate) fn time_of(&self, process: u8) -> u64 {
        self.local_time(process)
    }
}
