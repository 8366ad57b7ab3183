//! The words of a trace: parties, requests, faults and what is handed out, as they are called in print.

use zk_checker::history::{Code, FaultKind, History, Notify, Request, Seen, Sym, Verb, Victim};

/// Calls the things of a history by their names.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    pub(crate) history: &'a History,
}

impl Words<'_> {
    pub(crate) fn client(&self, client: u16) -> String {
        match self.history.header.clients.get(usize::from(client)) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("c{client}"),
        }
    }

    pub(crate) fn reply(&self, kind: Request, path: Sym, code: Code) -> String {
        format!("{:<40} {}", self.request(kind, path), answered(code))
    }

    pub(crate) fn request(&self, kind: Request, path: Sym) -> String {
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
    pub(crate) fn short(&self, path: Sym) -> String {
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

    pub(crate) fn victim(&self, victim: Victim) -> String {
        match victim {
            Victim::Process { client } => self.client(client),
            Victim::Server { server } => format!("server {server}"),
            Victim::Link { from, to } => format!("what server {from} sends to server {to}"),
        }
    }

    pub(crate) fn mended(&self, kind: FaultKind, victim: Victim) -> String {
        let name = self.victim(victim);
        match kind {
            FaultKind::ServerCrash | FaultKind::LeaderCrash => format!("⚡ {name} is started again"),
            FaultKind::ClockDrift => format!("⚡ {name}'s clock is right again"),
            FaultKind::SlowServer => format!("⚡ {name} answers again"),
            FaultKind::ClientMuted
            | FaultKind::ClientDeafened
            | FaultKind::ClientPartition
            | FaultKind::SessionExpiry => format!("⚡ {name} is reachable again"),
            _ => format!("⚡ {name} goes on"),
        }
    }

    pub(crate) fn fault(&self, kind: FaultKind, victim: Victim, lasts: u64) -> String {
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
            FaultKind::Throttled => format!("⚡ a request of {name} is throttled"),
            FaultKind::QuotaExceeded => format!("⚡ a write of {name} exceeds a quota"),
            FaultKind::AccessDenied => format!("⚡ a request of {name} is denied"),
            FaultKind::ServerError => format!("⚡ the server fails to process a request of {name}"),
            FaultKind::SlowServer => format!("⚡ {name} has not answered for {ms} ms"),
            FaultKind::SlowProcess => format!("⚡ {name} was paused for {ms} ms, by itself"),
            FaultKind::ForeignDelete => "⚡ a stranger deletes a znode".to_owned(),
            FaultKind::ForeignWrite => "⚡ a stranger writes into a znode".to_owned(),
            FaultKind::ForeignCreate => "⚡ a stranger makes a znode".to_owned(),
        }
    }
}

/// How a request went.
pub(crate) fn answered(code: Code) -> &'static str {
    match code {
        Code::Ok => "✓",
        Code::NoNode => "✗ no such znode",
        Code::NodeExists => "✗ it exists",
        Code::BadVersion => "✗ another version",
        Code::NotEmpty => "✗ it has children",
        Code::NoChildrenForEphemerals => "✗ ephemerals have no children",
        Code::SessionExpired => "✗ session over",
        Code::SessionMoved => "✗ the session has moved",
        Code::NoAuth => "✗ not allowed",
        Code::BadArguments => "✗ bad arguments",
        Code::Other => "✗ refused",
        Code::Throttled => "✗ throttled",
    }
}

pub(crate) fn notice(kind: Notify) -> &'static str {
    match kind {
        Notify::Created => "created",
        Notify::Deleted => "deleted",
        Notify::DataChanged => "changed",
        Notify::ChildrenChanged => "children of",
    }
}

/// What a client does when it calls an operation.
pub(crate) fn called(verb: Verb) -> &'static str {
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
pub(crate) fn observed(seen: Seen, text: &str, number: u64) -> String {
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
