//! The effects of faults, and their ends. `injection_points` decides when faults are injected.

use super::agenda::rank;
use super::observations::Observation;
use super::{Context, Effect, Step, World};
use crate::choose::Point;
use crate::fault::{Fault, Victim};
use crate::message::ConnId;
use crate::observer::SimEvent;

/// The end of a one-way partition.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocked(u64);

impl Blocked {
    pub(super) fn is_free(self, now: u64) -> bool {
        self.0 <= now
    }

    /// Returns the end, or 0.
    pub(super) fn until(self, now: u64) -> u64 {
        if self.is_free(now) { 0 } else { self.0 }
    }

    /// Returns the remaining time, or 0.
    pub(super) fn left(self, now: u64) -> u64 {
        self.0.saturating_sub(now)
    }

    fn extend(&mut self, until: u64) {
        self.0 = self.0.max(until);
    }
}

/// A fault with a duration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lasting {
    pub(super) fault: Fault,
    pub(super) victim: Victim,
    pub(super) until: u64,
}

/// A part of the ensemble that is stopped until it is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// One direction of a server link, which delays packets.
    Link(u8, u8),
    /// One direction of a server link, which loses packets: the sender retransmits after the release, if the
    /// connection survives.
    Loss(u8, u8),
    /// A server, as if its process were stopped by a signal.
    Server(u8),
    /// The disk of a server: it logs nothing, and so acknowledges nothing.
    Disk(u8),
    /// The apply stage of a server: commits and reads queue.
    Apply(u8),
    /// The commits at the leader itself: all other servers learn of them.
    Commit(u8),
}

impl World {
    /// Starts a hold.
    pub(crate) fn hold(&mut self, hold: Hold) {
        match hold {
            Hold::Link(from, to) => self.server_link_mut(from, to).holds += 1,
            Hold::Loss(from, to) => self.server_link_mut(from, to).holds += 1,
            Hold::Server(id) => self.stopped[usize::from(id)] += 1,
            Hold::Disk(id) => self.members[usize::from(id)].disk_stops += 1,
            Hold::Apply(id) => self.members[usize::from(id)].apply_stops += 1,
            Hold::Commit(id) => self.members[usize::from(id)].commit_stops += 1,
        }
    }

    /// Ends a hold.
    pub(crate) fn let_go(&mut self, hold: Hold, context: &mut Context<'_>) {
        match hold {
            Hold::Link(from, to) => self.release(from, to),
            Hold::Loss(from, to) => {
                self.retransmit(from, to);
                self.release(from, to);
            }
            Hold::Server(id) => {
                self.stopped[usize::from(id)] -= 1;
                if self.stopped[usize::from(id)] == 0 {
                    self.wake_server(id, context);
                }
            }
            Hold::Disk(id) => {
                self.members[usize::from(id)].disk_stops -= 1;
                self.list_member(id);
            }
            Hold::Apply(id) => {
                self.members[usize::from(id)].apply_stops -= 1;
                self.with_member(id, context, |member, env| member.resume_applying(env));
            }
            Hold::Commit(id) => {
                self.members[usize::from(id)].commit_stops -= 1;
                self.with_member(id, context, |member, env| member.unlock(env));
            }
        }
    }

    /// Resumes a paused server. It mostly reads the packets of other servers before those of its clients; whether it
    /// checks its quorum before it answers clients is a race.
    fn wake_server(&mut self, id: u8, context: &mut Context<'_>) {
        let waiting = std::mem::take(&mut self.parked[usize::from(id)]);
        self.with_member(id, context, |member, env| member.wake(env));
        for entry in waiting {
            // The threads of a server resume in no particular order.
            let drawn = u64::from(context.choose(Victim::Server(id), Point::Race, 16));
            let after = match entry.step {
                Step::Packet(..) => drawn * 2,
                // The end of a session precedes further requests of its client.
                Step::Up(conn) if self.is_over_for(conn) => 16 * 20,
                Step::Up(_) => drawn * 20,
                _ => drawn * 5,
            };
            let at = self.now + after;
            match entry.step {
                Step::Server(_) => {
                    let member = &mut self.members[usize::from(id)];
                    (member.paused_until, member.listed) = (at, Some(at));
                    // The reminder may be for a later event; the timers that are due run now.
                    self.agenda.push(at, entry.order, entry.step);
                    continue;
                }
                Step::Election(_) => {
                    self.look_for_a_leader(id, context);
                    continue;
                }
                Step::Up(conn) => self.space_out(conn, at, context),
                _ => {}
            }
            self.agenda.push(at.max(entry.due), entry.order, entry.step);
        }
    }

