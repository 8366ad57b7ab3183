//! The znodes of objects: the role of each in its recipe, and whether it exists.

use super::doing::Doing;
use crate::history::{ObjectId, OpId, Outcome, Session, Sym, Verb};
use crate::recent::{Aged, Recent};
use crate::scene::{Place, Scene};
use crate::view::{Moment, Part, Phase};
use std::collections::{BTreeMap, BTreeSet};

/// A znode.
#[derive(Clone, Debug)]
pub(crate) struct Znode {
    place: Option<Place>,
    is_placed: bool,
    pub(crate) is_alive: bool,
    pub(crate) owner: Session,
    /// The client of the operation that created it, and that operation.
    pub(crate) client: u16,
    pub(crate) op: OpId,
    pub(crate) created: Moment,
    pub(crate) deleted: Moment,
    /// The session that deleted it, and the operation, if one did.
    pub(crate) by: Session,
    pub(crate) deleted_by: OpId,
    /// The zxids of the create and of the last write.
    czxid: u64,
    pub(crate) mzxid: u64,
    /// The last write by another operation than the one that created it.
    pub(crate) written: Moment,
    pub(crate) data: Option<u64>,
}

impl Znode {
    const NONE: Znode = Znode {
        place: None,
        is_placed: false,
        is_alive: false,
        owner: Session(0),
        client: u16::MAX,
        op: OpId(0),
        created: Moment::NEVER,
        deleted: Moment::NEVER,
        by: Session(0),
        deleted_by: OpId(0),
        czxid: 0,
        mzxid: 0,
        written: Moment::NEVER,
        data: None,
    };

    /// Whether it existed at some time since.
    pub(crate) fn existed_since(&self, since: Moment) -> bool {
        self.is_alive || (self.deleted.came() && self.deleted.index > since.index)
    }

    /// Whether it was absent at some time since.
    pub(crate) fn was_absent_since(&self, since: Moment) -> bool {
        !self.is_alive || self.created.index > since.index
    }

    /// Whether a transaction after that one created it.
    pub(crate) fn is_made_after(&self, zxid: u64) -> bool {
        self.czxid > zxid
    }
}

impl Aged for Znode {
    const BLANK: &'static Znode = &Znode::NONE;

    fn is_done(&self) -> bool {
        !self.is_alive
    }
}

/// The znodes of all objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Znodes {
    all: Recent<Znode>,
    /// By client and object: the znodes that represent it, from operations that returned done.
    own: BTreeMap<(u16, ObjectId), Vec<Sym>>,
    /// The operations whose grant was reported lost.
    told_lost: BTreeSet<OpId>,
    /// By transaction and site: the znode with its vote, and the digest of the vote.
    votes: BTreeMap<(ObjectId, u64), (Sym, u64)>,
    /// By transaction: the payload and the sites given to its begin.
    begun: BTreeMap<ObjectId, (Sym, Sym)>,
    /// The number of sites of a transaction that have not finished.
    sites: BTreeMap<ObjectId, u32>,
    /// Clients with a znode that another client deleted, or that ended with its session.
    bereft: BTreeSet<(u16, ObjectId)>,
    /// Clients with a claim that another session deleted, or that was deleted without an operation.
    lost_claims: BTreeSet<(u16, ObjectId)>,
    /// By queue: the items that were never claimed, with the session that put each.
    free: BTreeMap<ObjectId, BTreeMap<Sym, Session>>,
    /// The znode whose data are the next event, and the operation that wrote them.
    last: Option<(Sym, OpId)>,
}

impl Znodes {
    pub(crate) fn at(&self, path: Sym) -> &Znode {
        self.all.at(path.0 as usize)
    }

    /// The znode of a path given as text; none if no event has named it.
    pub(crate) fn named(&self, scene: &Scene<'_>, path: &str) -> Option<(Sym, &Znode)> {
        let sym = scene.tables.names.find(path)?;
        Some((sym, self.at(sym)))
    }

    /// The role of a znode, if it belongs to an object.
    pub(crate) fn place(&mut self, scene: &Scene<'_>, path: Sym) -> Option<Place> {
        let znode = self.all.slot(path.0 as usize);
        if !znode.is_placed {
            (znode.place, znode.is_placed) = (scene.place_of(path), true);
        }
        znode.place
    }

    /// Notes the payload and the sites of a transaction; the sites have commas between.
    pub(crate) fn begins(&mut self, object: ObjectId, with: (Sym, Sym)) {
        self.begun.insert(object, with);
    }

