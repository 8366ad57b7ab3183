//! Sets that are shared out: PA-1 and PA-2.

use super::{Call, Context, Step};
use crate::explanation::explain;
use crate::findings::Findings;
use crate::history::{Outcome, Sym, Verb};
use crate::rule_id::RuleId;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Default)]
pub(super) struct Partition {
    /// By part and process.
    owners: BTreeMap<(Sym, String), Call>,
    whole: BTreeSet<String>,
    clients: BTreeMap<String, u16>,
    changed: u64,
}

impl Partition {
    pub(super) fn step(&mut self, at: &Context<'_, '_>, call: &Call, step: Step, out: &mut Findings) {
        self.clients.insert(call.process.clone(), call.client);
        let Some(argument) = call.argument else { return };
        match (call.verb, step) {
            (Verb::Whole, Step::Begins) => {
                let parts = at.scene.text(argument).split(',').filter(|part| !part.is_empty());
                self.whole.extend(parts.map(str::to_owned));
            }
            (Verb::Own, Step::Returns(Outcome::Done)) => {
                self.owned(at, call, argument, out);
                self.owners.insert((argument, call.process.clone()), call.clone());
                self.changed = at.scene.at;
            }
            (Verb::Yield, Step::Begins) => {
                self.owners.remove(&(argument, call.process.clone()));
                self.changed = at.scene.at;
            }
            _ => {}
        }
    }

    /// PA-1.
    fn owned(&self, at: &Context<'_, '_>, call: &Call, own: Sym, out: &mut Findings) {
        out.premise(RuleId::Pa1, at.object);
        let is_other = |((part, process), other): &(&(Sym, String), &Call)| {
            *part == own && *process != call.process && at.world.stands(other.client)
        };
        let Some((_, other)) = self.owners.iter().find(is_other) else { return };
        if out.only_counts(RuleId::Pa1, at.object) {
            return;
        }
        let text = explain(format!(
            "{} owns {} since {}",
            call.process,
            at.text(own),
            at.scene.when(at.scene.now())
        ))
        .because(format!(
            "{} owns it since {}, and has not given it back",
            other.process,
            at.scene.when(other.at)
        ))
        .not_excused(format!("the session of {} is alive", other.process));
        out.fail(RuleId::Pa1, at.scene, at.object, &[other.at.index], text);
    }

    /// PA-2.
    pub(super) fn stopped(&mut self, at: &Context<'_, '_>, out: &mut Findings) {
        if self.whole.is_empty() || !self.clients.values().any(|client| at.world.lives(*client)) {
            return;
        }
        out.premise(RuleId::Pa2, at.object);
        if !at.is_still(self.changed) {
            return;
        }
        let alive = self.owners.iter().filter(|(_, call)| at.world.lives(call.client));
        let owned: BTreeSet<&str> = alive.map(|((part, _), _)| at.scene.text(*part)).collect();
        let lost: Vec<&str> =
            self.whole.iter().map(String::as_str).filter(|part| !owned.contains(part)).collect();
        let Some(first) = lost.first() else { return };
        let mut text = explain(format!("nobody owns {first} at {}", at.scene.when(at.scene.now())))
            .because(format!("for {} no part has changed hands", at.for_long(self.changed)));
        if lost.len() > 1 {
            text = text.because(format!("{} of {} parts have no owner", lost.len(), self.whole.len()));
        }
        out.fail(RuleId::Pa2, at.scene, at.object, &[], text);
    }
}
