//! A session's state, as far as it decides what can still happen.
//!
//! Requests are told by their numbers alone: what the k-th request of a session asks for follows from what its process was
//! told before, and that is in the digest of the process.

use super::watches::List;
use super::{ClientSession, Phase};
use crate::digest::Digest;
use crate::paths::Paths;

impl ClientSession {
    /// Adds its state to a digest, and the zxid that it has seen to a list. Connections are told by whoever knows them. Times
    /// are told by how far they lie from `now`, by the process's clock. `has_user`: whether somebody may still ask for something.
    pub(crate) fn digest(
        &self,
        now: u64,
        has_user: bool,
        digest: &mut Digest,
        zxids: &mut Vec<i64>,
        paths: &Paths,
    ) {
        let ago = |time: u64| now.wrapping_sub(time);
        let (phase, until) = match self.phase {
            Phase::Waiting { until } => (1, ago(until)),
            Phase::Connecting { until, sent, .. } => (2, ago(until) << 20 ^ ago(sent)),
            Phase::Up { .. } => (3, self.pings.len() as u64),
            // What its user was told of it is with the process.
            Phase::Over => return digest.add_two(4, 0),
        };
        digest.add_two(phase, until);
        digest.add(self.session.0 as u64);
        if has_user {
            digest.add(u64::from(self.status.changes) << 32 ^ u64::from(self.status.connection));
            digest.add(self.next_xid as u64);
        }
        digest.add(self.timeout << 32 ^ self.least_timeout);
        zxids.push(self.last_zxid);
        for time in [self.last_heard, self.last_sent, self.safe_from] {
            digest.add(ago(time));
        }
        self.pings.iter().for_each(|sent| digest.add(ago(*sent)));
        digest.add(self.closing.into());
        digest.add((self.waiting.len() as u64) << 32 | self.outstanding.len() as u64);
        self.outstanding.iter().for_each(|pending| digest.add(pending.xid as u64 ^ ago(pending.sent) << 20));
        self.watches.digest(digest, paths);
        for (kind, path) in &self.kept_back {
            digest.add_two(5, *kind as u64);
            digest.add_bytes(paths.text(*path).as_bytes());
        }
    }
}

impl super::watches::Watches {
    fn digest(&self, digest: &mut Digest, paths: &Paths) {
        let mut add = |of: u8, list: List, path, count: u64| {
            digest.add_two(of, (list as u64) << 32 | count);
            digest.add_bytes(paths.text(path).as_bytes());
        };
        self.lists.iter().for_each(|((list, path), ids)| add(1, *list, *path, ids.len() as u64));
        self.arming.iter().for_each(|((list, path), count)| add(2, *list, *path, u64::from(*count)));
        self.dropped.iter().for_each(|(list, path)| add(3, *list, *path, 0));
        for (kind, path) in &self.owed {
            digest.add_two(4, *kind as u64);
            digest.add_bytes(paths.text(*path).as_bytes());
        }
    }
}
