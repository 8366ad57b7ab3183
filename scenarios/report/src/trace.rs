//! A run as a readable trace: one line per event, milliseconds, names, aligned.

pub(crate) mod words;

use crate::dropped::{DROPPED, dropped};
use crate::requests::{Requests, fate};
use std::collections::BTreeSet;
use std::fmt::Write;
use words::{Words, because, called, nonetheless, notice, observed};
use zk_checker::history::{History, ReqId, Request, Session, SessionState, Sym, What, Who, Why};
use zk_checker::text::abbreviated;

/// Prints a run; `steps` are the steps of a script, each with the index of the next event.
pub fn print(history: &History, steps: &[(usize, String)]) -> String {
    let mut printer = Printer {
        history,
        words: Words { history },
        asked: Requests::of(history),
        dropped: dropped(history),
        requests: Vec::new(),
        sessions: Vec::new(),
        out: String::new(),
    };
    let mut steps = steps.iter().peekable();
    for (index, event) in history.events.iter().enumerate() {
        while let Some((_, text)) = steps.next_if(|(before, _)| *before <= index) {
            let _ = writeln!(printer.out, "# {text}");
        }
        printer.event(index, event.at, event.who, event.what);
    }
    printer.out
}

struct Printer<'a> {
    history: &'a History,
    words: Words<'a>,
    asked: Requests,
    /// The stops after which a guard was dropped.
    dropped: BTreeSet<u32>,
    /// The request of each number.
    requests: Vec<Option<(Request, Sym)>>,
    /// The client of each session, by number.
    sessions: Vec<Option<u16>>,
    out: String,
}

impl Printer<'_> {
    fn event(&mut self, index: usize, at: u64, who: Who, what: What) {
        match what {
            What::Call { verb, limit, .. } => {
                let mut text = called(verb);
                if limit > 0 {
                    let _ = write!(text, ", for at most {} ms", limit / 1000);
                }
                self.line(at, who, &text);
            }
            What::Return { outcome, failure } => {
                let text = match outcome {
                    zk_checker::history::Outcome::Done => return,
                    zk_checker::history::Outcome::Refused => "✗ returns refused",
                    zk_checker::history::Outcome::Unknown => "✗ returns with an unknown outcome",
                    zk_checker::history::Outcome::Cancelled => "✗ drops the future",
                };
                self.line(at, who, &because(text, failure));
            }
            What::Mistaken => self.line(at, who, "  with bad input, to be refused"),
            What::Given { text, .. } => {
                let given = self.text(text);
                if !given.is_empty() {
                    self.line(at, who, &format!("  gives {given}"));
                }
            }
            What::Observed { seen, text, number, .. } => {
                let text = format!("▷ {}", observed(seen, &self.text(text), number));
                self.line(at, who, &text);
            }
            What::Believe { token, .. } => {
                self.line(at, who, &format!("▶ holds                   token {token:#x}"))
            }
            What::Unbelieve { why } => {
                let why = match why {
                    Why::Released => "■ stops",
                    Why::Suspect => "■ stops: not connected",
                    Why::Lost => "■ stops: lost",
                    Why::Dropped => "■ drops its guard",
                    Why::Crashed => "■ crashes",
                };
                if self.dropped.contains(&(index as u32)) {
                    self.line(at, who, &format!("{why}; {DROPPED}"))
                } else {
                    self.line(at, who, why)
                }
            }
            What::Resource { token, accepted, .. } => {
                let taken = if accepted { "✓ accepted" } else { "✗ refused: a larger token was seen" };
                self.line(at, who, &format!("writes under {token:#x}  {taken}"));
            }
            What::Send { req, kind, path, .. } => self.asked(req, kind, path),
            What::Reply { req, code, .. } => {
                let Some((kind, path)) = self.request(req) else { return };
                let made = match self.history.events.get(index + 1).map(|next| next.what) {
                    Some(What::Made { path, .. }) => Some(path),
                    _ => None,
                };
                let text = self.words.reply(kind, made.unwrap_or(path), code);
                self.line(at, who, &text);
            }
            What::Lost { req } => {
                let Some((kind, path)) = self.request(req) else { return };
                let fate = nonetheless(fate(self.history, &self.asked, req));
                let text = format!("{:<40} ✗ connection lost{fate}", self.words.request(kind, path));
                self.line(at, who, &text);
            }
            What::Notice { kind, path, .. } => {
                let text = format!("◀ {} {}", notice(kind), self.words.short(path));
                self.line(at, who, &text);
            }
            What::State { session, state, .. } => {
                if let Who::Client(client) = who {
                    self.owns(session, client);
                }
                let text = match state {
                    SessionState::Connected => "connected",
                    SessionState::Suspended => "✗ disconnected",
                    SessionState::Expired => "✗ its session has expired",
                    SessionState::Closed => "closed",
                };
                self.line(at, who, text);
            }
            What::Ended { session, .. } => {
                let text = format!("{}'s session ends", self.owner(session));
                self.line(at, who, &text);
            }
            What::Deleted { path, by, .. } if matches!(who, Who::Server(_)) => {
                let text = format!("{} is deleted by {}", self.words.short(path), self.owner(by));
                self.line(at, who, &text);
            }
            What::Fault { kind, victim, lasts } => {
                let text = self.words.fault(kind, victim, lasts);
                self.line(at, who, &text);
            }
            What::Mended { kind, victim } => {
                let text = self.words.mended(kind, victim);
                self.line(at, who, &text);
            }
            What::Elected { epoch } => self.line(at, who, &format!("leads, in epoch {epoch}")),
            What::Ceased => self.line(at, who, "stops serving clients"),
            What::Serving => self.line(at, who, "serves clients"),
            What::Heal => self.line(at, who, "no faults from here on"),
            What::Left { path, .. } => {
                let text = format!("{} was left behind", self.words.short(path));
                self.line(at, who, &text);
            }
            _ => {}
        }
    }

    fn line(&mut self, at: u64, who: Who, text: &str) {
        let who = match who {
            Who::Client(client) => self.words.client(client),
            Who::Server(_) => "server".to_owned(),
            Who::World => "·".to_owned(),
        };
        let _ = writeln!(self.out, "{:>9.3}  {who:<7} {text}", at as f64 / 1e6);
    }

    fn text(&self, sym: Sym) -> String {
        abbreviated(self.history.names.get(sym).unwrap_or("?"))
    }

    fn asked(&mut self, req: ReqId, kind: Request, path: Sym) {
        let at = req.0 as usize;
        if self.requests.len() <= at {
            self.requests.resize(at + 1, None);
        }
        self.requests[at] = Some((kind, path));
    }

    fn request(&self, req: ReqId) -> Option<(Request, Sym)> {
        self.requests.get(req.0 as usize).copied().flatten()
    }

    fn owns(&mut self, session: Session, client: u16) {
        let at = usize::from(session.0);
        if self.sessions.len() <= at {
            self.sessions.resize(at + 1, None);
        }
        self.sessions[at] = Some(client);
    }

    fn owner(&self, session: Session) -> String {
        match self.sessions.get(usize::from(session.0)).copied().flatten() {
            Some(client) => self.words.client(client),
            None => format!("s{}", session.0),
        }
    }
}
