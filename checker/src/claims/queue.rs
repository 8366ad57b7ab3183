//! Queues: QU-2 and QU-3 by the programs' reports, and PR-1 for a consumer that waits although there are items.

use super::{Call, Context, Step};
use crate::digest;
use crate::explanation::explain;
use crate::findings::Findings;
use crate::history::{Outcome, Session, Sym, Verb};
use crate::rule_id::RuleId;
use crate::view::Moment;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Default)]
pub(super) struct Queue {
    puts: BTreeMap<Sym, Put>,
    taking: BTreeMap<String, Call>,
    /// Takes that may have removed an item without handing it out.
    doubtful: usize,
    /// The begin of the last take that found nothing.
    empty: Option<(Call, Moment)>,
    changed: u64,
}

#[derive(Clone)]
struct Put {
    process: String,
    outcome: Option<Outcome>,
    at: Moment,
    is_taken: bool,
}

impl Queue {
    pub(super) fn step(&mut self, at: &Context<'_, '_>, call: &Call, step: Step, out: &mut Findings) {
        let now = at.scene.now();
        self.changed = now.at;
        match (call.verb, step) {
            (Verb::Put, _) => self.put(at, call, step, out),
            (Verb::Take, Step::Begins) => {
                self.taking.insert(call.process.clone(), call.clone());
            }
            (Verb::Take, Step::Returns(outcome)) => {
                self.taking.remove(&call.process);
                match outcome {
                    Outcome::Done => {}
                    Outcome::Refused => self.empty = Some((call.clone(), now)),
                    _ => self.doubtful += 1,
                }
            }
            (Verb::Take, Step::Dies) => {
                self.taking.remove(&call.process);
                self.doubtful += 1;
            }
            _ => {}
        }
    }

    fn put(&mut self, at: &Context<'_, '_>, call: &Call, step: Step, out: &mut Findings) {
        let Some(item) = call.argument else { return };
        let now = at.scene.now();
        if step == Step::Begins {
            let put = Put { process: call.process.clone(), outcome: None, at: now, is_taken: false };
            self.puts.insert(item, put);
            return;
        }
        let Step::Returns(outcome) = step else { return };
        let Some(put) = self.puts.get_mut(&item) else { return };
        (put.outcome, put.at) = (Some(outcome), now);
        if outcome == Outcome::Refused && put.is_taken {
            self.refused(at, item, out);
        }
    }

    pub(super) fn took(&mut self, at: &Context<'_, '_>, call: &Call, item: Sym, out: &mut Findings) {
        out.premise(RuleId::Qu3, at.object);
        let Some(put) = self.puts.get_mut(&item) else { return };
        put.is_taken = true;
        if put.outcome == Some(Outcome::Refused) && call.verb == Verb::Take {
            self.refused(at, item, out);
        }
    }

    /// QU-3: an item is in the queue although its put was refused.
    fn refused(&self, at: &Context<'_, '_>, item: Sym, out: &mut Findings) {
        let Some(put) = self.puts.get(&item) else { return };
        let text = explain(format!("item {} was taken although its put was refused", at.text(item)))
            .because(format!("{} was told at {} that nothing was put", put.process, at.scene.when(put.at)));
        out.fail(RuleId::Qu3, at.scene, at.object, &[put.at.index], text);
    }

    /// The items that were put and never handed out.
    fn missing(&self) -> Vec<(&Sym, &Put)> {
        self.puts.iter().filter(|(_, put)| put.outcome == Some(Outcome::Done) && !put.is_taken).collect()
    }

    pub(super) fn stopped(&mut self, at: &Context<'_, '_>, out: &mut Findings) {
        let missing = self.missing();
        out.premise(RuleId::Qu2, at.object);
        let Some(last) = missing.iter().map(|(_, put)| put.at.index).max() else { return };
        // Evidence that a consumer looked after the last put: one that still waits, or one that found the queue empty.
        let waits = self.taking.values().find(|call| at.world.lives(call.client) && at.is_still(call.at.at));
        let told = self.empty.as_ref().filter(|(call, _)| call.at.index > last);
        if waits.is_none() && told.is_none() {
            return;
        }
        let persistent: Vec<u64> = at
            .world
            .tree
            .of(at.scene, at.object)
            .filter(|(path, znode)| znode.owner == Session(0) && is_numbered(path))
            .map(|(_, znode)| znode.data)
            .collect();
        let is_there = |item: Sym| persistent.contains(&digest::data(Some(at.scene.text(item).as_bytes())));
        let (mut there, mut gone): (Vec<_>, Vec<_>) =
            missing.into_iter().partition(|(item, _)| is_there(**item));
        // A library may wrap its items: each numbered znode with unknown data may hold one of them.
        let known: BTreeSet<u64> =
            self.puts.keys().map(|item| digest::data(Some(at.scene.text(*item).as_bytes()))).collect();
        let others = persistent.iter().filter(|data| !known.contains(data)).count();
        there.extend(gone.drain(gone.len().saturating_sub(others)..));
        let looked = match (waits, told) {
            (Some(call), _) => format!("{} waits for an item since {}", call.process, at.scene.when(call.at)),
            (None, Some((call, when))) => {
                format!("{} was told at {} that the queue is empty", call.process, at.scene.when(*when))
            }
            (None, None) => return,
        };
        if gone.len() > self.doubtful
            && let Some((item, put)) = gone.first()
        {
            let mut text = explain(format!(
                "item {} is lost: {} put it, told so at {}, nobody got it, and it is not in the queue",
                at.text(**item),
                put.process,
                at.scene.when(put.at)
            ))
            .because(looked.clone());
            if gone.len() > 1 {
                text = text.because(format!("{} items were lost in all", gone.len()));
            }
            text = text.not_excused(match self.doubtful {
                0 => "no take has failed, and no consumer has died".to_owned(),
                few => {
                    format!("at most {few} items went with takes that failed, or with consumers that died")
                }
            });
            out.fail(RuleId::Qu2, at.scene, at.object, &[put.at.index], text);
        }
        if let Some((item, put)) = there.first() {
            out.premise(RuleId::Pr1, at.object);
            let text = explain(format!("item {} is in the queue, and nobody gets it", at.text(**item)))
                .because(format!("{} put it, told so at {}", put.process, at.scene.when(put.at)))
                .because(looked);
            out.fail(RuleId::Pr1, at.scene, at.object, &[put.at.index], text);
        }
    }
}

/// Whether a znode has a sequence number, as items have.
fn is_numbered(path: &str) -> bool {
    path.len() > 10 && path.bytes().rev().take(10).all(|byte| byte.is_ascii_digit())
}
