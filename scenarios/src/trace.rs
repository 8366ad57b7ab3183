//! A run, printed for eyes: one line a happening, milliseconds, names, aligned.

use std::fmt::Write;
use zk_checker::history::{
    Code, FaultKind, History, Notify, ReqId, Request, Seen, Session, SessionState, Sym, Verb, Victim, What,
    Who, Why,
};

/// Prints a run; `steps` are what a script said, and before which event.
pub fn print(history: &History, steps: &[(usize, String)]) -> String {
    let mut printer = Printer { history, requests: Vec::new(), sessions: Vec::new(), out: String::new() };
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
    /// What was asked, by the number of the request.
    requests: Vec<Option<(Request, Sym)>>,
    /// Whose a session is, by its number.
    sessions: Vec<Option<u16>>,
    out: String,
}

impl Printer<'_> {
    fn event(&mut self, index: usize, at: u64, who: Who, what: What) {
        match what {
            What::Call { verb, limit, .. } => {
                let mut text = called(verb).to_owned();
                if limit > 0 {
                    let _ = write!(text, ", for at most {} ms", limit / 1000);
                }
                self.line(at, who, &text);
            }
            What::Return { outcome } => {
                let text = match outcome {
                    zk_checker::history::Outcome::Done => return,
                    zk_checker::history::Outcome::Refused => "✗ comes back empty-handed",
                    zk_checker::history::Outcome::Unknown => "✗ does not know how it went",
                    zk_checker::history::Outcome::Cancelled => "✗ drops the future",
                };
                self.line(at, who, text);
            }
            What::Given { text, .. } => {
                let text = format!("  gives {}", self.text(text));
                self.line(at, who, &text);
            }
            What::Observed { seen, text, number, .. } => {
                let text = format!("▷ {}", observed(seen, self.text(text), number));
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
                    Why::Crashed => "■ is dead",
                };
                self.line(at, who, why);
            }
            What::Resource { token, accepted, .. } => {
                let taken = if accepted { "✓ taken" } else { "✗ refused: a larger token was seen" };
                self.line(at, who, &format!("writes under {token:#x}  {taken}"));
            }
            What::Send { req, kind, path, .. } => self.asked(req, kind, path),
            What::Reply { req, code, .. } => {
                let Some((kind, path)) = self.request(req) else { return };
                let made = match self.history.events.get(index + 1).map(|next| next.what) {
                    Some(What::Made { path, .. }) => Some(path),
                    _ => None,
                };
                let text = self.reply(kind, made.unwrap_or(path), code);
                self.line(at, who, &text);
            }
            What::Lost { req } => {
                let Some((kind, path)) = self.request(req) else { return };
                let text = format!("{:<40} ✗ connection lost", self.words(kind, path));
                self.line(at, who, &text);
            }
            What::Notice { kind, path, .. } => {
                let text = format!("◀ {} {}", notice(kind), self.short(path));
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
                let text = format!("{} is deleted by {}", self.short(path), self.owner(by));
                self.line(at, who, &text);
            }
            What::Fault { kind, victim, lasts } => {
                let text = self.fault(kind, victim, lasts);
                self.line(at, who, &text);
            }
            What::Mended { kind, victim } => {
                let name = self.victim(victim);
                let text = match kind {
                    FaultKind::ServerCrash | FaultKind::LeaderCrash => format!("⚡ {name} is started again"),
                    FaultKind::ClockDrift => format!("⚡ {name}'s clock is right again"),
                    FaultKind::ClientMuted
                    | FaultKind::ClientDeafened
                    | FaultKind::ClientPartition
                    | FaultKind::SessionExpiry => format!("⚡ {name} is reachable again"),
                    _ => format!("⚡ {name} goes on"),
                };
                self.line(at, who, &text);
            }
            What::Elected { epoch } => self.line(at, who, &format!("leads, in epoch {epoch}")),
            What::Ceased => self.line(at, who, "serves nobody any more"),
            What::Serving => self.line(at, who, "serves clients"),
            What::Heal => self.line(at, who, "no fault strikes from here on"),
            What::Left { path, .. } => {
                let text = format!("{} was left behind", self.short(path));
                self.line(at, who, &text);
            }
            _ => {}
        }
    }

    fn line(&mut self, at: u64, who: Who, text: &str) {
        let who = match who {
            Who::Client(client) => self.client(client),
            Who::Server(_) => "server".to_owned(),
            Who::World => "·".to_owned(),
        };
        let _ = writeln!(self.out, "{:>9.3}  {who:<7} {text}", at as f64 / 1e6);
    }

    fn text(&self, sym: Sym) -> &str {
        self.history.names.get(sym).unwrap_or("?")
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
            Some(client) => self.client(client),
            None => format!("s{}", session.0),
        }
    }

    fn client(&self, client: u16) -> String {
        match self.history.header.clients.get(usize::from(client)) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("c{client}"),
        }
    }

    fn reply(&self, kind: Request, path: Sym, code: Code) -> String {
        let words = self.words(kind, path);
        match code {
            Code::Ok => format!("{words:<40} ✓"),
            Code::NoNode => format!("{words:<40} ✗ no such znode"),
            Code::NodeExists => format!("{words:<40} ✗ it exists"),
            Code::BadVersion => format!("{words:<40} ✗ another version"),
            Code::NotEmpty => format!("{words:<40} ✗ it has children"),
            Code::NoChildrenForEphemerals => format!("{words:<40} ✗ ephemerals have no children"),
            Code::SessionExpired => format!("{words:<40} ✗ session over"),
            Code::SessionMoved => format!("{words:<40} ✗ the session has moved"),
            Code::NoAuth => format!("{words:<40} ✗ not allowed"),
            Code::BadArguments => format!("{words:<40} ✗ bad arguments"),
            Code::Other => format!("{words:<40} ✗ refused"),
        }
    }

    fn words(&self, kind: Request, path: Sym) -> String {
        let verb = match kind {
            Request::Create => "create",
            Request::Delete => "delete",
            Request::Exists => "exists",
            Request::Get => "get",
            Request::Set => "set",
            Request::Children => "children",
            Request::Multi => "multi",
            Request::MultiRead => "get",
            Request::Sync => "sync",
            Request::RemoveWatches => "unwatch",
            Request::SetWatches => return "re-arm watches".to_owned(),
            Request::Connect => return "connect".to_owned(),
            Request::CloseSession => return "close".to_owned(),
            Request::GetAcl => "get the access list of",
            Request::SetAcl => "set the access list of",
            Request::AddWatch => "watch for good",
            Request::Reap => "reap",
            Request::Other => "ask about",
        };
        format!("{verb} {}", self.short(path))
    }

    /// A path with its guid cut to four digits: whoever reads compares beginnings.
    fn short(&self, path: Sym) -> String {
        let text = self.history.names.text(path);
        let mut short = String::with_capacity(text.len());
        for (index, part) in text.split('/').enumerate() {
            if index > 0 {
                short.push('/');
            }
            let hex = part.bytes().take_while(|b| b.is_ascii_hexdigit()).count();
            if hex >= 32 {
                short.push_str(&part[..4]);
                short.push('…');
                short.push_str(&part[hex..]);
            } else {
                short.push_str(part);
            }
        }
        short
    }

    fn victim(&self, victim: Victim) -> String {
        match victim {
            Victim::Process { client } => self.client(client),
            Victim::Server { server } => format!("server {server}"),
            Victim::Link { from, to } => format!("what server {from} sends to server {to}"),
        }
    }

    fn fault(&self, kind: FaultKind, victim: Victim, lasts: u64) -> String {
        let (name, ms) = (self.victim(victim), lasts / 1000);
        match kind {
            FaultKind::RequestLost => format!("⚡ a request of {name} is lost, and its connection with it"),
            FaultKind::ReplyLost => format!("⚡ a reply to {name} is lost, and its connection with it"),
            FaultKind::ReplyLate => format!("⚡ a reply to {name} is late"),
            FaultKind::Disconnect => format!("⚡ {name}'s connection breaks"),
            FaultKind::SessionExpiry => format!("⚡ {name} is cut off for {ms} ms"),
            FaultKind::ClientCrash => format!("⚡ {name} dies"),
            FaultKind::ClientPause => format!("⚡ {name} stands still for {ms} ms"),
            FaultKind::Cancel => format!("⚡ {name} is asked to give up"),
            FaultKind::ClientMuted => format!("⚡ nothing that {name} sends arrives for {ms} ms"),
            FaultKind::ClientDeafened => format!("⚡ nothing that is sent to {name} arrives for {ms} ms"),
            FaultKind::ClientPartition => {
                format!("⚡ {name} and its server do not hear each other for {ms} ms")
            }
            FaultKind::WatchLost => format!("⚡ {name}'s connection breaks just before a notification"),
            FaultKind::ClockDrift => format!("⚡ {name}'s clock drifts for {ms} ms"),
            FaultKind::ServerCrash => format!("⚡ {name} dies, for {ms} ms"),
            FaultKind::LeaderCrash => format!("⚡ {name}, who leads, dies, for {ms} ms"),
            FaultKind::ServerPause => format!("⚡ {name} stands still for {ms} ms"),
            FaultKind::LinkHeld => format!("⚡ {name} is held up for {ms} ms"),
            FaultKind::LinkCut => format!("⚡ {name}, and back, is dropped for {ms} ms"),
            FaultKind::ServerPartition => {
                format!("⚡ {name} and the others do not hear each other for {ms} ms")
            }
            FaultKind::DiskStall => format!("⚡ {name} does not get to its disk for {ms} ms"),
            FaultKind::ApplyStall => format!("⚡ {name} does not get to apply anything for {ms} ms"),
            FaultKind::CommitStall => format!("⚡ {name} does not apply what it commits for {ms} ms"),
            FaultKind::ClockJump => format!("⚡ the wall clock of {name} jumps"),
            FaultKind::ForeignDelete => "⚡ a stranger deletes a znode".to_owned(),
            FaultKind::ForeignWrite => "⚡ a stranger writes into a znode".to_owned(),
            FaultKind::ForeignCreate => "⚡ a stranger makes a znode".to_owned(),
        }
    }
}

