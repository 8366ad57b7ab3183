//! How contenders come and go: znodes that acquires create and that are deleted.

use super::{At, Contender, Moment, NEVER, NOBODY, Phase, Req, Room, Turn, View};
use crate::history::{ObjectId, OpId, Request, Session, Share, Sym, Tables, Verb};

impl View {
    /// Notes a new znode: a contender, if an acquire created it in a directory of contenders.
    pub(super) fn create(&mut self, tables: Tables<'_>, id: OpId, path: Sym, czxid: u64, owner: Session) {
        let op = self.op(id);
        if !op.is_acquire() {
            return;
        }
        let Some(room) = self.room(tables, op.object, path) else { return };
        let (object, verb, given) = (op.object, op.verb, op.number);
        let is_held = room == Room::Held;
        let has_priorities = self.protocol(object).has_priorities();
        // A downgrade keeps the rank of the writer's znode.
        let replaced = if verb == Verb::Downgrade { self.contender(self.op(op.former).own) } else { None };
        let stamp = replaced.map_or(czxid, |replaced| replaced.stamp);
        let creator = if self.txn.zxid == czxid { self.txn.session } else { owner };
        let number = self.contenders.end() as u32;
        let contest = &mut self.contests[usize::from(object.0)];
        let place = contest.contenders.end();
        let share = verb.asks_for().unwrap_or(Share::Shared);
        contest.is_plain &= share == Share::Exclusive && !contest.protocol.has_rooms();
        contest.contenders.push(Turn { number, gone: NEVER });
        let alone = contest.first == place;
        self.contenders.push(Contender {
            path,
            object,
            op: id,
            owner,
            creator,
            czxid,
            created: self.now.index,
            place: place as u32,
            gone: NEVER,
            deleted: Moment::NEVER,
            by: Session(0),
            by_foreign: false,
            by_force: false,
            by_op: OpId(0),
            stamp,
            priority: if has_priorities { given } else { 0 },
            permits: u32::try_from(given).unwrap_or(u32::MAX).max(1),
            share,
            is_held,
            asked: Moment::NEVER,
            delete_sent: false,
            told_gone: false,
        });
        *self.contender_at.slot(path.0 as usize) = At { number, is_gone: false };
        self.forced_before(path);
        self.touched = number;
        let alone = alone || self.ahead_now(&self.contenders[number as usize]).is_none();
        let op = &mut self.ops[id.0 as usize];
        op.live += 1;
        if is_held {
            return self.hand_over(id);
        }
        op.node = number;
        op.nodes += 1;
        op.found_somebody |= !alone;
    }

    /// Notes the number of permits that a new znode tells.
    pub(super) fn tells_permits(&mut self, tables: Tables<'_>, path: Sym, zxid: u64) {
        for (at, contest) in self.contests.iter_mut().enumerate() {
            if !contest.protocol.has_permits() {
                continue;
            }
            let below = below(tables, ObjectId(at as u16), path).and_then(|below| below.strip_prefix('/'));
            if let Some(permits) = below.and_then(contest.protocol.permits) {
                contest.permits.push((zxid, permits));
            }
        }
    }

    /// In a capture, a znode is known from the reply to its create. If that reply was lost, a later read shows the
    /// znode. If a transaction created it, the transaction's reply shows it.
    pub(super) fn shown_in_capture(&mut self, tables: Tables<'_>, req: &Req) {
        let op = self.op(req.op);
        if self.is_sim() || req.cleanup || !op.is_acquire() || self.contender_of(req.path).is_some() {
            return;
        }
        let is_read = matches!(req.kind, Request::Get | Request::Exists);
        let is_own = match (op.verb, op.lost_create) {
            (Verb::Downgrade, _) => is_read || req.kind == Request::Multi,
            (_, Some(asked)) => {
                let (asked, found) = (tables.names.get(asked), tables.names.get(req.path));
                is_read && asked.zip(found).is_some_and(|(asked, found)| found.starts_with(asked))
            }
            _ => false,
        };
        if is_own {
            self.ops[req.op.0 as usize].shown = Some(req.path);
        }
    }

    /// A hold begins in a capture: its token is the czxid of the znode that other replies have shown.
    pub(super) fn made_in_capture(&mut self, tables: Tables<'_>, id: OpId, session: Session, token: u64) {
        let shown = self.op(id).shown.filter(|path| !self.is_sim() && self.contender_of(*path).is_none());
        if let Some(path) = shown {
            self.create(tables, id, path, token, session);
        }
    }

