//! How an event changes the view.

use super::contenders::room_of_directory;
use super::watches::Armed;
use super::{
    Client, Contest, Hold, List, Moment, NOBODY, Op, Phase, Req, Room, SessionView, StopWhy, Txn, View,
};
use crate::history::{
    Code, Conn, Event, Kind, ObjectId, OpId, Outcome, ReqId, Request, Session, Share, Sym, Table, Tables,
    Verb, WatchMode, What, Who, Why,
};

/// The largest gap in numbers that are dense: a number farther ahead is damage.
const FAR: usize = 1 << 16;

/// The latest time of an event, so that sums of times do not overflow.
const LATEST: u64 = 1 << 60;

/// What to do with an event after the view has taken it in.
pub(crate) enum Taken {
    /// Rules see the event.
    Judge,
    /// The event repeats what is known, as when the belief of a dead process ends.
    Known,
}

impl View {
    /// Takes an event in.
    pub(crate) fn update(&mut self, tables: Tables<'_>, event: &Event) -> Result<Taken, String> {
        if let Some(taken) = self.begin(tables, event)? {
            return Ok(taken);
        }
        match event.what {
            What::Call { object, verb, limit } => self.call(tables, event, object, verb, limit)?,
            What::Return { outcome } => return self.finish(event.op, outcome),
            What::Given { text, number } => self.given(event.op, text, number),
            What::Believe { object, session, token } => {
                self.believe(tables, event, object, session, token)?
            }
            What::Unbelieve { why } => return self.unbelieve(event.op, why),
            What::Resource { object, .. } | What::Left { object, .. } | What::Observed { object, .. } => {
                known(tables, object)?;
            }
            What::Send { req, kind, watch, cleanup, path } => {
                let Who::Client(client) = event.who else {
                    return Err("only clients send requests".to_owned());
                };
                let session = self.client(client).session;
                let op = event.op;
                self.send(
                    req,
                    Req {
                        op,
                        client,
                        session,
                        kind,
                        path,
                        sent: self.now,
                        depth: 0,
                        cleanup,
                        watch,
                        answered: false,
                        conn: self.session(session).conn,
                        served: 0,
                    },
                )?;
            }
            What::Reply { req, code, zxid, conn } => {
                self.speaks_for(req, conn);
                self.reply(tables, req, code, zxid)?;
            }
            What::Made { path, czxid } if !self.is_sim() && czxid != 0 => {
                let owner = self.client_session(event.who);
                self.create(tables, event, path, czxid, owner);
            }
            What::Lost { req } => {
                let sent = self.answer(req, true)?;
                self.disturb(sent.op);
            }
            What::Notice { session, kind, path, .. } => self.noticed(event.who, session, kind, path),
            What::State { session, state, conn, server } => {
                self.state(tables, event.who, session, state, (conn, server));
            }
            _ => self.server_event(tables, event)?,
        }
        Ok(Taken::Judge)
    }

    /// Prepares for an event. Returns what to do with it, if it changes nothing.
    fn begin(&mut self, tables: Tables<'_>, event: &Event) -> Result<Option<Taken>, String> {
        if event.at < self.now.at {
            return Err("time goes back".to_owned());
        }
        if event.at > LATEST {
            return Err("this is later than any run can last".to_owned());
        }
        self.now.at = event.at;
        self.touched = NOBODY;
        self.enabled = 0;
        self.concerned = 0;
        self.asked = NOBODY;
        self.woken = OpId(0);
        while let Some(object) = tables.objects.get(self.contests.len()) {
            self.contests.push(Contest::new(object.kind));
        }
        if let Who::Client(number) = event.who {
            let client = self.client(number);
            if client.is_dead() {
                return match event.what {
                    What::Unbelieve { why: Why::Crashed } => Ok(Some(Taken::Known)),
                    What::Return { outcome } if outcome != Outcome::Done => Ok(Some(Taken::Known)),
                    What::Lost { .. } | What::State { .. } if event.at == client.died.at => {
                        Ok(Some(Taken::Known))
                    }
                    _ => Err("a dead client acts".to_owned()),
                };
            }
        }
        self.replay(tables, event);
        if let What::Created { path, .. } | What::Written { path, .. } | What::Deleted { path, .. } =
            event.what
            && self.is_sim()
            && self.is_foreign_change()
        {
            self.foreign.push(path);
        }
        Ok(None)
    }

