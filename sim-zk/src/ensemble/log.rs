//! The log of a server: transactions on its disk, in the order of zxids.

use crate::paths::UsedPaths;
use crate::txn::Txn;
use std::collections::VecDeque;
use std::sync::Arc;

/// A log. Entries that every server has applied are dropped from the front.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    entries: VecDeque<Arc<Txn>>,
    /// The zxid of the last entry dropped from the front.
    base: i64,
    /// The number of entries that a real server cannot read again. Dropping entries from the front does not reduce it:
    /// snapshots are rare, and until the next one a server reads the entries when it starts.
    unreadable: usize,
    /// The size of the entries in bytes, if they share no data.
    bytes: usize,
}

/// The number of entries, and the bytes, above which a log is pruned.
const KEPT: (usize, usize) = (256, 4 << 20);

impl Log {
    /// Returns the zxid of the last entry.
    pub(crate) fn last(&self) -> i64 {
        self.entries.back().map_or(self.base, |txn| txn.zxid)
    }

    pub(crate) fn append(&mut self, txn: Arc<Txn>) {
        assert!(txn.zxid > self.last(), "a log is in the order of zxids");
        self.unreadable += usize::from(txn.is_unreadable());
        self.bytes += txn.bytes();
        self.entries.push_back(txn);
    }

    /// Returns whether a real server can start with it.
    pub(crate) fn is_readable(&self) -> bool {
        self.unreadable == 0
    }

    /// Returns the entries after `from`, up to `to`.
    pub(crate) fn between(&self, from: i64, to: i64) -> impl Iterator<Item = &Arc<Txn>> {
        let first = self.entries.partition_point(|txn| txn.zxid <= from);
        self.entries.range(first..).take_while(move |txn| txn.zxid <= to)
    }

    fn has(&self, zxid: i64) -> bool {
        zxid <= self.base || self.entries.binary_search_by_key(&zxid, |txn| txn.zxid).is_ok()
    }

    /// Synchronizes with the log of the leader up to `to` (DIFF or TRUNC): removes entries that the leader lacks,
    /// adds missing ones.
    pub(crate) fn follow(&mut self, leader: &Log, to: i64) {
        while self.entries.back().is_some_and(|txn| txn.zxid > to || !leader.has(txn.zxid)) {
            let removed = self.entries.pop_back();
            self.bytes -= removed.as_ref().map_or(0, |txn| txn.bytes());
            self.unreadable -= usize::from(removed.is_some_and(|txn| txn.is_unreadable()));
        }
        for txn in leader.between(self.last(), to) {
            self.append(txn.clone());
        }
    }

    /// Drops entries up to that zxid: a snapshot contains them.
    pub(crate) fn prune(&mut self, to: i64) {
        while let Some(txn) = self.entries.front().filter(|txn| txn.zxid <= to) {
            self.base = txn.zxid;
            self.bytes -= txn.bytes();
            self.entries.pop_front();
        }
    }

    /// Returns whether the log is complete from the first transaction on.
    pub(crate) fn is_whole(&self) -> bool {
        self.base == 0
    }

    /// Returns whether it is long enough to drop the entries that every server has applied.
    pub(crate) fn is_long(&self) -> bool {
        self.entries.len() > KEPT.0 || self.bytes > KEPT.1
    }

    /// Adds the paths of all entries.
    pub(crate) fn paths(&self, used: &mut UsedPaths) {
        self.entries.iter().for_each(|txn| txn.paths(used));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Code;
    use crate::observer::Kind;
    use crate::txn::{Body, Origin};
    use zk_recipes::zk::SessionId;

    fn log(zxids: &[i64]) -> Log {
        let mut log = Log::default();
        for zxid in zxids {
            let origin = Origin { member: 0, number: 0 };
            let body = Body::Refused(Code::NoNode.into());
            let txn =
                Txn { zxid: *zxid, time: 0, session: SessionId(0), origin, op: 0, kind: Kind::Other, body };
            log.append(Arc::new(txn));
        }
        log
    }

    fn zxids(log: &Log) -> Vec<i64> {
        log.between(0, i64::MAX).map(|txn| txn.zxid).collect()
    }

    #[test]
    fn a_follower_drops_what_its_leader_does_not_have_and_takes_what_it_misses() {
        let leader = log(&[1, 2, 5, 6, 9]);
        let mut follower = log(&[1, 2, 3, 4]);
        follower.follow(&leader, 6);
        assert_eq!(zxids(&follower), [1, 2, 5, 6], "up to what is committed");
    }

    #[test]
    fn what_was_dropped_from_the_front_counts_as_had() {
        let mut leader = log(&[1, 2, 3]);
        leader.prune(2);
        assert_eq!((zxids(&leader), leader.last()), (vec![3], 3));
        let mut follower = log(&[1, 2]);
        follower.follow(&leader, 3);
        assert_eq!(zxids(&follower), [1, 2, 3]);
    }
}