fn notice(kind: Notify) -> &'static str {
    match kind {
        Notify::Created => "created",
        Notify::Deleted => "deleted",
        Notify::DataChanged => "changed",
        Notify::ChildrenChanged => "children of",
    }
}

/// What a client does when it calls an operation.
fn called(verb: Verb) -> &'static str {
    match verb {
        Verb::Acquire => "asks",
        Verb::TryAcquire => "asks whether it is free",
        Verb::Release => "releases",
        Verb::Read => "asks to read",
        Verb::TryRead => "asks whether it may read at once",
        Verb::Write => "asks to write",
        Verb::TryWrite => "asks whether it may write at once",
        Verb::Downgrade => "goes on as a reader",
        Verb::Ask => "asks another one to go",
        Verb::Force => "makes another one go",
        Verb::Stand => "stands for office",
        Verb::Acknowledge => "puts on record that it has begun",
        Verb::Observe => "looks who leads",
        Verb::Raise => "raises the barrier",
        Verb::Lower => "lowers the barrier",
        Verb::Wait => "waits at the barrier",
        Verb::WaitDown => "waits until the barrier is down",
        Verb::Enter => "enters",
        Verb::Leave => "leaves",
        Verb::Put => "puts",
        Verb::Take => "takes",
        Verb::Claim => "claims",
        Verb::Confirm => "confirms",
        Verb::GiveBack => "gives back",
        Verb::Begin => "begins the transaction",
        Verb::Vote => "votes",
        Verb::Decide => "asks for the decision",
        Verb::Finish => "finishes",
        Verb::Register => "registers",
        Verb::Unregister => "gives the name back",
        Verb::Resolve => "looks up",
        Verb::Unique => "asks for a name",
        Verb::Follow => "follows",
        Verb::CompareAndSet => "writes if nobody else has",
        Verb::Overwrite => "writes",
        Verb::Publish => "publishes",
        Verb::Snapshot => "reads the whole set",
        Verb::Join => "joins",
        Verb::Watch => "looks who is there",
    }
}

/// What a client was handed.
fn observed(seen: Seen, text: &str, number: u64) -> String {
    match seen {
        Seen::Value => format!("sees {text:?}"),
        Seen::Missing => "sees that there is nothing".to_owned(),
        Seen::View => format!("sees the members [{text}]"),
        Seen::Item => format!("has the item {text:?}"),
        Seen::Word => "is asked to go".to_owned(),
        Seen::Fate => format!("hears: {text}"),
        Seen::Vote => format!("sees the vote {text}"),
        Seen::Decision => format!("learns the decision: {text}"),
        Seen::Leader => format!("sees the leader {text:?} of epoch {number:#x}"),
        Seen::Vacant => "sees that nobody leads".to_owned(),
        Seen::Opening => format!("is in, generation {number}, with [{text}]"),
        Seen::Name => format!("has the name {text:?}"),
    }
}
