//! The clients' view of a history: what they saw of each object, judged by calls, returns, beliefs and items alone.
//!
//! Where servers told what they did, their word decides and this is the second opinion: a breach that clients saw and no
//! rule has found is a defect of the checker, and makes the report Unknown. In a capture it is all there is about the
//! order in which queues gave their items: QU-4, and QU-5 of strict priority queues.
//!
//! The view is cautious. A consumer may take several items at a time and hand them out one by one: what it hands out
//! without a request counts as taken since its last request, and so does what follows an operation without a good end.
//! (Only a history without any request is taken at its word.) Items that never came out count for nothing, for it is not
//! known whether they are still there.

mod collect;

pub(crate) use collect::Collect;

use crate::explanation::explain;
use crate::findings::{Findings, Found};
use crate::history::{Kind, ObjectId};
use crate::monitor::{
    Certificate, Fifo, Holds, Judged, Locking, Monitor, MostUrgent, Number, Operations, Queue, Urgent, Wrong,
};
use crate::rule_id::RuleId;
use crate::scene::Scene;
use crate::verdict::Verdict;
use crate::verify;

/// What clients saw of one object, and what its monitor says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlackBox {
    /// The object.
    pub object: ObjectId,
    /// The promise under which the clients' view is judged.
    pub rule: RuleId,
    /// What the monitor says; Unavoidable where a rule has found the breach and excused it.
    pub verdict: Verdict,
    /// What clients did.
    pub seen: ClientView,
    judged: Judged,
    /// By position: the event.
    events: Vec<u32>,
}

/// What clients did with one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientView {
    /// Held it.
    Holds(Operations<Locking>),
    /// Put items and took them, first in first out.
    Fifo(Operations<Queue>),
    /// Put items and took them, the more urgent first.
    MostUrgent(Operations<Urgent>),
}

impl ClientView {
    fn judge(&self) -> Judged {
        match self {
            ClientView::Holds(seen) => Holds::LOCK.judge(seen),
            ClientView::Fifo(seen) => Fifo.judge(seen),
            ClientView::MostUrgent(seen) => MostUrgent.judge(seen),
        }
    }

    /// The positions of call and return.
    fn positions(&self, number: Number) -> (u32, u32) {
        match self {
            ClientView::Holds(seen) => (seen[number].called, seen[number].returned),
            ClientView::Fifo(seen) => (seen[number].called, seen[number].returned),
            ClientView::MostUrgent(seen) => (seen[number].called, seen[number].returned),
        }
    }
}

impl BlackBox {
    /// What proves the monitor's verdict. Made when asked for.
    pub fn certificate(&self) -> Certificate {
        match &self.seen {
            ClientView::Holds(seen) => Holds::LOCK.certify(seen, &self.judged),
            ClientView::Fifo(seen) => Fifo.certify(seen, &self.judged),
            ClientView::MostUrgent(seen) => MostUrgent.certify(seen, &self.judged),
        }
    }

    /// Whether a certificate proves it.
    ///
    /// # Errors
    ///
    /// What is wrong with the certificate.
    pub fn verify(&self, certificate: &Certificate) -> Result<(), String> {
        match &self.seen {
            ClientView::Holds(seen) => verify::certificate(&Holds::LOCK, seen, certificate),
            ClientView::Fifo(seen) => verify::certificate(&Fifo, seen, certificate),
            ClientView::MostUrgent(seen) => verify::certificate(&MostUrgent, seen, certificate),
        }
    }

    /// The event at a position.
    pub fn event(&self, position: u32) -> Option<u32> {
        self.events.get(position as usize).copied()
    }

    fn events_of(&self, number: Number) -> [u32; 2] {
        let (called, returned) = self.seen.positions(number);
        [called, returned].map(|position| self.event(position).unwrap_or(u32::MAX))
    }

    /// Holds this view against what the rules have found, and tells what they cannot have seen.
    fn tell(&mut self, scene: &Scene<'_>, findings: &mut Findings) {
        if scene.view.is_sim() || matches!(self.seen, ClientView::Holds(_)) {
            self.compare(scene, findings);
        } else {
            self.report(scene, findings);
        }
    }

