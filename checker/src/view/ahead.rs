//! The order of contenders, and whether a grant follows from the lists that were served.
//!
//! A contender stands before another one if it has to go before that one may be granted: the two conflict, and either
//! it has a smaller rank, or it stands for a hold. Ranks are czxids, never names, because the names may be a recipe's
//! bug. A reader's znode from a downgrade has the rank of the writer's znode that it replaced. In a priority lock, the
//! declared priority counts before the rank.

use super::{Contender, Hold, List, NOBODY, Op, Phase, View};
use crate::history::{Notify, OpId, Session, Share, Verb};

/// Why a grant does not follow from the lists that were served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unjust {
    /// The operation was served no list.
    NoList,
    /// The operation never created a znode.
    NoZnode,
    /// Its znode belongs to another session, or is no ephemeral.
    WrongOwner(u32),
    /// Its znode is not in the last list.
    NotInList(u32),
    /// Another contender stands ahead in the last list.
    Ahead(u32),
    /// A conflicting contender was granted after the last list.
    Since(u32),
    /// With its own, more permits were held, in the list of holds or at the grant, than there were.
    TooMany(u64, u32),
    /// The connection was lost after the list was requested.
    Disconnected,
    /// A downgrade created its znode before or after the deletion of the writer's znode, not in the same transaction.
    NotAtOnce(u32),
}

/// The two lists from which a transaction granted a hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandOver {
    pub(crate) op: OpId,
    pub(crate) waiting: Option<List>,
    pub(crate) held: Option<List>,
}

impl View {
    /// The first contender that stands ahead now.
    pub(crate) fn ahead_now(&self, own: &Contender) -> Option<u32> {
        let contest = self.contest(own.object);
        if contest.protocol.has_permits() {
            return self.before_permits(own, contest.first, u64::MAX, Contender::is_alive);
        }
        let first = contest.first();
        if contest.is_plain {
            return first.filter(|first| self.contenders[*first as usize].place < own.place);
        }
        let blocks = |number: &u32| {
            let other = &self.contenders[*number as usize];
            other.is_alive() && other.op != own.op && other.stands_before(own)
        };
        contest.standing().find(blocks)
    }

    /// The first contender that stood ahead in the state of a zxid.
    pub(crate) fn ahead_at(&self, own: &Contender, zxid: u64) -> Option<u32> {
        let contest = self.contest(own.object);
        let from = contest.first_after(zxid);
        if contest.protocol.has_permits() {
            return self.before_permits(own, from, zxid, |other| other.is_in(zxid));
        }
        if contest.is_plain {
            let others = contest.from(from).map(|number| (number, &self.contenders[number as usize]));
            let mut ahead = others.take_while(|(_, other)| other.place < own.place);
            return ahead.find(|(_, other)| other.is_in(zxid)).map(|(number, _)| number);
        }
        let blocks = |number: &u32| {
            let other = &self.contenders[*number as usize];
            other.is_in(zxid) && other.op != own.op && other.stands_before(own)
        };
        contest.from(from).find(blocks)
    }

    /// Of the contenders that are there, from a number on: the first waiter before this one; else, if too few permits are free,
    /// the first holder.
    fn before_permits(
        &self,
        own: &Contender,
        from: usize,
        zxid: u64,
        is_there: impl Fn(&Contender) -> bool,
    ) -> Option<u32> {
        let contest = self.contest(own.object);
        let waits_ahead = |number: &u32| {
            let other = &self.contenders[*number as usize];
            !other.is_held && other.op != own.op && is_there(other) && other.rank() < own.rank()
        };
        if own.is_held {
            return None;
        }
        contest.from(from).find(waits_ahead).or_else(|| {
            let (taken, holder) = self.permits_with(own, from, &is_there);
            holder.filter(|_| contest.permits_at(zxid).is_some_and(|permits| taken > u64::from(permits)))
        })
    }

    /// The permits of a contender and of the others that hold some, from a number on; and the first of these.
    fn permits_with(
        &self,
        own: &Contender,
        from: usize,
        is_there: impl Fn(&Contender) -> bool,
    ) -> (u64, Option<u32>) {
        let holds = |number: &u32| {
            let other = &self.contenders[*number as usize];
            other.is_held && other.op != own.op && is_there(other)
        };
        let permits = |number: u32| u64::from(self.contenders[number as usize].permits);
        let contest = self.contest(own.object);
        let taken: u64 = contest.from(from).filter(holds).map(permits).sum();
        (taken + u64::from(own.permits), contest.from(from).find(holds))
    }

