//! Votes and record as the servers applied them, and whether the sites' decisions follow: TC-6 to TC-11, and TC-4.

use super::observed::Observed;
use super::{COORDINATOR, SiteOp, Word, site_name, size};
use crate::rule::prelude::*;
use crate::view::{Moment, Part};
use std::collections::BTreeMap;

/// The znode of a transaction that an event is about.
#[derive(Clone, Copy)]
pub(super) struct TransactionZnode {
    pub(super) object: ObjectId,
    pub(super) path: Sym,
    pub(super) part: Part,
}

/// The znode of a site, which holds its vote.
#[derive(Clone, Copy)]
struct Slot {
    site: Option<u64>,
    vote: Option<(Word, Moment)>,
    owner: Session,
    made: Moment,
}

/// The decision on record.
#[derive(Clone, Copy)]
struct Record {
    word: Word,
    made: Moment,
    removed: Option<Moment>,
}

/// The znodes of one transaction.
#[derive(Clone, Default)]
pub(super) struct Written {
    slots: BTreeMap<Sym, Slot>,
    /// The first record, which counts even after its deletion.
    record: Option<Record>,
    /// Whether a site's znode was created after a vote had been cast.
    is_late: bool,
    /// Whether a vote for abort was ever written.
    refused: bool,
    /// An ephemeral vote, and the time at which it was deleted with its session.
    ephemeral: Option<(Sym, Option<Moment>)>,
}

impl Written {
    /// The decision on record, if there ever was one.
    pub(super) fn decided(&self) -> bool {
        self.record.is_some()
    }

    /// The time of the decision.
    pub(super) fn decided_at(&self) -> Option<Moment> {
        self.record.as_ref().map(|record| record.made)
    }

    /// Sites whose vote is on record.
    pub(super) fn votes(&self) -> usize {
        self.slots.values().filter(|slot| slot.vote.is_some()).count()
    }

    /// A site whose vote is missing.
    pub(super) fn missing(&self, sites: u64) -> Option<u64> {
        let voted =
            |site: u64| self.slots.values().any(|slot| slot.site == Some(site) && slot.vote.is_some());
        (0..sites).find(|site| !voted(*site))
    }

    fn yes(&self) -> usize {
        self.slots.values().filter(|slot| matches!(slot.vote, Some((Word::Commit, _)))).count()
    }

    pub(super) fn created(&mut self, path: Sym, part: Part, owner: Session, now: Moment) {
        if part == Part::Site {
            self.is_late |= self.votes() > 0;
            self.slots.insert(path, Slot { site: None, vote: None, owner, made: now });
        }
    }

    /// Notes a write, by an operation of a site if `by` is given.
    pub(super) fn data(
        &mut self,
        scene: &Scene<'_>,
        place: TransactionZnode,
        op: OpId,
        by: Option<&SiteOp>,
        word: Option<Word>,
        out: &mut Findings,
    ) {
        if place.part == Part::Record {
            if let Some(word) = word {
                self.recorded(scene, place.object, by, word, out);
            }
            return;
        }
        let now = scene.view.now;
        let Some(slot) = self.slots.get_mut(&place.path) else { return };
        if let Some((before, when)) = slot.vote {
            // The recipe is not responsible for a foreign client's write.
            if op != OpId(0) {
                let who = by.map_or_else(|| scene.actor(op), |by| site_name(by.site));
                let new = word.map_or("another value", Word::text);
                let text = explain(format!(
                    "{who} wrote {new} to {} at {}",
                    scene.znode(place.path),
                    scene.when(now)
                ))
                .because(format!(
                    "the vote {} was there since {}",
                    before.text(),
                    scene.when(when)
                ));
                out.fail(RuleId::Tc6, scene, place.object, &[when.index], text);
            }
            slot.vote = word.map(|word| (word, now)).or(slot.vote);
            return;
        }
        let Some(word) = word else { return };
        slot.vote = Some((word, now));
        slot.site = by.filter(|by| by.verb == Verb::Vote).map(|by| by.site);
        let (site, owner) = (slot.site, slot.owner);
        self.refused |= word == Word::Abort;
        out.premise(RuleId::Tc6, place.object);
        out.premise(RuleId::Tc10, place.object);
        if owner != Session(0) {
            self.ephemeral = self.ephemeral.or(Some((place.path, None)));
        }
        self.votes_once(scene, place, site, out);
    }

    /// TC-7: a site has one vote, in whichever znode.
    fn votes_once(&self, scene: &Scene<'_>, place: TransactionZnode, site: Option<u64>, out: &mut Findings) {
        let Some(site) = site else { return };
        let elsewhere = self
            .slots
            .iter()
            .find(|(path, slot)| **path != place.path && slot.site == Some(site) && slot.vote.is_some());
        let Some((path, slot)) = elsewhere else { return };
        let text = explain(format!(
            "{} voted a second time, in {}, at {}",
            site_name(site),
            scene.znode(place.path),
            scene.when(scene.view.now)
        ))
        .because(format!("its vote is in {} since {}", scene.znode(*path), scene.when(slot.made)));
        out.fail(RuleId::Tc6, scene, place.object, &[slot.made.index], text);
    }

