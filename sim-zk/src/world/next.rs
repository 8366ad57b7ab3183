//! The choice of the next event by time, and its execution.

use super::agenda::{Entry, rank};
use super::observations::Observation;
use super::{Context, Effect, HandleId, Step, World};
use crate::fault::InjectionPoint;
use crate::observer::SimEvent;

/// The state of a reminder at its due time.
pub(super) enum Reminder {
    /// The event is due.
    Holds,
    /// The event is cancelled, or has another reminder.
    Off,
    /// The event is postponed.
    PutOff(u64),
}

impl Reminder {
    /// Evaluates a reminder for `due` whose event is due at `at`.
    pub(super) fn at(at: u64, due: u64) -> Self {
        if at > due { Reminder::PutOff(at) } else { Reminder::Holds }
    }
}

impl Step {
    /// Returns a number that identifies the step.
    fn code(self) -> u64 {
        let (kind, which) = match self {
            Step::Up(conn) => (1, u64::from(conn.0)),
            Step::Down(conn) => (2, u64::from(conn.0)),
            Step::Timer(handle) => (3, u64::from(handle.0)),
            Step::Alarm(id) => (4, u64::from(id)),
            Step::Server(id) => (5, u64::from(id)),
            Step::Mend(id) => (6, u64::from(id)),
            Step::Heal => (7, 0),
            Step::Packet(from, to) => (8, u64::from(from) << 8 | u64::from(to)),
            Step::Election(id) => (9, u64::from(id)),
        };
        kind << 60 ^ which
    }

    /// Returns the server that performs the step.
    fn server(self, world: &World) -> Option<u8> {
        match self {
            Step::Up(conn) => Some(world.conn(conn).server),
            Step::Packet(_, id) | Step::Server(id) | Step::Election(id) => Some(id),
            _ => None,
        }
    }
}

impl World {
    /// Returns the next event and its time; `None` if there is none.
    pub fn next_step(&mut self) -> Option<(u64, Step)> {
        let entry = loop {
            let Some(entry) = self.agenda.first() else { break None };
            if self.holds(entry) {
                break Some(entry);
            }
        };
        let heal = self.heal_due().map(|due| Entry { due, order: rank::HEAL, step: Step::Heal });
        let first = [entry, heal].into_iter().flatten().min()?;
        Some((first.due.max(self.now), first.step))
    }

    /// Returns the end of fault injection, unless a fault still lasts.
    pub(super) fn heal_due(&self) -> Option<u64> {
        let over = self.hostile && self.lasting.is_empty();
        over.then_some(if self.faults_left == 0 { self.now } else { self.config.hostile_until })
    }

    /// Returns whether the first reminder still holds; otherwise removes it, and adds it again if the event is
    /// postponed.
    pub(super) fn holds(&mut self, entry: Entry) -> bool {
        let Entry { due, order, step } = entry;
        // A paused server handles its events after it resumes.
        if let Some(server) = step.server(self)
            && self.stopped[usize::from(server)] > 0
        {
            self.agenda.pop();
            self.parked[usize::from(server)].push_back(entry);
            return false;
        }
        let verdict = match step {
            Step::Up(conn) => self.up_is_due(conn, due, order),
            Step::Down(conn) => self.down_is_due(conn, due, order),
            Step::Packet(from, to) => self.packet_is_due(from, to, order),
            Step::Timer(handle) => self.timer_is_due(handle, due),
            Step::Alarm(id) => self.alarm_is_due(id, due),
            Step::Server(id) => self.member_is_due(id, due),
            Step::Election(id) if !self.election_is_due(id, due) => Reminder::Off,
            Step::Election(_) | Step::Mend(_) | Step::Heal => Reminder::Holds,
        };
        match verdict {
            Reminder::Holds => return true,
            Reminder::Off => {
                self.agenda.pop();
                match step {
                    Step::Timer(handle) => _ = self.listed[usize::from(handle.0)].take_if(|at| *at == due),
                    Step::Server(id) => _ = self.members[usize::from(id)].listed.take_if(|at| *at == due),
                    _ => {}
                }
            }
            Reminder::PutOff(later) => {
                self.agenda.pop();
                self.agenda.push(later, order, step);
                match step {
                    Step::Timer(handle) => self.listed[usize::from(handle.0)] = Some(later),
                    Step::Server(id) => self.members[usize::from(id)].listed = Some(later),
                    _ => {}
                }
            }
        }
        false
    }

