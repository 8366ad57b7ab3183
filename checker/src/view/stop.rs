//! The must-stop instant: the latest time at which a holder has to stop believing.
//!
//! It is the earliest of these: the client can act on the end of its session; it has learned that its znode is deleted;
//! it can act on a disconnect, unless it may go on until its deadline; the deadline; it sends its own delete. While the
//! process is paused, the instant moves to the end of the pause.
//!
//! The deadline is the session timeout, less the margin, after the sending of the last request or ping that was
//! answered. If pings are not recorded, the deadline counts only where it is certain: while disconnected, and after a
//! pause without an answer.

use super::{Hold, Moment, NEVER, Phase, View};
use crate::history::{Object, OnSuspect, OpId, Session, Share, Tables, Why};

/// Why a holder has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopWhy {
    SessionOver,
    ZnodeGone,
    Disconnected,
    Deadline,
    /// The deadline, where pings are recorded.
    Silence,
    OwnDelete,
    EndOfPause,
}

/// When a holder has to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// The instant, or never.
    pub(crate) at: u64,
    pub(crate) why: StopWhy,
    /// The event that set it.
    pub(crate) index: u32,
    /// Whether a pause moved it by more than the settle time.
    pub(crate) moved: bool,
    /// The deadline of a disconnected holder; a reconnect cancels it.
    deadline: u64,
    deadline_index: u32,
}

impl Stop {
    pub(crate) const NEVER: Stop = Stop {
        at: NEVER,
        why: StopWhy::Deadline,
        index: 0,
        moved: false,
        deadline: NEVER,
        deadline_index: 0,
    };

    fn no_later(&mut self, at: u64, why: StopWhy, index: u32) {
        if at < self.at {
            (self.at, self.why, self.index) = (at, why, index);
        }
    }

    /// The instant (for a disconnected holder, its deadline), the reason, and the event that set it.
    pub(crate) fn instant(&self) -> (u64, StopWhy, u32) {
        if self.deadline < self.at {
            (self.deadline, StopWhy::Deadline, self.deadline_index)
        } else {
            (self.at, self.why, self.index)
        }
    }
}

impl View {
    /// The last instant at which the hold may be believed, with the settle time.
    pub(crate) fn last_belief(&self, id: OpId) -> u64 {
        let (at, why, _) = self.op(id).stop.instant();
        let settle = if why == StopWhy::OwnDelete && self.is_sim() { 0 } else { self.settle };
        at.saturating_add(settle)
    }

    pub(super) fn must_stop(&mut self, id: OpId, why: StopWhy) {
        let now = self.now;
        self.ops[id.0 as usize].stop.no_later(now.at, why, now.index);
        self.no_stop_before(id);
    }

    /// Lowers the earliest must-stop instant to that of a hold.
    fn no_stop_before(&mut self, id: OpId) {
        let op = self.op(id);
        if op.hold == Hold::Believed {
            self.first_stop = self.first_stop.min(op.stop.instant().0);
        }
    }

    /// Computes the earliest must-stop instant again, after the hold that set it may have ended.
    fn look_for_first_stop(&mut self) {
        let believers = self.contests.iter().flat_map(|contest| &contest.believers);
        let first = believers.map(|id| self.op(*id).stop.instant().0).min();
        self.first_stop = first.unwrap_or(NEVER);
    }

    /// The believed holds of a session.
    fn believed_in(&self, session: Session) -> Vec<OpId> {
        let Some(client) = self.session(session).client else { return Vec::new() };
        let holds = self.client(client).holds.iter().copied();
        holds.filter(|id| self.op(*id).hold == Hold::Believed && self.op(*id).session == session).collect()
    }

    /// A belief begins.
    pub(super) fn begin_stop(&mut self, tables: Tables<'_>, id: OpId) {
        let now = self.now;
        let op = self.op(id);
        let session = self.session(op.session);
        let mut stop = Stop::NEVER;
        if session.known_over.came() {
            stop.no_later(now.at, StopWhy::SessionOver, session.known_over.index);
        }
        if session.is_suspended {
            let object = &tables.objects[usize::from(op.object.0)];
            if object.on_suspect == OnSuspect::Stop {
                stop.no_later(now.at, StopWhy::Disconnected, session.suspended.index);
            }
            let deadline = session.suspended.at + self.patience(object, op.session);
            (stop.deadline, stop.deadline_index) = (deadline, session.suspended.index);
        }
        self.ops[id.0 as usize].stop = stop;
        self.no_stop_before(id);
        if self.pings_recorded {
            self.first_silence = self.first_silence.min(self.silent_by(tables, id));
        }
    }

    /// The time at which a hold ends unless a request sent later is answered before.
    fn silent_by(&self, tables: Tables<'_>, id: OpId) -> u64 {
        let op = self.op(id);
        let object = &tables.objects[usize::from(op.object.0)];
        self.session(op.session).answered_sent.saturating_add(self.patience(object, op.session))
    }

