//! How an event changes the view.

use super::watches::Armed;
use super::{Client, Contest, Moment, NOBODY, Phase, Req, SessionView, Txn, View};
use crate::history::{Event, ObjectId, OpId, Outcome, Request, Session, Tables, What, Who, Why};
use crate::recent::slot;

/// The largest gap between dense numbers: a larger one means a damaged history.
pub(super) const FAR: usize = 1 << 16;

/// The latest time of an event, so that sums of times do not overflow.
const LATEST: u64 = 1 << 60;

/// The use of an event after the view has taken it in.
#[derive(Clone)]
pub(crate) enum Taken {
    /// Rules see the event.
    Judge,
    /// The event repeats known facts, as when the belief of a dead process ends.
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
            What::Return { outcome, .. } => return self.finish(event.op, outcome),
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
                    return Err("a request of something other than a client".to_owned());
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
                self.reply(tables, req, (code, zxid, conn))?;
            }
            What::Made { path, czxid } if !self.is_sim() && czxid != 0 => {
                let owner = self.client_session(event.who);
                self.create(tables, event.op, path, czxid, owner);
            }
            What::Heard { session, sent } => self.heard(session, sent.min(event.at)),
            What::Lost { req } => {
                let sent = self.answer(req, true)?;
                if sent.kind == Request::Create && !sent.cleanup && self.op(sent.op).phase != Phase::Unborn {
                    self.ops[sent.op.0 as usize].lost_create = Some(sent.path);
                }
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

    /// Prepares for an event. Returns its use if it changes nothing.
    fn begin(&mut self, tables: Tables<'_>, event: &Event) -> Result<Option<Taken>, String> {
        if event.at < self.now.at {
            return Err("time goes back".to_owned());
        }
        if event.at > LATEST {
            return Err("the time is later than any run can last".to_owned());
        }
        self.now.at = event.at;
        self.touched = NOBODY;
        self.enabled = 0;
        self.concerned = 0;
        self.asked = NOBODY;
        self.woken = OpId(0);
        while let Some(object) = tables.objects.get(self.contests.len()) {
            self.contests.push(Contest::new((self.protocol_of)(object.kind)));
        }
        if let Who::Client(number) = event.who {
            let client = self.client(number);
            if client.is_dead() {
                return match event.what {
                    What::Unbelieve { why: Why::Crashed } => Ok(Some(Taken::Known)),
                    What::Return { outcome, .. } if outcome != Outcome::Done => Ok(Some(Taken::Known)),
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
                    // The foreign change may affect every operation in flight.
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
                self.tells_permits(tables, path, zxid);
                self.create(tables, event.op, path, zxid, owner);
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
                self.fault(event.who, kind, victim, lasts);
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
            // The other events do not change the view here.
            _ => {}
        }
    }

    pub(super) fn client_session(&self, who: Who) -> Session {
        match who {
            Who::Client(client) => self.client(client).session,
            Who::Server(_) | Who::World => Session(0),
        }
    }

    pub(super) fn client_mut(&mut self, number: u16) -> &mut Client {
        slot(&mut self.clients, usize::from(number))
    }

    pub(super) fn session_mut(&mut self, session: Session) -> &mut SessionView {
        slot(&mut self.sessions, usize::from(session.0))
    }
}

pub(super) fn known(tables: Tables<'_>, object: ObjectId) -> Result<(), String> {
    if usize::from(object.0) < tables.objects.len() {
        return Ok(());
    }
    Err(format!("object {} was never declared", object.0))
}
