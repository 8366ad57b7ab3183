//! The servers of the ensemble: the last zxid of each, whether it serves, and the faults that affect it.

use super::{NEVER, View};
use crate::history::{FaultKind, Session, Victim};

/// A server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerView {
    /// The last transaction that it has applied, as far as recorded.
    pub(crate) applied: u64,
    /// Whether `applied` is known: a server that restarts begins with the state on its disk, or with a copy of another
    /// server's.
    pub(crate) applied_is_known: bool,
    pub(crate) serving: bool,
    /// When it was last elected.
    pub(crate) elected: u64,
    /// When it last began to serve.
    pub(crate) serving_since: u64,
    /// The number of active faults of the server or its links.
    troubles: u32,
    /// The end of the last period in which it may have missed something, if any.
    trouble: Option<u64>,
    /// Pauses of its process.
    pub(crate) pauses: HeldUp,
    /// Stalls of its own commits, if it leads: meanwhile it does not look at its followers.
    pub(crate) withheld: HeldUp,
}

/// Stalls, possibly several at once: the server continues when the last of them ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldUp {
    faults: u32,
    until: u64,
}

impl HeldUp {
    const NOT: HeldUp = HeldUp { faults: 0, until: 0 };

    /// The end of the last stall; never, if one lasts, and zero if there was none.
    pub(crate) fn until(self) -> u64 {
        self.until
    }

    pub(crate) fn is_now(self) -> bool {
        self.until == NEVER
    }

    fn change(&mut self, begins: bool, now: u64) {
        self.faults = if begins { self.faults + 1 } else { self.faults.saturating_sub(1) };
        self.until = if self.faults > 0 { NEVER } else { now };
    }
}

impl ServerView {
    pub(crate) const NEW: ServerView = ServerView {
        applied: 0,
        applied_is_known: true,
        serving: true,
        elected: 0,
        serving_since: 0,
        troubles: 0,
        trouble: None,
        pauses: HeldUp::NOT,
        withheld: HeldUp::NOT,
    };

    /// The complete zxid of a notification of this server, from its low half: the epoch does not change within a step.
    pub(crate) fn whole(&self, half: u32) -> u64 {
        self.applied & !u64::from(u32::MAX) | u64::from(half)
    }

    /// Whether it may still apply this transaction later.
    pub(crate) fn may_come_to(&self, zxid: u64) -> bool {
        zxid > self.applied || !self.applied_is_known
    }

    /// Whether a fault affected it after that time.
    fn was_in_trouble_since(&self, from: u64) -> bool {
        self.trouble.is_some_and(|until| until >= from)
    }

    fn begin_trouble(&mut self) {
        self.trouble = Some(NEVER);
    }

    fn end_trouble(&mut self, now: u64) {
        if self.troubles == 0 && self.serving {
            self.trouble = Some(now);
        }
    }
}

impl View {
    pub(crate) fn server(&self, number: u8) -> &ServerView {
        static NEW: ServerView = ServerView::NEW;
        self.servers.get(usize::from(number)).unwrap_or(&NEW)
    }

    pub(super) fn server_mut(&mut self, number: u8) -> &mut ServerView {
        let at = usize::from(number);
        if self.servers.len() <= at {
            self.servers.resize(at + 1, ServerView::NEW);
        }
        &mut self.servers[at]
    }

    pub(super) fn applied(&mut self, server: u8, zxid: u64) {
        let server = self.server_mut(server);
        server.applied = zxid;
        server.applied_is_known = true;
    }

    /// Notes an election. The leader has applied the beginning of its epoch; all session timeouts start again.
    pub(super) fn elected(&mut self, number: u8, epoch: u32) {
        let now = self.now.at;
        let server = self.server_mut(number);
        server.applied = server.applied.max(u64::from(epoch) << 32);
        server.elected = now;
        for session in self.sessions.iter_mut().filter(|session| !session.ended.came()) {
            session.is_marked = false;
        }
        self.calm_since = self.calm_since.max(now);
    }

    pub(super) fn serving(&mut self, number: u8) {
        let now = self.now.at;
        let server = self.server_mut(number);
        server.serving = true;
        server.serving_since = now;
        server.end_trouble(now);
        self.calm_since = self.calm_since.max(now);
    }

    /// Notes that a server stops serving: its connections close, and their watches go.
    pub(super) fn ceased(&mut self, number: u8) {
        let now = self.now.at;
        let server = self.server_mut(number);
        server.serving = false;
        server.applied_is_known = false;
        server.begin_trouble();
        self.calm_since = self.calm_since.max(now);
        self.lose_watches_of(number);
    }

    /// A fault begins or ends at a server or a link.
    pub(super) fn trouble(&mut self, kind: FaultKind, victim: Victim, lasts: u64, begins: bool) {
        let now = self.now.at;
        let (one, other) = match victim {
            Victim::Process { .. } => return,
            Victim::Server { server } => (server, server),
            Victim::Link { from, to } => (from, to),
        };
        for number in [one, other].into_iter().take(if one == other { 1 } else { 2 }) {
            let server = self.server_mut(number);
            match (begins, lasts) {
                (true, 0) => {
                    server.begin_trouble();
                    server.end_trouble(now);
                }
                (true, _) => {
                    server.troubles += 1;
                    server.begin_trouble();
                }
                (false, _) => {
                    server.troubles = server.troubles.saturating_sub(1);
                    server.end_trouble(now);
                }
            }
            match kind {
                FaultKind::ServerPause => server.pauses.change(begins, now),
                FaultKind::CommitStall => server.withheld.change(begins, now),
                _ => {}
            }
        }
    }

    /// Whether another server was elected after this one.
    pub(super) fn is_deposed(&self, number: u8) -> bool {
        let elected = self.server(number).elected;
        self.servers.iter().any(|server| server.elected > elected)
    }

    /// Whether the session's server, or the leader that marks the session, may have lost a touch since then.
    pub(super) fn may_be_unheard(&self, session: Session, heard: u64, by: u8) -> bool {
        let from = heard.saturating_sub(self.tick);
        let mut servers = [self.session(session).server, by].into_iter();
        servers.any(|server| self.server(server).was_in_trouble_since(from))
    }
}