    /// Notes the deletion of a znode.
    pub(super) fn delete(&mut self, tables: Tables<'_>, path: Sym, zxid: u64, by: Session, by_op: OpId) {
        let Some(number) = self.contender_of(path) else { return };
        let contender = &self.contenders[number as usize];
        if !contender.is_alive() {
            return;
        }
        let is_own = by == contender.owner || by == contender.creator;
        let client = self.session(by).client;
        let is_party = client.is_some_and(|client| self.is_party(client, contender.object));
        let was_none = client.is_some_and(|client| self.foreign_deletes.contains(&(number, client)));
        let announced = self.foreign_due > 0 && (!is_party || was_none);
        let evicts = self.op(by_op).verb == Verb::Evict && by_op != OpId(0);
        let by_foreign = !is_own && (announced || evicts || self.is_foreign(by));
        let by_force = !is_own && !by_foreign && self.may_force(tables, contender, by_op);
        if by_foreign && !evicts && !self.is_foreign(by) {
            self.foreign_due = self.foreign_due.saturating_sub(1);
        }
        self.excusable |= by_force || evicts;
        let now = self.now;
        let contender = &mut self.contenders[number as usize];
        contender.gone = zxid;
        contender.deleted = now;
        contender.by = by;
        contender.by_foreign = by_foreign;
        contender.by_force = by_force;
        contender.by_op = by_op;
        let (object, place, op) = (contender.object, contender.place as usize, contender.op);
        self.ops[op.0 as usize].live -= 1;
        self.contender_at.slot(path.0 as usize).is_gone = true;
        self.touched = number;
        let contest = &mut self.contests[usize::from(object.0)];
        let was_first = place == contest.first;
        while let Some(place) = contest.contenders.get_mut(contest.first) {
            let contender = &self.contenders[place.number as usize];
            if contender.is_alive() {
                break;
            }
            contest.gone = contest.gone.max(contender.gone);
            place.gone = contest.gone;
            contest.first += 1;
        }
        if self.contest(object).is_plain {
            let first = self.contest(object).first();
            let first = first.map(|first| self.contenders[first as usize].op);
            self.enabled = u32::from(was_first && first.is_some_and(|first| self.op(first).is_waiting()));
            self.concerned = 1;
        } else {
            self.count_concerned(number);
        }
    }

    /// Whether a client waits for an object, or holds it.
    fn is_party(&self, client: u16, object: ObjectId) -> bool {
        let client = self.client(client);
        client.open.iter().chain(&client.holds).any(|op| self.op(*op).object == object)
    }

    /// Notes a delete of another client's contender without an operation: a foreign delete.
    pub(super) fn strange_delete(&mut self, client: u16, path: Sym) {
        if self.foreign_due == 0 {
            return;
        }
        let Some(number) = self.contender_of(path) else { return };
        let contender = &self.contenders[number as usize];
        if self.op(contender.op).client != client {
            self.foreign_deletes.push((number, client));
        }
    }

    /// Whether an operation may delete another client's contender: it was asked to release, and the grace period is
    /// over.
    fn may_force(&self, tables: Tables<'_>, contender: &Contender, by: OpId) -> bool {
        let object = &tables.objects[usize::from(contender.object.0)];
        let grace = object.manner.grace;
        // A clock that runs fast ends the grace period early.
        let early = if self.client(self.op(by).client).drifts.came() { grace / 9 + 1 } else { 0 };
        self.is_revoker(contender, by)
            && object.manner.forced
            && contender.asked.came()
            && self.now.at >= contender.asked.at.saturating_add(grace.saturating_sub(early))
    }

    /// Notes a forced delete in a capture, which does not show deletions: the delete may succeed from here on. Other
    /// clients can list a contender before its own client gets the reply to the create, so it may still be unknown
    /// here.
    pub(super) fn force_in_capture(&mut self, sent: Req) {
        if self.is_sim() || sent.cleanup {
            return;
        }
        match self.contender_of(sent.path) {
            Some(number) => self.may_be_forced(number, sent),
            None if self.forces(sent.op) => self.early_forces.push(sent),
            None => {}
        }
    }

    /// The reply to a create has arrived: notes the earlier forced delete of its znode.
    fn forced_before(&mut self, path: Sym) {
        let Some(number) = self.contender_of(path) else { return };
        if let Some(at) = self.early_forces.iter().position(|sent| sent.path == path) {
            let sent = self.early_forces.swap_remove(at);
            self.may_be_forced(number, sent);
        }
    }

    fn may_be_forced(&mut self, number: u32, sent: Req) {
        let contender = &self.contenders[number as usize];
        let is_own = self.op(contender.op).client == sent.client;
        if is_own || !self.forces(sent.op) || self.op(sent.op).object != contender.object {
            return;
        }
        let forced = &mut self.contenders[number as usize];
        (forced.deleted, forced.by_force, forced.by_op) = (sent.sent, true, sent.op);
        self.excusable = true;
    }

    /// Whether an operation may ask contenders like this one to release.
    pub(crate) fn is_revoker(&self, contender: &Contender, by: OpId) -> bool {
        self.op(by).object == contender.object && self.revokes(by)
    }

    /// Whether an operation may ask contenders of its object to release.
    fn revokes(&self, by: OpId) -> bool {
        let op = self.op(by);
        op.phase != Phase::Unborn && (self.protocol(op.object).is_revoked_by)(op.verb)
    }

