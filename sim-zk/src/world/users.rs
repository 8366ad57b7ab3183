//! The interface of client code to the world.

use super::agenda::rank;
use super::{Alarm, Context, Effect, HandleId, Process, Step, World};
use crate::choose::Point;
use crate::fault::Victim;
use crate::injected_bug::InjectedBug;
use crate::message::{Answer, Ask, Tag};
use crate::observer::SimEvent;
use crate::server::kind_of;
use crate::session::{Answered, ClientFlaws, ClientSession, Failure, Out, Servers};
use zk_recipes::zk::Over;

impl World {
    /// Starts a client process. There are at most 255.
    pub(crate) fn begin(&mut self, context: &mut Context<'_>) -> u8 {
        let process = u8::try_from(self.processes.len()).expect("at most 255 client processes");
        self.processes.push(Process::default());
        self.emit(context, SimEvent::Began { process });
        process
    }

    /// Opens a session of a process.
    pub(crate) fn open(&mut self, process: u8, timeout: u64, context: &mut Context<'_>) -> HandleId {
        let handle = HandleId(u16::try_from(self.sessions.len()).expect("at most 65,535 sessions in a run"));
        let now = self.local_time(process);
        let servers = self.config.servers;
        // Clients shuffle their server list; the choice is the first server and the direction.
        let drawn = context.choose(Victim::Process(process), Point::Server, u32::from(servers) * 2) as u8;
        let first = (process + drawn / 2) % servers;
        let session = ClientSession::new(timeout, Servers::new(servers, first, drawn % 2 == 1), now)
            .with(ClientFlaws(self.config.injected_bug));
        self.sessions.push((process, session));
        self.listed.push(None);
        self.list_session(handle);
        handle
    }

    /// Sets the operation to which further requests of the process belong.
    pub(crate) fn set_op(&mut self, process: u8, op: u32) {
        self.processes[usize::from(process)].op = op;
    }

    pub(crate) fn op(&self, process: u8) -> u32 {
        self.processes[usize::from(process)].op
    }

    /// Sends a request, or queues it until a connection is open. `cleanup` names the operation whose clean-up duty it
    /// serves.
    pub(crate) fn ask(
        &mut self,
        handle: HandleId,
        ask: Ask,
        cleanup: Option<u32>,
        ticket: Option<u32>,
        watch: Option<u32>,
        context: &mut Context<'_>,
    ) {
        let process = self.process_of(handle);
        if self.is_crashed(process) {
            return;
        }
        if ask == Ask::CloseSession && self.unconnected_close(handle, ticket, context) {
            return;
        }
        let tag = self.tag(process, cleanup);
        self.emit_sent(process, &ask, tag, context);
        let silently =
            self.config.injected_bug == Some(InjectedBug::ClosesSilently) && ask == Ask::CloseSession;
        self.with_session(handle, context, |session, now, _, out| match (session.conn(), ticket) {
            (Some(conn), Some(ticket)) if silently => {
                let result = Ok(Answer::Nothing);
                out.push(Out::Close(conn));
                out.push(Out::Answered(Answered { ticket, result, tag, zxid: None, conn: None }));
                session.end(Over::Closed, out);
            }
            _ => session.ask(now, ask, tag, ticket, watch, out),
        });
    }

    pub(super) fn tag(&mut self, process: u8, cleanup: Option<u32>) -> Tag {
        let req = self.next_req;
        self.next_req += 1;
        Tag { req, op: cleanup.unwrap_or(self.op(process)), cleanup: cleanup.is_some() }
    }

    pub(super) fn emit_sent(&mut self, process: u8, ask: &Ask, tag: Tag, context: &mut Context<'_>) {
        let Tag { req, op, cleanup } = tag;
        let watch = ask.arms().is_some();
        let sent = SimEvent::Sent { process, req, op, kind: kind_of(ask), path: ask.path(), watch, cleanup };
        self.emit(context, sent);
        if let Some(version) = ask.expected_version() {
            self.emit(context, SimEvent::Expected { process, op, version });
        }
    }

    pub(super) fn unconnected_close(
        &mut self,
        handle: HandleId,
        ticket: Option<u32>,
        context: &mut Context<'_>,
    ) -> bool {
        let mut closed = false;
        self.with_session(handle, context, |session, _, _, out| closed = session.close_unconnected(out));
        if closed && let Some(ticket) = ticket {
            context.effects.push(Effect::Answered { ticket, result: Err(Failure::ConnectionLoss) });
        }
        closed
    }

    /// Drops a watch that client code no longer awaits.
    pub(crate) fn drop_watch(&mut self, handle: HandleId, watch: u32, context: &mut Context<'_>) {
        let process = self.process_of(handle);
        if self.is_crashed(process) {
            return;
        }
        let op = self.op(process);
        let tag =
            if self.session(handle).drop_sends(watch) { self.tag(process, Some(op)) } else { Tag::default() };
        self.with_session(handle, context, |session, now, _, out| session.drop_watch(now, watch, tag, out));
    }

    /// Sets an alarm for the time at which the clock of the process shows `due`.
    pub(crate) fn set_alarm(&mut self, process: u8, id: u32, due: u64) {
        let state = &mut self.processes[usize::from(process)];
        state.alarms += 1;
        self.alarms.insert(id, Alarm { due, process, number: state.alarms });
        let due = self.processes[usize::from(process)].clock.world_time(due);
        self.agenda.push(due, rank::ALARM + u64::from(id), Step::Alarm(id));
    }

    pub(crate) fn drop_alarm(&mut self, id: u32) {
        self.alarms.remove(&id);
    }
}
