//! Injection points: a fault is injected because a script has ordered it or the chooser picks it.

use super::{Context, World};
use crate::choose::Point;
use crate::fault::{Fault, InjectionPoint, Victim};
use crate::injected_bug::InjectedBug;
use crate::message::ConnId;
use crate::observer::SimEvent;

impl World {
    /// Injects a fault as a packet is sent, if one is due: connection loss, delay, or a partition of the client.
    pub(super) fn inject(
        &mut self,
        point: InjectionPoint,
        process: u8,
        context: &mut Context<'_>,
    ) -> Option<Fault> {
        self.inject_if(point, process, |_| true, context)
    }

    /// Like `inject`, restricted to kinds of fault that satisfy `fits`.
    pub(super) fn inject_if(
        &mut self,
        point: InjectionPoint,
        process: u8,
        fits: impl Fn(Fault) -> bool,
        context: &mut Context<'_>,
    ) -> Option<Fault> {
        let victim = Victim::Process(process);
        let fault = match self.ordered(point, process, &fits) {
            Some(fault) => fault,
            None => self.drawn(point, victim, fits, context)?,
        };
        match fault {
            Fault::ClientMuted | Fault::ClientDeafened | Fault::ClientPartition => {
                // From an eighth of the session timeout to all of it.
                let drawn = 1 + u64::from(context.choose(victim, Point::Duration, 8));
                let lasts = self.timeout_of(process) * drawn / 8;
                self.inflict(process, fault, lasts, context);
            }
            _ => self.emit(context, SimEvent::Injected { fault, victim, lasts: 0 }),
        }
        // A broken connection loses the replies to earlier requests.
        let breaks = matches!(fault, Fault::RequestLost | Fault::ReplyLost | Fault::Disconnect);
        Some(fault).filter(|_| !(breaks && self.config.has(InjectedBug::LosesNoReply)))
    }

    fn ordered(&mut self, point: InjectionPoint, process: u8, fits: impl Fn(Fault) -> bool) -> Option<Fault> {
        let here = |fault: &mut Fault| point.faults().contains(fault) && fits(*fault);
        self.processes[usize::from(process)].ordered.take_if(here)
    }

    fn drawn(
        &mut self,
        point: InjectionPoint,
        victim: Victim,
        fits: impl Fn(Fault) -> bool,
        context: &mut Context<'_>,
    ) -> Option<Fault> {
        if !self.hostile || self.faults_left == 0 {
            return None;
        }
        let faults = point.faults();
        let chosen = context.choose(victim, Point::Fault(point), faults.len() as u32 + 1);
        let fault = *faults.get((chosen as usize).checked_sub(1)?).filter(|fault| fits(**fault))?;
        self.faults_left -= 1;
        Some(fault)
    }

    /// Orders a fault for the next injection point of the process at which it is possible.
    pub(crate) fn order(&mut self, process: u8, fault: Fault) {
        self.processes[usize::from(process)].ordered = Some(fault);
    }

    /// Returns the longest session timeout of a process.
    fn timeout_of(&self, process: u8) -> u64 {
        self.sessions
            .iter()
            .filter(|(of, session)| *of == process && !session.is_over())
            .map(|(_, session)| session.sound_timeout())
            .max()
            .unwrap_or(self.config.tick * 2)
    }

    /// Injects a fault as a packet or an alarm reaches a client, if one is due. Returns whether the delivery is
    /// postponed.
    pub(super) fn inject_on_arrival(
        &mut self,
        point: InjectionPoint,
        process: u8,
        conn: Option<ConnId>,
        context: &mut Context<'_>,
    ) -> bool {
        let victim = Victim::Process(process);
        let drawn = match self.ordered(point, process, |_| true) {
            Some(fault) => Some(fault),
            None => self.drawn(point, victim, |_| true, context),
        };
        let Some(fault) = drawn else { return false };
        let timeout = self.timeout_of(process);
        let mut draw = |n| u64::from(context.choose(victim, Point::Duration, n));
        match fault {
            // A client that has just resumed makes progress before the next pause.
            Fault::ClientPause if self.processes[usize::from(process)].resumed == Some(self.now) => false,
            Fault::ClientPause => {
                // From a quarter of the session timeout to twice the timeout.
                let lasts = timeout * (1 + draw(8)) / 4;
                self.inflict(process, fault, lasts, context);
                true
            }
            Fault::SessionExpiry => {
                let lasts = timeout + 2 * self.config.tick + timeout * draw(8) / 8;
                self.inflict(process, fault, lasts, context);
                true
            }
            Fault::ClockDrift => {
                let lasts = timeout * (1 + draw(8));
                self.inflict(process, fault, lasts, context);
                false
            }
            Fault::ClientCrash => {
                self.inflict(process, fault, 0, context);
                true
            }
            Fault::Cancel => {
                self.inflict(process, fault, 0, context);
                // The cancellation comes just before the reply or just after it.
                context.choose(victim, Point::Duration, 2) == 1
            }
            Fault::WatchLost => {
                self.emit(context, SimEvent::Injected { fault, victim, lasts: 0 });
                if let Some(conn) = conn {
                    self.break_before_arrival(conn);
                }
                true
            }
            _ => false,
        }
    }

    /// Injects a fault as a packet reaches a server, if one is due. Returns whether the packet is postponed.
    pub(super) fn inject_on_server(
        &mut self,
        point: InjectionPoint,
        from: u8,
        to: u8,
        context: &mut Context<'_>,
    ) -> bool {
        let link = Victim::Link(from, to);
        let Some(fault) = self.drawn(point, link, |_| true, context) else { return false };
        let victim = match fault {
            Fault::LinkHeld | Fault::LinkCut => link,
            _ => Victim::Server(to),
        };
        // From a quarter of a tick to eight ticks: below and above the timeouts of sessions and servers.
        let drawn = 1 + u64::from(context.choose(link, Point::Duration, 32));
        let lasts = if fault == Fault::ClockJump { 0 } else { self.config.tick * drawn / 4 };
        self.inflict_on_servers(fault, victim, lasts, context);
        !matches!(fault, Fault::DiskStall | Fault::ApplyStall | Fault::CommitStall | Fault::ClockJump)
    }
}
