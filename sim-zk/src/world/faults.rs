//! Faults: where they strike, and what they do.

use super::{Company, Effect, World};
use crate::choose::Point;
use crate::fault::{Fault, Place};
use crate::server::ConnId;
use crate::witness::Happening;

impl World {
    pub(super) fn strike(&mut self, place: Place, process: u8, company: &mut Company<'_>) -> Option<Fault> {
        let fault = self.ordered(place, process).or_else(|| self.drawn(place, company))?;
        if !matches!(fault, Fault::ClientPause | Fault::SessionExpiry) {
            self.tell(company, Happening::Struck { fault, process, lasts: 0 });
        }
        Some(fault)
    }

    pub(super) fn ordered(&mut self, place: Place, process: u8) -> Option<Fault> {
        self.processes[usize::from(process)].ordered.take_if(|fault| place.faults().contains(fault))
    }

    pub(super) fn drawn(&mut self, place: Place, company: &mut Company<'_>) -> Option<Fault> {
        if !self.hostile || self.faults_left == 0 {
            return None;
        }
        let faults = place.faults();
        let chosen = company.chooser.choose(Point::Fault(place), faults.len() as u32 + 1);
        let fault = *faults.get((chosen as usize).checked_sub(1)?)?;
        self.faults_left -= 1;
        Some(fault)
    }

    /// Orders a fault: it strikes the process at the next place where it fits.
    pub(crate) fn order(&mut self, process: u8, fault: Fault) {
        self.processes[usize::from(process)].ordered = Some(fault);
    }

    /// A fault that strikes a client as something is about to reach it. Says whether that has to wait.
    pub(super) fn strike_arrival(&mut self, process: u8, company: &mut Company<'_>) -> bool {
        let Some(fault) = self.strike(Place::Arrival, process, company) else { return false };
        let timeout = self
            .sessions
            .iter()
            .filter(|(of, session)| *of == process && !session.is_over())
            .map(|(_, session)| session.sound_timeout())
            .max()
            .unwrap_or(self.config.tick * 2);
        match fault {
            Fault::ClientPause => {
                // A quarter of the session's timeout to twice as long.
                let lasts = timeout * (1 + u64::from(company.chooser.choose(Point::Duration, 8))) / 4;
                self.processes[usize::from(process)].paused_until = Some(self.now + lasts);
                self.tell(company, Happening::Struck { fault, process, lasts });
                company.effects.push(Effect::Paused { process });
                true
            }
            // Cut off already.
            Fault::SessionExpiry if self.processes[usize::from(process)].cut_until.is_some() => false,
            Fault::SessionExpiry => {
                let more = timeout * u64::from(company.chooser.choose(Point::Duration, 8)) / 8;
                let lasts = timeout + 2 * self.config.tick + more;
                self.processes[usize::from(process)].cut_until = Some(self.now + lasts);
                self.tell(company, Happening::Struck { fault, process, lasts });
                true
            }
            Fault::ClientCrash => {
                self.crash(process, company);
                true
            }
            Fault::Cancel => {
                company.effects.push(Effect::Cancelled { process });
                // With the answer in hand, or just before it comes.
                company.chooser.choose(Point::Duration, 2) == 1
            }
            _ => false,
        }
    }

    pub(super) fn crash(&mut self, process: u8, company: &mut Company<'_>) {
        self.processes[usize::from(process)].crashed = true;
        self.alarms.retain(|alarm| alarm.process != process);
        self.tell(company, Happening::Crashed { process });
        // The kernel closes the dead process's sockets; what was written before still arrives.
        let ids: Vec<ConnId> = self
            .live
            .iter()
            .copied()
            .filter(|id| self.process_of(self.conns[id.0 as usize].handle) == process)
            .collect();
        for id in ids {
            self.close_from_client(id, company);
        }
        company.effects.push(Effect::Crashed { process });
    }

    /// Lets a fault strike a process now, as a script asks for it.
    pub(crate) fn inflict(&mut self, process: u8, fault: Fault, lasts: u64, company: &mut Company<'_>) {
        let state = &mut self.processes[usize::from(process)];
        if state.crashed {
            return;
        }
        match fault {
            Fault::ClientPause => {
                state.paused_until = Some(self.now + lasts);
                company.effects.push(Effect::Paused { process });
            }
            Fault::SessionExpiry => state.cut_until = Some(self.now + lasts),
            Fault::Cancel => company.effects.push(Effect::Cancelled { process }),
            _ => {}
        }
        self.tell(company, Happening::Struck { fault, process, lasts });
        if fault == Fault::ClientCrash {
            self.crash(process, company);
        }
    }

    /// Ends the hostile phase before its time: no fault strikes any more, and what lasts runs out.
    pub(crate) fn heal(&mut self) {
        self.config.hostile_until = self.now;
        self.faults_left = 0;
    }
}
