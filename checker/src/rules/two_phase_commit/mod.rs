//! Two-phase commit: TC-1 to TC-13.
//!
//! 1. *Operations*: the site for which each one acts. The coordinator has a number of its own.
//! 2. *Observed* ([`observed`]): the sites' decisions and votes, from calls and observations alone: TC-1 to TC-4.
//! 3. *Written* ([`written`]): votes and record as the servers applied them, and whether the sites' decisions follow:
//!    TC-6 to TC-11.
//! 4. *Progress* ([`progress`]): operations that must return, and those that are blocked by a named vote: TC-5 and
//!    TC-13.
//! 5. *Cost* ([`cost`]): notifications, counted for each session: TC-12.

mod cost;
mod observed;
mod progress;
mod written;

use crate::digest;
use crate::kinds::two_phase_commit::COORDINATOR;
use crate::rule::prelude::*;
use crate::view::{Moment, Part};
use std::collections::BTreeMap;
use written::TransactionZnode;

/// A vote, or a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Commit,
    Abort,
}

impl Word {
    fn of(text: &str) -> Option<Word> {
        match text {
            "commit" => Some(Word::Commit),
            "abort" => Some(Word::Abort),
            _ => None,
        }
    }

    /// The word with that digest.
    fn written(found: u64) -> Option<Word> {
        [Word::Commit, Word::Abort]
            .into_iter()
            .find(|word| digest::data(Some(word.text().as_bytes())) == found)
    }

    fn text(self) -> &'static str {
        match self {
            Word::Commit => "commit",
            Word::Abort => "abort",
        }
    }
}

/// An operation, and the site for which it acts.
#[derive(Clone, Debug)]
struct SiteOp {
    /// A site's number, or [`COORDINATOR`].
    site: u64,
    verb: Verb,
    /// The vote in the call.
    vote: Option<Word>,
    /// Whether it may decide at once: it replaces a coordinator that may have died, or removes the transaction.
    decides_at_once: bool,
    /// Whether it has read the record, or was refused because of it.
    met_record: bool,
}

/// One transaction.
#[derive(Clone, Default)]
struct Transaction {
    parts: BTreeMap<OpId, SiteOp>,
    observed: observed::Observed,
    written: written::Written,
    ends: progress::Progress,
    woken: cost::Cost,
    /// Whether a foreign client has modified the transaction: from then on its znodes prove nothing, and no site need
    /// decide by them.
    is_interfered_with: bool,
}

/// The rules about two-phase commit.
#[derive(Clone, Default)]
pub(crate) struct TwoPhaseCommit {
    /// By object; `None` for other kinds.
    all: Vec<Option<Transaction>>,
    /// The number of known objects.
    known: usize,
    any: bool,
    /// The znode whose data are the next event.
    touched: Option<TransactionZnode>,
    /// Whether there was a fault, so that an abort needs no other reason.
    disturbed: bool,
}

impl TwoPhaseCommit {
    fn look_around(&mut self, scene: &Scene<'_>) {
        for object in &scene.tables.objects[self.known..] {
            let is = object.kind == Kind::TwoPhaseCommit;
            self.any |= is;
            self.all.push(is.then(Transaction::default));
        }
        self.known = scene.tables.objects.len();
    }

    fn of(&mut self, object: ObjectId) -> Option<&mut Transaction> {
        self.all.get_mut(usize::from(object.0))?.as_mut()
    }

    /// The transaction that a path belongs to, and its part there.
    fn place(&self, scene: &Scene<'_>, path: Sym) -> Option<(ObjectId, Part)> {
        let ours = self.all.iter().enumerate().filter(|(_, transaction)| transaction.is_some());
        let mut ours = ours.map(|(at, _)| ObjectId(at as u16));
        ours.find_map(|object| Some((object, scene.part(object, path)?)))
    }