    /// Ends the holds without an answer for too long, and notes the next time at which that may happen. Packets that
    /// arrive in a pause are processed at its end, so a pause lasts a moment longer here. Called before time passes.
    pub(crate) fn end_silent_holds(&mut self, tables: Tables<'_>, at: u64) {
        if at <= self.first_silence {
            return;
        }
        let mut next = NEVER;
        let believers: Vec<OpId> =
            self.contests.iter().flat_map(|contest| contest.believers.iter().copied()).collect();
        for id in believers {
            let op = self.op(id);
            let client = self.client(op.client);
            // A paused client cannot stop; the end of the pause checks it again.
            if client.is_paused() {
                continue;
            }
            let (_, resumed) = client.last_pause;
            let resumed = if resumed.came() { resumed.at.saturating_add(self.settle) } else { 0 };
            let by = self.silent_by(tables, id).max(resumed);
            if at > by {
                let index = self.session(op.session).answer;
                self.ops[id.0 as usize].stop.no_later(by, StopWhy::Silence, index);
                self.no_stop_before(id);
            } else {
                next = next.min(by);
            }
        }
        self.first_silence = next;
    }

    /// The time that a holder may continue without a reply.
    pub(crate) fn patience(&self, object: &Object, session: Session) -> u64 {
        let patience = self.timeout_of(session).saturating_sub(object.margin);
        match self.session(session).client {
            Some(client) => self.client(client).stretch(patience),
            None => patience,
        }
    }

    pub(super) fn session_suspended(&mut self, tables: Tables<'_>, session: Session) {
        let now = self.now;
        for id in self.believed_in(session) {
            let object = &tables.objects[usize::from(self.op(id).object.0)];
            let deadline = now.at + self.patience(object, session);
            let stop = &mut self.ops[id.0 as usize].stop;
            if object.on_suspect == OnSuspect::Stop {
                stop.no_later(now.at, StopWhy::Disconnected, now.index);
            }
            if deadline < stop.deadline {
                (stop.deadline, stop.deadline_index) = (deadline, now.index);
            }
            self.no_stop_before(id);
        }
    }

    pub(super) fn session_connected(&mut self, session: Session) {
        let now = self.now;
        for id in self.believed_in(session) {
            let stop = &mut self.ops[id.0 as usize].stop;
            if stop.deadline <= now.at {
                stop.no_later(stop.deadline, StopWhy::Deadline, stop.deadline_index);
            }
            stop.deadline = NEVER;
        }
        self.look_for_first_stop();
    }

    pub(super) fn session_over(&mut self, session: Session) {
        for id in self.believed_in(session) {
            self.must_stop(id, StopWhy::SessionOver);
        }
        let Some(client) = self.session(session).client else { return };
        for id in self.client(client).holds.clone() {
            if self.op(id).hold == Hold::Suspended && self.op(id).session == session {
                self.end_hold(id, Why::Lost);
            }
        }
    }

    /// Ends a pause: deadlines within it are due now. The pause began at `begin`, and the client received nothing since
    /// `silent`.
    pub(super) fn resume(&mut self, tables: Tables<'_>, client: u16, begin: Moment, silent: Moment) {
        let (now, settle) = (self.now, self.settle);
        for id in self.client(client).holds.clone() {
            let op = self.op(id);
            if op.hold != Hold::Believed {
                continue;
            }
            let object = &tables.objects[usize::from(op.object.0)];
            // A reply received in the pause answers a request sent before it.
            let silent_too_long = now.at >= silent.at.max(op.believed.at) + self.patience(object, op.session);
            let session = self.session(op.session);
            // The leader's last touch may be a little older than the last reply. If touches come through other servers,
            // or the leader itself was paused, it may be much older, and proves nothing.
            let expired = session.is_marked
                && now.at >= session.answered_sent.saturating_add(self.patience(object, op.session))
                && !session.may_be_unheard
                && now.at >= session.heard.saturating_add(self.patience(object, op.session) + self.tick);
            let stop = &mut self.ops[id.0 as usize].stop;
            let was = stop.instant().0;
            if was.saturating_add(settle) < begin.at {
                continue;
            }
            if stop.at < now.at {
                (stop.at, stop.why, stop.index) = (now.at, StopWhy::EndOfPause, now.index);
            }
            if stop.deadline < now.at {
                stop.no_later(now.at, StopWhy::EndOfPause, now.index);
                stop.deadline = NEVER;
            }
            if silent_too_long || expired {
                stop.no_later(now.at, StopWhy::EndOfPause, now.index);
            }
            stop.moved |=
                stop.at == now.at && (was < now.at.saturating_sub(settle) || silent_too_long || expired);
        }
        self.look_for_first_stop();
        if self.pings_recorded {
            self.first_silence = 0;
        }
    }

    /// Ends a hold, as recorded or as inferred from a release or a death.
    pub(super) fn end_hold(&mut self, id: OpId, why: Why) {
        let now = self.now;
        let op = &mut self.ops[id.0 as usize];
        let (was, client, object) = (op.hold, op.client, op.object);
        op.why = why;
        let stays = why == Why::Suspect && op.phase != Phase::Dead;
        op.hold = if stays { Hold::Suspended } else { Hold::Over };
        if was == Hold::Believed {
            op.unbelieved = now;
            let had_to_stop = op.stop.instant().0 != NEVER;
            self.contests[usize::from(object.0)].believers.retain(|other| *other != id);
            if had_to_stop {
                self.look_for_first_stop();
            }
        }
        if !stays && matches!(was, Hold::Believed | Hold::Suspended) {
            self.client_mut(client).holds.retain(|other| *other != id);
            let exclusive = self.op(id).share == Share::Exclusive;
            let contest = &mut self.contests[usize::from(object.0)];
            if exclusive {
                contest.last_writer = now.at;
            }
            contest.held -= 1;
            contest.deaths += u32::from(why == Why::Crashed);
            if contest.held == 0 {
                contest.unheld_since = now.at;
            }
        }
    }
}
