//! Translates the events of the simulated world into events of the checker.

use super::Journal;
use super::words::{code, fault_kind, notify, refused, request, table, victim, watch_mode};
use sim_zk::message::{self, Answer, Ask, Content, ReadOp, Refusal};
use sim_zk::observer::{Observer, SessionNews, SimEvent};
use sim_zk::paths::{PathId, Paths};
use zk_checker::digest::{self, Digest};
use zk_checker::history::{Code, Conn, OpId, ReqId, Request, SessionState, What, Who};

/// The number of a connection; zero is kept for none.
fn conn(number: u32) -> Conn {
    Conn(u16::try_from(number + 1).expect("a run has fewer than 65,535 connections"))
}

/// Events of servers.
impl Journal {
    fn data(&mut self, at: u64, who: Who, op: OpId, data: &Content) {
        let length = data.as_ref().map_or(0, |bytes| bytes.len() as u32);
        let digest = digest::data(data.as_deref());
        self.write(at, who, op, What::Data { length, digest });
    }

    /// Records the result of a read: one event for each part.
    fn found(
        &mut self,
        (at, who, op): (u64, Who, OpId),
        ask: &Ask,
        result: &Result<Answer, Refusal>,
        paths: &Paths,
    ) {
        let (read, path) = match ask {
            Ask::Exists { path, .. } => (Request::Exists, *path),
            Ask::Get { path, .. } => (Request::Get, *path),
            Ask::Children { path, .. } => (Request::Children, *path),
            Ask::GetAcl { path } => (Request::GetAcl, *path),
            Ask::MultiRead(ops) => {
                let Ok(Answer::Many(found)) = result else { return };
                for (ask, found) in ops.iter().zip(found) {
                    let (read, path) = match ask {
                        ReadOp::Get(path) => (Request::Get, *path),
                        ReadOp::Children(path) => (Request::Children, *path),
                        ReadOp::Other(_) => continue,
                    };
                    let (code, digest) = match found {
                        Ok(message::Found::Data(data, stat)) => {
                            let stat = self.stat(stat);
                            (Code::Ok, Digest::of_data(digest::data(data.as_deref()), &stat))
                        }
                        Ok(message::Found::Children(list)) => {
                            (Code::Ok, Digest::of_names(self.list(list, paths), None))
                        }
                        Err(why) => (refused(*why), Digest::default()),
                    };
                    let path = self.path(path, paths);
                    self.write(at, who, op, What::Found { read, code, path, digest });
                }
                return;
            }
            _ => return,
        };
        let (code, digest) = match result {
            Ok(Answer::Stat(stat) | Answer::Acl(_, stat)) => (Code::Ok, Digest::of_stat(&self.stat(stat))),
            Ok(Answer::Data(data, stat)) => {
                let stat = self.stat(stat);
                (Code::Ok, Digest::of_data(digest::data(data.as_deref()), &stat))
            }
            Ok(Answer::Children(list, stat)) => {
                let stat = stat.as_ref().map(|stat| self.stat(stat));
                (Code::Ok, Digest::of_names(self.list(list, paths), stat.as_ref()))
            }
            Ok(_) => return,
            Err(Refusal::All(why) | Refusal::Multi { code: why, .. }) => (refused(*why), Digest::default()),
        };
        let path = self.path(path, paths);
        self.write(at, who, op, What::Found { read, code, path, digest });
    }

    /// Records a transaction, or an effect of one.
    fn committed(&mut self, at: u64, happening: &SimEvent<'_>, paths: &Paths) {
        let server = Who::Server;
        match *happening {
            SimEvent::Txn { server: number, zxid, session, op, kind, outcome } => {
                let session = self.session(session);
                let what = What::Txn { zxid: zxid as u64, session, kind: request(kind), code: code(outcome) };
                self.write(at, server(number), OpId(op), what);
            }
            SimEvent::Created { server: number, zxid, op, path, owner, data } => {
                let (path, owner) = (self.path(path, paths), self.owner(owner));
                let what = What::Created { zxid: zxid as u64, path, owner };
                self.write(at, server(number), OpId(op), what);
                self.data(at, server(number), OpId(op), data);
            }
            SimEvent::Deleted { server: number, zxid, op, path, by } => {
                let (path, by) = (self.path(path, paths), self.session(by));
                self.write(at, server(number), OpId(op), What::Deleted { zxid: zxid as u64, path, by });
            }
            SimEvent::Written { server: number, zxid, op, path, data } => {
                let path = self.path(path, paths);
                self.write(at, server(number), OpId(op), What::Written { zxid: zxid as u64, path });
                self.data(at, server(number), OpId(op), data);
            }
            SimEvent::Restricted { server: number, zxid, op, path } => {
                let path = self.path(path, paths);
                self.write(at, server(number), OpId(op), What::Restricted { zxid: zxid as u64, path });
            }
            SimEvent::Applied { server: number, zxid } => {
                self.write(at, server(number), OpId(0), What::Applied { zxid: zxid as u64 });
            }
            _ => unreachable!("only transactions and their effects are recorded here"),
        }
    }