    /// Whether an operation may delete contenders of its object.
    fn forces(&self, by: OpId) -> bool {
        self.revokes(by) && self.op(by).verb != Verb::Ask
    }

    /// Notes a write of a contender's data: the revocation word asks its owner to release.
    pub(super) fn written(&mut self, path: Sym, op: OpId) {
        let number = self.contender_of(path).unwrap_or(NOBODY);
        let by = self.txn.session;
        // The contender of an earlier operation of the same client can be asked, too.
        let asks = matches!(self.op(op).verb, Verb::Ask | Verb::Force);
        let written = self.contender(number).filter(|written| written.is_alive());
        let by_other = written.is_some_and(|written| written.owner != by || asks);
        self.writing = if by_other { number } else { NOBODY };
    }

    pub(super) fn data(&mut self, digest: u64) {
        let now = self.now;
        let words = self.words;
        let number = std::mem::replace(&mut self.writing, NOBODY);
        let Some(written) = self.contenders.get_mut(number as usize) else { return };
        if words.contains(&digest) && !written.asked.came() {
            written.asked = now;
            self.asked = number;
        }
    }

    /// The znode of a hold: the one whose czxid is the token, else the earliest live one of that session, else the
    /// earliest live one, else the latest.
    pub(super) fn own_of(&self, id: OpId, session: Session, token: u64) -> u32 {
        let op = self.op(id);
        let held = self.protocol(op.object).has_rooms();
        if op.nodes <= 1 && !held {
            return op.node;
        }
        let mine = || {
            let contest = self.contest(op.object);
            contest.from(0).filter(|number| {
                let contender = &self.contenders[*number as usize];
                contender.op == id && contender.is_held == held
            })
        };
        let find =
            |wanted: &dyn Fn(&Contender) -> bool| mine().find(|n| wanted(&self.contenders[*n as usize]));
        find(&|c| c.czxid == token)
            .or_else(|| find(&|c| c.is_alive() && c.owner == session))
            .or_else(|| find(&Contender::is_alive))
            .or_else(|| mine().last())
            .unwrap_or(NOBODY)
    }

    /// The client of a session, if it is the current session of a live process. Znodes and watches of other sessions go
    /// with their sessions.
    pub(crate) fn present_client(&self, session: Session) -> Option<u16> {
        let number = self.session(session).client?;
        let client = self.client(number);
        let is = !client.is_dead() && client.session == session && !self.session(session).is_over();
        is.then_some(number)
    }

    /// Watches that are armed at the end, each with its client. Watches go with their connection.
    pub(crate) fn watches_left(&self) -> impl Iterator<Item = (&super::Watch, u16)> {
        self.watches.iter().filter_map(|watch| {
            let suspended = self.session(watch.session).suspended;
            let is_old = suspended.came() && suspended.index > watch.armed_index;
            let client = self.present_client(watch.session)?;
            (watch.armed && !is_old).then_some((watch, client))
        })
    }

    /// Whether a live znode is no longer needed, and will not be deleted with its session.
    pub(crate) fn is_leaked(&self, contender: &Contender) -> bool {
        let stays = contender.owner == Session(0) || self.present_client(contender.owner).is_some();
        self.op(contender.op).is_done_with() && stays
    }

    /// The directory of contenders that a path lies in.
    fn room(&self, tables: Tables<'_>, object: ObjectId, path: Sym) -> Option<Room> {
        self.protocol(object).room(below(tables, object, path)?.strip_prefix('/')?)
    }

    /// The directory of contenders that a path names.
    pub(crate) fn room_of_directory(&self, tables: Tables<'_>, object: ObjectId, dir: Sym) -> Option<Room> {
        let below = below(tables, object, dir)?;
        let below = if below.is_empty() { below } else { below.strip_prefix('/')? };
        self.protocol(object).room_of_directory(below)
    }

    /// Whether a path is an object's directory, a directory of contenders, or a child of one.
    pub(crate) fn is_place(&self, tables: Tables<'_>, object: ObjectId, path: Sym) -> bool {
        is_child(tables, object, path)
            || self.room(tables, object, path).is_some()
            || self.room_of_directory(tables, object, path).is_some()
            || tables.objects.get(usize::from(object.0)).is_some_and(|object| object.path == path)
    }
}

/// Whether a path lies directly below an object.
pub(crate) fn is_child(tables: Tables<'_>, object: ObjectId, path: Sym) -> bool {
    let below = below(tables, object, path).and_then(|below| below.strip_prefix('/'));
    below.is_some_and(|name| !name.contains('/'))
}

/// The part of a path behind the path of an object.
fn below<'a>(tables: Tables<'a>, object: ObjectId, path: Sym) -> Option<&'a str> {
    let object = tables.objects.get(usize::from(object.0))?;
    tables.names.get(path)?.strip_prefix(tables.names.get(object.path)?)
}
