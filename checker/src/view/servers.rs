//! The servers of the ensemble: what each has applied, whether it serves, and what faults do to it.

use super::{NEVER, View};
use crate::history::{FaultKind, Session, Victim};

/// A server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerView {
    /// The last transaction that it has applied, as far as was told.
    pub(crate) applied: u64,
    /// Whether that is so: one that comes back begins with what its disk holds, or with a copy of another one's state.
    pub(crate) applied_is_known: bool,
    pub(crate) serving: bool,
    /// When it was last elected.
    pub(crate) elected: u64,
    /// When it last began to serve.
    pub(crate) serving_since: u64,
    /// Faults that last and strike it or a link of it.
    troubles: u32,
    /// Until when it may not have heard or done everything, if ever there was such a time.
    trouble: Option<u64>,
    /// Its process, which stands still.
    pub(crate) pauses: HeldUp,
    /// Its own commits, if it leads: it does not look at its followers meanwhile.
    pub(crate) withheld: HeldUp,
}

/// What faults hold up, one beside another: it goes on when the last of them ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldUp {
    faults: u32,
    until: u64,
}

impl HeldUp {
    const NOT: HeldUp = HeldUp { faults: 0, until: 0 };

    /// When it last went on, or never, if it is held up now; zero if it never was.
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

    /// The whole zxid of which a notification of this server has the low half: the epoch does not change within a step.
    pub(crate) fn whole(&self, half: u32) -> u64 {
        self.applied & !u64::from(u32::MAX) | u64::from(half)
    }

    /// Whether it may still come to apply this.
    pub(crate) fn may_come_to(&self, zxid: u64) -> bool {
        zxid > self.applied || !self.applied_is_known
    }

    /// Whether something was wrong with it at some time since then.
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

    /// A server leads. It shows the beginning of its epoch as applied; all sessions get their whole timeout again.
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

    /// A server serves nobody any more: its connections close, and their watches go.
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

    /// Whether a server that believes to lead has been followed by another.
    pub(super) fn is_deposed(&self, number: u8) -> bool {
        let elected = self.server(number).elected;
        self.servers.iter().any(|server| server.elected > elected)
    }

    /// Whether the session's server, or the one that marks it now, may not have passed on what it was told since then.
    pub(super) fn may_be_unheard(&self, session: Session, heard: u64, by: u8) -> bool {
        let from = heard.saturating_sub(self.tick);
        let mut servers = [self.session(session).server, by].into_iter();
        servers.any(|server| self.server(server).was_in_trouble_since(from))
    }
}
