//! The words of a trace: printed names of actors, requests, faults and results.

use crate::requests::LostWrite;
use zk_checker::history::{Code, Failure, FaultKind, History, Notify, Request, Seen, Sym, Verb, Victim};
use zk_checker::text::abbreviated;

/// Names the things of a history.
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
            Request::AddWatch => "add a persistent watch on",
            Request::Reap => "reap",
            Request::Other => "ask about",
        };
        format!("{verb} {}", self.short(path))
    }

    /// A path with short guids.
    pub(crate) fn short(&self, path: Sym) -> String {
        abbreviated(self.history.names.text(path))
    }

    pub(crate) fn victim(&self, victim: Victim) -> String {
        match victim {
            Victim::Process { client } => self.client(client),
            Victim::Server { server } => format!("server {server}"),
            Victim::Link { from, to } => format!("the link from server {from} to server {to}"),
        }
    }

    pub(crate) fn mended(&self, kind: FaultKind, victim: Victim) -> String {
        let name = self.victim(victim);
        match kind {
            FaultKind::ServerCrash | FaultKind::LeaderCrash => format!("⚡ {name} restarts"),
            FaultKind::ClockDrift => format!("⚡ {name}'s clock is right again"),
            FaultKind::SlowServer => format!("⚡ {name} answers again"),
            FaultKind::ClientMuted
            | FaultKind::ClientDeafened
            | FaultKind::ClientPartition
            | FaultKind::SessionExpiry => format!("⚡ {name} is reachable again"),
            _ => format!("⚡ {name} resumes"),
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
            FaultKind::ClientCrash => format!("⚡ {name} crashes"),
            FaultKind::ClientPause => format!("⚡ {name} is paused for {ms} ms"),
            FaultKind::Cancel => format!("⚡ {name} cancels its call"),
            FaultKind::ClientMuted => format!("⚡ no packet from {name} arrives for {ms} ms"),
            FaultKind::ClientDeafened => format!("⚡ no packet to {name} arrives for {ms} ms"),
            FaultKind::ClientPartition => {
                format!("⚡ {name} is partitioned from its server for {ms} ms")
            }
            FaultKind::WatchLost => format!("⚡ {name}'s connection breaks just before a notification"),
            FaultKind::ClockDrift => format!("⚡ {name}'s clock drifts for {ms} ms"),
            FaultKind::ServerCrash => format!("⚡ {name} crashes, for {ms} ms"),
            FaultKind::LeaderCrash => format!("⚡ {name}, the leader, crashes, for {ms} ms"),
            FaultKind::ServerPause => format!("⚡ {name} is paused for {ms} ms"),
            FaultKind::LinkHeld => format!("⚡ {name} is delayed for {ms} ms"),
            FaultKind::LinkCut => format!("⚡ {name} is cut both ways for {ms} ms"),
            FaultKind::PacketsLost => format!("⚡ {name} loses packets for {ms} ms"),
            FaultKind::ServerPartition => {
                format!("⚡ {name} is partitioned from the other servers for {ms} ms")
            }
            FaultKind::DiskStall => format!("⚡ the disk of {name} stalls for {ms} ms"),
            FaultKind::ApplyStall => format!("⚡ {name} applies no transaction for {ms} ms"),
            FaultKind::CommitStall => format!("⚡ {name} applies no committed transaction for {ms} ms"),
            FaultKind::ClockJump => format!("⚡ the wall clock of {name} jumps"),
            FaultKind::Throttled => format!("⚡ a request of {name} is throttled"),
            FaultKind::QuotaExceeded => format!("⚡ a write of {name} exceeds a quota"),
            FaultKind::AccessDenied => format!("⚡ a request of {name} is denied"),
            FaultKind::ServerError => format!("⚡ the server fails to process a request of {name}"),
            FaultKind::SlowServer => format!("⚡ {name} has not answered for {ms} ms"),
            FaultKind::SlowProcess => format!("⚡ {name} was paused for {ms} ms without an injected fault"),
            FaultKind::ForeignDelete => "⚡ a foreign client deletes a znode".to_owned(),
            FaultKind::ForeignWrite => "⚡ a foreign client writes into a znode".to_owned(),
            FaultKind::ForeignCreate => "⚡ a foreign client creates a znode".to_owned(),
        }
    }
}

/// The result of a request.
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