    fn hears_client(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let disturbed = self.disturbed;
        match event.what {
            What::Call { object, verb, .. } => {
                let Some(transaction) = self.of(object) else { return };
                let part =
                    SiteOp { site: COORDINATOR, verb, vote: None, decides_at_once: false, met_record: false };
                transaction.parts.insert(event.op, part);
                transaction.ends.called(scene, event.op, object, out);
            }
            What::Given { text, number } => {
                let object = scene.view.op(event.op).object;
                let Some(transaction) = self.of(object) else { return };
                let text = scene.text(text);
                let Some(part) = transaction.parts.get_mut(&event.op) else { return };
                part.site = number;
                part.vote = Word::of(text).filter(|_| part.verb == Verb::Vote);
                part.decides_at_once =
                    number == COORDINATOR && (text == "resume" || part.verb == Verb::Finish);
                let part = part.clone();
                transaction.observed.given(event.op, &part, scene.view.now);
                transaction.woken.speaks(scene, event.op, &part);
            }
            What::Observed { object, seen, text, number } => {
                let Some(transaction) = self.of(object) else { return };
                let Some(word) = Word::of(scene.text(text)) else { return };
                let Some(part) = transaction.parts.get(&event.op).cloned() else { return };
                match seen {
                    Seen::Decision => {
                        // After the record is deleted, another decision may be made.
                        if transaction.is_interfered_with {
                            return;
                        }
                        transaction.written.judge(scene, object, &part, word, &transaction.observed, out);
                        transaction.observed.decision(scene, object, &part, word, disturbed, out);
                    }
                    Seen::Vote => {
                        transaction.observed.vote(scene, object, event.op, &part, (number, word), out)
                    }
                    _ => {}
                }
            }
            What::Return { outcome, .. } => {
                let object = scene.view.op(event.op).object;
                let Some(transaction) = self.of(object) else { return };
                let Some(part) = transaction.parts.get(&event.op).cloned() else { return };
                transaction.observed.returned(scene, event.op, &part, outcome);
                self.disturbed |= matches!(outcome, Outcome::Unknown | Outcome::Cancelled);
            }
            _ => {}
        }
    }

    fn hears_servers(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if let What::Created { path, .. }
        | What::Written { path, .. }
        | What::Deleted { path, .. }
        | What::Found { path, .. } = event.what
            && let Some((object, _)) = self.place(scene, path)
            && let Some(transaction) = self.of(object)
        {
            transaction.is_interfered_with |=
                scene.view.is_foreign_change() && !matches!(event.what, What::Found { .. });
            if transaction.is_interfered_with {
                self.touched = None;
                return;
            }
        }
        match event.what {
            What::Created { path, owner, .. } => {
                self.touched = None;
                let Some((object, part)) = self.place(scene, path) else { return };
                self.touched = Some(TransactionZnode { object, path, part });
                let Some(transaction) = self.of(object) else { return };
                transaction.written.created(path, part, owner, scene.view.now);
                transaction.woken.changed(part);
            }
            What::Written { path, .. } => {
                let place = self.place(scene, path);
                self.touched = place.map(|(object, part)| TransactionZnode { object, path, part });
            }
            What::Data { digest, .. } => {
                let Some(place) = self.touched.take() else { return };
                let Some(transaction) = self.of(place.object) else { return };
                let by = transaction.parts.get(&event.op).cloned();
                transaction.written.data(scene, place, event.op, by.as_ref(), Word::written(digest), out);
            }
            What::Deleted { path, by, .. } => {
                let Some((object, part)) = self.place(scene, path) else { return };
                let Some(transaction) = self.of(object) else { return };
                let site = transaction.parts.get(&event.op).cloned();
                let place = TransactionZnode { object, path, part };
                transaction.written.deleted(scene, place, by, site.as_ref(), &transaction.observed, out);
                transaction.woken.changed(part);
            }
            What::Found { read, code, path, .. } => {
                let Some((object, Part::Record)) = self.place(scene, path) else { return };
                let Some(transaction) = self.of(object) else { return };
                transaction.met_record(event.op, read, code);
            }
            _ => {}
        }
    }
}

