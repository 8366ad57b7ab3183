//! The sites' decisions and votes: TC-1 to TC-4, from calls and observations alone.

use super::{COORDINATOR, LearnedDecision, SiteOp, Word, site_name, size};
use crate::rule::prelude::*;
use crate::view::{Moment, Op};
use std::collections::BTreeMap;

/// The sites' knowledge so far.
#[derive(Clone, Default)]
pub(super) struct Observed {
    /// The first decision that each site learned.
    decisions: Vec<LearnedDecision>,
    /// The votes by operation: the vote in the call, or the vote of a former session if the operation learned of one.
    votes: BTreeMap<OpId, (u64, Word)>,
    /// Sites whose vote was acknowledged, and when.
    cast: BTreeMap<u64, (Word, Moment)>,
    /// The votes of sites as others, or their own later sessions, learned them.
    seen: BTreeMap<u64, Word>,
    /// Sites that have begun to finish; the coordinator removes the transaction.
    finishing: Vec<u64>,
    /// The time at which an operation was called that may decide at once.
    early: Option<Moment>,
}

impl Observed {
    pub(super) fn given(&mut self, op: OpId, part: &SiteOp, now: Moment) {
        if part.decides_at_once {
            self.early = self.early.or(Some(now));
        }
        if let (Some(vote), Verb::Vote) = (part.vote, part.verb) {
            self.votes.insert(op, (part.site, vote));
        }
        if part.verb == Verb::Finish {
            self.finishing.push(part.site);
        }
    }

    /// Notes a vote that an operation learned: its own, of a former session, or another site's.
    pub(super) fn vote(
        &mut self,
        scene: &Scene<'_>,
        object: ObjectId,
        op: OpId,
        part: &SiteOp,
        (site, word): (u64, Word),
        out: &mut Findings,
    ) {
        out.premise(RuleId::Tc6, object);
        if part.verb == Verb::Vote {
            self.votes.insert(op, (site, word));
        }
        match self.seen.get(&site) {
            Some(before) if *before != word => {
                let text = explain(format!(
                    "{} learned at {} that site {site} has voted {}",
                    site_name(part.site),
                    scene.when(scene.view.now),
                    word.text()
                ))
                .because(format!("that vote had been reported as {}: a vote is cast once", before.text()));
                out.fail(RuleId::Tc6, scene, object, &[], text);
            }
            _ => drop(self.seen.insert(site, word)),
        }
    }

    pub(super) fn returned(&mut self, scene: &Scene<'_>, op: OpId, part: &SiteOp, outcome: Outcome) {
        if part.verb == Verb::Vote
            && outcome == Outcome::Done
            && let Some((site, word)) = self.votes.get(&op)
        {
            self.cast.entry(*site).or_insert((*word, scene.view.now));
        }
    }

    /// Whether a site has voted for commit, as far as it knows.
    pub(super) fn said_yes(&self, site: u64) -> bool {
        self.cast.get(&site).is_some_and(|(word, _)| *word == Word::Commit)
    }

    /// Whether a site has learned the decision, or has begun to finish.
    pub(super) fn knows(&self, site: u64) -> bool {
        self.finishing.contains(&site) || self.decisions.iter().any(|heard| heard.site == site)
    }

    /// Whether an operation deletes the whole transaction.
    pub(super) fn is_forgotten(&self) -> bool {
        self.finishing.contains(&COORDINATOR)
    }

    /// Whether any site has learned a decision.
    pub(super) fn is_decided(&self) -> bool {
        !self.decisions.is_empty()
    }

    /// Sites whose vote was acknowledged.
    pub(super) fn voters(&self) -> impl Iterator<Item = u64> + '_ {
        self.cast.keys().copied()
    }

    /// Notes that a site learns the decision.
    pub(super) fn decision(
        &mut self,
        scene: &Scene<'_>,
        object: ObjectId,
        part: &SiteOp,
        word: Word,
        disturbed: bool,
        out: &mut Findings,
    ) {
        let when = scene.view.now;
        let tells = || format!("{} decided {} at {}", site_name(part.site), word.text(), scene.when(when));
        let other = self.decisions.iter().find(|heard| heard.site != part.site);
        if let Some(other) = self.decisions.iter().find(|h| h.site != part.site && h.word != word).or(other) {
            out.premise(RuleId::Tc1, object);
            if other.word != word {
                let text = explain(tells()).because(format!(
                    "{} had decided {} at {}",
                    site_name(other.site),
                    other.word.text(),
                    scene.when(other.when)
                ));
                out.fail(RuleId::Tc1, scene, object, &[other.when.index], text);
            }
        }
        match self.decisions.iter().find(|heard| heard.site == part.site) {
            None => self.decisions.push(LearnedDecision { site: part.site, word, when }),
            Some(own) => {
                out.premise(RuleId::Tc2, object);
                if own.word != word {
                    let text = explain(tells()).because(format!(
                        "it had decided {} at {}",
                        own.word.text(),
                        scene.when(own.when)
                    ));
                    out.fail(RuleId::Tc2, scene, object, &[own.when.index], text);
                }
            }
        }
        match word {
            Word::Commit => {
                self.commit_has_every_vote(scene, object, &tells(), out);
                if !disturbed && self.all_said_yes(scene, object).is_some() {
                    out.premise(RuleId::Tc4, object);
                }
            }
            Word::Abort if !disturbed => self.abort_has_a_reason(scene, object, &tells(), out),
            Word::Abort => {}
        }
    }

    /// TC-3: commit needs the votes of all sites.
    fn commit_has_every_vote(&self, scene: &Scene<'_>, object: ObjectId, tells: &str, out: &mut Findings) {
        out.premise(RuleId::Tc3, object);
        for site in 0..size(scene, object) as u64 {
            let because = match self.cast.get(&site) {
                Some((Word::Commit, _)) => continue,
                Some((Word::Abort, when)) => {
                    format!("site {site} had voted abort at {}", scene.when(*when))
                }
                // An unacknowledged call may still have cast its vote.
                None if self.votes.values().any(|vote| *vote == (site, Word::Commit)) => continue,
                None => format!("site {site} has not voted for it"),
            };
            let seen = self.cast.get(&site).map_or(u32::MAX, |(_, when)| when.index);
            out.fail(RuleId::Tc3, scene, object, &[seen], explain(tells).because(because));
        }
    }

    /// TC-4, in runs without a fault: an abort needs a vote for abort, or an operation that may decide before all
    /// votes are cast.
    fn all_said_yes(&self, scene: &Scene<'_>, object: ObjectId) -> Option<Moment> {
        let yes = self.cast.values().filter(|(word, _)| *word == Word::Commit).map(|(_, when)| *when);
        let last = yes.clone().max_by_key(|when| when.index)?;
        let impatient = |op: &Op| {
            op.object == object
                && op.called.came()
                && op.limit > 0
                && op.called.at.saturating_add(op.limit.into()) <= last.at
        };
        let is_excused = yes.count() < size(scene, object)
            || self.votes.values().any(|(_, word)| *word == Word::Abort)
            || self.early.is_some_and(|early| early.index < last.index)
            || scene.view.ops.from(0).any(impatient);
        (!is_excused).then_some(last)
    }

    fn abort_has_a_reason(&self, scene: &Scene<'_>, object: ObjectId, tells: &str, out: &mut Findings) {
        let Some(last) = self.all_said_yes(scene, object) else { return };
        let text = explain(tells)
            .because(format!("all sites had voted for commit, the last at {}", scene.when(last)))
            .not_excused("there was no fault, and no time limit had passed before");
        out.fail(RuleId::Tc4, scene, object, &[last.index], text);
    }
}
