//! The waiters of a barrier, the servers' view of the barrier, and the waiters' knowledge.

use super::Barriers;
use crate::rule::prelude::*;
use crate::view::{Moment, NEVER};

/// The servers' view of a barrier.
#[derive(Clone, Default)]
pub(super) struct Gate {
    pub(super) lives: Vec<Life>,
}

/// One incarnation of the barrier's znode.
#[derive(Clone)]
pub(super) struct Life {
    pub(super) czxid: u64,
    pub(super) created: Moment,
    pub(super) gone: u64,
    pub(super) deleted: Moment,
}

impl Gate {
    /// The incarnation that exists in the state of a transaction.
    pub(super) fn at(&self, zxid: u64) -> Option<&Life> {
        self.lives.iter().rev().find(|life| life.czxid <= zxid && zxid < life.gone)
    }

    pub(super) fn stands(&self) -> Option<&Life> {
        self.lives.last().filter(|life| life.gone == NEVER)
    }
}

/// An open wait, and its client's knowledge.
#[derive(Clone)]
pub(super) struct Waiter {
    pub(super) op: OpId,
    pub(super) object: ObjectId,
    pub(super) session: Session,
    /// The incarnation that it waits for, if servers showed it, and the largest zxid of a read.
    pub(super) first: Option<u64>,
    pub(super) shown: u64,
    /// Whether it learned that there is no barrier (a level-triggered wait: by its last read); that the barrier it had
    /// read is gone; that there is another barrier.
    pub(super) is_absent: bool,
    pub(super) is_gone: bool,
    pub(super) is_another: bool,
    pub(super) last: Last,
    pub(super) last_index: u32,
    pub(super) is_told: bool,
}

/// The last event by which a waiter learned something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Nothing,
    Absent,
    Stands,
    Event(&'static str),
}

impl Waiter {
    pub(super) fn new(op: OpId, object: ObjectId) -> Waiter {
        Waiter {
            op,
            object,
            session: Session(0),
            first: None,
            shown: 0,
            is_absent: false,
            is_gone: false,
            is_another: false,
            last: Last::Nothing,
            last_index: u32::MAX,
            is_told: false,
        }
    }

    /// The session in which it waits: its client's, unless another one is known.
    pub(super) fn session_in(&self, scene: &Scene<'_>) -> Session {
        match self.session {
            Session(0) => scene.view.client(scene.view.op(self.op).client).session,
            session => session,
        }
    }

    /// Whether it may pass.
    pub(super) fn is_justified(&self, verb: Verb) -> bool {
        match verb {
            Verb::WaitDown => self.is_absent,
            _ => self.is_absent || self.is_gone || self.is_another,
        }
    }
}

impl Barriers {
    /// Passes the barrier state in a reply on to the waiter.
    pub(super) fn answered(&mut self, scene: &Scene<'_>, req: ReqId, code: Code, zxid: u64) {
        let Some(of) = scene.view.request(req).copied() else { return };
        let reads =
            matches!(of.kind, Request::Exists | Request::Get | Request::Children | Request::MultiRead);
        let at = self.waiters.iter().position(|waiter| waiter.op == of.op);
        let path = at.map(|at| scene.object(self.waiters[at].object).path);
        // One reply may show several barriers.
        let told = self.found.iter().find(|(found, of, _)| *found == req && Some(*of) == path);
        let told = told.map(|(.., stands)| *stands);
        self.found.retain(|(found, ..)| *found != req);
        let (Some(at), Some(path)) = (at, path) else { return };
        let object = self.waiters[at].object;
        let stands = match told {
            Some(stands) => stands,
            _ if reads && of.path == path && code == Code::Ok => true,
            _ if reads && of.path == path && code == Code::NoNode => false,
            _ => return,
        };
        let state = if of.served == 0 { zxid } else { of.served };
        let life = self.gate(object).and_then(|gate| gate.at(state)).map(|life| life.czxid);
        let waiter = &mut self.waiters[at];
        waiter.session = of.session;
        waiter.last_index = scene.index;
        if !stands {
            (waiter.last, waiter.is_absent) = (Last::Absent, true);
            return;
        }
        waiter.is_another |= match (waiter.first, life) {
            (Some(first), Some(life)) => first != life,
            // A capture shows no incarnations, but a later one has a later zxid.
            _ => !scene.view.is_sim() && waiter.last != Last::Nothing && zxid > waiter.shown,
        };
        waiter.is_absent &= scene.view.op(of.op).verb != Verb::WaitDown;
        waiter.first = waiter.first.or(life);
        waiter.shown = waiter.shown.max(zxid);
        waiter.last = Last::Stands;
    }

    /// Passes a notification, or a change of the session's state, on to the waiters of a session.
    pub(super) fn hears(
        &mut self,
        scene: &Scene<'_>,
        session: Session,
        path: Option<Sym>,
        event: &'static str,
    ) {
        let is_deletion = event == NODE_DELETED;
        let gates = &self.gates;
        for waiter in &mut self.waiters {
            let of = waiter.session_in(scene);
            let here = path.is_none_or(|path| scene.object(waiter.object).path == path);
            if of != session || !here || waiter.last == Last::Nothing {
                continue;
            }
            // The notification may be of an earlier incarnation, too.
            let gate = gates.get(usize::from(waiter.object.0));
            let of = gate.and_then(|gate| gate.lives.iter().find(|life| Some(life.czxid) == waiter.first));
            waiter.is_gone |= is_deletion && of.is_none_or(|life| life.gone != NEVER);
            waiter.last = Last::Event(event);
            waiter.last_index = scene.index;
        }
    }
}