impl Transaction {
    /// Notes an operation that has read the record.
    fn met_record(&mut self, op: OpId, read: Request, code: Code) {
        if (read, code) == (Request::Get, Code::Ok)
            && let Some(part) = self.parts.get_mut(&op)
        {
            part.met_record = true;
        }
    }
}

impl Rule for TwoPhaseCommit {
    const HEARS: Kinds = hears![
        Call, Given, Observed, Return, Reply, Notice, State, Created, Written, Data, Deleted, Found, Fire,
        Fault, Crash, Heal, Quiesce
    ];
    const ABOUT: &'static [Kind] = &[Kind::TwoPhaseCommit];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if !self.any || !scene.view.healed {
            return;
        }
        for (at, transaction) in self.all.iter_mut().enumerate() {
            if let Some(Transaction { parts, observed, written, ends, is_interfered_with: false, .. }) =
                transaction
            {
                ends.pass_time(scene, ObjectId(at as u16), parts, observed, written, out);
            }
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if self.known < scene.tables.objects.len() {
            self.look_around(scene);
        }
        if !self.any {
            return;
        }
        match event.what {
            What::Call { .. } | What::Given { .. } | What::Observed { .. } | What::Return { .. } => {
                self.hears_client(scene, event, out);
            }
            What::Reply { code, .. } => {
                let object = scene.view.op(event.op).object;
                let Some(transaction) = self.of(object) else { return };
                transaction.woken.answered(scene, event.op, code);
                if code == Code::NodeExists
                    && let Some(part) = transaction.parts.get_mut(&event.op)
                {
                    part.met_record = true;
                }
            }
            What::State { state, .. } => self.disturbed |= state != SessionState::Connected,
            What::Fault { .. } | What::Crash { .. } => self.disturbed = true,
            What::Fire { session, kind, path, zxid, conn } => {
                // A notification from re-registration belongs to no change, and the client does not read a connection
                // that it left.
                if zxid == 0 || scene.view.has_left(session, conn) {
                    return;
                }
                self.fired(scene, session, (kind, path), zxid, out);
            }
            What::Heal => {
                for (at, transaction) in self.all.iter_mut().enumerate() {
                    if let Some(Transaction { parts, ends, .. }) = transaction {
                        ends.healed(scene, ObjectId(at as u16), parts, out);
                    }
                }
            }
            What::Quiesce => {
                for (at, transaction) in self.all.iter_mut().enumerate() {
                    if let Some(Transaction {
                        parts,
                        observed,
                        written,
                        ends,
                        is_interfered_with: false,
                        ..
                    }) = transaction
                    {
                        ends.quiesce(scene, ObjectId(at as u16), parts, observed, written, out);
                    }
                }
            }
            _ if scene.view.is_sim() => self.hears_servers(scene, event, out),
            _ => {}
        }
    }

    fn finish(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        for (at, transaction) in self.all.iter_mut().enumerate() {
            if let Some(Transaction { parts, ends, .. }) = transaction {
                ends.finish(scene, ObjectId(at as u16), parts, out);
            }
        }
    }
}

impl TwoPhaseCommit {
    fn fired(
        &mut self,
        scene: &Scene<'_>,
        session: Session,
        (kind, path): (Notify, Sym),
        zxid: u32,
        out: &mut Findings,
    ) {
        let Some((object, part)) = self.place(scene, path) else { return };
        let Some(transaction) = self.of(object).filter(|transaction| !transaction.is_interfered_with) else {
            return;
        };
        let decided = transaction.written.decided_at();
        transaction.woken.fired(scene, object, session, (kind, path, part), (zxid, decided), out);
    }
}

/// The name of a site in a finding.
fn site_name(site: u64) -> String {
    if site == COORDINATOR { "the coordinator".to_owned() } else { format!("site {site}") }
}

/// The number of sites of a transaction.
fn size(scene: &Scene<'_>, object: ObjectId) -> usize {
    scene.object(object).size as usize
}

/// A decision that a site learned.
#[derive(Clone, Copy, Debug)]
struct LearnedDecision {
    site: u64,
    word: Word,
    when: Moment,
}