    /// Records a read, or a watch.
    fn answered(&mut self, at: u64, happening: &SimEvent<'_>, paths: &Paths) {
        let server = Who::Server;
        match *happening {
            SimEvent::Served { server: number, session: _, conn: on, req, op, zxid, ask, result } => {
                let (who, op) = (server(number), OpId(op));
                let what = What::Served { req: ReqId(req), conn: conn(on), zxid: zxid as u64 };
                self.write(at, who, op, what);
                self.found((at, who, op), ask, result, paths);
            }
            SimEvent::Barrier { server: number, session, req, zxid } => {
                let session = self.session(session);
                let what = What::Barrier { session, req: ReqId(req), zxid: zxid as u64 };
                self.write(at, server(number), OpId(0), what);
            }
            SimEvent::Armed { server: number, session, conn: on, op, table: of, path, mode } => {
                let (session, path) = (self.session(session), self.path(path, paths));
                let (table, conn, mode) = (table(of), conn(on), watch_mode(mode));
                self.write(at, server(number), OpId(op), What::Arm { session, table, path, conn, mode });
            }
            SimEvent::Fired { server: number, session, conn: on, op, kind, path, zxid } => {
                let (session, path) = (self.session(session), self.path(path, paths));
                let (kind, conn) = (notify(kind), conn(on));
                let what = What::Fire { session, kind, path, zxid: zxid as u32, conn };
                self.write(at, server(number), OpId(op), what);
            }
            SimEvent::Disarmed { server: number, session, conn: on, table: of, path } => {
                let (session, path) = (self.session(session), self.path(path, paths));
                let what = What::Disarm { session, table: table(of), path, conn: conn(on) };
                self.write(at, server(number), OpId(0), what);
            }
            _ => unreachable!("only reads and watches are recorded here"),
        }
    }

    /// Records events of sessions at the servers, and of the ensemble.
    fn presides(&mut self, at: u64, happening: &SimEvent<'_>) {
        let (number, what) = match *happening {
            SimEvent::Opened { server, session, timeout, zxid } => {
                let (session, timeout) = (self.session(session), (timeout / 1000) as u32);
                (server, What::Opened { session, timeout, zxid: zxid as u64 })
            }
            SimEvent::Marked { server, session, heard } => {
                (server, What::Marked { session: self.session(session), heard })
            }
            SimEvent::Ended { server, session, zxid } => {
                (server, What::Ended { session: self.session(session), zxid: zxid as u64 })
            }
            SimEvent::Attached { server, session, conn: on } => {
                (server, What::Attached { session: self.session(session), conn: conn(on) })
            }
            SimEvent::TurnedAway { server, session, seen, applied: _ } => {
                (server, What::TurnedAway { session: self.session(session), seen: seen as u64 })
            }
            SimEvent::Moved { server, session, zxid } => {
                (server, What::Moved { session: self.session(session), zxid: zxid as u64 })
            }
            SimEvent::Elected { server, epoch } => (server, What::Elected { epoch }),
            SimEvent::Serving { server } => (server, What::Serving),
            SimEvent::Ceased { server } => (server, What::Ceased),
            _ => unreachable!("only sessions and the ensemble are recorded here"),
        };
        self.write(at, Who::Server(number), OpId(0), what);
    }

