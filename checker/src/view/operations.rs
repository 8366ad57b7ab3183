//! How operations are called and return, and how their holds begin and end.

use super::update::{FAR, Taken, known};
use super::{Hold, Op, Phase, StopWhy, View};
use crate::history::{Event, ObjectId, OpId, Outcome, Session, Share, Sym, Tables, Verb, Who, Why};

impl View {
    pub(super) fn call(
        &mut self,
        tables: Tables<'_>,
        event: &Event,
        object: ObjectId,
        verb: Verb,
        limit: u32,
    ) -> Result<(), String> {
        let Who::Client(client) = event.who else {
            return Err("a call by something other than a client".to_owned());
        };
        known(tables, object)?;
        let (now, id) = (self.now, event.op);
        let at = id.0 as usize;
        if id == OpId(0) || at > self.ops.end() + FAR {
            return Err(format!("operation #{} is out of range", id.0));
        }
        if self.ops.forgot(at) || self.ops[at].phase != Phase::Unborn {
            return Err(format!("operation #{} is called a second time", id.0));
        }
        let session = self.client(client).session;
        let calm = !self.client(client).is_paused() && !self.session(session).is_suspended;
        let share = verb.asks_for().unwrap_or(Share::Exclusive);
        self.ops[at] = Op {
            phase: Phase::Open,
            verb,
            client,
            object,
            called: now,
            limit,
            calm,
            undisturbed: calm,
            share,
            ..Op::UNBORN
        };
        if verb == Verb::Downgrade {
            self.downgrade(id);
        }
        if verb == Verb::Release {
            let hold = self.client(client).last_hold;
            if hold != OpId(0) && self.op(hold).object == object && self.op(hold).partner == OpId(0) {
                self.ops[hold.0 as usize].partner = id;
                self.ops[at].partner = hold;
                if matches!(self.op(hold).hold, Hold::Believed | Hold::Suspended) {
                    self.end_hold(hold, Why::Released);
                }
            }
            self.client_mut(client).releases.push(id);
            return Ok(());
        }
        self.client_mut(client).open.push(id);
        if verb.asks_for().is_none() {
            return Ok(());
        }
        let contest = &mut self.contests[usize::from(object.0)];
        if contest.waiting.is_empty() && contest.held == 0 {
            contest.unheld_since = now.at;
        }
        contest.waiting.push(id);
        Ok(())
    }

    /// Turns a writer's hold into a reader's, unless the downgrade is refused later.
    pub(super) fn downgrade(&mut self, id: OpId) {
        let hold = self.client(self.op(id).client).last_hold;
        self.ops[id.0 as usize].share = Share::Shared;
        if hold != OpId(0) && self.op(hold).object == self.op(id).object {
            self.ops[id.0 as usize].former = hold;
            self.ops[hold.0 as usize].downgrade = id;
            self.ops[hold.0 as usize].share = Share::Shared;
            let (now, object) = (self.now.at, self.op(id).object);
            self.contests[usize::from(object.0)].last_writer = now;
        }
    }

    /// Ends a downgrade. A hold that was suspended meanwhile ends with it, unless the downgrade was refused.
    pub(super) fn downgraded(&mut self, hold: OpId, outcome: Outcome) {
        if outcome == Outcome::Refused {
            let gone = self.contender(self.op(hold).own).is_some_and(|own| !own.is_alive());
            let op = &mut self.ops[hold.0 as usize];
            (op.downgrade, op.share) = (OpId(0), Share::Exclusive);
            if gone && op.hold == Hold::Believed {
                self.must_stop(hold, StopWhy::ZnodeGone);
            }
        } else if self.op(hold).hold == Hold::Suspended {
            let why = if outcome == Outcome::Done { Why::Released } else { Why::Dropped };
            self.end_hold(hold, why);
        }
    }

    pub(super) fn given(&mut self, id: OpId, text: Sym, number: u64) {
        if self.op(id).phase == Phase::Open {
            let op = &mut self.ops[id.0 as usize];
            (op.given, op.number) = (text, number);
        }
    }