    /// The payload and the sites of a transaction.
    pub(crate) fn begun(&self, object: ObjectId) -> Option<(Sym, Sym)> {
        self.begun.get(&object).copied()
    }

    /// Sets the role of a znode outside of all objects.
    pub(crate) fn belongs(&mut self, path: Sym, place: Place) {
        let znode = self.all.slot(path.0 as usize);
        (znode.place, znode.is_placed) = (Some(place), true);
    }

    /// An item that the session of an operation had put before the call, and that was never claimed: it is in each list
    /// that the session reads during the call.
    pub(crate) fn free_item(&self, scene: &Scene<'_>, doing: &Doing) -> Option<Sym> {
        if scene.is_interfered_with(doing.object) {
            return None;
        }
        let is_its_own = |(item, session): &(&Sym, &Session)| {
            let item = self.at(**item);
            let is_put = scene.view.op(item.op).phase == Phase::Over(Outcome::Done);
            **session == doing.session && is_put && item.created.index < doing.called.index
        };
        self.free.get(&doing.object)?.iter().find(is_its_own).map(|(item, _)| *item)
    }

    /// Whether a claim of a client was deleted by another session, or without an operation.
    pub(crate) fn lost_a_claim(&self, client: u16, object: ObjectId) -> bool {
        self.lost_claims.contains(&(client, object))
    }

    /// Updates the free items.
    fn keep_free(&mut self, scene: &Scene<'_>, Place { object, part }: Place, path: Sym, is_created: bool) {
        if !matches!(part, Part::Item | Part::Claim) {
            return;
        }
        let free = self.free.entry(object).or_default();
        match part {
            Part::Item if is_created => {
                free.insert(path, scene.view.txn.session);
            }
            Part::Item => {
                free.remove(&path);
            }
            Part::Claim => {
                let queue = scene.text(scene.object(object).path);
                if let Some(item) = scene.tables.names.find(&format!("{queue}/{}", scene.name(path))) {
                    free.remove(&item);
                }
            }
            _ => {}
        }
    }

    /// The znodes that represent a client, from operations that returned done.
    pub(crate) fn own(&self, client: u16, object: ObjectId) -> &[Sym] {
        self.own.get(&(client, object)).map_or(&[], Vec::as_slice)
    }

    /// The claims among these on an item of that digest, while the item is in the queue.
    pub(crate) fn claims_on(
        &self,
        scene: &Scene<'_>,
        doing: &Doing,
        digest: u64,
    ) -> impl Iterator<Item = Sym> {
        let own = self.own(doing.client, doing.object).iter().copied();
        own.filter(move |claim| self.is_claim_on(scene, doing, *claim, digest))
    }

    /// Whether a znode of that name is a claim on an item of that digest that is in the queue.
    pub(crate) fn is_claim_on(&self, scene: &Scene<'_>, doing: &Doing, claim: Sym, digest: u64) -> bool {
        let queue = scene.text(scene.object(doing.object).path);
        let item = format!("{queue}/{}", scene.name(claim));
        self.named(scene, &item).is_some_and(|(_, item)| item.is_alive && item.data == Some(digest))
    }

    /// Removes and returns the znodes that represent a client: it releases them.
    pub(crate) fn take_own(&mut self, client: u16, object: ObjectId) -> Vec<Sym> {
        self.own.remove(&(client, object)).unwrap_or_default()
    }

    /// Whether a znode represents a client that has not released it.
    pub(crate) fn is_own(&self, client: u16, object: ObjectId, path: Sym) -> bool {
        self.own.get(&(client, object)).is_some_and(|own| own.contains(&path))
    }

    /// Notes that the grant of an operation was reported lost.
    pub(crate) fn note_loss(&mut self, op: OpId) {
        self.told_lost.insert(op);
    }

    /// Whether the grant of an operation was reported lost.
    pub(crate) fn is_told_lost(&self, op: OpId) -> bool {
        self.told_lost.contains(&op)
    }

    /// Whether it was deleted with the session that owned it.
    pub(crate) fn went_with_its_session(&self, scene: &Scene<'_>, path: Sym) -> bool {
        let znode = self.at(path);
        let ended = scene.view.session(znode.owner).ended;
        // A request of its own may have deleted it just before.
        ended.came() && znode.deleted.at == ended.at && znode.deleted_by == OpId(0)
    }

