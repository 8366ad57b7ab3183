//! Items of queues whose delete was applied while its reply was lost.

use super::Loss;
use crate::history::{Code, Session, Sym};
use std::collections::BTreeMap;

/// An item that a single delete took.
#[derive(Clone, Copy, Debug)]
pub(super) struct TakenItem {
    pub(super) created: u32,
    pub(super) deleted: u32,
    /// The reply with its data to the session that deleted it, if there was one before.
    pub(super) read: Option<u32>,
}

/// An item whose delete was applied while its reply was lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct LostItem {
    pub(super) taken: TakenItem,
    pub(super) loss: Loss,
    /// Whether the session repeated the delete and got the answer that there is no such znode.
    is_repeated: bool,
}

impl LostItem {
    /// Whether the consumer may not know that it took the item, or has not got its data.
    pub(super) fn may_be_lost(&self) -> bool {
        self.taken.read.is_none() || !self.is_repeated
    }
}

/// Deletes of items.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// Unanswered deletes: the number in flight, and the last lost one.
    asked: BTreeMap<(Sym, Session), (u32, Option<Loss>)>,
    /// Items that were taken, and whose reply is in flight.
    pending: BTreeMap<(Sym, Session), TakenItem>,
    pub(super) lost: BTreeMap<(Sym, Session), LostItem>,
}

impl Items {
    pub(super) fn delete_sent(&mut self, path: Sym, session: Session) {
        self.asked.entry((path, session)).or_default().0 += 1;
    }

    pub(super) fn taken(&mut self, path: Sym, by: Session, taken: TakenItem) {
        match self.asked.get(&(path, by)) {
            Some((1.., _)) => {
                self.pending.insert((path, by), taken);
            }
            // A server may apply a request after its client has reported the reply as lost.
            Some((0, Some(loss))) => {
                self.lost.insert((path, by), LostItem { taken, loss: *loss, is_repeated: false });
            }
            _ => {}
        }
    }

    pub(super) fn delete_answered(&mut self, path: Sym, session: Session, code: Code) {
        let key = (path, session);
        if let Some((in_flight, _)) = self.asked.get_mut(&key) {
            *in_flight = in_flight.saturating_sub(1);
            if *in_flight == 0 {
                self.asked.remove(&key);
            }
        }
        match code {
            Code::Ok => {
                self.pending.remove(&key);
            }
            Code::NoNode => {
                if let Some(lost) = self.lost.get_mut(&key) {
                    lost.is_repeated = true;
                }
            }
            _ => {}
        }
    }

    pub(super) fn delete_lost(&mut self, path: Sym, session: Session, loss: Loss) {
        let key = (path, session);
        if let Some((in_flight, lost)) = self.asked.get_mut(&key) {
            *in_flight = in_flight.saturating_sub(1);
            *lost = Some(loss);
        }
        if let Some(taken) = self.pending.remove(&key) {
            self.lost.insert(key, LostItem { taken, loss, is_repeated: false });
        }
    }
}
