//! A sentence for every event, in the words of a trace. The actor is given separately.

use crate::dropped::{DROPPED, dropped};
use crate::requests::{Requests, fate};
use crate::trace::words::{Words, answered, because, called, nonetheless, notice, observed};
use std::collections::{BTreeMap, BTreeSet};
use zk_checker::history::{
    Code, History, Kind, ObjectId, OpId, Outcome, ReqId, Request, Session, SessionState, Sym, Table, Verb,
    WatchMode, What, Who, Why,
};
use zk_checker::text::abbreviated;

/// Describes the events of one history.
pub(super) struct Sentences<'a> {
    history: &'a History,
    asked: &'a Requests,
    words: Words<'a>,
    /// The verb and the object of each operation.
    ops: BTreeMap<(Who, OpId), (Verb, ObjectId)>,
    /// The stops after which a guard was dropped.
    dropped: BTreeSet<u32>,
}

/// A printable text of a trace: control, direction and invisible characters are replaced by their numbers.
pub(super) fn visible(text: &str) -> String {
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    if !text.contains(hides) {
        return text.to_owned();
    }
    text.chars().map(|c| if hides(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

impl<'a> Sentences<'a> {
    pub(super) fn new(history: &'a History, asked: &'a Requests) -> Sentences<'a> {
        let calls = history.events.iter().filter_map(|event| match event.what {
            What::Call { object, verb, .. } if verb != Verb::Release => {
                Some(((event.who, event.op), (verb, object)))
            }
            _ => None,
        });
        let (words, dropped) = (Words { history }, dropped(history));
        Sentences { history, asked, words, ops: calls.collect(), dropped }
    }

    /// A client's name.
    pub(super) fn client(&self, client: u16) -> String {
        visible(&self.words.client(client))
    }

    /// The actor.
    pub(super) fn who(&self, who: Who) -> String {
        match who {
            Who::Client(client) => self.client(client),
            Who::Server(server) => format!("server {server}"),
            Who::World => "world".to_owned(),
        }
    }

    /// A session, by its client and its number.
    pub(super) fn session(&self, session: Session) -> String {
        match (session, self.asked.client_of(session)) {
            (Session(0), _) => "nobody".to_owned(),
            (Session(number), Some(client)) => format!("{}'s session s{number}", self.client(client)),
            (Session(number), None) => format!("session s{number}"),
        }
    }

    /// A text in full.
    pub(super) fn text(&self, sym: Sym) -> String {
        visible(self.history.names.get(sym).unwrap_or("?"))
    }

    /// A path with short guids.
    pub(super) fn short(&self, path: Sym) -> String {
        visible(&self.words.short(path))
    }

    /// The path of an object.
    pub(super) fn object(&self, object: ObjectId) -> String {
        match self.history.objects.get(usize::from(object.0)) {
            Some(object) => visible(&self.words.short(object.path)),
            None => format!("object {}", object.0),
        }
    }

    /// The name of an operation.
    pub(super) fn operation(&self, who: Who, op: OpId) -> String {
        self.ops.get(&(who, op)).map_or_else(|| "the operation".to_owned(), |(verb, _)| verb.words())
    }

    /// The sentence of an event.
    pub(super) fn tell(&self, index: usize) -> String {
        let event = &self.history.events[index];
        let told = match event.who {
            Who::Client(_) => self.of_client(event.who, event.op, event.what),
            Who::Server(_) => self.of_server(event.what),
            Who::World => None,
        };
        let told = told.unwrap_or_else(|| self.of_anybody(event.what));
        if self.dropped.contains(&(index as u32)) {
            visible(&format!("{told}; {DROPPED}"))
        } else {
            visible(&told)
        }
    }

    fn of_client(&self, who: Who, op: OpId, what: What) -> Option<String> {
        Some(match what {
            What::Call { object, verb, limit } => {
                let limit =
                    if limit > 0 { format!(", for at most {} ms", limit / 1000) } else { String::new() };
                format!("{}: {} {}{limit}", called(verb), verb.words(), self.object(object))
            }
            What::Return { outcome, failure } => match (self.operation(who, op), outcome) {
                (verb, Outcome::Done) => format!("✓ {verb} is done"),
                (verb, Outcome::Refused) => because(&format!("✗ {verb} returns refused"), failure),
                (verb, Outcome::Unknown) => {
                    because(&format!("✗ {verb} returns with an unknown outcome"), failure)
                }
                (verb, Outcome::Cancelled) => format!("✗ drops the future of {verb}"),
            },
            What::Believe { object, token, .. } => {
                format!("▶ believes that it {}, token {token:#x}", self.role(who, op, object))
            }
            What::Unbelieve { why } => match why {
                Why::Released => "■ stops".to_owned(),
                Why::Suspect => "■ stops: it is not connected, or past its deadline".to_owned(),
                Why::Lost => "■ stops: its hold is lost".to_owned(),
                Why::Dropped => "■ stops: the guard is dropped".to_owned(),
                Why::Crashed => "■ stops: the process crashed".to_owned(),
            },
            What::Resource { token, accepted: true, .. } => {
                format!("uses the resource under {token:#x}: ✓ accepted")
            }
            What::Resource { token, accepted: false, .. } => {
                format!("uses the resource under {token:#x}: ✗ refused, a larger token was seen")
            }
            What::Mistaken => "gives bad input, to be refused".to_owned(),
            What::Given { text, number } => match number {
                0 if self.text(text).is_empty() => "gives nothing".to_owned(),
                0 => format!("gives {:?}", abbreviated(self.history.names.get(text).unwrap_or("?"))),
                _ => {
                    format!("gives {:?}, {number}", abbreviated(self.history.names.get(text).unwrap_or("?")))
                }
            },
            What::Observed { seen, text, number, .. } => {
                observed(seen, &abbreviated(self.history.names.get(text).unwrap_or("?")), number)
            }
            What::Sleep { until, deadline: true } => {
                format!("waits until {:.3} s, its time limit", until as f64 / 1e6)
            }
            What::Sleep { until, deadline: false } => format!("sleeps until {:.3} s", until as f64 / 1e6),
            What::Send { kind, watch, cleanup, path, .. } => {
                let watch = if watch { ", with a watch" } else { "" };
                let cleanup = if cleanup { " (clean-up)" } else { "" };
                format!("sends: {}{watch}{cleanup}", self.words.request(kind, path))
            }
            What::Reply { req, code, .. } => {
                format!("receives the reply: {} {}", self.asked(req), answered(code))
            }
            What::Made { path, czxid } => {
                format!("learns its znode: {}, czxid {czxid:#x}", self.words.short(path))
            }
            What::Heard { session, sent } => {
                format!("is answered in session s{}: a ping of {:.3} s", session.0, sent as f64 / 1e6)
            }
            What::Lost { req } => {
                let fate = nonetheless(fate(self.history, self.asked, req));
                format!("✗ connection lost before the reply: {}{fate}", self.asked(req))
            }
            What::Notice { kind, path, .. } => {
                format!("◀ notification: {} {}", notice(kind), self.words.short(path))
            }
            What::State { session, state, server, conn } => match state {
                SessionState::Connected if conn.is_none() => format!("connected, session s{}", session.0),
                SessionState::Connected => format!("connected to server {server}, session s{}", session.0),
                SessionState::Suspended => format!("✗ disconnected, session s{}", session.0),
                SessionState::Expired => format!("✗ learns that session s{} has expired", session.0),
                SessionState::Closed => format!("session s{} is closed", session.0),
            },
            What::Expects { version } => format!("only if the version is {version}"),
            What::Disarm { path, .. } => format!("drops its watch on {}", self.words.short(path)),
            _ => return None,
        })
    }

    fn role(&self, who: Who, op: OpId, object: ObjectId) -> String {
        let name = self.object(object);
        let kind = self.history.objects.get(usize::from(object.0)).map(|object| object.kind);
        let holds = kind.map_or("hold", Kind::holds);
        match self.ops.get(&(who, op)).map(|(verb, _)| *verb) {
            Some(Verb::Read | Verb::TryRead | Verb::Downgrade) => format!("{holds}s {name} as a reader"),
            Some(Verb::Write | Verb::TryWrite) => format!("{holds}s {name} as a writer"),
            _ => format!("{holds}s {name}"),
        }
    }

    fn asked(&self, req: ReqId) -> String {
        match self.asked.get(req) {
            Some(ask) => self.words.request(ask.kind, ask.path),
            None => format!("request {}", req.0),
        }
    }

    fn of_server(&self, what: What) -> Option<String> {
        let path = |path: Sym| self.words.short(path);
        Some(match what {
            What::Txn { zxid, session, kind, code: Code::Ok } => {
                format!("commits {zxid:#x}: {} of {}", request_name(kind), self.session(session))
            }
            What::Txn { zxid, session, kind, code } => {
                let why = answered(code);
                format!("refuses {zxid:#x}: {} of {} {why}", request_name(kind), self.session(session))
            }
            What::Created { path: at, owner: Session(0), .. } => format!("+ creates {}", path(at)),
            What::Created { path: at, owner, .. } => {
                format!("+ creates {}, ephemeral of {}", path(at), self.session(owner))
            }
            What::Deleted { path: at, by, .. } => format!("− deletes {}, by {}", path(at), self.session(by)),
            What::Written { path: at, .. } => format!("writes {}", path(at)),
            What::Restricted { path: at, .. } => format!("changes the access list of {}", path(at)),
            What::Data { length, digest } => format!("which holds {length} bytes, digest {digest:016x}"),
            What::Applied { zxid } => format!("applies {zxid:#x}"),
            What::Served { req, zxid, .. } => format!("serves {} in the state of {zxid:#x}", self.asked(req)),
            What::Found { read, code: Code::Ok, path: at, .. } => {
                format!("finds {} {} ✓", request_name(read), path(at))
            }
            What::Found { read, code, path: at, .. } => {
                format!("finds {} {} {}", request_name(read), path(at), answered(code))
            }
            What::Barrier { session, zxid, .. } => {
                format!("receives a sync of {}, up to {zxid:#x}", self.session(session))
            }
            What::Arm { session, table, path: at, mode, .. } => {
                let on = watched(table, mode);
                format!("◇ watch of {} {on} {}", self.session(session), path(at))
            }
            What::Fire { session, kind, path: at, .. } => {
                format!("◆ watch fires for {}: {} {}", self.session(session), notice(kind), path(at))
            }
            What::Disarm { session, table, path: at, .. } => {
                let on = watched(table, WatchMode::OneShot);
                format!("watch of {} {on} {} is removed", self.session(session), path(at))
            }
            What::Opened { session, timeout, .. } => {
                format!("opens {}, timeout {timeout} ms", self.session(session))
            }
            What::Marked { session, heard } => {
                format!(
                    "✗ decides that {} has expired, last heard at {:.3} s",
                    self.session(session),
                    heard as f64 / 1e6
                )
            }
            What::Ended { session, .. } => format!("✗ ends {}", self.session(session)),
            What::Attached { session, .. } => format!("takes over {}", self.session(session)),
            What::TurnedAway { session, seen } => {
                format!("refuses {}, which has seen {seen:#x}", self.session(session))
            }
            What::Moved { session, .. } => {
                format!("refuses a request of {}: it has moved", self.session(session))
            }
            What::Elected { epoch } => format!("leads, in epoch {epoch}"),
            What::Serving => "serves clients".to_owned(),
            What::Ceased => "✗ stops serving clients".to_owned(),
            _ => return None,
        })
    }

    fn of_anybody(&self, what: What) -> String {
        match what {
            What::Fault { kind, victim, lasts } => self.words.fault(kind, victim, lasts),
            What::Mended { kind, victim } => self.words.mended(kind, victim),
            What::Crash { client } => format!("{} crashes", self.client(client)),
            What::Start { client } => format!("{} starts", self.client(client)),
            What::Heal => "no faults from here on".to_owned(),
            What::Quiesce => "no operation is open, no packet is in flight".to_owned(),
            What::Stopped => "the run is stopped at its limit of time".to_owned(),
            What::Elapsed => "no event until here".to_owned(),
            What::Left { path, owner: Session(0), .. } => {
                format!("{} was left behind", self.words.short(path))
            }
            What::Left { path, owner, .. } => {
                format!("{} was left behind, of {}", self.words.short(path), self.session(owner))
            }
            // Recorded by an actor of the wrong kind.
            other => format!("{other:?}"),
        }
    }
}

fn watched(table: Table, mode: WatchMode) -> &'static str {
    match (table, mode) {
        (Table::Data, WatchMode::OneShot) => "on the data of",
        (Table::Child, WatchMode::OneShot) => "on the children of",
        (_, WatchMode::Persistent) => "persistent, on",
        (_, WatchMode::Recursive) => "persistent, on the subtree of",
    }
}

/// The name of a request.
pub(super) fn request_name(of: Request) -> String {
    match of {
        Request::GetAcl => "get ACL".to_owned(),
        Request::SetAcl => "set ACL".to_owned(),
        Request::Other => "other request".to_owned(),
        _ => of.words(),
    }
}

/// The name of a kind of object.
pub(super) fn kind_name(of: Kind) -> String {
    if of == Kind::TwoPhaseCommit { "two-phase commit".to_owned() } else { of.words() }
}