    /// Counts the waiting operations that the deletion of a contender enables, and those that it may wake.
    pub(super) fn count_concerned(&mut self, number: u32) {
        let gone = &self.contenders[number as usize];
        let contest = self.contest(gone.object);
        let (mut enabled, mut concerned) = (0, 0);
        for id in &contest.waiting {
            let op = self.op(*id);
            let Some(waiter) = self.contender(op.node).filter(|waiter| waiter.is_alive()) else { continue };
            if !gone.stands_before(waiter) {
                continue;
            }
            enabled += u32::from(self.ahead_now(waiter).is_none());
            concerned += u32::from(self.was_nearest(gone, waiter, op));
        }
        self.enabled = enabled;
        self.concerned = concerned.max(enabled).max(1);
    }

    /// Whether a waiter had to watch this contender: its last list could show no nearer conflicting one.
    fn was_nearest(&self, gone: &Contender, waiter: &Contender, op: &Op) -> bool {
        let contest = self.contest(waiter.object);
        // Before its first list a client knows its own znode, and older ones.
        let from = op.list.map_or(waiter.czxid, |list| list.zxid);
        let is_nearer = |other: &Contender| {
            let known = other.is_alive() && (from == 0 || other.czxid <= from);
            let nearer = !other.is_held && (gone.is_held || other.rank() > gone.rank());
            known && nearer && other.stands_before(waiter)
        };
        // Only one writer may watch a reader from behind, but any number of readers may watch a writer.
        let may_be_many = contest.protocol.has_rooms() || waiter.share == Share::Shared;
        may_be_many && !contest.standing().any(|number| is_nearer(&self.contenders[number as usize]))
    }

    /// Notes a grant by a transaction, with the lists served to its operation so far.
    pub(super) fn hand_over(&mut self, id: OpId) {
        let contest = self.op(id).list;
        let held = self.held_list(id);
        self.hand_overs.push(HandOver { op: id, waiting: contest, held });
    }

    /// The last list of holds that an operation was served.
    pub(crate) fn held_list(&self, id: OpId) -> Option<List> {
        self.held_lists.iter().find(|(op, _)| *op == id).map(|(_, list)| *list)
    }

    pub(super) fn listed_holds(&mut self, id: OpId, list: List) {
        match self.held_lists.iter_mut().find(|(op, _)| *op == id) {
            Some(known) => known.1 = list,
            None => self.held_lists.push((id, list)),
        }
    }

