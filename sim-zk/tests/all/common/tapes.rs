//! Evaluation of tapes: leaders, committed transactions, the tree at each zxid.

use super::Tape;
use sim_zk::observer::{Kind, Outcome, SimEvent};
use sim_zk::paths::PathId;
use std::collections::BTreeMap;
use zk_recipes::zk::SessionId;

/// A transaction, as the first server to apply it reported it.
#[derive(Clone, Copy, Debug)]
pub struct Committed {
    pub zxid: i64,
    pub at: u64,
    pub op: u32,
    pub kind: Kind,
    pub outcome: Outcome,
}

/// Every transaction, in the order in which they were first applied.
pub fn committed(tape: &Tape) -> Vec<Committed> {
    let txns = tape.seen.iter().filter_map(|(at, event)| match *event {
        SimEvent::Txn { zxid, op, kind, outcome, .. } => Some(Committed { zxid, at: *at, op, kind, outcome }),
        _ => None,
    });
    txns.collect()
}

/// A past state of a znode: the zxids of its creation and of its last write, and its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Was {
    pub czxid: i64,
    pub mzxid: i64,
    pub owner: SessionId,
}

/// The tree after each transaction, rebuilt from the events.
#[derive(Default)]
pub struct Chronicle {
    znodes: BTreeMap<PathId, Vec<(i64, Option<Was>)>>,
}

impl Chronicle {
    /// Applies an event; fails if the event contradicts the tree.
    pub fn take(&mut self, event: &SimEvent<'_>) -> Result<(), String> {
        match *event {
            SimEvent::Created { zxid, path, owner, .. } => {
                let before = self.latest(path);
                self.push(path, zxid, Some(Was { czxid: zxid, mzxid: zxid, owner }));
                if before.is_none() { Ok(()) } else { Err(format!("{path:?} is created twice")) }
            }
            SimEvent::Deleted { zxid, path, .. } => {
                let before = self.latest(path);
                self.push(path, zxid, None);
                before.map(|_| ()).ok_or(format!("{path:?} is deleted, and is not there"))
            }
            SimEvent::Written { zxid, path, .. } => {
                let Some(before) = self.latest(path) else {
                    return if path == PathId::ROOT { Ok(()) } else { Err(format!("{path:?} is not there")) };
                };
                self.push(path, zxid, Some(Was { mzxid: zxid, ..before }));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn push(&mut self, path: PathId, zxid: i64, was: Option<Was>) {
        self.znodes.entry(path).or_default().push((zxid, was));
    }

    pub fn latest(&self, path: PathId) -> Option<Was> {
        self.at(path, i64::MAX)
    }

    /// Returns the znode after that transaction.
    pub fn at(&self, path: PathId, zxid: i64) -> Option<Was> {
        let told = self.znodes.get(&path)?;
        let next = told.partition_point(|(of, _)| *of <= zxid);
        told[..next].last()?.1
    }

    /// Returns all znodes after that transaction.
    pub fn all(&self, zxid: i64) -> impl Iterator<Item = PathId> {
        self.znodes.keys().copied().filter(move |path| self.at(*path, zxid).is_some())
    }
}

/// The leaders, as far as the tape has been read.
pub struct Leaders {
    leads: Vec<bool>,
}

impl Leaders {
    /// An ensemble begins with the last server as its leader.
    pub fn new(servers: u8) -> Self {
        Leaders { leads: (1..=servers).map(|number| number == servers).collect() }
    }

    pub fn take(&mut self, event: &SimEvent<'_>) {
        match event {
            SimEvent::Elected { server, .. } => self.leads[usize::from(*server)] = true,
            SimEvent::Ceased { server } => self.leads[usize::from(*server)] = false,
            _ => {}
        }
    }

    pub fn is_leader(&self, server: u8) -> bool {
        self.leads[usize::from(server)]
    }
}
