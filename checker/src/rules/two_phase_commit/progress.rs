//! Liveness of two-phase commit: operations that must return, and those that are blocked: TC-5 and TC-13.

use super::observed::Observed;
use super::written::Written;
use super::{SiteOp, site_name, size};
use crate::rule::prelude::*;
use crate::view::{Op, Phase};
use std::collections::{BTreeMap, BTreeSet};

/// The open operations of a transaction.
#[derive(Clone, Default)]
pub(super) struct Progress {
    /// Operations that have not returned.
    open: BTreeSet<OpId>,
    /// Operations that were reported.
    found: BTreeSet<OpId>,
    /// The last time at which a site learned a decision, or a vote arrived, so that waiting operations can continue.
    news: u64,
    known: (bool, usize),
}

impl Progress {
    pub(super) fn called(&mut self, scene: &Scene<'_>, op: OpId, object: ObjectId, out: &mut Findings) {
        self.open.insert(op);
        if scene.view.healed && scene.view.can_be_overdue(op) {
            out.premise(RuleId::Tc13, object);
        }
    }

    pub(super) fn healed(
        &mut self,
        scene: &Scene<'_>,
        object: ObjectId,
        parts: &BTreeMap<OpId, SiteOp>,
        out: &mut Findings,
    ) {
        let can_be = |op: &&OpId| scene.view.op(**op).phase == Phase::Open && scene.view.can_be_overdue(**op);
        for _ in parts.keys().filter(can_be) {
            out.premise(RuleId::Tc13, object);
        }
    }

    /// After the heal every operation returns within the bound, or is blocked by a named vote.
    pub(super) fn pass_time(
        &mut self,
        scene: &Scene<'_>,
        object: ObjectId,
        parts: &BTreeMap<OpId, SiteOp>,
        observed: &Observed,
        written: &Written,
        out: &mut Findings,
    ) {
        let view = scene.view;
        let known =
            (observed.is_decided() || written.decided(), written.votes().max(observed.voters().count()));
        if known != self.known {
            self.known = known;
            self.news = view.now.at;
        }
        self.open.retain(|id| view.op(*id).phase == Phase::Open);
        for id in &self.open {
            let op = view.op(*id);
            let Some(part) = parts.get(id) else { continue };
            if view.client(op.client).is_paused() || self.found.contains(id) {
                continue;
            }
            let limit = op.called.at.saturating_add(view.client(op.client).stretch(op.limit.into()));
            let since = limit.max(view.calm_since).max(self.news);
            if scene.at <= since.saturating_add(view.bound(object)) {
                continue;
            }
            self.found.insert(*id);
            Self::overdue(scene, object, (op, part, since), observed, written, out);
        }
    }

    fn overdue(
        scene: &Scene<'_>,
        object: ObjectId,
        (op, part, since): (&Op, &SiteOp, u64),
        observed: &Observed,
        written: &Written,
        out: &mut Findings,
    ) {
        let view = scene.view;
        let now = scene.when(scene.now());
        let mut text = explain(format!(
            "the {} that {} ({}) called at {} is still open at {now}",
            op.verb.name(),
            site_name(part.site),
            scene.client(op.client),
            scene.when(op.called)
        ));
        let decided = observed.is_decided() || written.decided();
        let missing = written.missing(size(scene, object) as u64);
        let blocked = match (op.verb, missing) {
            (Verb::Decide, Some(site)) if view.is_sim() && !decided && op.limit == 0 => {
                Some(format!("blocked, as allowed, by the vote of site {site}: the call has no time limit"))
            }
            (Verb::Decide, None) if !decided && op.limit == 0 && Self::is_coordinated(scene, object) => {
                Some("blocked, as allowed, by the coordinator: the call has no time limit".to_owned())
            }
            (Verb::Decide, _) if !view.is_sim() && !decided && op.limit == 0 => Some(
                "blocked, as allowed, by a vote or by the coordinator: the call has no time limit".to_owned(),
            ),
            _ => None,
        };
        let verdict = match blocked {
            Some(by) => {
                text = text.excused(by);
                Verdict::Unavoidable
            }
            None => {
                text = match (decided, missing) {
                    (true, _) => text.because("the transaction is decided: it should read the decision"),
                    (false, Some(site)) => text.because(format!(
                        "the vote of site {site} is missing, and its time has passed: it should propose abort"
                    )),
                    (false, None) => text.because("all votes are cast: it should propose commit"),
                };
                text = text.not_excused(format!(
                    "nothing has been in its way for {}, and the limit is {}",
                    ms(scene.at.saturating_sub(since)),
                    ms(view.bound(object))
                ));
                Verdict::Fail
            }
        };
        out.find(
            Ruling::new(RuleId::Tc13, verdict, scene.index),
            scene,
            Some(object),
            &[op.called.index],
            text,
        );
    }

    fn is_coordinated(scene: &Scene<'_>, object: ObjectId) -> bool {
        scene.object(object).manner.coordinated
    }

    /// At the end, every site that has voted has learned the decision.
    pub(super) fn quiesce(
        &mut self,
        scene: &Scene<'_>,
        object: ObjectId,
        parts: &BTreeMap<OpId, SiteOp>,
        observed: &Observed,
        written: &Written,
        out: &mut Findings,
    ) {
        let view = scene.view;
        for site in observed.voters() {
            let of_site = parts.iter().filter(|(_, part)| part.site == site);
            let Some((id, part)) = of_site.max_by_key(|(id, _)| **id) else { continue };
            let op = view.op(*id);
            if view.client(op.client).is_dead() {
                continue;
            }
            out.premise(RuleId::Tc5, object);
            // A site learns that an operator removed the record.
            if observed.knows(site) || observed.is_forgotten() || self.found.contains(id) {
                continue;
            }
            let is_decided = written.decided() || observed.is_decided();
            let why = if is_decided { "the transaction is decided" } else { "abort could be proposed" };
            let text = explain(format!(
                "{} ({}) has voted, and never learned the decision",
                site_name(site),
                scene.client(op.client)
            ))
            .because(format!(
                "its last operation, {} (called at {}), ended at {}",
                part.verb.name(),
                scene.when(op.called),
                scene.when(op.over)
            ))
            .not_excused(format!("{why}, and no fault is active any more"));
            out.fail(RuleId::Tc5, scene, object, &[op.called.index, op.over.index], text);
        }
    }

    /// Notes an operation that is open at the end of the history.
    pub(super) fn finish(
        &mut self,
        scene: &Scene<'_>,
        object: ObjectId,
        parts: &BTreeMap<OpId, SiteOp>,
        out: &mut Findings,
    ) {
        let is_open = |id: &&OpId| scene.view.op(**id).phase == Phase::Open && !self.found.contains(id);
        if !scene.view.quiet && parts.keys().any(|id| is_open(&id)) {
            out.unknown(RuleId::Tc5, object);
        }
    }
}
