//! Who stands where in line, and who may go first.

use super::{Contender, NEVER, NOBODY, Op, View};
use crate::history::{Event, ObjectId, OpId, Session, Sym, Tables};

/// Why a grant does not follow from what was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unjust {
    /// No list was served to the operation.
    NoList,
    /// It never made a znode.
    NoZnode,
    /// Its znode belongs to another session, or to none.
    WrongOwner(u32),
    /// Its znode is not in the last list.
    NotInList(u32),
    /// Somebody stands ahead in the last list.
    Ahead(u32),
    /// The connection was lost after the list was asked for.
    Disconnected,
}

impl View {
    /// A znode appears. It is a place in line if an acquire made it directly below its object.
    pub(super) fn create(
        &mut self,
        tables: Tables<'_>,
        event: &Event,
        path: Sym,
        czxid: u64,
        owner: Session,
    ) {
        let op = self.op(event.op);
        if !op.is_acquire() || !is_child(tables, op.object, path) {
            return;
        }
        let object = op.object;
        let creator = if self.txn.zxid == czxid { self.txn.session } else { owner };
        let number = self.contenders.len() as u32;
        let line = &mut self.lines[usize::from(object.0)];
        let place = line.contenders.len();
        line.contenders.push(number);
        let alone = line.first == place;
        self.contenders.push(Contender {
            path,
            object,
            op: event.op,
            owner,
            creator,
            czxid,
            created: self.now.index,
            place: place as u32,
            gone: NEVER,
            deleted: super::Moment::NEVER,
            by: Session(0),
            by_stranger: false,
        });
        let sym = path.0 as usize;
        if self.contender_at.len() <= sym {
            self.contender_at.resize(sym + 1, 0);
        }
        self.contender_at[sym] = number + 1;
        let op = &mut self.ops[event.op.0 as usize];
        op.node = number;
        op.nodes += 1;
        op.live += 1;
        op.found_somebody |= !alone;
        self.touched = number;
        if alone && op.is_waiting() {
            self.enabled = event.op;
        }
    }

    /// A znode goes.
    pub(super) fn delete(&mut self, path: Sym, zxid: u64, by: Session) {
        let Some(number) = self.contender_of(path) else { return };
        let contender = &self.contenders[number as usize];
        if !contender.is_alive() {
            return;
        }
        let is_own = by == contender.owner || by == contender.creator;
        let is_party = self.session(by).client.is_some_and(|client| {
            let client = self.client(client);
            client.open.iter().chain(&client.holds).any(|op| self.op(*op).object == contender.object)
        });
        let by_stranger = !is_own && self.foreign_due > 0 && !is_party;
        if by_stranger {
            self.foreign_due -= 1;
        }
        let now = self.now;
        let contender = &mut self.contenders[number as usize];
        contender.gone = zxid;
        contender.deleted = now;
        contender.by = by;
        contender.by_stranger = by_stranger;
        let (object, place, op) = (contender.object, contender.place as usize, contender.op);
        self.ops[op.0 as usize].live -= 1;
        self.touched = number;
        let line = &mut self.lines[usize::from(object.0)];
        if place != line.first {
            return;
        }
        while let Some(number) = line.contenders.get(line.first) {
            let contender = &self.contenders[*number as usize];
            if contender.is_alive() {
                if self.ops[contender.op.0 as usize].is_waiting() {
                    self.enabled = contender.op;
                }
                break;
            }
            line.gone_before_first = line.gone_before_first.max(contender.gone);
            line.first += 1;
        }
    }

    /// The znode that the hold of an operation stands on: the one whose czxid is its token, else the earliest one of
    /// that session that lives, else the earliest that lives, else the latest.
    pub(super) fn own_of(&self, id: OpId, session: Session, token: u64) -> u32 {
        let op = self.op(id);
        if op.nodes <= 1 {
            return op.node;
        }
        let mine = || {
            let line = self.line(op.object);
            line.contenders.iter().copied().filter(|number| self.contenders[*number as usize].op == id)
        };
        let find =
            |wanted: &dyn Fn(&Contender) -> bool| mine().find(|n| wanted(&self.contenders[*n as usize]));
        find(&|c| c.czxid == token)
            .or_else(|| find(&|c| c.is_alive() && c.owner == session))
            .or_else(|| find(&Contender::is_alive))
            .unwrap_or(op.node)
    }

    /// The client of a session, if that is the present session of a process that runs: others' znodes and watches go
    /// with their sessions.
    pub(crate) fn present_client(&self, session: Session) -> Option<u8> {
        let number = self.session(session).client?;
        let client = self.client(number);
        let is = !client.is_dead() && client.session == session && !self.session(session).is_over();
        is.then_some(number)
    }

    /// Whether nobody wants a znode that lives, and it does not go by itself.
    pub(crate) fn is_leaked(&self, contender: &Contender) -> bool {
        let stays = contender.owner == Session(0) || self.present_client(contender.owner).is_some();
        self.op(contender.op).is_done_with() && stays
    }

    /// The first that stands ahead now.
    pub(crate) fn ahead_now(&self, own: &Contender) -> Option<u32> {
        let line = self.line(own.object);
        line.contenders
            .get(line.first)
            .copied()
            .filter(|first| self.contenders[*first as usize].place < own.place)
    }

    /// The first that stood ahead in the state of a zxid.
    pub(crate) fn ahead_at(&self, own: &Contender, zxid: u64) -> Option<u32> {
        let line = self.line(own.object);
        let from = if line.gone_before_first > zxid { 0 } else { line.first };
        let ahead = line.contenders.get(from..own.place as usize)?;
        ahead.iter().copied().find(|number| {
            let contender = &self.contenders[*number as usize];
            contender.czxid <= zxid && contender.gone > zxid
        })
    }

    /// Whether the belief that just began follows from what the operation had been served.
    pub(crate) fn justify(&self, op: &Op) -> Result<(), Unjust> {
        let list = op.list.ok_or(Unjust::NoList)?;
        if let Some(own) = self.contender(op.own) {
            if own.owner != op.session {
                return Err(Unjust::WrongOwner(op.own));
            }
            // Without the header's zxid the list cannot be placed.
            if self.is_sim() && list.zxid != 0 {
                if own.czxid > list.zxid || own.gone <= list.zxid {
                    return Err(Unjust::NotInList(op.own));
                }
                if let Some(ahead) = self.ahead_at(own, list.zxid) {
                    return Err(Unjust::Ahead(ahead));
                }
            }
        } else if self.is_sim() {
            debug_assert_eq!(op.own, NOBODY);
            return Err(Unjust::NoZnode);
        }
        // A disconnect in the instant of the grant may have come after the decision.
        let suspended = self.session(op.session).suspended;
        let lost = suspended.came()
            && suspended.index > list.sent.index
            && suspended.at.saturating_add(self.settle) < op.believed.at;
        if lost { Err(Unjust::Disconnected) } else { Ok(()) }
    }
}

/// Whether a path lies directly below an object.
pub(crate) fn is_child(tables: Tables<'_>, object: ObjectId, path: Sym) -> bool {
    let Some(object) = tables.objects.get(usize::from(object.0)) else { return false };
    let (Some(dir), Some(path)) = (tables.names.get(object.path), tables.names.get(path)) else {
        return false;
    };
    path.strip_prefix(dir).and_then(|rest| rest.strip_prefix('/')).is_some_and(|name| !name.contains('/'))
}
