//! What can be seen of the world from outside.

use super::{HandleId, World};
use crate::config::Config;
use crate::ensemble::Member;
use crate::paths::Paths;
use crate::session::ClientSession;
use zk_recipes::zk::SessionId;

impl World {
    /// Microseconds since the start.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Every path that was spoken of.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    pub(crate) fn paths_mut(&mut self) -> &mut Paths {
        &mut self.paths
    }

    /// How many steps were performed.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// A rolling hash of every step so far and its time: runs that went the same way have the same one, and others
    /// do not but by a rare accident.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// What the world is made of.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether faults can still strike.
    pub fn is_hostile(&self) -> bool {
        self.hostile
    }

    /// Nothing is on its way, no session lingers whose client is gone, every server serves and has applied everything,
    /// and no client stands still or is cut off: what is left now stays.
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
            && !self.conns.iter().any(|conn| conn.notifies())
    }

    /// Every server serves under one leader, and has applied everything.
    pub fn is_settled(&self) -> bool {
        let leader = self.leader();
        // A leader that has not yet noticed that there is another one is idle, too.
        let settled = |member: &Member| member.serves() && member.leader() == leader && member.is_idle();
        self.members.iter().all(settled)
            && self.server_links.iter().all(super::server_links::ServerLink::is_idle)
    }

    /// The server that leads; of several that believe so, the one of the newest epoch.
    pub fn leader(&self) -> Option<u8> {
        self.leading().map(|member| member.id)
    }

    fn leading(&self) -> Option<&Member> {
        self.members.iter().filter(|member| member.is_leading()).max_by_key(|member| member.epoch)
    }

    /// The servers that serve clients.
    pub fn serving(&self) -> Vec<u8> {
        self.members.iter().filter(|member| member.serves()).map(|member| member.id).collect()
    }

    /// Whether a server's process lives.
    pub fn is_running(&self, server: u8) -> bool {
        !self.members[usize::from(server)].is_down()
    }

    /// The leader of the newest epoch, if a quorum follows it.
    pub fn leader_of_quorum(&self) -> Option<u8> {
        self.leader().filter(|_| !self.following_quorum().is_empty())
    }

    /// The servers that follow the leader of the newest epoch, and itself, if they are a quorum.
    pub fn following_quorum(&self) -> Vec<u8> {
        let leader = self.leader();
        let follows = |member: &&Member| member.leader().is_some() && member.leader() == leader;
        let found: Vec<u8> = self.members.iter().filter(follows).map(|member| member.id).collect();
        if found.len() >= usize::from(self.config.majority()) { found } else { Vec::new() }
    }

    /// The last transaction that a server has applied.
    pub fn applied(&self, server: u8) -> i64 {
        self.members[usize::from(server)].replica.applied
    }

    /// The server that knows most.
    fn foremost(&self) -> &Member {
        self.members.iter().max_by_key(|member| member.replica.applied).expect("there is a server")
    }

    /// The znodes that exist at the server that has applied most, with their owners.
    pub fn znodes(&self) -> impl Iterator<Item = (&str, SessionId)> {
        let owner = |path| self.foremost().replica.tree.get(path).map(|node| node.stat().ephemeral_owner);
        let all = self.foremost().replica.tree.iter();
        all.map(move |(path, _)| (self.paths.text(path), owner(path).unwrap_or_default()))
    }

    /// The watches that are armed at servers, with their sessions.
    pub fn watches(&self) -> impl Iterator<Item = (&str, SessionId)> {
        let all = self.members.iter().flat_map(|member| member.replica.watches());
        all.map(|(_, path, session, _)| (self.paths.text(path), session))
    }

    /// Whether the leader keeps the session.
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

    /// Time passes, and nothing happens in it.
    pub(crate) fn pass_to(&mut self, at: u64) {
        self.now = self.now.max(at);
    }

    /// Whether all clients are done.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending
    }

    /// What a process's clock shows.
    pub(crate) fn time_of(&self, process: u8) -> u64 {
        self.local_time(process)
    }
}
