//! Interleaving mode: everything in flight can happen now, and the next event is a choice.
//!
//! 1. Events that commute with all others happen at once, without a choice: the end of a lasting fault, timers of
//!    servers, pings and their replies, session creation, hanging up, the end of fault injection. So do other
//!    replies, unless they may be late: a client reacts to a reply by a request, and that request can be late anyway.
//!    Only the duration of client operations differs, and it shows where replies may be late.
//! 2. Among the other due events (heads of streams, timers, alarms) the next one is chosen at [`Point::Next`]; the
//!    oldest is alternative 0.
//! 3. If nothing is due, time passes until the next timer. During fault injection it may also pass while packets are
//!    in flight, at the cost of one fault: that is one more alternative.
//! 4. When the last client has finished nothing can race: the rest happens client by client.

use super::agenda::Entry;
use super::{Context, Step, World};
use crate::choose::Point;
use crate::config::{Reorderings, Scheduling};
use crate::ensemble::PING;
use crate::message::{Ask, ConnId, Down, Up};

impl World {
    /// Returns the next event and its time; `None` if there is none.
    pub(crate) fn next_interleaved(&mut self, context: &mut Context<'_>) -> Option<(u64, Step)> {
        let mut open = std::mem::take(&mut self.open);
        let next = self.gather(&mut open).or_else(|| self.choose_next(&mut open, context));
        for entry in open.drain(..) {
            self.agenda.push(entry.due, entry.order, entry.step);
        }
        self.open = open;
        next
    }

    /// Takes all due events off the agenda. Steps 1 and 3: returns the event that happens without a choice.
    fn gather(&mut self, open: &mut Vec<Entry>) -> Option<(u64, Step)> {
        let mut until = None;
        while let Some(entry) = self.agenda.first() {
            if !self.holds(entry) {
                continue;
            }
            let until = *until.get_or_insert(entry.due.max(self.now));
            let heal = self.heal_due().map(|due| due.max(self.now));
            if let Some(heal) = heal.filter(|due| *due <= until) {
                return Some((heal, Step::Heal));
            }
            if entry.due > until {
                break;
            }
            self.agenda.pop();
            open.push(entry);
        }
        if !open.is_empty() {
            let at_once = (0..open.len()).filter(|index| self.commutes(open[*index].step));
            let entry = open.remove(at_once.min_by_key(|index| self.rank_of_step(open[*index].step))?);
            return Some((entry.due.max(self.now), entry.step));
        }
        self.heal_due().map(|due| (due.max(self.now), Step::Heal))
    }

    /// Returns whether the event commutes with all others that are due.
    fn commutes(&self, step: Step) -> bool {
        match step {
            Step::Mend(_) | Step::Server(_) | Step::Heal => true,
            Step::Up(conn) => match self.conn(conn).up.next() {
                Some(Up::Request { ask, .. }) => *ask == Ask::Ping,
                // The timer of the client has already chosen the time of the connect, and no code reads behind the end
                // of a stream.
                Some(Up::Connect { .. } | Up::Unreadable | Up::Fin) | None => true,
            },
            Step::Down(conn) => self.answers_at_once(conn),
            Step::Timer(handle) => {
                self.session(handle).only_pings_or_begins(self.local_time(self.process_of(handle)))
            }
            Step::Packet(..) | Step::Alarm(_) | Step::Election(_) => false,
        }
    }

    /// Returns whether the next packet from the server reaches the client at once.
    fn answers_at_once(&self, conn: ConnId) -> bool {
        if matches!(self.conn(conn).down.next(), Some(Down::Reply { xid: PING, .. })) {
            return true;
        }
        let may_be_late = matches!(
            self.config.scheduling,
            Scheduling::Interleaving(Reorderings { late_answers: true, .. })
        );
        let Some(process) = self.conn(conn).handle.map(|handle| self.process_of(handle)) else { return true };
        let now = self.local_time(process);
        let may_act = |alarm: &super::Alarm| alarm.process == process && alarm.due <= now;
        !may_be_late && !self.alarms.values().any(may_act)
    }

    /// Step 2: chooses among the due events.
    fn choose_next(&mut self, open: &mut Vec<Entry>, context: &mut Context<'_>) -> Option<(u64, Step)> {
        if open.is_empty() {
            return None;
        }
        if self.ending {
            open.sort_by_key(|entry| self.rank_of_step(entry.step));
        }
        let count = if self.ending { 1 } else { open.len() };
        let later = self.agenda.first().filter(|_| self.may_overtake(open));
        let alternatives = count + usize::from(later.is_some());
        let chosen = match alternatives {
            1 => 0,
            _ => context.chooser.choose(Point::Next, alternatives as u32) as usize,
        };
        let entry = match later {
            Some(later) if chosen == count => {
                self.faults_left -= 1;
                self.agenda.pop();
                later
            }
            _ => open.remove(chosen),
        };
        Some((entry.due.max(self.now), entry.step))
    }

    /// Orders events for steps 1 and 4: ends of faults first, then client by client, independent of the past.
    fn rank_of_step(&self, step: Step) -> (bool, u8, Step) {
        let handle = match step {
            Step::Up(conn) | Step::Down(conn) => self.conn(conn).handle,
            Step::Timer(handle) => Some(handle),
            _ => None,
        };
        let alarm = |id| self.alarms.get(&id).map(|alarm| alarm.process);
        let process = match step {
            Step::Alarm(id) => alarm(id),
            _ => handle.map(|handle| self.process_of(handle)),
        };
        (!matches!(step, Step::Mend(_)), process.unwrap_or(u8::MAX), step)
    }

    /// Returns whether time may pass while packets are in flight.
    fn may_overtake(&self, open: &[Entry]) -> bool {
        matches!(self.config.scheduling, Scheduling::Interleaving(Reorderings { overtaking: true, .. }))
            && self.hostile
            && self.faults_left > 0
            && open.iter().any(|entry| entry.due <= self.now)
    }
}
