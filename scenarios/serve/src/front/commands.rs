//! The verbs of the control API that change something.

use super::{Front, reply};
use crate::clients::ClientId;
use crate::command::{Command, OneServer, Refused, RequestFilter, TimedFault};
use crate::control::CommandResult;
use crate::micros;
use serde_json::{Value, json};
use sim_zk::fault::{Fault, Victim};
use sim_zk::message::{Ask, Tag, Up};
use sim_zk::wire::password;
use std::sync::mpsc::Sender;
use std::time::Duration;
use zk_recipes::zk::SessionId;

/// The maximal time that an answer waits for its effect, in microseconds.
const PATIENCE: u64 = 20_000_000;

/// The duration of a fault that lasts until it is ended, in microseconds: a century.
const UNTIL_ENDED: u64 = 3_155_760_000_000_000;

/// A command that was carried out and whose effect is pending.
pub(super) struct Awaited {
    effect: Effect,
    answer: Value,
    to: Option<Sender<CommandResult>>,
    pub(super) deadline: u64,
}

/// An effect that takes time.
enum Effect {
    /// The session has ended.
    Ended(SessionId),
    /// The server serves.
    Serves(u8),
    /// Another server leads, after which this one restarts.
    Elected(u8),
    /// Every server serves.
    Settled,
}

/// The result of a command: its answer, and the effect to wait for.
pub(crate) struct Done(Value, Option<Effect>);

/// The effect to wait for when a server returns.
fn serves(what: OneServer) -> Option<Effect> {
    what.wait.then_some(Effect::Serves(what.server))
}

impl From<Value> for Done {
    fn from(answer: Value) -> Self {
        Done(answer, None)
    }
}

impl Front {
    /// Answers a command that was carried out, at once or after its effect. Returns its refusal, if any.
    pub fn conclude(
        &mut self,
        done: Result<Done, Refused>,
        to: Option<Sender<CommandResult>>,
    ) -> Result<(), Refused> {
        match done {
            Ok(Done(answer, None)) => reply(to, Ok(answer)),
            Ok(Done(answer, Some(effect))) => {
                let deadline = self.raw.now() + PATIENCE;
                self.awaited.push(Awaited { effect, answer, to, deadline });
            }
            Err(refused) => {
                reply(to, Err(refused.clone()));
                return Err(refused);
            }
        }
        Ok(())
    }

    /// Answers the commands whose effect has occurred or whose deadline has passed.
    pub fn answer_awaited(&mut self) {
        let now = self.raw.now();
        for mut awaited in std::mem::take(&mut self.awaited) {
            let world = self.raw.world();
            let came = match awaited.effect {
                Effect::Ended(session) => !world.lives(session),
                Effect::Serves(server) => world.serving().contains(&server),
                Effect::Settled => world.is_settled(),
                Effect::Elected(former) => {
                    let has_another = world.leader_of_quorum().is_some_and(|leader| leader != former);
                    if has_another || now >= awaited.deadline {
                        self.end_crash(former);
                        awaited.effect = Effect::Settled;
                    }
                    false
                }
            };
            if !came && now < awaited.deadline {
                self.awaited.push(awaited);
                continue;
            }
            if let Value::Object(fields) = &mut awaited.answer {
                fields.insert("settled".to_owned(), came.into());
            }
            reply(awaited.to, Ok(awaited.answer));
        }
    }