    /// The first breach that this monitor alone is about: other rules know best what was invented or came twice.
    fn first(&self) -> Option<(u32, Wrong)> {
        let is_own = |wrong: &Wrong| !matches!(wrong, Wrong::Invented { .. } | Wrong::Twice { .. });
        let breach = self.judged.breaches.iter().find(|breach| is_own(&breach.wrong))?;
        Some((self.event(breach.at)?, breach.wrong))
    }

    /// A breach that rules could see must have been seen.
    fn compare(&mut self, scene: &Scene<'_>, findings: &mut Findings) {
        let Some((at, _)) = self.first() else { return };
        let told = findings
            .all()
            .iter()
            .filter(|finding| finding.position <= at as usize || finding.witnesses.contains(&(at as usize)));
        let of_this = told.clone().filter(|finding| finding.object == Some(self.object));
        match of_this.map(|finding| finding.verdict).max() {
            Some(Verdict::Fail) => {}
            Some(_) => self.verdict = Verdict::Unavoidable,
            // Something is wrong with the history as a whole, or there was more than could be kept.
            None if told.clone().any(|finding| finding.object.is_none())
                || findings.has_more(self.object) => {}
            None if !scene.view.is_sim() => self.verdict = Verdict::Unknown,
            None => {
                let text = explain(format!("clients saw a breach at e{at}, and no rule has found it"))
                    .because("the checker is at odds with itself; it is not known who is right");
                findings.find(
                    Found::new(self.rule, Verdict::Unknown, at),
                    scene,
                    Some(self.object),
                    &[],
                    text,
                );
            }
        }
    }

    /// In a capture: the order in which items came out.
    fn report(&self, scene: &Scene<'_>, findings: &mut Findings) {
        if self.judged.verdict == Verdict::Vacuous {
            return;
        }
        findings.premise(self.rule, self.object);
        for breach in &self.judged.breaches {
            let Some(at) = self.event(breach.at) else { continue };
            let (seen, text) = match (breach.wrong, &self.seen) {
                (Wrong::Passed { put, take }, ClientView::Fifo(seen)) => {
                    let item = |number: Number| match seen[number].action {
                        Queue::Put(item) | Queue::Take(Some(item)) => self.item(scene, item),
                        Queue::Take(None) => String::new(),
                    };
                    let text = explain(format!("item {} went before {}", item(take), item(put)))
                        .because(format!("{} had been put before the other one was", item(put)))
                        .because("it came out later, and was asked for later");
                    (vec![self.events_of(put), self.events_of(take)], text)
                }
                (Wrong::LessUrgent { take }, ClientView::MostUrgent(seen)) => {
                    let Urgent::Take(Some(item)) = seen[take].action else { continue };
                    let text = explain(format!("item {} went too early", self.item(scene, item)))
                        .because("more urgent ones were there all the time that its take took");
                    (vec![self.events_of(take)], text)
                }
                _ => continue,
            };
            findings.find(Found::fail(self.rule, at), scene, Some(self.object), seen.as_flattened(), text);
        }
    }

    fn item(&self, scene: &Scene<'_>, item: u32) -> String {
        scene.path(crate::history::Sym(item))
    }
}

/// The promise under which clients' view of an object of that kind is judged.
fn rule_of(kind: Kind, is_sim: bool) -> Option<RuleId> {
    let exclusion = if is_sim { RuleId::Mx2 } else { RuleId::Mx3 };
    match kind {
        Kind::Lock | Kind::SharedLock | Kind::RevocableLock | Kind::PriorityLock | Kind::Election => {
            Some(exclusion.of_kind(kind))
        }
        Kind::Queue => Some(RuleId::Qu4),
        Kind::PriorityQueue => Some(RuleId::Qu5),
        _ => None,
    }
}

/// Judges what clients saw.
pub(crate) fn judge(collected: Collect, scene: &Scene<'_>, findings: &mut Findings) -> Vec<BlackBox> {
    let mut boxes = collected.finish(scene.view);
    for black_box in &mut boxes {
        black_box.tell(scene, findings);
    }
    boxes
}
