//! Explains a run that hangs: which clients wait, in which call, for what, and why it never comes.
//!
//! 1. Name every client with an open call, and the call.
//! 2. List what would wake it: an outstanding reply, an armed watch, the end of a sleep; or nothing.
//! 3. Describe each znode that it watches: its creation, the create request, its owner, and what the owner does.

use crate::causes::Causes;
use crate::dropped::{DROPPED, dropped};
use crate::lives::{Belief, CallSpan, Lives, Watch, WatchEnd, Znode};
use crate::requests::{Requests, SentRequest};
use crate::words::{Sentences, request_name};
use std::collections::{BTreeMap, BTreeSet};
use zk_checker::history::{History, OpId, Request, Session, SessionState, Sym, Table, What, Who, Why};
use zk_checker::text::seconds;

/// The maximal number of items of one kind that are named; further ones are counted.
const NAMED: usize = 3;

/// The number of requests of one call from which they are summarised by kind and path.
const MANY: usize = 10;

/// What each waiting client waits for, one sentence per line. Lines about the same client follow the line that names
/// it, and are indented by two.
pub fn waits(history: &History) -> Vec<String> {
    let asked = Requests::of(history);
    let causes = Causes::find(history, &asked);
    let lives = Lives::of(history, &asked, &causes);
    let sentences = Sentences::new(history, &asked);
    let scene =
        Scene { history, asked: &asked, lives: &lives, sentences: &sentences, dropped: dropped(history) };
    let open = lives.operations.iter().filter(|call| call.to.is_none() && !scene.is_dead(call.client));
    let mut lines: Vec<String> = open.clone().flat_map(|call| scene.waiting(call)).collect();
    let idle = scene.present().filter(|client| open.clone().all(|call| call.client != *client));
    lines.extend(idle.flat_map(|client| scene.idle(client)));
    lines
}

struct Scene<'a> {
    history: &'a History,
    asked: &'a Requests,
    lives: &'a Lives,
    sentences: &'a Sentences<'a>,
    /// The stops after which a guard was dropped.
    dropped: BTreeSet<u32>,
}