    fn server_event(&mut self, tables: Tables<'_>, event: &Event) -> Result<(), String> {
        match event.what {
            What::Txn { zxid, session, .. } => {
                self.txn = Txn { zxid, session };
                if self.is_foreign(session) {
                    // Every operation in flight may meet what a foreign client does.
                    self.disturb_all();
                }
                self.applied(View::server_of(event.who), zxid);
                let op = self.op(event.op);
                if op.phase != Phase::Unborn && self.session(session).client.is_none() {
                    let client = op.client;
                    self.session_mut(session).client = Some(client);
                }
            }
            What::Created { zxid, path, owner } if self.is_sim() => {
                self.create(tables, event, path, zxid, owner);
            }
            What::Deleted { zxid, path, by } if self.is_sim() => {
                self.delete(tables, path, zxid, by, event.op)
            }
            What::Written { path, .. } => self.written(path, event.op),
            What::Data { digest, .. } => self.data(digest),
            What::Applied { zxid } => self.applied(View::server_of(event.who), zxid),
            What::Served { req, zxid, conn } => {
                self.speaks_for(req, conn);
                let Some(req) = self.requests.get_mut(req.0 as usize).filter(|req| req.is_sent()) else {
                    return Err(format!("r{} is served, which was never sent", req.0));
                };
                req.served = zxid;
            }
            What::Arm { session, table, path, conn, mode } => {
                let server = View::server_of(event.who);
                self.arm(Armed { session, table, path, server, conn, mode }, event.op);
            }
            What::Fire { session, kind, path, conn, .. } => self.fire(session, kind, path, conn),
            What::Disarm { session, table, path, conn } => self.disarm(session, table, path, conn),
            What::Attached { session, .. } => self.session_mut(session).is_attached = true,
            What::Elected { epoch } => self.elected(View::server_of(event.who), epoch),
            What::Serving => self.serving(View::server_of(event.who)),
            What::Ceased => self.ceased(View::server_of(event.who)),
            What::Opened { session, timeout, .. } => {
                self.session_mut(session).timeout = u64::from(timeout) * 1000;
            }
            // A deposed leader cannot expire a session.
            What::Marked { .. } if self.is_deposed(View::server_of(event.who)) => {}
            What::Marked { session, heard } => {
                let now = self.now;
                let may_be_unheard = self.may_be_unheard(session, heard, View::server_of(event.who));
                let view = self.session_mut(session);
                view.marked = now;
                view.may_be_unheard = may_be_unheard;
                view.is_marked = true;
                view.heard = heard;
                self.excusable = true;
            }
            What::Ended { session, .. } => {
                let now = self.now;
                let view = self.session_mut(session);
                view.ended = now;
                view.undelivered = 0;
                self.forget_watches(session);
            }
            _ => self.world_event(tables, event),
        }
        Ok(())
    }

    fn world_event(&mut self, tables: Tables<'_>, event: &Event) {
        match event.what {
            What::Fault { kind, victim, lasts } => {
                if let Who::Client(client) = event.who {
                    self.client_mut(client).is_foreign = true;
                }
                self.fault(kind, victim, lasts);
            }
            What::Mended { kind, victim } => self.mended(tables, kind, victim),
            What::Crash { client } => self.crash(client),
            What::Start { client } => {
                let now = self.now;
                self.calm_since = self.calm_since.max(now.at);
                let client = self.client_mut(client);
                client.died = Moment::NEVER;
                client.paused = Moment::NEVER;
                client.session = Session(0);
            }
            What::Heal => {
                self.healed = true;
                self.calm_since = self.calm_since.max(event.at);
            }
            What::Quiesce => self.quiet = true,
            // The other events change nothing that rules look up here.
            _ => {}
        }
    }