    /// Carries out a command.
    pub fn perform(&mut self, command: &Command) -> Result<Done, Refused> {
        let servers = self.raw.world().config().servers;
        command.check(servers)?;
        Ok(match command {
            Command::LoseReply(which) => self.wait_for(Fault::ReplyLost, which, 0)?.into(),
            Command::LoseRequest(which) => self.wait_for(Fault::RequestLost, which, 0)?.into(),
            Command::DelayReply { lasts, client, op, path, count } => {
                let which =
                    RequestFilter { client: client.clone(), op: *op, path: path.clone(), count: *count };
                self.wait_for(Fault::ReplyLate, &which, micros(*lasts))?.into()
            }
            Command::Refuse { code, client, op, path, count } => {
                let which =
                    RequestFilter { client: client.clone(), op: *op, path: path.clone(), count: *count };
                self.wait_for(code.fault(), &which, 0)?.into()
            }
            Command::LoseNotification { client, path, count } => {
                let which =
                    RequestFilter { client: client.clone(), op: None, path: path.clone(), count: *count };
                self.wait_for(Fault::WatchLost, &which, 0)?.into()
            }
            Command::Disconnect { client } => {
                let clients = self.named(client.as_deref())?;
                for id in &clients {
                    if let Some(number) = self.clients.get(*id).connection {
                        self.struck(*id, Fault::Disconnect, 0);
                        self.break_off(number);
                    }
                }
                self.numbers(clients.len()).into()
            }
            Command::Mute(what) => self.cut_off(Fault::ClientMuted, what)?.into(),
            Command::Deafen(what) => self.cut_off(Fault::ClientDeafened, what)?.into(),
            Command::Partition(what) => self.cut_off(Fault::ClientPartition, what)?.into(),
            Command::Expire { client } => self.expire(client.as_deref())?,
            Command::Crash(what) => {
                self.strike(Fault::ServerCrash, Victim::Server(what.server), what.lasts).into()
            }
            Command::Start(what) => {
                self.end_crash(what.server);
                Done(json!({}), serves(*what))
            }
            Command::Restart(what) => self.restart(Fault::ServerCrash, what.server, serves(*what)),
            Command::Pause(what) => {
                self.strike(Fault::ServerPause, Victim::Server(what.server), what.lasts).into()
            }
            Command::Resume(what) => {
                let victim = Victim::Server(what.server);
                self.raw.mend(|fault, of| fault == Fault::ServerPause && of == victim);
                Done(json!({}), serves(*what))
            }
            Command::Cut(what) => {
                let (fault, victim) = match what.victim("cut", servers)? {
                    victim @ Victim::Link(..) => (Fault::LinkCut, victim),
                    victim => (Fault::ServerPartition, victim),
                };
                self.strike(fault, victim, what.lasts).into()
            }
            Command::Hold(what) => {
                self.strike(Fault::LinkHeld, what.link("hold", servers)?, what.lasts).into()
            }
            Command::LosePackets(what) => {
                self.strike(Fault::PacketsLost, what.link("lose-packets", servers)?, what.lasts).into()
            }
            Command::Release(what) => {
                let place = what.victim(servers)?;
                let released = self.raw.mend(|fault, of| what.ends(place, fault, of));
                json!({ "released": released }).into()
            }
            Command::Stall { server, what, lasts } => {
                self.strike(what.fault(), Victim::Server(*server), *lasts).into()
            }
            Command::Elect {} => {
                let Some(leader) = self.raw.world().leader_of_quorum() else {
                    return Err(Refused::new(400, "there is no leader with a quorum"));
                };
                if self.raw.world().serving().len() > usize::from(servers / 2) + 1 {
                    let answer = self.strike(Fault::LeaderCrash, Victim::Server(leader), None);
                    Done(answer, Some(Effect::Elected(leader)))
                } else {
                    // The other servers cannot elect a leader without it.
                    self.restart(Fault::LeaderCrash, leader, Some(Effect::Settled))
                }
            }
            Command::Heal {} => {
                self.heal();
                Done(json!({}), Some(Effect::Settled))
            }
            Command::Shutdown {} => {
                self.is_shut_down = true;
                json!({}).into()
            }
            Command::Status {} => self.status().into(),
            Command::Tree { path } => self.tree(path.as_deref().unwrap_or("/")).into(),
            Command::Sessions {} => self.sessions().into(),
            Command::Watches {} => self.watches().into(),
            Command::Look {} => json!({}).into(),
            Command::Name { client, name } => {
                let id = self.client(client)?;
                if !self.clients.rename(id, name) {
                    return Err(Refused::new(400, format!("another client has the name {name:?}")));
                }
                self.recorder.write(|journal| journal.name_client(id.0 as u16, name));
                json!({}).into()
            }
            Command::Report(report) => self.report(report)?.into(),
            Command::Process { client, state } => self.process(client, *state)?.into(),
            Command::Quiesce {} => {
                let at = self.raw.now();
                self.recorder.write(|journal| journal.stopped(at));
                json!({}).into()
            }
        })
    }