/// The clients, and what would wake them.
impl Scene<'_> {
    fn waiting(&self, call: &CallSpan) -> Vec<String> {
        let op = self.history.events[call.from as usize].op;
        let client = self.sentences.client(call.client);
        let head = format!(
            "{client} waits in its {} of {}, called at {}",
            call.verb.words(),
            self.sentences.object(call.object),
            self.when(call.from)
        );
        let asks = || self.asked.iter().filter(|ask| ask.client == call.client && ask.op == op);
        let mut lines = vec![head];
        lines.extend(requests(asks().count(), &self.counted(asks())));
        let wakes = self.wakes(call.client, Some(op));
        if wakes.is_empty() {
            lines.push(format!("  {}", self.forgotten(call.client, op)))
        } else {
            lines.extend(wakes)
        }
        lines
    }

    /// A client between calls is named only if something can wake it there.
    fn idle(&self, client: u16) -> Vec<String> {
        let wakes = self.wakes(client, None);
        if wakes.is_empty() {
            return wakes;
        }
        let last = self.lives.operations.iter().rev().find(|call| call.client == client);
        let since = last.and_then(|call| Some((call, call.to?)));
        let since = since.map_or(String::new(), |(call, to)| {
            format!(" since its {} returned at {}", call.verb.words(), self.when(to))
        });
        let head = format!("{} waits outside of calls{since}", self.sentences.client(client));
        [vec![head], wakes].concat()
    }

    /// What would wake a client, in a call or outside of any: outstanding replies, armed watches, the end of a sleep.
    fn wakes(&self, client: u16, op: Option<OpId>) -> Vec<String> {
        let mut lines = Vec::new();
        let due = self.asked.iter().filter(|ask| ask.client == client && ask.answered.is_none());
        let due = due.filter(|ask| ask.lost.is_none() && op.is_none_or(|op| ask.op == op));
        lines.extend(due.take(NAMED).map(|ask| {
            let reached = if ask.handled.is_some() { "a server has it" } else { "no server has it" };
            format!(
                "  for the reply to its {}, sent at {}: {reached}",
                self.request(ask),
                self.when(ask.sent)
            )
        }));
        let watches = self.watches(client, op);
        lines.extend(watches.iter().take(NAMED).flat_map(|watch| self.watched(client, watch)));
        if watches.len() > NAMED {
            lines.push(format!("  and for {} more watches", watches.len() - NAMED));
        }
        lines.extend(self.sleep(client, op));
        lines
    }

    /// The armed watches of a call; if it has armed none, all of its client's, since watches are armed again on each
    /// connection.
    fn watches(&self, client: u16, op: Option<OpId>) -> Vec<&Watch> {
        let of = |session: Session| self.lives.sessions.get(&session).and_then(|life| life.client);
        let stands = |watch: &&Watch| watch.end == WatchEnd::Stands && of(watch.session) == Some(client);
        let all: Vec<&Watch> = self.lives.watches.iter().filter(stands).collect();
        let own: Vec<&Watch> = all.iter().copied().filter(|watch| Some(watch.op) == op).collect();
        if own.is_empty() { all } else { own }
    }

    fn sleep(&self, client: u16, op: Option<OpId>) -> Option<String> {
        let op = op?;
        let end = self.history.events.last()?.at;
        let own = |event: &&zk_checker::history::Event| event.who == Who::Client(client) && event.op == op;
        self.history.events.iter().filter(own).rev().find_map(|event| match event.what {
            What::Sleep { until, .. } if until > end => {
                Some(format!("  until its sleep ends at {} s", seconds(until)))
            }
            _ => None,
        })
    }

    /// For a call that nothing can wake: the fate of its last watch.
    fn forgotten(&self, client: u16, op: OpId) -> String {
        let nothing = "for an event that cannot come: no reply is due, no watch is armed, no sleep ends";
        let Some(watch) = self.lives.watches.iter().rev().find(|watch| watch.op == op) else {
            return nothing.to_owned();
        };
        let path = self.sentences.short(watch.path);
        let ended = watch.ended.map_or(String::new(), |ended| format!(" at {}", self.when(ended)));
        let became = match (watch.end, watch.notice) {
            (WatchEnd::Notified, Some(notice)) => {
                format!(
                    "fired{ended}, and {} was notified at {}",
                    self.sentences.client(client),
                    self.when(notice)
                )
            }
            (WatchEnd::NoticeLost, _) => format!("fired{ended}, and the notification was lost"),
            (WatchEnd::ConnectionLost, _) => {
                format!("went with its connection{ended}, and was not armed again")
            }
            _ => format!("was removed{ended}"),
        };
        format!("{nothing}; its last watch, on {path}, {became}")
    }

    /// The requests of a call by kind and path, the most frequent first.
    fn counted<'b>(&self, asks: impl Iterator<Item = &'b SentRequest>) -> Vec<(String, usize)> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        asks.for_each(|ask| *counts.entry(self.request(ask)).or_default() += 1);
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// The clients that neither crashed nor closed their last session.
    fn present(&self) -> impl Iterator<Item = u16> {
        let mut last: BTreeMap<u16, SessionState> = BTreeMap::new();
        for event in &self.history.events {
            if let (Who::Client(client), What::State { state, .. }) = (event.who, event.what) {
                last.insert(client, state);
            }
        }
        let lives = |(client, state): &(u16, SessionState)| {
            !self.is_dead(*client) && !matches!(state, SessionState::Closed | SessionState::Expired)
        };
        last.into_iter().filter(lives).map(|(client, _)| client)
    }

    fn is_dead(&self, number: u16) -> bool {
        let changes = self.history.events.iter().rev().find_map(|event| match event.what {
            What::Crash { client } if client == number => Some(true),
            What::Start { client } if client == number => Some(false),
            _ => None,
        });
        changes == Some(true)
    }

    fn request(&self, ask: &SentRequest) -> String {
        format!("{} {}", request_name(ask.kind), self.sentences.short(ask.path))
    }

    /// An event and its time in seconds, as in a finding.
    fn when(&self, event: u32) -> String {
        format!("e{event} ({})", seconds(self.history.events[event as usize].at))
    }
}