    /// Takes an operation out of the contest.
    pub(super) fn leave(&mut self, id: OpId) {
        let (client, object) = (self.op(id).client, self.op(id).object);
        self.client_mut(client).open.retain(|other| *other != id);
        let (now, exclusive) = (self.now.at, self.op(id).share == Share::Exclusive);
        let contest = &mut self.contests[usize::from(object.0)];
        if exclusive {
            contest.last_writer = now;
        }
        contest.waiting.retain(|other| *other != id);
    }

    pub(super) fn finish(&mut self, id: OpId, outcome: Outcome) -> Result<Taken, String> {
        if self.ops.forgot(id.0 as usize) && outcome == Outcome::Done {
            return Err(format!("#{} returns a second time", id.0));
        }
        match self.op(id).phase {
            Phase::Open => {}
            Phase::Dead if outcome != Outcome::Done => return Ok(Taken::Known),
            Phase::Unborn => return Err(format!("#{} returns without a call", id.0)),
            Phase::Dead | Phase::Over(_) => return Err(format!("#{} returns a second time", id.0)),
        }
        let now = self.now;
        let op = &mut self.ops[id.0 as usize];
        op.phase = Phase::Over(outcome);
        op.over = now;
        let (verb, former) = (op.verb, op.former);
        if verb == Verb::Release {
            let client = self.op(id).client;
            self.client_mut(client).releases.retain(|other| *other != id);
        } else {
            self.leave(id);
        }
        if verb == Verb::Downgrade && former != OpId(0) {
            self.downgraded(former, outcome);
        }
        Ok(Taken::Judge)
    }

    pub(super) fn believe(
        &mut self,
        tables: Tables<'_>,
        event: &Event,
        object: ObjectId,
        session: Session,
        token: u64,
    ) -> Result<(), String> {
        let Who::Client(client) = event.who else {
            return Err("a belief of something other than a client".to_owned());
        };
        known(tables, object)?;
        let id = event.op;
        let before = self.op(id).hold;
        if !self.op(id).is_acquire() || self.op(id).object != object || self.op(id).client != client {
            return Err(format!("a belief by #{}, which is not an acquire of that client", id.0));
        }
        if before == Hold::Believed {
            return Err(format!("#{} believes a second time", id.0));
        }
        let now = self.now;
        self.session_mut(session).client = Some(client);
        self.made_in_capture(tables, id, session, token);
        let own = self.own_of(id, session, token);
        let op = &mut self.ops[id.0 as usize];
        op.hold = Hold::Believed;
        op.session = session;
        op.token = token;
        op.own = own;
        op.end_told = false;
        op.believed = now;
        if !op.granted.came() {
            op.granted = now;
        }
        self.contests[usize::from(object.0)].believers.push(id);
        if before == Hold::None {
            let contest = &mut self.contests[usize::from(object.0)];
            contest.waiting.retain(|other| *other != id);
        }
        if before != Hold::Suspended {
            self.contests[usize::from(object.0)].held += 1;
            let client = self.client_mut(client);
            client.holds.push(id);
            client.last_hold = id;
        }
        self.begin_stop(tables, id);
        Ok(())
    }

    pub(super) fn unbelieve(&mut self, id: OpId, why: Why) -> Result<Taken, String> {
        let op = self.op(id);
        match op.hold {
            Hold::None => return Err(format!("#{} ends a belief that it never had", id.0)),
            Hold::Over if op.end_told => {
                return Err(format!("#{} ends its belief a second time", id.0));
            }
            Hold::Over => {
                self.ops[id.0 as usize].end_told = true;
                return Ok(Taken::Known);
            }
            Hold::Suspended if why == Why::Suspect => return Ok(Taken::Known),
            Hold::Believed | Hold::Suspended => {}
        }
        self.end_hold(id, why);
        self.ops[id.0 as usize].end_told = why != Why::Suspect;
        Ok(Taken::Judge)
    }
}
