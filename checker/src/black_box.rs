//! The clients' view of each object, judged by calls, returns, beliefs and items alone.
//!
//! In a simulation the servers' events decide, and this is a second opinion: a breach in the clients' view that no rule
//! has found is a defect of the checker, and makes the report Unknown. In a capture it is the only evidence about the
//! order of items: QU-4, and QU-5 of strict priority queues.
//!
//! The view is cautious. A consumer may take several items at a time and hand them out one by one. So an item that it
//! hands out without a request counts as taken since its last request, and so does an item after an operation that
//! failed. (In a history without any request, the times of the calls count.) Items that never came out prove nothing,
//! since they may still be in the queue.

mod collect;

pub(crate) use collect::Collect;

use crate::explanation::explain;
use crate::findings::{Findings, Ruling};
use crate::history::{Kind, ObjectId};
use crate::kinds::SeenAs;
use crate::monitor::{
    Certificate, Fifo, Holds, Judged, Locking, Monitor, MostUrgent, Number, Operations, Queue, Urgent, Wrong,
};
use crate::property::Property;
use crate::rule_id::RuleId;
use crate::scene::Scene;
use crate::verdict::Verdict;
use crate::verify;

/// The clients' view of one object, with its monitor's verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlackBox {
    /// The object.
    pub object: ObjectId,
    /// The promise under which the clients' view is judged.
    pub rule: RuleId,
    /// The monitor's verdict; Unavoidable where a rule has found the breach and excused it.
    pub verdict: Verdict,
    /// The operations of the clients.
    pub seen: ClientView,
    judged: Judged,
    /// By position: the event.
    events: Vec<u32>,
}

/// The operations of clients on one object, by its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientView {
    /// A lock or an election.
    Holds(Operations<Locking>),
    /// A queue, first in first out.
    Fifo(Operations<Queue>),
    /// A queue, the more urgent first.
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

    /// The positions of a call and its return.
    fn positions(&self, number: Number) -> (u32, u32) {
        match self {
            ClientView::Holds(seen) => (seen[number].called, seen[number].returned),
            ClientView::Fifo(seen) => (seen[number].called, seen[number].returned),
            ClientView::MostUrgent(seen) => (seen[number].called, seen[number].returned),
        }
    }
}

impl BlackBox {
    /// The proof of the monitor's verdict, made on demand.
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
    /// If the certificate proves nothing; the text says why.
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

    /// Compares this view with the findings of rules, or reports breaches that no rule can find.
    fn judge(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if scene.view.is_sim() || matches!(self.seen, ClientView::Holds(_)) {
            self.compare(scene, out);
        } else {
            self.report_order(scene, out);
        }
    }

    /// The first breach that only this monitor can report: other rules cover invented and duplicate items.
    fn first(&self) -> Option<(u32, Wrong)> {
        let is_own = |wrong: &Wrong| !matches!(wrong, Wrong::Invented { .. } | Wrong::Twice { .. });
        let breach = self.judged.breaches.iter().find(|breach| is_own(&breach.wrong))?;
        Some((self.event(breach.at)?, breach.wrong))
    }

    /// Compares a breach with the findings of rules, which must have found it.
    fn compare(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let Some((at, _)) = self.first() else { return };
        let told = out
            .all()
            .iter()
            .filter(|finding| finding.position <= at as usize || finding.witnesses.contains(&(at as usize)));
        let of_this = told.clone().filter(|finding| finding.object == Some(self.object));
        match of_this.map(|finding| finding.verdict).max() {
            Some(Verdict::Fail) => {}
            Some(_) => self.verdict = Verdict::Unavoidable,
            // The history as a whole is wrong, or findings were counted and not kept.
            None if told.clone().any(|finding| finding.object.is_none()) || out.has_more(self.object) => {}
            None if !scene.view.is_sim() => self.verdict = Verdict::Unknown,
            None => {
                let text = explain(format!(
                    "the results that clients saw are a breach at e{at}, and no rule found it"
                ))
                .because("the monitor and the rules disagree, so one of the two has a bug");
                out.find(Ruling::new(self.rule, Verdict::Unknown, at), scene, Some(self.object), &[], text);
            }
        }
    }

    /// In a capture: reports items that came out in the wrong order.
    fn report_order(&self, scene: &Scene<'_>, out: &mut Findings) {
        if self.judged.verdict == Verdict::Vacuous {
            return;
        }
        out.premise(self.rule, self.object);
        for breach in &self.judged.breaches {
            let Some(at) = self.event(breach.at) else { continue };
            let (seen, text) = match (breach.wrong, &self.seen) {
                (Wrong::Passed { put, take }, ClientView::Fifo(seen)) => {
                    let item = |number: Number| match seen[number].action {
                        Queue::Put(item) | Queue::Take(Some(item)) => self.item(scene, item),
                        Queue::Take(None) => String::new(),
                    };
                    let text = explain(format!("item {} was taken before {}", item(take), item(put)))
                        .because(format!("{} had been put before the other item", item(put)))
                        .because("it was taken later, by a call that began later");
                    (vec![self.events_of(put), self.events_of(take)], text)
                }
                (Wrong::LessUrgent { take }, ClientView::MostUrgent(seen)) => {
                    let Urgent::Take(Some(item)) = seen[take].action else { continue };
                    let text = explain(format!("item {} was taken too early", self.item(scene, item)))
                        .because("more urgent items were in the queue during the whole call that took it");
                    (vec![self.events_of(take)], text)
                }
                _ => continue,
            };
            out.find(Ruling::fail(self.rule, at), scene, Some(self.object), seen.as_flattened(), text);
        }
    }

    fn item(&self, scene: &Scene<'_>, item: u32) -> String {
        scene.path(crate::history::Sym(item))
    }
}

/// The rule under which the clients' view of a kind of object is reported.
fn rule_of(kind: Kind, is_sim: bool) -> Option<RuleId> {
    let exclusion = if is_sim { Property::Exclusion } else { Property::RawExclusion };
    match kind.recipe().seen_as {
        SeenAs::Nothing => None,
        SeenAs::Holds => Some(exclusion.rule(kind)),
        SeenAs::Fifo => Some(RuleId::Qu4),
        SeenAs::MostUrgent => Some(RuleId::Qu5),
    }
}

/// Judges the clients' view of each object.
pub(crate) fn judge(collected: Collect, scene: &Scene<'_>, out: &mut Findings) -> Vec<BlackBox> {
    for (rule, object) in collected.given_up(scene.view) {
        out.unknown(rule, object);
    }
    let mut boxes = collected.finish(scene.view);
    for black_box in &mut boxes {
        black_box.judge(scene, out);
    }
    boxes
}