/// The watched znodes, and why they stay.
impl Scene<'_> {
    fn watched(&self, waiter: u16, watch: &Watch) -> Vec<String> {
        let path = self.sentences.short(watch.path);
        let armed = self.when(watch.armed);
        let znode = self.znode(watch.path);
        let is_directory =
            watch.table == Table::Child && znode.is_some_and(|znode| znode.owner == Session(0));
        let (for_what, stands): (String, Vec<&Znode>) = match (znode, is_directory) {
            (None, _) => (format!("the creation of {path}"), Vec::new()),
            (Some(_), true) => (format!("a change of the children of {path}"), self.children(watch.path)),
            (Some(znode), false) => (format!("a change or the deletion of {path}"), vec![znode]),
        };
        let mut lines = vec![format!("  for {for_what}: its watch, armed at {armed}, has not fired")];
        if stands.is_empty() {
            lines.push(format!("  {}", self.absent(watch.path, is_directory)));
        }
        lines.extend(stands.iter().take(NAMED).flat_map(|znode| self.stays(waiter, znode)));
        if stands.len() > NAMED {
            lines.push(format!("  and {} more children", stands.len() - NAMED));
        }
        lines
    }

    fn absent(&self, path: Sym, is_directory: bool) -> String {
        let short = self.sentences.short(path);
        let deleted =
            self.lives.znodes.iter().rev().find(|znode| znode.path == path).and_then(|znode| znode.deleted);
        match (is_directory, deleted) {
            (true, _) => format!("{short} has no children"),
            (false, Some(at)) => {
                format!("{short} does not exist since {}, and no client creates it", self.when(at))
            }
            (false, None) => format!("{short} has never existed, and no client creates it"),
        }
    }

    /// The creation and the creator of a znode, and why it is not deleted.
    fn stays(&self, waiter: u16, znode: &Znode) -> Vec<String> {
        let path = self.sentences.short(znode.path);
        let owner = match znode.owner {
            Session(0) => "persistent".to_owned(),
            owner => format!("ephemeral of {}", self.sentences.session(owner)),
        };
        let made = self.made_by(znode).map_or(String::new(), |ask| {
            let lost = ask.lost.filter(|_| ask.answered.is_none());
            let lost =
                lost.map_or(String::new(), |lost| format!(", whose reply was lost at {}", self.when(lost)));
            let by = self.sentences.client(ask.client);
            format!(", by {by}'s {} of {}{lost}", request_name(ask.kind), self.when(ask.sent))
        });
        let (since, czxid) = (self.when(znode.created), znode.czxid);
        vec![
            format!("  {path} exists since {since}, czxid {czxid:#x}: {owner}{made}"),
            format!("  it stays: {}", self.reason(waiter, znode)),
        ]
    }

    /// The reason why a znode is not deleted.
    fn reason(&self, waiter: u16, znode: &Znode) -> String {
        if let Some(delete) = self.lost_delete(znode) {
            let client = self.sentences.client(delete.client);
            return format!(
                "{client}'s {} of {} never reached a server",
                request_name(delete.kind),
                self.when(delete.sent)
            );
        }
        let life = self.lives.sessions.get(&znode.owner);
        let Some(owner) = life.and_then(|life| life.client) else {
            return "only a delete removes it, and no client asks for one".to_owned();
        };
        let (name, session) = (self.sentences.client(owner), znode.owner.0);
        if self.is_dead(owner) {
            return format!("{name} crashed, and its session s{session} has not ended");
        }
        let past = self.past(owner, znode).map_or(String::new(), |past| format!("{name} {past}, and "));
        format!("session s{session} has not ended; {past}{}", self.occupation(waiter, owner))
    }

    /// The fate of the hold that a znode represents, or that its owner does not know of the znode.
    fn past(&self, owner: u16, znode: &Znode) -> Option<String> {
        let since = |belief: &&Belief| belief.client == owner && belief.from > znode.created;
        match self.lives.beliefs.iter().rev().find(since) {
            Some(Belief { from, to: None, .. }) => Some(format!("holds since {}", self.when(*from))),
            Some(Belief { to: Some(to), why, .. })
                if *why == Some(Why::Dropped) || self.dropped.contains(to) =>
            {
                Some(format!("stopped at {} ({DROPPED})", self.when(*to)))
            }
            Some(_) => None,
            None => {
                let ask = self.made_by(znode).filter(|ask| ask.answered.is_none())?;
                Some(format!("never learned that its {} was applied", request_name(ask.kind)))
            }
        }
    }

    /// What the owner of a znode does instead of deleting it.
    fn occupation(&self, waiter: u16, owner: u16) -> String {
        let name = self.sentences.client(owner);
        let open = |call: &&CallSpan| call.client == owner && call.to.is_none();
        match self.lives.operations.iter().rev().find(open) {
            Some(_) if owner == waiter => format!("{name} itself waits here"),
            Some(call) => {
                let (verb, object) = (call.verb.words(), self.sentences.object(call.object));
                format!("{name} is in its {verb} of {object} since {}", self.when(call.from))
            }
            None => format!("{name} is in no call that would delete it"),
        }
    }

    /// A delete of this znode that never reached a server.
    fn lost_delete(&self, znode: &Znode) -> Option<&SentRequest> {
        let mut asks = self.asked.iter().filter(|ask| ask.kind == Request::Delete && ask.path == znode.path);
        asks.find(|ask| ask.sent > znode.created && ask.lost.is_some() && ask.handled.is_none())
    }

    fn made_by(&self, znode: &Znode) -> Option<&SentRequest> {
        let is_its = |what: What| matches!(what, What::Txn { zxid, .. } if zxid == znode.czxid);
        let before =
            self.history.events[..znode.created as usize].iter().rposition(|event| is_its(event.what))?;
        self.asked.iter().find(|ask| ask.handled == Some(before as u32))
    }

    /// The znode that exists at a path at the end.
    fn znode(&self, path: Sym) -> Option<&Znode> {
        self.lives
            .znodes
            .iter()
            .rev()
            .find(|znode| znode.path == path)
            .filter(|znode| znode.deleted.is_none())
    }

    fn children(&self, path: Sym) -> Vec<&Znode> {
        let is_child = |znode: &&Znode| self.asked.parent(self.history, znode.path) == Some(path);
        self.lives.znodes.iter().filter(|znode| znode.deleted.is_none()).filter(is_child).collect()
    }
}

/// A summary of the requests of a call, if there are many.
fn requests(count: usize, counted: &[(String, usize)]) -> Option<String> {
    let named: Vec<String> =
        counted.iter().take(NAMED).map(|(request, times)| format!("{request} ({times} times)")).collect();
    (count > MANY).then(|| format!("  it has sent {count} requests, most often {}", named.join(", ")))
}
