//! The events of clients: notifications, session states, faults.

use super::{Moment, Phase, View};
use crate::history::{
    Conn, FaultKind, Notify, OpId, Session, SessionState, Sym, Tables, Verb, Victim, Who, Why,
};

/// Whether a fault pauses a process, injected or not.
fn as_fault(kind: FaultKind) -> FaultKind {
    if kind == FaultKind::SlowProcess { FaultKind::ClientPause } else { kind }
}

impl View {
    pub(super) fn noticed(&mut self, who: Who, session: Session, kind: Notify, path: Sym) {
        let waker = self.notice(session, kind, path);
        self.woken = waker;
        let Who::Client(client) = who else { return };
        if waker == OpId(0) {
            for at in 0..self.client(client).open.len() {
                let id = self.client(client).open[at];
                self.ops[id.0 as usize].wakes += 1;
            }
        } else if self.op(waker).phase != Phase::Unborn {
            self.ops[waker.0 as usize].wakes += 1;
        }
        if kind == Notify::Deleted {
            self.znode_gone(client, path);
        }
    }

    pub(super) fn state(
        &mut self,
        tables: Tables<'_>,
        who: Who,
        session: Session,
        state: SessionState,
        on: (Conn, u8),
    ) {
        let now = self.now;
        self.moves(session, state, on.0, on.1);
        let unstruck = matches!(who, Who::Client(client) if !self.is_sim() && self.is_unstruck(client));
        let view = self.session_mut(session);
        if let Who::Client(client) = who {
            view.client = Some(client);
        }
        match state {
            SessionState::Connected => {
                view.connected = now;
                view.is_suspended = false;
                if let Who::Client(client) = who {
                    self.client_mut(client).session = session;
                }
                self.session_connected(session);
            }
            SessionState::Suspended => {
                view.suspended = now;
                view.is_suspended = true;
                view.broke_unstruck = unstruck;
                view.undelivered = 0;
                self.session_suspended(tables, session);
                self.disturb_session(who, session);
            }
            SessionState::Expired | SessionState::Closed => {
                if !view.known_over.came() {
                    // The cause of the loss was decided at the disconnect before it.
                    view.broke_unstruck &= view.is_suspended;
                    view.broke_unstruck |= unstruck && state == SessionState::Expired && !view.is_suspended;
                    view.known_over = now;
                }
                self.excusable |= state == SessionState::Expired;
                self.session_over(session);
                self.disturb_session(who, session);
            }
        }
    }

    fn disturb_session(&mut self, who: Who, session: Session) {
        let Who::Client(client) = who else { return };
        let current = self.client(client).session;
        if current == session || current == Session(0) {
            self.disturb_client(client);
        }
    }

    fn disturb_client(&mut self, client: u16) {
        let Some(client) = self.clients.get(usize::from(client)) else { return };
        for id in client.open.iter().chain(&client.releases) {
            self.ops[id.0 as usize].disturb();
        }
    }

    /// Marks every open operation as disturbed.
    pub(super) fn disturb_all(&mut self) {
        (0..self.clients.len()).for_each(|client| self.disturb_client(client as u16));
    }

    pub(super) fn disturb(&mut self, op: OpId) {
        if self.op(op).phase != Phase::Unborn {
            self.ops[op.0 as usize].disturb();
        }
    }

    pub(super) fn fault(&mut self, who: Who, kind: FaultKind, victim: Victim, lasts: u64) {
        let now = self.now;
        let kind = as_fault(kind);
        self.strikes(kind, victim, lasts);
        self.calm_since = self.calm_since.max(now.at.saturating_add(lasts));
        let Victim::Process { client } = victim else {
            // Operations in flight may be delayed by that server or link.
            self.disturb_all();
            return self.trouble(kind, victim, lasts, true);
        };
        self.disturb_client(client);
        match kind {
            FaultKind::ClockDrift => {
                self.client_mut(client).drifts = now;
                self.excusable = true;
            }
            FaultKind::ClientPause => {
                let settle = self.settle;
                let stopped = self.client_mut(client);
                stopped.pauses += 1;
                // A process that is paused again before it can act counts as paused throughout.
                let (begin, end) = stopped.last_pause;
                let at_once = end.came() && now.at <= end.at.saturating_add(settle);
                if !stopped.is_paused() {
                    stopped.stopped = now;
                    stopped.paused = if at_once { begin } else { now };
                }
                self.excusable = true;
            }
            FaultKind::ForeignDelete => {
                self.foreign_due += u32::from(self.is_due(who));
                self.excusable = true;
            }
            FaultKind::SessionExpiry => self.excusable = true,
            _ => {}
        }
    }

    pub(super) fn mended(&mut self, tables: Tables<'_>, kind: FaultKind, victim: Victim) {
        let now = self.now;
        let kind = as_fault(kind);
        let paused = match victim {
            Victim::Process { client } => self.client(client).paused,
            Victim::Server { .. } | Victim::Link { .. } => Moment::NEVER,
        };
        self.spares(kind, victim, paused);
        self.calm_since = self.calm_since.max(now.at);
        let Victim::Process { client } = victim else { return self.trouble(kind, victim, 0, false) };
        if kind != FaultKind::ClientPause {
            return;
        }
        let is_sim = self.is_sim();
        let paused = self.client_mut(client);
        let begin = paused.paused;
        // On a real ensemble, a ping is answered in any gap between two stalls, and a capture does not show it.
        let silent = if is_sim { begin } else { paused.stopped };
        paused.pauses = paused.pauses.saturating_sub(1);
        if begin.came() && paused.pauses == 0 {
            paused.paused = Moment::NEVER;
            paused.last_pause = (begin, now);
            self.resume(tables, client, begin, silent);
        }
    }

    pub(super) fn crash(&mut self, number: u16) {
        let now = self.now;
        self.calm_since = self.calm_since.max(now.at);
        let client = self.client_mut(number);
        client.died = now;
        client.paused = Moment::NEVER;
        let releases = std::mem::take(&mut client.releases);
        let (open, holds) = (client.open.clone(), client.holds.clone());
        for id in open.into_iter().chain(releases) {
            if self.op(id).verb != Verb::Release {
                self.leave(id);
            }
            let op = &mut self.ops[id.0 as usize];
            (op.phase, op.over) = (Phase::Dead, now);
            let object = op.object;
            self.contests[usize::from(object.0)].deaths += 1;
        }
        holds.into_iter().for_each(|id| self.end_hold(id, Why::Crashed));
    }
}
