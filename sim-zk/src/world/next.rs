//! What can happen next, and doing it.

use super::{Company, Effect, HandleId, Step, World};
use crate::fault::Fault;
use crate::message::{Down, Up};
use crate::server::ConnId;
use crate::witness::Happening;

impl Step {
    /// The step as a number that no other step has.
    fn code(self) -> u64 {
        let (kind, which) = match self {
            Step::Up(conn) => (1, u64::from(conn.0)),
            Step::Down(conn) => (2, u64::from(conn.0)),
            Step::Timer(handle) => (3, u64::from(handle.0)),
            Step::Alarm(index) => (4, index as u64),
            Step::Expire => (5, 0),
            Step::Mend(process, fault) => (6, u64::from(process) << 8 | fault as u64),
            Step::Heal => (7, 0),
        };
        kind << 61 ^ which
    }
}

impl World {
    /// What happens next, and when; `None` if nothing ever will.
    pub fn next(&self) -> Option<(u64, Step)> {
        let mut first: Option<(u64, u64, Step)> = None;
        self.each_enabled(|due, order, step| {
            if first.is_none_or(|(at, before, _)| (due, order) < (at, before)) {
                first = Some((due, order, step));
            }
        });
        first.map(|(due, _, step)| (due.max(self.now), step))
    }

    /// Everything that can happen next, with the time when it would by the clock, and its rank among equals.
    pub(super) fn each_enabled(&self, mut each: impl FnMut(u64, u64, Step)) {
        for id in &self.live {
            let conn = &self.conns[id.0 as usize];
            let process = &self.processes[usize::from(self.process_of(conn.handle))];
            let cut = process.cut_until.unwrap_or(0);
            if let Some((due, order, _)) = conn.up.front() {
                each((*due).max(cut), *order, Step::Up(*id));
            }
            if let Some((due, order, _)) = conn.down.front() {
                let stalled = cut.max(process.paused_until.unwrap_or(0));
                each((*due).max(stalled), *order, Step::Down(*id));
            }
        }
        // Whatever has no sequence number of its own comes after the packets of the same instant.
        let late = 1 << 63;
        for (index, (process, session)) in self.sessions.iter().enumerate() {
            let process = &self.processes[usize::from(*process)];
            if process.crashed {
                continue;
            }
            if let Some(due) = session.next_timer() {
                let due = due.max(process.paused_until.unwrap_or(0));
                each(due, late + index as u64, Step::Timer(HandleId(index as u16)));
            }
        }
        for (index, alarm) in self.alarms.iter().enumerate() {
            let process = &self.processes[usize::from(alarm.process)];
            if !process.crashed {
                let due = alarm.due.max(process.paused_until.unwrap_or(0));
                each(due, late + (1 << 32) + u64::from(alarm.id), Step::Alarm(index));
            }
        }
        if let Some(due) = self.leader.next_expiry() {
            each(due, late + (2 << 32), Step::Expire);
        }
        let mut lasting = false;
        for (process, state) in (0u8..).zip(&self.processes) {
            if let Some(due) = state.paused_until {
                lasting = true;
                each(due, 0, Step::Mend(process, Fault::ClientPause));
            }
            if let Some(due) = state.cut_until {
                lasting = true;
                each(due, 0, Step::Mend(process, Fault::SessionExpiry));
            }
        }
        if self.hostile && !lasting {
            let due = if self.faults_left == 0 { self.now } else { self.config.hostile_until };
            each(due, late + (3 << 32), Step::Heal);
        }
    }

    /// Does it.
    pub(crate) fn perform(&mut self, at: u64, step: Step, company: &mut Company<'_>) {
        assert!(at >= self.now, "time does not go back");
        self.now = at;
        self.steps += 1;
        for word in [at, step.code()] {
            self.fingerprint = (self.fingerprint ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.fingerprint ^= self.fingerprint >> 29;
        }
        match step {
            Step::Up(conn) => self.deliver_up(conn, company),
            Step::Down(conn) => self.deliver_down(conn, company),
            Step::Timer(handle) => {
                self.with_session(handle, company, |session, now, out| session.timer(now, out));
            }
            Step::Alarm(index) => {
                if self.strike_arrival(self.alarms[index].process, company) {
                    return;
                }
                let alarm = self.alarms.swap_remove(index);
                company.effects.push(Effect::Rang { alarm: alarm.id });
            }
            Step::Expire => self.with_server(company, |server, leader, scene| server.expire(leader, scene)),
            Step::Mend(process, fault) => self.mend(process, fault, company),
            Step::Heal => {
                self.hostile = false;
                self.tell(company, Happening::Healed);
            }
        }
    }

    pub(super) fn mend(&mut self, process: u8, fault: Fault, company: &mut Company<'_>) {
        let state = &mut self.processes[usize::from(process)];
        match fault {
            Fault::ClientPause => {
                state.paused_until = None;
                company.effects.push(Effect::Resumed { process });
            }
            _ => state.cut_until = None,
        }
        self.tell(company, Happening::Mended { fault, process });
    }

    pub(super) fn deliver_up(&mut self, id: ConnId, company: &mut Company<'_>) {
        let conn = &mut self.conns[id.0 as usize];
        let (_, _, packet) = conn.up.pop_front().expect("the step was enabled");
        if !conn.server_open {
            self.bury(id);
            return;
        }
        if packet == Up::Fin {
            conn.server_open = false;
        }
        self.with_server(company, |server, leader, scene| server.receive(leader, id, packet, scene));
        self.bury(id);
    }

    pub(super) fn deliver_down(&mut self, id: ConnId, company: &mut Company<'_>) {
        let conn = &mut self.conns[id.0 as usize];
        let handle = conn.handle;
        let process = self.sessions[usize::from(handle.0)].0;
        let noteworthy = match conn.down.front().expect("the step was enabled").2 {
            Down::Reply { xid, .. } => xid != -2,
            Down::Notify { .. } => true,
            Down::Connected { .. } | Down::Fin => false,
        };
        if noteworthy && conn.client_open && self.strike_arrival(process, company) {
            // Whatever struck, the packet is still on its way, and comes later or never.
            return;
        }
        let conn = &mut self.conns[id.0 as usize];
        let (_, _, packet) = conn.down.pop_front().expect("the step was enabled");
        if conn.client_open {
            self.with_session(handle, company, |session, now, out| session.receive(now, id, packet, out));
        }
        self.bury(id);
    }

    /// Forgets a connection on which nothing can happen any more.
    pub(super) fn bury(&mut self, id: ConnId) {
        let conn = &self.conns[id.0 as usize];
        if conn.up.is_empty() && conn.down.is_empty() && !conn.client_open && !conn.server_open {
            self.live.retain(|live| *live != id);
        }
    }
}