    // ── clients ──

    /// Finds a client by its name or session id.
    pub(super) fn client(&self, text: &str) -> Result<ClientId, Refused> {
        self.clients.find(text).ok_or_else(|| Refused::new(404, format!("there is no client {text:?}")))
    }

    /// One client, or all clients.
    fn named(&self, text: Option<&str>) -> Result<Vec<ClientId>, Refused> {
        match text {
            Some(text) => Ok(vec![self.client(text)?]),
            None => Ok(self.clients.alive().map(|(id, _)| id).collect()),
        }
    }

    fn wait_for(&mut self, fault: Fault, which: &RequestFilter, delay: u64) -> Result<Value, Refused> {
        let client = which.client.as_deref().map(|text| self.client(text)).transpose()?;
        Ok(json!({ "fault": self.network.wait(fault, client, which, delay) }))
    }

    fn cut_off(&mut self, fault: Fault, what: &TimedFault) -> Result<Value, Refused> {
        let clients = self.named(what.client.as_deref())?;
        for id in &clients {
            self.partition(*id, fault, micros(what.lasts));
        }
        Ok(self.numbers(clients.len()))
    }

    /// Numbers for faults that are injected together.
    fn numbers(&mut self, count: usize) -> Value {
        let numbers: Vec<u64> = (0..count).map(|_| self.network.number()).collect();
        json!({ "faults": numbers })
    }

    /// Ends a session through another connection that closes it, as any program with its password can.
    fn expire(&mut self, client: Option<&str>) -> Result<Done, Refused> {
        let mut last = None;
        let clients = self.named(client)?;
        let server = self.raw.world().leader_of_quorum();
        let Some(server) = server else {
            return Err(Refused::new(400, "no session ends without a leader with a quorum"));
        };
        for id in &clients {
            let session = self.clients.get(*id).session;
            if !self.raw.world().lives(session) {
                continue;
            }
            self.struck(*id, Fault::SessionExpiry, 0);
            let hello = Up::Connect { session, last_zxid: 0, timeout: 0, password: password(session) };
            let conn = self.raw.connect(server, hello);
            self.recorder.opens(conn.0);
            let tag = Tag { req: 0, op: 0, cleanup: true };
            self.raw.send(conn, vec![Up::Request { xid: 1, ask: Ask::CloseSession, tag }]);
            last = Some(Effect::Ended(session));
        }
        Ok(Done(self.numbers(clients.len()), last))
    }

    // ── servers ──

    fn strike(&mut self, fault: Fault, victim: Victim, lasts: Option<Duration>) -> Value {
        self.raw.inject(fault, victim, lasts.map_or(UNTIL_ENDED, micros));
        json!({ "fault": self.network.number() })
    }

    fn restart(&mut self, fault: Fault, server: u8, effect: Option<Effect>) -> Done {
        let victim = Victim::Server(server);
        let answer = self.strike(fault, victim, None);
        self.raw.mend(|of, whom| of == fault && whom == victim);
        Done(answer, effect)
    }

    fn end_crash(&mut self, server: u8) {
        let crashed = |fault| matches!(fault, Fault::ServerCrash | Fault::LeaderCrash);
        self.raw.mend(|fault, victim| crashed(fault) && victim == Victim::Server(server));
    }

    /// Ends all faults.
    fn heal(&mut self) {
        self.network.calm();
        self.raw.calm();
        self.raw.mend(|_, _| true);
        let now = self.raw.now();
        let cut_off: Vec<ClientId> = self
            .clients
            .alive()
            .filter(|(_, client)| client.muted.max(client.deafened) > now)
            .map(|(id, _)| id)
            .collect();
        for id in cut_off {
            let client = self.clients.get_mut(id);
            (client.muted, client.deafened) = (now, now);
        }
        for connection in self.connections.iter_mut().flatten() {
            connection.late_until = connection.late_until.min(now);
        }
        // Packets that were held back are released, and the ends of these faults are recorded.
        let timers = std::mem::take(&mut self.timers);
        self.timers = timers.into_iter().map(|(due, timer)| (due.min(now), timer)).collect();
    }
}
