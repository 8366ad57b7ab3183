//! The clients' knowledge of their sessions, and the end of sessions without a client: parts of ZK-7.

use super::client_of;
use crate::rule::prelude::*;
use crate::view::ServerView;

#[derive(Clone, Copy, Default)]
struct SessionNews {
    /// Whether a leader, deposed or not, has marked it as expired, or its end was applied.
    may_be_over: bool,
    ended: bool,
    /// The zxid at which it was opened.
    opened: u64,
    /// The connection that its client knows of and does not know to be lost.
    conn: Conn,
    event: u32,
}

/// A session whose client is gone.
#[derive(Clone, Copy)]
struct Silent {
    session: Session,
    since: u64,
    event: u32,
}

/// ZK-7 from the clients' side: a client learns of each lost connection; only an expired session is reported as
/// expired, only an ended one as closed. A session whose client is gone ends.
#[derive(Clone, Default)]
pub(crate) struct Clients {
    sessions: Vec<SessionNews>,
    silent: Vec<Silent>,
    /// The last time at which a server stopped serving.
    ceased: u64,
}

impl Clients {
    fn session(&mut self, session: Session) -> &mut SessionNews {
        slot(&mut self.sessions, usize::from(session.0))
    }

    fn state(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::State { session, state, conn, .. } = event.what else { return };
        let known = scene.view.session(session).is_attached;
        let when = || scene.when(scene.view.now);
        let news = self.session(session);
        match state {
            SessionState::Connected => {
                let before = std::mem::replace(&mut news.conn, conn);
                let seen = std::mem::replace(&mut news.event, scene.index);
                // The server has closed a foreign client's first connection when the client opened a second one.
                let is_ours = !scene.view.foreign_clients;
                if is_ours && known && !before.is_none() && !conn.is_none() && before != conn {
                    let who = client_of(scene, session);
                    let text = explain(format!("{who} reconnected at {}", when()))
                        .because(format!("since e{seen} the client did not report the connection loss"));
                    out.fail_all(RuleId::Zk7, scene, &[seen], text);
                }
            }
            SessionState::Suspended => news.conn = Conn(0),
            SessionState::Expired => {
                news.conn = Conn(0);
                // A leader that was deposed without noticing does not know newer sessions.
                let opened = news.opened;
                let knows = |server: &ServerView| !server.serving || !server.may_come_to(opened);
                let all_know = scene.view.servers.iter().all(knows);
                // Its last packets may arrive after the client is gone.
                let has_gone = self.ceased >= scene.view.session(session).suspended.at;
                if known && !self.session(session).may_be_over && all_know && !has_gone {
                    let text = explain(format!(
                        "{} is reported as expired at {}",
                        client_of(scene, session),
                        when()
                    ))
                    .because("no leader has expired it");
                    out.fail_all(RuleId::Zk7, scene, &[], text);
                }
            }
            SessionState::Closed => {
                news.conn = Conn(0);
                if known && !news.ended {
                    self.falls_silent(scene, session, out);
                }
            }
        }
    }

    fn falls_silent(&mut self, scene: &Scene<'_>, session: Session, out: &mut Findings) {
        out.premise_of_all(RuleId::Zk7);
        if self.silent.iter().all(|silent| silent.session != session) {
            self.silent.push(Silent { session, since: scene.at, event: scene.index });
        }
    }

    fn crashed(&mut self, scene: &Scene<'_>, client: u16, out: &mut Findings) {
        for (number, of) in (0..).zip(&scene.view.sessions) {
            let ended = self.sessions.get(usize::from(number)).is_some_and(|news| news.ended);
            if of.client == Some(client) && of.is_attached && !ended {
                self.falls_silent(scene, Session(number), out);
            }
        }
    }

    fn over(&mut self, session: Session, ended: bool) {
        let news = self.session(session);
        news.may_be_over = true;
        news.ended |= ended;
        self.silent.retain(|silent| silent.session != session);
    }

    /// Judges the reply to a closeSession.
    fn closed(&mut self, scene: &Scene<'_>, session: Session, out: &mut Findings) {
        let known = scene.view.session(session).is_attached;
        if known && !self.session(session).ended {
            let text = explain(format!("{} is reported as closed", client_of(scene, session)))
                .because("the session has not ended");
            out.fail_all(RuleId::Zk7, scene, &[], text);
        }
    }
}

impl Rule for Clients {
    const JUDGES: &'static [Property] = &[Property::SessionsEnd];
    const HEARS: Kinds = hears![State, Reply, Ceased, Opened, Marked, Ended, Crash];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if self.silent.is_empty() {
            return;
        }
        let view = scene.view;
        let latest = |silent: &Silent| {
            let calm = silent.since.max(view.calm_since);
            // Packets in flight arrive later, and servers report to their leader at half ticks.
            calm.saturating_add(
                view.timeout_of(silent.session) + 3 * view.tick + 4 * view.round_trip + view.settle,
            )
        };
        let paused = view.servers.iter().any(|server| server.pauses.is_now());
        let late = |silent: &&Silent| !paused && scene.at > latest(silent);
        let Some(silent) = self.silent.iter().find(late).copied() else { return };
        self.silent.retain(|other| other.session != silent.session);
        let text = explain(format!(
            "{} is still open at {}",
            client_of(scene, silent.session),
            crate::text::seconds(scene.at)
        ))
        .because(format!(
            "e{}: no server has heard from it since {}, its timeout is {}",
            silent.event,
            crate::text::seconds(silent.since),
            ms(view.timeout_of(silent.session))
        ));
        out.fail_all(RuleId::Zk7, scene, &[silent.event], text);
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if !scene.view.is_sim() {
            return;
        }
        match event.what {
            What::State { .. } if matches!(event.who, Who::Client(_)) => self.state(scene, event, out),
            What::Reply { req, code: Code::Ok, .. } => {
                let req = scene.view.request(req).filter(|req| req.kind == Request::CloseSession);
                if let Some(req) = req {
                    self.closed(scene, req.session, out);
                }
            }
            What::Ceased => self.ceased = scene.at,
            What::Opened { session, zxid, .. } => self.session(session).opened = zxid,
            What::Marked { session, .. } => self.over(session, false),
            What::Ended { session, .. } => self.over(session, true),
            What::Crash { client } => self.crashed(scene, client, out),
            _ => {}
        }
    }
}