    /// Notes an operation that has returned done: the znodes that it has created represent its client.
    pub(crate) fn done(&mut self, doing: &Doing) {
        let is_own = |part| matches!(part, Part::Member | Part::Claim);
        let made = doing.effects.iter().filter(|effect| is_own(effect.place.part));
        for effect in made {
            let znode = self.all.at(effect.path.0 as usize);
            // A directory of a recipe belongs to no session.
            if znode.is_alive && znode.op == doing.id && znode.owner != Session(0) {
                self.own.entry((doing.client, doing.object)).or_default().push(effect.path);
            }
        }
    }

    pub(crate) fn created(
        &mut self,
        scene: &Scene<'_>,
        path: Sym,
        owner: Session,
        zxid: u64,
        (op, client): (OpId, u16),
    ) {
        self.last = None;
        let Some(place) = self.place(scene, path) else { return };
        self.count_site(place, true);
        self.keep_free(scene, place, path, true);
        let znode = self.all.slot(path.0 as usize);
        // The deletion of the former incarnation still counts, since the znode was absent then.
        let deleted = znode.deleted;
        *znode = Znode {
            place: Some(place),
            is_placed: true,
            is_alive: true,
            owner,
            client: if op == OpId(0) { u16::MAX } else { client },
            op,
            created: scene.now(),
            deleted,
            czxid: zxid,
            mzxid: zxid,
            ..Znode::NONE
        };
        self.last = Some((path, op));
    }

    pub(crate) fn written(&mut self, scene: &Scene<'_>, path: Sym, zxid: u64, op: OpId) {
        self.last = None;
        if self.place(scene, path).is_none() {
            return;
        }
        let znode = self.all.slot(path.0 as usize);
        znode.mzxid = zxid;
        if znode.op != op || op == OpId(0) {
            znode.written = scene.now();
        }
        self.last = Some((path, op));
    }

    /// Takes in the data of the last create or write.
    pub(crate) fn data(&mut self, scene: &Scene<'_>, digest: u64) {
        let Some((path, op)) = self.last.take() else { return };
        let znode = self.all.slot(path.0 as usize);
        znode.data = Some(digest);
        let op = scene.view.op(op);
        if let Some(Place { object, part: Part::Site }) = znode.place
            && op.verb == Verb::Vote
        {
            self.votes.insert((object, op.number), (path, digest));
        }
    }

    /// Whether no site of a transaction is left.
    pub(crate) fn has_no_site(&self, object: ObjectId) -> bool {
        self.sites.get(&object).is_none_or(|left| *left == 0)
    }

    /// Counts a site that is created or deleted.
    fn count_site(&mut self, place: Place, is_created: bool) {
        let Place { object, part: Part::Site } = place else { return };
        let left = self.sites.entry(object).or_default();
        *left = if is_created { *left + 1 } else { left.saturating_sub(1) };
    }

    /// The znode with the vote of a site, and the digest of the vote that was written last.
    pub(crate) fn vote_of(&self, object: ObjectId, site: u64) -> Option<(Sym, u64)> {
        self.votes.get(&(object, site)).copied()
    }

    /// Whether a znode of a client was ever deleted by another one, or with its session.
    pub(crate) fn lost_one(&self, client: u16, object: ObjectId) -> bool {
        self.bereft.contains(&(client, object))
    }

    pub(crate) fn deleted(&mut self, scene: &Scene<'_>, path: Sym, by: Session, op: OpId) {
        self.last = None;
        let Some(place) = self.place(scene, path) else { return };
        let znode = self.all.slot(path.0 as usize);
        (znode.is_alive, znode.deleted, znode.by, znode.deleted_by) = (false, scene.now(), by, op);
        let of = (znode.client, place.object);
        if place.part == Part::Claim && (op == OpId(0) || by != znode.owner) {
            self.lost_claims.insert(of);
        }
        self.count_site(place, false);
        self.keep_free(scene, place, path, false);
        // A client that finds its znode deleted cannot know that its session had ended before.
        if op == OpId(0) || scene.view.op(op).client != of.0 {
            self.bereft.insert(of);
        }
        if let Some(own) = self.own.get_mut(&of) {
            own.retain(|own| *own != path);
        }
    }
}

/// Whether an argument is the path of a znode.
pub(crate) fn is_path(scene: &Scene<'_>, text: Sym) -> bool {
    scene.text(text).starts_with('/')
}