    /// Returns whether the session of a connection has ended at the leader.
    fn is_over_for(&self, conn: ConnId) -> bool {
        let member = &self.members[usize::from(self.conn(conn).server)];
        let session = member.replica.session_of(conn);
        self.leader().is_some() && session.is_some_and(|session| !self.lives(session))
    }

    /// Crashes the process of a server.
    pub(crate) fn kill(&mut self, id: u8, context: &mut Context<'_>) {
        if !self.members[usize::from(id)].is_down() {
            self.with_member(id, context, |member, env| member.crash(env));
        }
    }

    /// Restarts a crashed server, unless it cannot read its log.
    pub(crate) fn start(&mut self, id: u8, context: &mut Context<'_>) {
        if self.members[usize::from(id)].is_down() && self.can_read_log_of(id) {
            self.with_member(id, context, |member, _| member.role = crate::ensemble::Role::Looking);
        }
    }

    /// Returns whether servers can read what that one has logged.
    pub(super) fn can_read_log_of(&self, id: u8) -> bool {
        !self.config.settings.dies_of_long_closes || self.members[usize::from(id)].log.is_readable()
    }

    /// Returns both directions of a server link.
    fn both_ways(a: u8, b: u8) -> [Hold; 2] {
        [Hold::Link(a, b), Hold::Link(b, a)]
    }

    /// Returns all links of a server.
    fn all_links(&self, id: u8) -> Vec<Hold> {
        (0..self.config.servers)
            .filter(|other| *other != id)
            .flat_map(|other| Self::both_ways(id, other))
            .collect()
    }

    /// Returns the holds of a server fault.
    fn held_by(&self, fault: Fault, victim: Victim) -> Vec<Hold> {
        match (fault, victim) {
            (Fault::LinkHeld, Victim::Link(from, to)) => vec![Hold::Link(from, to)],
            (Fault::PacketsLost, Victim::Link(from, to)) => vec![Hold::Loss(from, to)],
            (Fault::LinkCut, Victim::Link(from, to)) => Self::both_ways(from, to).to_vec(),
            (Fault::ServerPartition, Victim::Server(id)) => self.all_links(id),
            (Fault::ServerPause, Victim::Server(id)) => vec![Hold::Server(id)],
            (Fault::DiskStall, Victim::Server(id)) => vec![Hold::Disk(id)],
            (Fault::ApplyStall, Victim::Server(id)) => vec![Hold::Apply(id)],
            (Fault::CommitStall, Victim::Server(id)) => vec![Hold::Commit(id)],
            _ => Vec::new(),
        }
    }

    /// Injects a server fault now, with a duration.
    pub(crate) fn inflict_on_servers(
        &mut self,
        fault: Fault,
        victim: Victim,
        lasts: u64,
        context: &mut Context<'_>,
    ) {
        self.emit(context, SimEvent::Injected { fault, victim, lasts });
        for hold in self.held_by(fault, victim) {
            self.hold(hold);
        }
        match (fault, victim) {
            (Fault::ServerCrash | Fault::LeaderCrash, Victim::Server(id)) => self.kill(id, context),
            (Fault::ClockJump, Victim::Server(id)) => {
                let jump = i64::from(context.choose(victim, Point::Duration, 64)) - 32;
                self.members[usize::from(id)].clock_offset_ms += jump * 1000;
                return;
            }
            _ => {}
        }
        self.lasts(fault, victim, lasts);
    }

    fn lasts(&mut self, fault: Fault, victim: Victim, lasts: u64) {
        let (id, until) = (self.next_lasting, self.now.saturating_add(lasts));
        self.next_lasting += 1;
        self.lasting.insert(id, Lasting { fault, victim, until });
        self.agenda.push(until, rank::MEND, Step::Mend(id));
    }

    /// Ends all lasting faults that satisfy `which` early, and returns their number.
    pub(crate) fn mend_early(
        &mut self,
        which: impl Fn(Fault, Victim) -> bool,
        context: &mut Context<'_>,
    ) -> usize {
        let found: Vec<u32> = self
            .lasting
            .iter()
            .filter(|(_, lasting)| which(lasting.fault, lasting.victim))
            .map(|(id, _)| *id)
            .collect();
        for id in &found {
            self.mend(*id, context);
        }
        found.len()
    }

    /// Draws no faults from now on. Lasting faults continue.
    pub(crate) fn draw_no_faults(&mut self) {
        self.faults_left = 0;
    }