/// The effect of a write whose reply was lost, as a suffix of that sentence.
pub(crate) fn nonetheless(fate: LostWrite) -> String {
    match fate {
        LostWrite::Applied { zxid } => format!(", but applied as {zxid:#x}"),
        LostWrite::AppliedLater { zxid } => format!(", and applied later, as {zxid:#x}"),
        LostWrite::Refused(code) => format!(", and refused: {}", answered(code)),
        LostWrite::NeverApplied => ", and never applied".to_owned(),
        LostWrite::Unsaid => String::new(),
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

/// The action of a client that calls an operation: the verb in the third person, unless that says too little.
pub(crate) fn called(verb: Verb) -> String {
    let action = match verb {
        Verb::Acquire => "asks",
        Verb::TryAcquire => "tries to acquire",
        Verb::Read => "asks to read",
        Verb::TryRead => "tries to read",
        Verb::Write => "asks to write",
        Verb::TryWrite => "tries to write",
        Verb::Downgrade => "downgrades to a reader",
        Verb::Ask => "asks the holders to release",
        Verb::Force => "forces a holder out",
        Verb::Stand => "becomes a candidate",
        Verb::Acknowledge => "records its leadership",
        Verb::Observe => "reads the leader",
        Verb::Raise => "raises the barrier",
        Verb::Lower => "lowers the barrier",
        Verb::Wait => "waits at the barrier",
        Verb::WaitDown => "waits until the barrier is down",
        Verb::Settle => "settles its taken items",
        Verb::Begin => "begins the transaction",
        Verb::Decide => "asks for the decision",
        Verb::Resolve => "looks up",
        Verb::Unique => "asks for a name",
        Verb::Get => "reads the value",
        Verb::CompareAndSet => "writes if unchanged",
        Verb::Overwrite => "writes",
        Verb::Snapshot => "reads the whole set",
        Verb::Watch => "watches the members",
        Verb::Transact => "writes under its hold",
        Verb::TransactOnce => "writes once under its hold",
        Verb::Contenders => "lists the contenders",
        Verb::Evict => "evicts a contender",
        Verb::Replace => "replaces its data",
        Verb::Recall => "looks for its registration",
        Verb::Open => "opens the transaction",
        Verb::Keep => "is to keep it",
        Verb::Lease => "asks for a lease",
        Verb::Yield => "gives back",
        Verb::Own => "owns a part",
        Verb::Whole => "names all parts",
        Verb::Audit => "reports its view",
        _ => return third_person(&verb.words()),
    };
    action.to_owned()
}

/// Puts a verb, and what may stand behind it, into the third person.
fn third_person(verb: &str) -> String {
    let (first, rest) = verb.split_at(verb.find(' ').unwrap_or(verb.len()));
    let ending = if first.ends_with("sh") { "es" } else { "s" };
    format!("{first}{ending}{rest}")
}

/// The value that a client received.
pub(crate) fn observed(seen: Seen, text: &str, number: u64) -> String {
    match seen {
        Seen::Value => format!("sees {text:?}"),
        Seen::Missing => "sees no value".to_owned(),
        Seen::View => format!("sees the members [{text}]"),
        Seen::Item => format!("has the item {text:?}"),
        Seen::Word => "sees a request to release".to_owned(),
        Seen::Fate => format!("request to release: {text}"),
        Seen::Vote => format!("sees the vote {text}"),
        Seen::Decision => format!("learns the decision: {text}"),
        Seen::Leader => format!("sees the leader {text:?} of epoch {number:#x}"),
        Seen::Vacant => "sees no leader".to_owned(),
        Seen::Opening => format!("is in generation {number}, with [{text}]"),
        Seen::Name => format!("has the name {text:?}"),
        Seen::State => format!("sees its hold as {}", text.replacen('_', ": ", 1).replace('_', " ")),
        Seen::Ending => format!("learns its outcome: {}", text.replace('_', " ")),
        Seen::InHand => format!("has {number} items in hand"),
        Seen::Line => format!("sees the contenders [{text}]"),
        Seen::Results => format!("gets the results [{text}]"),
        Seen::Znode => format!("has {text} in its cache"),
        Seen::MemberData => format!("sees the member {text:?}"),
        Seen::Attempts => format!("learns that {text:?} is delivered for time {number}"),
    }
}

/// How an operation ended, with its reason.
pub(crate) fn because(ended: &str, failure: Failure) -> String {
    match failure {
        Failure::None => ended.to_owned(),
        failure => format!("{ended}: {}", failure.text()),
    }
}