    /// Notes the decision on record.
    fn recorded(
        &mut self,
        scene: &Scene<'_>,
        object: ObjectId,
        by: Option<&SiteOp>,
        word: Word,
        out: &mut Findings,
    ) {
        let now = scene.view.now;
        let who = by.map_or_else(|| "somebody".to_owned(), |by| site_name(by.site));
        let tells = format!("{who} recorded {} at {}", word.text(), scene.when(now));
        if let Some(before) = self.record {
            let text = explain(tells).because(format!(
                "{} was recorded at {}: the first record wins",
                before.word.text(),
                scene.when(before.made)
            ));
            return out.fail(RuleId::Tc9, scene, object, &[before.made.index], text);
        }
        self.record = Some(Record { word, made: now, removed: None });
        out.premise(RuleId::Tc9, object);
        let (yes, all) = (self.yes(), size(scene, object));
        match word {
            Word::Commit => self.has_every_vote(scene, object, &tells, out),
            Word::Abort if yes >= all => {
                let text = explain(tells).because(format!(
                    "all {all} sites had voted for commit by then: the record was made without a check that a vote is \
                     missing"
                ));
                out.fail(RuleId::Tc4, scene, object, &[], text);
            }
            Word::Abort => {}
        }
    }

    /// TC-6: commit follows from the votes of all sites.
    fn has_every_vote(&self, scene: &Scene<'_>, object: ObjectId, tells: &str, out: &mut Findings) {
        out.premise(RuleId::Tc7, object);
        let (yes, all) = (self.yes(), size(scene, object));
        if yes >= all {
            return;
        }
        // The deciding client may have seen fewer sites than exist by now.
        let made = self.slots.len();
        if (made < all && yes == made) || self.is_late {
            let text = explain(tells).because(format!(
                "{yes} of {all} sites had voted for it, and not all were listed at the first vote"
            ));
            return out.fail(RuleId::Tc7, scene, object, &[], text);
        }
        let text = explain(tells).because(format!("there were {yes} of {all} votes for commit"));
        out.fail(RuleId::Tc9, scene, object, &[], text);
    }

    /// Notes the deletion of a znode.
    pub(super) fn deleted(
        &mut self,
        scene: &Scene<'_>,
        place: TransactionZnode,
        by: Session,
        part: Option<&SiteOp>,
        observed: &Observed,
        out: &mut Findings,
    ) {
        let now = scene.view.now;
        if let Some(slot) = self.slots.remove(&place.path) {
            // A vote was deleted with its session; no operation deleted other znodes of that session.
            let with_session = slot.owner != Session(0) && slot.owner == by && part.is_none();
            if let (Some((word, when)), true, None) = (slot.vote, with_session, self.record) {
                self.ephemeral = Some((place.path, Some(now)));
                let of = slot.site.map_or_else(|| "a site".to_owned(), site_name);
                let text = explain(format!(
                    "the vote {} of {of} was deleted with its session at {}",
                    word.text(),
                    scene.when(now)
                ))
                .because("the vote was ephemeral, and no record fixes the outcome");
                out.fail(RuleId::Tc10, scene, place.object, &[when.index], text);
            }
        }
        if place.part != Part::Record {
            return;
        }
        let Some(record) = self.record.as_mut().filter(|record| record.removed.is_none()) else { return };
        record.removed = Some(now);
        // The recipe is not responsible for a foreign client's delete, and an operator may delete.
        if part.is_none() || observed.is_forgotten() {
            return;
        }
        out.premise(RuleId::Tc11, place.object);
        let Some(site) = (0..size(scene, place.object) as u64).find(|site| !observed.knows(*site)) else {
            return;
        };
        let text = explain(format!(
            "the record ({}, since {}) was removed at {}",
            record.word.text(),
            scene.when(record.made),
            scene.when(now)
        ))
        .because(format!("{} had not learned the decision", site_name(site)));
        out.fail(RuleId::Tc11, scene, place.object, &[record.made.index], text);
    }

    /// Whether a decision that a site learns follows from the record.
    pub(super) fn judge(
        &self,
        scene: &Scene<'_>,
        object: ObjectId,
        part: &SiteOp,
        word: Word,
        observed: &Observed,
        out: &mut Findings,
    ) {
        // A capture does not show writes.
        if !scene.view.is_sim() {
            return;
        }
        let after_yes = part.site != COORDINATOR && word == Word::Abort && observed.said_yes(part.site);
        out.premise(RuleId::Tc9, object);
        if after_yes {
            out.premise(RuleId::Tc8, object);
        }
        let tells =
            format!("{} decided {} at {}", site_name(part.site), word.text(), scene.when(scene.view.now));
        match self.record {
            Some(record) if record.word == word => {}
            Some(record) => {
                let by_itself = after_yes && !part.met_record;
                let on_record =
                    format!("{} is recorded since {}", record.word.text(), scene.when(record.made));
                let text = explain(tells);
                let (rule, text) = if by_itself {
                    (RuleId::Tc8, text.because("the site had voted for commit, and has not read the record"))
                } else {
                    (RuleId::Tc9, text)
                };
                out.fail(rule, scene, object, &[record.made.index], text.because(on_record));
            }
            None => self.without_record(scene, object, word, after_yes, tells, out),
        }
    }

    /// Reports a decision that is not on record.
    fn without_record(
        &self,
        scene: &Scene<'_>,
        object: ObjectId,
        word: Word,
        after_yes: bool,
        tells: String,
        out: &mut Findings,
    ) {
        let nothing = "no decision is on record: whoever decides must write it there first, and the first record counts";
        let (rule, text) = if let Some((path, _)) = self.ephemeral {
            let why = format!("{} is an ephemeral vote, and no record fixes the outcome", scene.znode(path));
            (RuleId::Tc10, explain(tells).because(why))
        } else if after_yes && !self.refused {
            let why = "the site had voted for commit, and no site voted for abort";
            (RuleId::Tc8, explain(tells).because(why).because(nothing))
        } else {
            if word == Word::Commit && self.yes() < size(scene, object) {
                return self.has_every_vote(scene, object, &tells, out);
            }
            (RuleId::Tc9, explain(tells).because(nothing))
        };
        out.fail(rule, scene, object, &[], text);
    }
}