    /// Records events of a client's library.
    fn of_client(&mut self, at: u64, happening: &SimEvent<'_>, paths: &Paths) {
        let (client, none) = (|process: u8| Who::Client(process.into()), OpId(0));
        match *happening {
            SimEvent::Sent { process, req, op, kind, path, watch, cleanup } => {
                let path = self.path(path, paths);
                let what = What::Send { req: ReqId(req), kind: request(kind), watch, cleanup, path };
                self.write(at, client(process), OpId(op), what);
            }
            SimEvent::Expected { process, op, version } => {
                self.write(at, client(process), OpId(op), What::Expects { version });
            }
            SimEvent::Replied { process, session: _, conn: on, req, op, outcome, zxid, made } => {
                let (code, conn) = (code(outcome), on.map_or(Conn(0), conn));
                let what = What::Reply { req: ReqId(req), code, zxid: zxid as u64, conn };
                self.write(at, client(process), OpId(op), what);
                if let Some((path, czxid)) = made {
                    let path = self.path(path, paths);
                    self.write(at, client(process), OpId(op), What::Made { path, czxid: czxid as u64 });
                }
            }
            SimEvent::Heard { process, session, sent } => {
                let session = self.session(session);
                self.write(at, client(process), none, What::Heard { session, sent });
            }
            SimEvent::Lost { process, req, op } => {
                self.write(at, client(process), OpId(op), What::Lost { req: ReqId(req) });
            }
            SimEvent::Noticed { process, session, conn: on, kind, path } => {
                let (session, path) = (self.session(session), self.path(path, paths));
                let what = What::Notice { session, kind: notify(kind), path, conn: conn(on) };
                self.write(at, client(process), none, what);
            }
            // Recorded by a client without a connection: its library will not register such a watch again.
            SimEvent::Forgot { process, session, table: of, path } => {
                let (session, path) = (self.session(session), self.path(path, paths));
                let what = What::Disarm { session, table: table(of), path, conn: Conn(0) };
                self.write(at, client(process), none, what);
            }
            SimEvent::News { process, session, news, conn: on, server } => {
                let session = self.session(session);
                let (state, conn, server) = match news {
                    SessionNews::Connected => (SessionState::Connected, conn(on), server),
                    SessionNews::Suspended => (SessionState::Suspended, Conn(0), 0),
                    SessionNews::Expired => (SessionState::Expired, Conn(0), 0),
                    SessionNews::Closed => (SessionState::Closed, Conn(0), 0),
                };
                self.write(at, client(process), none, What::State { session, state, conn, server });
            }
            _ => unreachable!("only what a library does and learns is recorded here"),
        }
    }

    /// Records faults, and events of processes.
    fn of_world(&mut self, at: u64, happening: &SimEvent<'_>) {
        let what = match *happening {
            SimEvent::Injected { fault, victim: whom, lasts } => {
                What::Fault { kind: fault_kind(fault), victim: victim(whom), lasts }
            }
            SimEvent::Mended { fault, victim: whom } => {
                What::Mended { kind: fault_kind(fault), victim: victim(whom) }
            }
            SimEvent::Crashed { process } => return self.crashed(at, process.into()),
            SimEvent::Began { process } => What::Start { client: process.into() },
            SimEvent::Healed => What::Heal,
            // The fault that changes the clock is recorded; no rule depends on the amount.
            SimEvent::Clock { .. } => return,
            _ => unreachable!("only faults and processes are recorded here"),
        };
        self.write(at, Who::World, OpId(0), what);
    }
}

impl Observer for Journal {
    fn on_forgotten(&mut self, paths: &[PathId]) {
        self.forget(paths);
    }

    fn remembered(&self, now: u64) -> u128 {
        self.remembered.as_ref().map_or(0, |remembered| remembered.digest(now))
    }

    fn on_event(&mut self, at: u64, happening: &SimEvent<'_>, paths: &Paths) {
        match happening {
            SimEvent::Sent { .. }
            | SimEvent::Expected { .. }
            | SimEvent::Replied { .. }
            | SimEvent::Heard { .. }
            | SimEvent::Lost { .. }
            | SimEvent::Noticed { .. }
            | SimEvent::Forgot { .. }
            | SimEvent::News { .. } => self.of_client(at, happening, paths),
            SimEvent::Txn { .. }
            | SimEvent::Created { .. }
            | SimEvent::Deleted { .. }
            | SimEvent::Written { .. }
            | SimEvent::Restricted { .. }
            | SimEvent::Applied { .. } => self.committed(at, happening, paths),
            SimEvent::Served { .. }
            | SimEvent::Barrier { .. }
            | SimEvent::Armed { .. }
            | SimEvent::Fired { .. }
            | SimEvent::Disarmed { .. } => self.answered(at, happening, paths),
            SimEvent::Opened { .. }
            | SimEvent::Marked { .. }
            | SimEvent::Ended { .. }
            | SimEvent::Attached { .. }
            | SimEvent::TurnedAway { .. }
            | SimEvent::Moved { .. }
            | SimEvent::Elected { .. }
            | SimEvent::Serving { .. }
            | SimEvent::Ceased { .. } => self.presides(at, happening),
            SimEvent::Injected { .. }
            | SimEvent::Mended { .. }
            | SimEvent::Crashed { .. }
            | SimEvent::Clock { .. }
            | SimEvent::Began { .. }
            | SimEvent::Healed => self.of_world(at, happening),
        }
    }
}
