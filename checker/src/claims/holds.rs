//! Locks, shared locks, elections, semaphores: SM-1, and PR-1 for free objects. MX-2 judges exclusion of the other
//! kinds.

use super::{Call, Context, Step};
use crate::explanation::explain;
use crate::findings::Findings;
use crate::history::{Outcome, Share, Verb};
use crate::rule_id::RuleId;
use crate::view::Moment;
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub(super) struct Holds {
    /// By process.
    waiting: BTreeMap<String, Call>,
    holding: BTreeMap<String, (Call, Moment)>,
    /// The end of the last hold.
    freed: u64,
}

impl Holds {
    pub(super) fn step(&mut self, at: &Context<'_, '_>, call: &Call, step: Step, out: &mut Findings) {
        match (call.verb, step) {
            (Verb::Yield, Step::Begins) => self.ends(at, call),
            (Verb::Yield, _) => {}
            (_, Step::Begins) => {
                out.premise(RuleId::Pr1, at.object);
                self.waiting.insert(call.process.clone(), call.clone());
            }
            (_, Step::Returns(Outcome::Done)) => {
                self.waiting.remove(&call.process);
                let now = at.scene.now();
                self.holding.insert(call.process.clone(), (call.clone(), now));
                if at.recipe().has_leases {
                    self.leases(at, call, out);
                }
            }
            (_, Step::Returns(_)) => {
                self.waiting.remove(&call.process);
            }
            (_, Step::Unbelieved | Step::Dies) => {
                self.waiting.remove(&call.process);
                self.ends(at, call);
            }
        }
    }

    fn ends(&mut self, at: &Context<'_, '_>, call: &Call) {
        if self.holding.remove(&call.process).is_some() {
            self.freed = at.scene.at;
        }
    }

    /// SM-1. A holder whose session has ended has lost its lease, possibly without notice yet.
    fn leases(&self, at: &Context<'_, '_>, call: &Call, out: &mut Findings) {
        out.premise(RuleId::Sm1, at.object);
        let holders: Vec<&(Call, Moment)> =
            self.holding.values().filter(|(call, _)| at.world.stands(call.client)).collect();
        if holders.len() <= at.size() || out.only_counts(RuleId::Sm1, at.object) {
            return;
        }
        let mut text = explain(format!(
            "{} got a lease at {}, and {} clients hold one at once; there are {} leases",
            call.process,
            at.scene.when(at.scene.now()),
            holders.len(),
            at.size()
        ));
        let others = holders.iter().filter(|(other, _)| other.process != call.process);
        for (other, since) in others {
            text = text.because(format!("{} holds one since {}", other.process, at.scene.when(*since)));
        }
        let seen: Vec<u32> = holders.iter().map(|(_, since)| since.index).collect();
        let text = text.not_excused("the sessions of all of them are alive");
        out.fail(RuleId::Sm1, at.scene, at.object, &seen, text);
    }

    /// Whether a waiter could be granted if it were the only one.
    fn is_free_for(&self, at: &Context<'_, '_>, call: &Call) -> bool {
        let others = self.holding.values().filter(|(other, _)| at.world.lives(other.client));
        if at.recipe().has_leases {
            return others.count() < at.size();
        }
        match call.verb.asks_for() {
            Some(Share::Shared) => {
                let is_writer = |call: &Call| call.verb.asks_for() == Some(Share::Exclusive);
                !others.map(|(call, _)| call).chain(self.waiting.values()).any(is_writer)
            }
            _ => others.count() == 0,
        }
    }

    /// PR-1.
    pub(super) fn stopped(&mut self, at: &Context<'_, '_>, out: &mut Findings) {
        let waiting = self.waiting.values().filter(|call| at.world.lives(call.client));
        let mut stuck = Vec::new();
        for call in waiting {
            out.premise(RuleId::Pr1, at.object);
            if self.is_free_for(at, call) && at.is_still(self.freed.max(call.at.at)) {
                stuck.push(call);
            }
        }
        let Some(first) = stuck.iter().min_by_key(|call| call.at.index) else { return };
        let free = match first.verb.asks_for() {
            _ if at.recipe().has_leases => {
                format!("only {} of {} leases are held", self.holding.len(), at.size())
            }
            Some(Share::Shared) if !self.holding.is_empty() => {
                "no writer holds it or waits for it".to_owned()
            }
            _ => at.recipe().roles.is_free.to_owned(),
        };
        let since = self.freed.max(at.world.stirred).max(first.at.at);
        let mut text = at
            .still_waits(&first.process, "", first.at)
            .because(format!("{free}, and for {} nothing has changed", at.for_long(since)));
        for other in stuck.iter().filter(|other| other.process != first.process) {
            text = text.because(format!("{} waits as well", other.process));
        }
        out.fail(RuleId::Pr1, at.scene, at.object, &[first.at.index], at.with_ephemerals(text));
    }
}