    fn timer_is_due(&self, handle: HandleId, due: u64) -> Reminder {
        if self.listed[usize::from(handle.0)] != Some(due) {
            return Reminder::Off;
        }
        let state = &self.processes[usize::from(self.process_of(handle))];
        match self.session(handle).next_timer() {
            Some(local) if !state.crashed => {
                Reminder::at(state.clock.world_time(local).max(state.paused.unwrap_or(0)), due)
            }
            // A session that is over has no timers.
            _ => Reminder::Off,
        }
    }

    /// Lists the timer of a session if it is due earlier than listed.
    pub(super) fn list_session(&mut self, handle: HandleId) {
        let process = self.process_of(handle);
        let state = &self.processes[usize::from(process)];
        let Some(local) = self.session(handle).next_timer() else { return };
        let due = state.clock.world_time(local);
        let listed = &mut self.listed[usize::from(handle.0)];
        if listed.is_none_or(|listed| due < listed) {
            *listed = Some(due);
            self.agenda.push(due, rank::TIMER + u64::from(handle.0), Step::Timer(handle));
        }
    }

    fn alarm_is_due(&self, id: u32, due: u64) -> Reminder {
        let Some(alarm) = self.alarms.get(&id) else { return Reminder::Off };
        let process = &self.processes[usize::from(alarm.process)];
        if process.crashed {
            return Reminder::Off;
        }
        Reminder::at(process.clock.world_time(alarm.due).max(process.paused.unwrap_or(0)), due)
    }

    /// Performs a step.
    pub(crate) fn perform(&mut self, at: u64, step: Step, context: &mut Context<'_>) {
        assert!(at >= self.now, "time does not go back");
        self.now = at;
        self.steps += 1;
        for word in [at, step.code()] {
            self.fingerprint = (self.fingerprint ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.fingerprint ^= self.fingerprint >> 29;
        }
        if step != Step::Heal && !self.config.is_interleaving() {
            let entry = self.agenda.pop().expect("what happens next was listed");
            assert_eq!(entry.step, step, "what is done is what comes next");
        }
        match step {
            Step::Up(conn) => self.deliver_up(conn, context),
            Step::Down(conn) => self.deliver_down(conn, context),
            Step::Packet(from, to) => self.deliver_packet(from, to, context),
            Step::Timer(handle) => {
                self.listed[usize::from(handle.0)] = None;
                self.with_session(handle, context, |session, now, _, out| session.timer(now, out));
            }
            Step::Alarm(id) => self.ring(id, context),
            Step::Server(id) => {
                self.members[usize::from(id)].listed = None;
                self.with_member(id, context, |member, env| member.timer(env));
            }
            Step::Election(id) => self.elect(id, context),
            Step::Mend(id) => self.mend(id, context),
            Step::Heal => {
                self.hostile = false;
                self.emit(context, SimEvent::Healed);
            }
        }
    }

    fn ring(&mut self, id: u32, context: &mut Context<'_>) {
        let process = self.alarms[&id].process;
        if self.inject_on_arrival(InjectionPoint::Arrival, process, None, context) {
            // The alarm goes off later, or never.
            if self.alarms.contains_key(&id) {
                self.agenda.push(self.now, rank::ALARM + u64::from(id), Step::Alarm(id));
            }
            return;
        }
        if let Some(alarm) = self.alarms.remove(&id) {
            self.record(process, Observation::Rang(alarm.number));
        }
        context.effects.push(Effect::Rang { alarm: id });
    }
}
