//! The items in the queues, according to the transactions.

use super::{gets, is_below, is_queue};
use crate::rule::prelude::*;
use crate::view::{Moment, NEVER};
use std::collections::{BTreeMap, BTreeSet};

/// An argument of a put.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) object: ObjectId,
    pub(super) text: Sym,
    pub(super) put: OpId,
    pub(super) urgency: u64,
}

/// An item: a znode.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) object: ObjectId,
    pub(super) text: Sym,
    pub(super) put: OpId,
    pub(super) urgency: u64,
    pub(super) path: Sym,
    pub(super) czxid: u64,
    pub(super) made: Moment,
    pub(super) owner: Session,
    /// The zxid of its end, or never.
    pub(super) gone: u64,
    pub(super) gone_at: Moment,
    /// The operation that deleted it, if one did.
    pub(super) taker: OpId,
    pub(super) by: Session,
    /// The operation that claimed it last.
    pub(super) claimer: OpId,
    /// The sessions that have claimed it, in order.
    pub(super) claimants: Vec<Session>,
    /// The current claim.
    pub(super) claim: Option<Claim>,
    /// The end of the last claim.
    pub(super) unclaimed: u64,
}

/// A claim: a znode beside an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) path: Sym,
    pub(super) owner: Session,
}

impl Item {
    pub(super) fn is_there(&self) -> bool {
        self.gone == NEVER
    }
}

/// The change that an event makes to the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    /// A put was given the same text as another.
    Same,
    /// An item was created.
    Made(usize),
    /// An item was deleted.
    Gone(usize),
    /// An item was claimed.
    Claimed(usize),
    /// The claim of that session on an item was deleted.
    Unclaimed(usize, Session),
}

/// All items that were ever in the queues.
#[derive(Clone, Default)]
pub(super) struct Stock {
    pub(super) given: BTreeMap<u64, Given>,
    pub(super) items: Vec<Item>,
    /// Items by path, and by the path of their claims.
    at: BTreeMap<Sym, usize>,
    /// Items that exist, and all that were ever created with a text.
    there: BTreeMap<ObjectId, BTreeSet<usize>>,
    texts: BTreeMap<(ObjectId, Sym), Vec<usize>>,
    claims: BTreeMap<Sym, usize>,
    /// The znode that was created last, whose data are the next event.
    created: Option<(u64, Sym, Session, OpId)>,
}

impl Stock {
    /// Takes an event in.
    pub(super) fn event(&mut self, scene: &Scene<'_>, event: &Event) -> Change {
        match event.what {
            What::Given { text, number } => self.put(scene, event.op, text, number),
            What::Created { zxid, path, owner } => {
                self.created = Some((zxid, path, owner, event.op));
                self.claimed(scene, event.op, path, owner)
            }
            What::Data { digest, .. } => self.made(scene, digest),
            What::Deleted { zxid, path, by } => self.deleted(scene, event.op, path, zxid, by),
            _ => Change::None,
        }
    }

    /// The item with a path.
    pub(super) fn item_at(&self, path: Sym) -> Option<usize> {
        self.at.get(&path).copied()
    }

    fn put(&mut self, scene: &Scene<'_>, put: OpId, text: Sym, urgency: u64) -> Change {
        let op = scene.view.op(put);
        if op.verb != Verb::Put || !is_queue(scene.tables, op.object) {
            return Change::None;
        }
        let digest = scene.digest(text);
        let given = Given { object: op.object, text, put, urgency };
        if self.given.contains_key(&digest) {
            return Change::Same;
        }
        self.given.insert(digest, given);
        Change::None
    }

    fn made(&mut self, scene: &Scene<'_>, digest: u64) -> Change {
        let Some((zxid, path, owner, _)) = self.created.take() else { return Change::None };
        let Some(given) = self.given.get(&digest) else { return Change::None };
        let text = scene.text(path);
        if !is_below(scene.tables, text, given.object) {
            return Change::None;
        }
        let Given { object, text, put, urgency } = *given;
        let at = self.items.len();
        self.at.insert(path, at);
        self.there.entry(object).or_default().insert(at);
        self.texts.entry((object, text)).or_default().push(at);
        self.items.push(Item {
            object,
            text,
            put,
            urgency,
            path,
            czxid: zxid,
            made: scene.view.now,
            owner,
            gone: NEVER,
            gone_at: Moment::NEVER,
            taker: OpId(0),
            by: Session(0),
            claimer: OpId(0),
            claimants: Vec::new(),
            claim: None,
            unclaimed: NEVER,
        });
        Change::Made(at)
    }

    /// Notes a claim, which has the name of its item and is deleted with its session.
    fn claimed(&mut self, scene: &Scene<'_>, op: OpId, path: Sym, owner: Session) -> Change {
        let (id, op) = (op, scene.view.op(op));
        if owner == Session(0) || !gets(op.verb) || !is_queue(scene.tables, op.object) {
            return Change::None;
        }
        let name = |sym: Sym| scene.tables.names.get(sym).and_then(|path| path.rsplit('/').next());
        let bears = |at: &usize| name(self.items[*at].path) == name(path);
        let mut there = self.there.get(&op.object).into_iter().flatten().copied();
        let Some(at) = there.find(bears) else { return Change::None };
        self.items[at].claimer = id;
        self.items[at].claimants.push(owner);
        self.items[at].claim = Some(Claim { path, owner });
        self.claims.insert(path, at);
        Change::Claimed(at)
    }

    fn deleted(&mut self, scene: &Scene<'_>, op: OpId, path: Sym, zxid: u64, by: Session) -> Change {
        if let Some(at) = self.claims.remove(&path) {
            let item = &mut self.items[at];
            let Some(claim) = item.claim.take_if(|claim| claim.path == path) else { return Change::None };
            item.unclaimed = zxid;
            return Change::Unclaimed(at, claim.owner);
        }
        let Some(at) = self.at.remove(&path) else { return Change::None };
        let item = &mut self.items[at];
        item.gone = zxid;
        item.gone_at = scene.view.now;
        item.taker = op;
        item.by = by;
        let there = self.there.get_mut(&item.object);
        there.expect("what is there stands among its like").remove(&at);
        Change::Gone(at)
    }

    /// The items that were created with a text, in order.
    pub(super) fn of(&self, object: ObjectId, text: Sym) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.texts.get(&(object, text)).into_iter().flatten().copied()
    }

    /// The argument with that text.
    pub(super) fn given(&self, scene: &Scene<'_>, object: ObjectId, text: Sym) -> Option<&Given> {
        let digest = scene.digest(text);
        self.given.get(&digest).filter(|given| given.object == object && given.text == text)
    }

    /// The items that are in a queue.
    pub(super) fn there(&self, object: ObjectId) -> impl Iterator<Item = &Item> {
        self.there.get(&object).into_iter().flatten().map(|at| &self.items[*at])
    }
}
