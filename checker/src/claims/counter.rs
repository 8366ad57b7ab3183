//! Counters: CO-1.

use super::{Call, Context, Step};
use crate::explanation::explain;
use crate::findings::Findings;
use crate::history::{Outcome, Sym, Verb};
use crate::rule_id::RuleId;
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub(super) struct Counter {
    /// The sums of the added amounts, by outcome of the add.
    done: i64,
    unknown: i64,
    refused: i64,
    /// The open adds, by process.
    open: BTreeMap<String, Sym>,
    counts: u32,
}

impl Counter {
    pub(super) fn step(&mut self, at: &Context<'_, '_>, call: &Call, step: Step) {
        if call.verb != Verb::Add {
            return;
        }
        let Some(argument) = call.argument else { return };
        let amount = amount(at, argument);
        match step {
            Step::Begins => {
                self.open.insert(call.process.clone(), argument);
            }
            Step::Returns(outcome) => {
                self.open.remove(&call.process);
                self.counts += 1;
                match outcome {
                    Outcome::Done => self.done += amount,
                    Outcome::Refused => self.refused += amount,
                    _ => self.unknown += amount,
                }
            }
            Step::Dies => {
                self.open.remove(&call.process);
                self.unknown += amount;
            }
            Step::Unbelieved => {}
        }
    }

    /// A client has read the counter after all adds are over.
    pub(super) fn counted(&mut self, at: &Context<'_, '_>, call: &Call, value: Sym, out: &mut Findings) {
        let Ok(value) = at.scene.text(value).parse::<i64>() else { return };
        if call.verb != Verb::Audit || self.counts == 0 {
            return;
        }
        out.premise(RuleId::Co1, at.object);
        let most = self.done + self.unknown + self.open.values().map(|open| amount(at, *open)).sum::<i64>();
        if (self.done..=most).contains(&value) {
            return;
        }
        let range =
            if most == self.done { format!("{most}") } else { format!("from {} to {most}", self.done) };
        let mut text = explain(format!(
            "{} reads {value} at {}, and it is {range}",
            call.process,
            at.scene.when(at.scene.now())
        ))
        .because(format!("increments of {} in all were acknowledged", self.done));
        if most > self.done {
            text = text.because(format!("of {} more nobody was told whether they count", most - self.done));
        }
        if self.refused > 0 {
            text = text.because(format!("{} more were refused, and do not count", self.refused));
        }
        out.fail(RuleId::Co1, at.scene, at.object, &[call.at.index], text);
    }
}

/// The amount of an add.
fn amount(at: &Context<'_, '_>, argument: Sym) -> i64 {
    at.scene.text(argument).parse().unwrap_or(0)
}
