//! What is held: granted once, and lost at most once, whoever learns of it first: the holder, who asks for the state or waits
//! for a change, or the session, which ends.

use super::{Outcome, meters, spans};
use crate::zk::{OnSessionOver, SessionId, ZooKeeper};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A hold, as an operator sees it. Dropped, it has ended.
pub(crate) struct Hold {
    recipe: &'static str,
    path: String,
    session: SessionId,
    token: i64,
    is_lost: AtomicBool,
}

impl Hold {
    /// A hold is granted.
    pub(crate) fn granted<Z: ZooKeeper>(
        zk: &Z,
        recipe: &'static str,
        path: &str,
        token: i64,
    ) -> Option<Arc<Hold>> {
        // Without either feature nobody looks.
        if cfg!(not(any(feature = "tracing", feature = "metrics"))) {
            return None;
        }
        let session = zk.session();
        spans::granted(recipe, path, session, token);
        Some(
            Hold { recipe, path: path.to_owned(), session, token, is_lost: AtomicBool::new(false) }.begin(zk),
        )
    }

    /// It goes on with another znode.
    pub(crate) fn moved<Z: ZooKeeper>(&self, zk: &Z, path: &str) -> Arc<Hold> {
        let is_lost = AtomicBool::new(self.is_lost());
        Hold { path: path.to_owned(), is_lost, ..*self }.begin(zk)
    }

    fn begin<Z: ZooKeeper>(self, zk: &Z) -> Arc<Hold> {
        if !self.is_lost() {
            meters::held(self.recipe);
        }
        let hold = Arc::new(self);
        let listener: Weak<Hold> = Arc::downgrade(&hold);
        zk.on_session_over(listener);
        hold
    }

    fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// It is lost.
    pub(crate) fn lost(&self, reason: &impl Outcome) {
        self.lost_by(reason.outcome());
    }

    fn lost_by(&self, reason: &'static str) {
        let Hold { recipe, path, session, token, is_lost } = self;
        if !is_lost.swap(true, Ordering::Relaxed) {
            spans::lost(recipe, path, *session, *token, reason);
            meters::lost(recipe, reason);
            meters::not_held(recipe);
        }
    }

    /// The holder must stop within that time, since the connection is lost.
    pub(crate) fn told_to_stop(&self, safe_for: Duration) {
        let Hold { recipe, path, session, token, .. } = self;
        spans::suspect(recipe, path, *session, *token, safe_for);
    }
}

impl OnSessionOver for Hold {
    fn session_over(&self) {
        self.lost_by("session_over");
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if !*self.is_lost.get_mut() {
            meters::not_held(self.recipe);
        }
    }
}