    fn call(
        &mut self,
        tables: Tables<'_>,
        event: &Event,
        object: ObjectId,
        verb: Verb,
        limit: u32,
    ) -> Result<(), String> {
        let Who::Client(client) = event.who else { return Err("only clients call".to_owned()) };
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
        self.ops[at] =
            Op { phase: Phase::Open, verb, client, object, called: now, limit, calm, share, ..Op::UNBORN };
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
    fn downgrade(&mut self, id: OpId) {
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
    fn downgraded(&mut self, hold: OpId, outcome: Outcome) {
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

    fn given(&mut self, id: OpId, text: Sym, number: u64) {
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

    fn finish(&mut self, id: OpId, outcome: Outcome) -> Result<Taken, String> {
        if self.ops.forgot(id.0 as usize) && outcome == Outcome::Done {
            return Err(format!("#{} returns a second time", id.0));
        }
        match self.op(id).phase {
            Phase::Open => {}
            Phase::Dead if outcome != Outcome::Done => return Ok(Taken::Known),
            Phase::Unborn => return Err(format!("#{} returns and was never called", id.0)),
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

    fn believe(
        &mut self,
        tables: Tables<'_>,
        event: &Event,
        object: ObjectId,
        session: Session,
        token: u64,
    ) -> Result<(), String> {
        let Who::Client(client) = event.who else { return Err("only clients believe".to_owned()) };
        known(tables, object)?;
        let id = event.op;
        let before = self.op(id).hold;
        if !self.op(id).is_acquire() || self.op(id).object != object || self.op(id).client != client {
            return Err(format!("a belief by #{}, which is no acquire of it", id.0));
        }
        if before == Hold::Believed {
            return Err(format!("#{} believes a second time", id.0));
        }
        let now = self.now;
        self.session_mut(session).client = Some(client);
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

    fn unbelieve(&mut self, id: OpId, why: Why) -> Result<Taken, String> {
        let op = self.op(id);
        match op.hold {
            Hold::None => return Err(format!("#{} ceases to believe and never did", id.0)),
            Hold::Over if op.end_told => {
                return Err(format!("#{} ceases to believe a second time", id.0));
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

    fn send(&mut self, id: ReqId, mut req: Req) -> Result<(), String> {
        let at = id.0 as usize;
        if id == ReqId(0) || at > self.requests.end() + FAR {
            return Err(format!("request r{} is out of range", id.0));
        }
        if self.requests.forgot(at) || self.requests[at].is_sent() {
            return Err(format!("request r{} is sent a second time", id.0));
        }
        if !req.cleanup && self.op(req.op).phase != Phase::Unborn {
            // Asking a holder to go, and forcing it, is no cost of waiting.
            let preempts = self.contest(self.op(req.op).object).kind == Kind::PriorityLock
                && self.op(req.op).is_acquire()
                && matches!(req.kind, Request::Set | Request::Delete);
            let now = self.now.at;
            let op = &mut self.ops[req.op.0 as usize];
            req.depth = op.depth + 1;
            op.sends += u32::from(!preempts);
            if op.in_flight == 0 {
                op.flight_until = op.flight_until.filter(|until| now <= *until);
            }
            op.in_flight += 1;
        }
        match req.kind {
            Request::Delete => {
                if req.op == OpId(0) && !req.cleanup {
                    self.strange_delete(req.client, req.path);
                }
                self.own_delete(req.client, req.path);
                self.force_in_capture(req);
                if let Some(number) = self.contender_of(req.path) {
                    self.contenders[number as usize].delete_sent = true;
                }
            }
            Request::Multi => self.force_in_capture(req),
            Request::RemoveWatches => self.unregister(req.session, req.path),
            _ => {}
        }
        self.requests[at] = req;
        Ok(())
    }

    /// Attributes a request to the session whose connection answers it, since a client may have two sessions at a
    /// time.
    fn speaks_for(&mut self, req: ReqId, conn: Conn) {
        let session = self.conns.get(usize::from(conn.0)).copied().unwrap_or_default();
        if let Some(req) = self.requests.get_mut(req.0 as usize).filter(|_| session != Session(0)) {
            req.session = session;
        }
    }

    fn own_delete(&mut self, client: u16, path: Sym) {
        if let Some(number) = self.contender_of(path) {
            let op = self.contenders[number as usize].op;
            if self.op(op).hold == Hold::Believed && self.op(op).own == number && self.op(op).client == client
            {
                self.must_stop(op, StopWhy::OwnDelete);
            }
        }
    }

    /// Ends a request, with a reply or without one.
    fn answer(&mut self, id: ReqId, is_lost: bool) -> Result<Req, String> {
        if self.requests.forgot(id.0 as usize) {
            return Err(format!("a second answer to r{}", id.0));
        }
        let Some(req) = self.requests.get_mut(id.0 as usize).filter(|req| req.is_sent()) else {
            return Err(format!("an answer to r{}, which was never sent", id.0));
        };
        if req.answered {
            return Err(format!("a second answer to r{}", id.0));
        }
        req.answered = true;
        let req = *req;
        if req.depth != 0 {
            let at_once = self.now.at + self.settle;
            let op = &mut self.ops[req.op.0 as usize];
            op.in_flight -= 1;
            if op.in_flight == 0 && op.flight_until.is_some() {
                // After one refusal and one lost reply, a client looks for the lost one first.
                op.flight_until = Some(if is_lost { u64::MAX } else { at_once });
                self.may_pause(req.op, self.timeout_of(req.session) / 4);
            }
        }
        Ok(req)
    }

    /// Notes that a server refused a request without a look at the tree. The client may pause without a watch: for a
    /// quarter of the session timeout, or for the whole of it if an access list forbids it to look after its own
    /// znode.
    fn refused(&mut self, req: &Req, code: Code) {
        let (now, timeout) = (self.now.at, self.timeout_of(req.session));
        if self.op(req.op).phase != Phase::Unborn {
            let at_once = now + self.settle;
            let op = &mut self.ops[req.op.0 as usize];
            (op.refused, op.flight_until) = (now, Some(at_once));
            self.may_pause(req.op, timeout / 4);
        }
        let Some(number) = self.contender_of(req.path) else { return };
        let own = &self.contenders[number as usize];
        if own.creator == req.session && self.op(own.op).phase != Phase::Unborn {
            let pause = if code == Code::NoAuth { timeout } else { timeout / 4 };
            self.may_pause(own.op, pause);
        }
    }

    /// Allows the client of an operation to pause from now on.
    fn may_pause(&mut self, op: OpId, pause: u64) {
        let until = self.now.at + pause + self.settle;
        let op = &mut self.ops[op.0 as usize];
        op.pauses_until = op.pauses_until.max(until);
    }

    fn reply(&mut self, tables: Tables<'_>, id: ReqId, code: Code, zxid: u64) -> Result<(), String> {
        let req = self.answer(id, false)?;
        let reply = self.now.index;
        if code.tells_nothing() {
            self.refused(&req, code);
        }
        if req.depth != 0 {
            let op = &mut self.ops[req.op.0 as usize];
            op.depth = op.depth.max(req.depth);
            match (code, req.kind) {
                (Code::Ok, Request::Create) => op.answered = true,
                // A client that has forced a holder out has a reason to look again.
                (Code::Ok, Request::Delete) if op.is_waiting() => op.wakes += 1,
                (Code::Ok, Request::Children) => {
                    // The state that the list was served in, where that is known.
                    let zxid = if req.served == 0 { zxid } else { req.served };
                    let list = List { zxid, sent: req.sent, reply };
                    match room_of_directory(tables, op.object, req.path) {
                        Some(Room::Waiting) => op.list = Some(list),
                        Some(Room::Held) => self.listed_holds(req.op, list),
                        None => {}
                    }
                }
                (Code::NoNode, Request::Children) => {
                    op.calm = false;
                    // The directory of holds does not exist yet, so there is no holder.
                    if room_of_directory(tables, op.object, req.path) == Some(Room::Held) {
                        let zxid = if req.served == 0 { zxid } else { req.served };
                        self.listed_holds(req.op, List { zxid, sent: req.sent, reply });
                    }
                }
                (Code::Ok, _) => {}
                _ => op.calm = false,
            }
        }
        if code == Code::Ok {
            let session = self.session_mut(req.session);
            session.answered_sent = session.answered_sent.max(req.sent.at);
        }
        let reads = matches!(req.kind, Request::Exists | Request::Get | Request::Children);
        if code == Code::NoNode && reads && !req.cleanup {
            self.znode_gone(req.client, req.path);
        }
        // A capture does not see the servers: a read with a watch counts as armed.
        if req.watch && !self.is_sim() && (code == Code::Ok || req.kind == Request::Exists) {
            let table = if req.kind == Request::Children { Table::Child } else { Table::Data };
            let (session, path, server, conn) = (req.session, req.path, 0, Conn(0));
            self.arm(Armed { session, table, path, server, conn, mode: WatchMode::OneShot }, req.op);
        }
        Ok(())
    }

    /// Notes that a client learned that a znode does not exist.
    pub(super) fn znode_gone(&mut self, client: u16, path: Sym) {
        if let Some(number) = self.contender_of(path) {
            let id = self.contenders[number as usize].op;
            if self.op(id).client == client {
                self.contenders[number as usize].told_gone = true;
            }
            let op = self.op(id);
            // A downgrade deletes it, and a reader's hold follows.
            let believes = op.hold == Hold::Believed && op.own == number && op.client == client;
            if believes && !self.is_downgrading(id) {
                self.must_stop(id, StopWhy::ZnodeGone);
            }
        }
    }

    fn client_session(&self, who: Who) -> Session {
        match who {
            Who::Client(client) => self.client(client).session,
            Who::Server(_) | Who::World => Session(0),
        }
    }

    pub(super) fn client_mut(&mut self, number: u16) -> &mut Client {
        let at = usize::from(number);
        if self.clients.len() <= at {
            self.clients.resize(at + 1, Client::NEW);
        }
        &mut self.clients[at]
    }

    pub(super) fn session_mut(&mut self, session: Session) -> &mut SessionView {
        let at = usize::from(session.0);
        if self.sessions.len() <= at {
            self.sessions.resize(at + 1, SessionView::NEW);
        }
        &mut self.sessions[at]
    }
}

fn known(tables: Tables<'_>, object: ObjectId) -> Result<(), String> {
    if usize::from(object.0) < tables.objects.len() {
        return Ok(());
    }
    Err(format!("object {} was never declared", object.0))
}