    /// Ends a lasting fault.
    pub(super) fn mend(&mut self, id: u32, context: &mut Context<'_>) {
        // It may have ended early.
        let Some(Lasting { fault, victim, .. }) = self.lasting.remove(&id) else { return };
        self.emit(context, SimEvent::Mended { fault, victim });
        for hold in self.held_by(fault, victim) {
            self.let_go(hold, context);
        }
        match (fault, victim) {
            (Fault::ServerCrash | Fault::LeaderCrash, Victim::Server(id)) => self.start(id, context),
            (Fault::ClientPause, Victim::Process(process)) => {
                let state = &mut self.processes[usize::from(process)];
                // A pause that began later may last longer.
                if state.paused.is_some_and(|until| until <= self.now) {
                    (state.paused, state.resumed) = (None, Some(self.now));
                    context.effects.push(Effect::Resumed { process });
                    // Packets in its sockets race with the timers of its library.
                    if context.choose(victim, Point::Race, 2) == 1 {
                        self.run_timers(process, context);
                    }
                }
            }
            (Fault::ClockDrift, Victim::Process(process)) => self.set_rate(process, 1000, context),
            _ => {}
        }
    }

    /// Fires the due timers of the sessions of a process.
    fn run_timers(&mut self, process: u8, context: &mut Context<'_>) {
        let now = self.local_time(process);
        for handle in (0..self.sessions.len()).map(|handle| super::HandleId(handle as u16)) {
            let due = self.session(handle).next_timer().is_some_and(|due| due <= now);
            if due && self.process_of(handle) == process {
                self.with_session(handle, context, |session, now, _, out| session.timer(now, out));
            }
        }
    }

    pub(super) fn local_time(&self, process: u8) -> u64 {
        self.processes[usize::from(process)].clock.local_time(self.now)
    }

    fn set_rate(&mut self, process: u8, rate: u64, context: &mut Context<'_>) {
        self.processes[usize::from(process)].clock.set_rate(self.now, rate);
        self.emit(context, SimEvent::Clock { process, rate: rate as u32 });
        // Alarms and timers may be due earlier at the new rate.
        for (id, alarm) in &self.alarms {
            if alarm.process == process {
                let due = self.processes[usize::from(process)].clock.world_time(alarm.due);
                self.agenda.push(due.max(self.now), rank::ALARM + u64::from(*id), Step::Alarm(*id));
            }
        }
        for handle in 0..self.sessions.len() {
            if self.sessions[handle].0 == process {
                self.list_session(super::HandleId(handle as u16));
            }
        }
    }

    /// Injects a fault into a process now, with a duration.
    pub(crate) fn inflict(&mut self, process: u8, fault: Fault, lasts: u64, context: &mut Context<'_>) {
        let now = self.now;
        let state = &mut self.processes[usize::from(process)];
        if state.crashed {
            return;
        }
        let victim = Victim::Process(process);
        if fault == Fault::Cancel {
            self.record(process, Observation::Cancelled);
        }
        let state = &mut self.processes[usize::from(process)];
        match fault {
            Fault::ClientPause => {
                let until = now + lasts;
                if state.paused.is_none() {
                    context.effects.push(Effect::Paused { process });
                }
                state.paused = Some(state.paused.map_or(until, |before| before.max(until)));
            }
            Fault::ClientMuted => state.muted.extend(now + lasts),
            Fault::ClientDeafened => state.deafened.extend(now + lasts),
            Fault::ClientPartition | Fault::SessionExpiry => {
                state.muted.extend(now + lasts);
                state.deafened.extend(now + lasts);
            }
            Fault::Cancel => context.effects.push(Effect::Cancelled { process }),
            _ => {}
        }
        self.emit(context, SimEvent::Injected { fault, victim, lasts });
        match fault {
            Fault::ClientCrash => self.crash(process, context),
            Fault::ClockDrift => {
                // Up to a tenth fast or slow.
                let drawn = u64::from(context.choose(victim, Point::Duration, 20));
                let rate = if drawn < 10 { 1100 - 10 * drawn } else { 990 - 10 * (drawn - 10) };
                self.set_rate(process, rate, context);
            }
            _ => {}
        }
        if lasts > 0 {
            self.lasts(fault, victim, lasts);
        }
    }

    fn crash(&mut self, process: u8, context: &mut Context<'_>) {
        self.processes[usize::from(process)].crashed = true;
        self.alarms.retain(|_, alarm| alarm.process != process);
        self.emit(context, SimEvent::Crashed { process });
        // The kernel closes the sockets of the dead process; earlier writes still arrive.
        let own = |handle: &Option<super::HandleId>| handle.is_some_and(|of| self.process_of(of) == process);
        let ids: Vec<ConnId> = self
            .conns
            .iter()
            .filter(|(_, conn)| conn.client_open && own(&conn.handle))
            .map(|(id, _)| id)
            .collect();
        for id in ids {
            self.close_from_client(id, context);
        }
        context.effects.push(Effect::Crashed { process });
    }

    /// Ends fault injection early; lasting faults run out.
    pub(crate) fn heal(&mut self) {
        self.config.hostile_until = self.now;
        self.faults_left = 0;
        self.ending = true;
    }
}
