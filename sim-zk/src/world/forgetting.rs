//! Forgetting of unused paths: otherwise a world that serves for long would remember every path ever used.
//!
//! Paths are forgotten only while nothing is in flight: then the trees, watches, logs and pending changes name all
//! paths in use.

use super::connections::Conn;
use super::server_links::ServerLink;
use super::{Context, World};
use crate::ensemble::Member;
use crate::paths::UsedPaths;

impl World {
    /// Returns whether a search for unused paths is worthwhile, and possible now.
    pub(crate) fn may_forget(&self) -> bool {
        self.paths.are_many()
            && self.sessions.is_empty()
            && self.members.iter().all(Member::is_at_rest)
            && self.server_links.iter().all(ServerLink::is_idle)
            && self.conns.iter().all(|(_, conn)| Conn::is_at_rest(conn))
    }

    /// Forgets all paths except those in `used` and those that the world uses. Other paths get the forgotten numbers.
    pub(crate) fn forget_paths(&mut self, mut used: UsedPaths, context: &mut Context<'_>) {
        self.members.iter().for_each(|member| member.paths(&mut used));
        let forgotten = self.paths.forget_all_but(&used);
        context.observer.on_forgotten(&forgotten);
    }
}