    /// Whether the belief that just began follows from the lists served to its operation.
    pub(crate) fn justify(&self, id: OpId) -> Result<(), Unjust> {
        let op = self.op(id);
        if op.verb == Verb::Downgrade {
            return self.justify_downgrade(op);
        }
        if self.protocol(op.object).has_rooms() {
            return self.justify_hand_over(id);
        }
        let list = op.list.ok_or(Unjust::NoList)?;
        if let Some(own) = self.contender(op.own) {
            if own.owner != op.session {
                return Err(Unjust::WrongOwner(op.own));
            }
            // Without a zxid the list has no place in the order of transactions.
            if self.is_sim() && list.zxid != 0 {
                if !own.is_in(list.zxid) {
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
        // A disconnect at the instant of the grant may have come after the decision.
        let suspended = self.session(op.session).suspended;
        let lost = suspended.came()
            && suspended.index > list.sent.index
            && suspended.at.saturating_add(self.settle) < op.believed.at;
        if lost { Err(Unjust::Disconnected) } else { Ok(()) }
    }

    /// Whether a downgrade is right: it replaces the writer's znode in one transaction, so that no contender gets in
    /// between.
    fn justify_downgrade(&self, op: &Op) -> Result<(), Unjust> {
        if !self.is_sim() {
            return Ok(());
        }
        let own = self.contender(op.own).ok_or(Unjust::NoZnode)?;
        if own.owner != op.session {
            return Err(Unjust::WrongOwner(op.own));
        }
        let replaced = self.op(op.former).own;
        let at_once = self.contender(replaced).is_some_and(|replaced| replaced.gone == own.czxid);
        if at_once { Ok(()) } else { Err(Unjust::NotAtOnce(replaced)) }
    }

    /// Whether a grant by a transaction is right: it is made from a list of waiters and a list of holds. It must fail if a
    /// conflicting hold was created since, or if there are not enough permits.
    fn justify_hand_over(&self, id: OpId) -> Result<(), Unjust> {
        let op = self.op(id);
        if !self.is_sim() {
            return op.list.map(|_| ()).ok_or(Unjust::NoList);
        }
        let own = self.contender(op.own).ok_or(Unjust::NoZnode)?;
        if own.owner != op.session {
            return Err(Unjust::WrongOwner(op.own));
        }
        let made = self.hand_overs.iter().find(|made| made.op == id);
        let made = made.ok_or(Unjust::NoZnode)?;
        let contest = made.waiting.ok_or(Unjust::NoList)?;
        let held = made.held.ok_or(Unjust::NoList)?;
        let stood = self.contender(op.node).ok_or(Unjust::NoZnode)?;
        if !stood.is_in(contest.zxid) {
            return Err(Unjust::NotInList(op.node));
        }
        if self.protocol(op.object).has_permits() {
            return self.justify_permits(own, held);
        }
        for number in self.contest(op.object).from(0) {
            let other = &self.contenders[number as usize];
            if !other.is_held || other.op == id || !super::conflict(other.share, own.share) {
                continue;
            }
            if other.is_in(held.zxid) {
                return Err(Unjust::Ahead(number));
            }
            if other.czxid > held.zxid && other.czxid < own.czxid {
                return Err(Unjust::Since(number));
            }
        }
        Ok(())
    }

    /// Whether there were enough permits, in the state of the list of holds and at the grant.
    fn justify_permits(&self, own: &Contender, held: List) -> Result<(), Unjust> {
        let contest = self.contest(own.object);
        for zxid in [held.zxid, own.czxid] {
            let (taken, _) = self.permits_with(own, contest.first_after(zxid), |other| other.is_in(zxid));
            if let Some(permits) = contest.permits_at(zxid).filter(|permits| taken > u64::from(*permits)) {
                return Err(Unjust::TooMany(taken, permits));
            }
        }
        Ok(())
    }

    /// A contender that goes first in the list from which a transaction granted a hold.
    pub(crate) fn passed_over(&self, id: OpId) -> Option<(u32, List)> {
        let op = self.op(id);
        let list = self.hand_overs.iter().find(|made| made.op == id)?.waiting?;
        let stood = self.contender(op.node)?;
        self.waits_ahead(stood, list).map(|first| (first, list))
    }

    /// The first other waiter before this one in a list.
    pub(crate) fn waits_ahead(&self, own: &Contender, list: List) -> Option<u32> {
        self.contest(own.object).from(0).find(|number| {
            let other = &self.contenders[*number as usize];
            !other.is_held && other.op != own.op && other.is_in(list.zxid) && other.stands_before(own)
        })
    }

    /// Whether a holder was notified of the deletion of its znode, or will be.
    pub(crate) fn is_told_of_loss(&self, id: OpId) -> bool {
        let op = self.op(id);
        let Some(own) = self.contender(op.own) else { return true };
        let client = self.client(op.client);
        let session = self.session(op.session);
        let told = op.stop.instant().0 != super::NEVER;
        let away = client.is_dead() || client.is_paused() || session.is_suspended || session.is_over();
        if own.is_alive() || op.hold != Hold::Believed || told || away || session.undelivered > 0 {
            return true;
        }
        // Watches of a lost connection are registered again, and notify then.
        let connected = session.connected.at_or_start();
        let again = |lost: u64| self.now.at <= connected.max(lost) + 2 * self.timeout_of(op.session);
        let watched = self.watches.of(op.session).iter().any(|watch| {
            let lost = if watch.lost_at == super::NEVER { 0 } else { watch.lost_at };
            let tells = match watch.armed {
                true => self.server(watch.server).may_come_to(own.gone),
                false => watch.registered && again(lost),
            };
            let on_own = watch.path == own.path && super::fires(watch.table, Notify::Deleted);
            on_own && tells
        });
        // The reply to a downgrade or to a retry notifies the holder, too.
        let asks = self.asks_about(op.session, own.path) || op.in_flight > 0;
        // A newly granted holder asks in the same instant.
        let begins = self.now.at <= op.believed.at;
        watched || self.is_downgrading(id) || asks || begins || self.now.at < op.pauses_until
    }

    /// Whether a downgrade of the hold is open: its holder does not act until it returns.
    pub(crate) fn is_downgrading(&self, id: OpId) -> bool {
        let downgrade = self.op(id).downgrade;
        downgrade != OpId(0) && self.op(downgrade).phase == Phase::Open
    }

    /// The current znode of a hold: its downgrade's, once there is one.
    pub(crate) fn standing(&self, id: OpId) -> Option<&Contender> {
        let op = self.op(id);
        let downgraded =
            if op.downgrade == OpId(0) { None } else { self.contender(self.op(op.downgrade).node) };
        downgraded.or_else(|| self.contender(op.own))
    }

    /// Whether a request about a znode is in flight.
    pub(crate) fn asks_about(&self, session: Session, path: crate::history::Sym) -> bool {
        let open = self.requests.from(0).filter(|req| req.is_sent() && !req.answered);
        open.into_iter().any(|req| req.session == session && req.path == path)
    }
}
