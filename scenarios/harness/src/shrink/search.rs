//! The search for a smaller run: tries candidates and keeps the best.

use super::deviation::{Decide, Deviation, NthQuestion, Sparse};
use super::failure::Failure;
use super::size::Size;
use crate::interference::is_foreign;
use crate::plan::{Interference, Plan};
use crate::run::{Draw, Run};
use sim_zk::choose::Point;
use sim_zk::fault::Victim;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use zk_checker::Verdict;

/// The search.
pub(super) struct Shrinking<'a> {
    /// The required failure.
    what: String,
    verdict: Verdict,
    pub(super) best: Failure,
    limit: u32,
    /// Set to end the search with the result so far.
    stop: &'a AtomicBool,
    runs: u32,
    /// The size of the first failure.
    pub(super) begun: Size,
    /// The number of candidates taken.
    taken: u32,
}

impl<'a> Shrinking<'a> {
    /// A search that starts from a failure, with a budget of runs.
    pub(super) fn new(failure: Failure, limit: u32, stop: &'a AtomicBool) -> Shrinking<'a> {
        let (what, verdict) = (failure.run.what_failed(), failure.run.verdict());
        let begun = failure.size();
        Shrinking { what, verdict, best: failure, limit, stop, runs: 0, begun, taken: 0 }
    }

    pub(super) fn runs(&self) -> u32 {
        self.runs
    }

    pub(super) fn is_out_of_runs(&self) -> bool {
        self.runs >= self.limit || self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn into_best(self) -> Failure {
        self.best
    }

    /// Makes the run as small as possible.
    pub(super) fn shrink(&mut self) {
        self.resample();
        self.cut_down();
        self.draw_more();
    }

    /// Removes everything that the failure does not need, until no step succeeds.
    pub(super) fn cut_down(&mut self) {
        self.calm_kinds();
        loop {
            let before = self.taken;
            self.shrink_plan();
            self.calm_deviations();
            self.lower_choices();
            self.ask_sooner();
            if self.taken == before || self.is_out_of_runs() {
                break;
            }
        }
    }

    // ── candidates ──

    /// Makes a run. `None` if the budget is spent or the code under test panics outside of its clients' tasks.
    pub(super) fn run(&mut self, plan: &Plan, decides: impl Decide + 'static) -> Option<Failure> {
        if self.is_out_of_runs() {
            return None;
        }
        self.runs += 1;
        Failure::of(self.draw(plan, decides)).ok()
    }

    pub(super) fn draw<D>(&self, plan: &Plan, chooser: D) -> Draw<D> {
        Draw { workload: self.best.run.workload, plan: plan.clone(), chooser }
    }

    /// Takes a candidate if it has the same failure and is not larger in any respect. Returns whether it was taken.
    pub(super) fn take(&mut self, plan: &Plan, decides: impl Decide + 'static) -> bool {
        let Some(candidate) = self.run(plan, decides) else { return false };
        let taken = self.is_the_same(&candidate.run) && candidate.size().is_within(&self.best.size());
        if taken {
            self.best = candidate;
            self.taken += 1;
        }
        taken
    }

    pub(super) fn is_the_same(&self, run: &Run) -> bool {
        let words = |run: &Run| run.panic.as_ref().map(|panicked| panicked.panic.words());
        run.verdict() == self.verdict && run.what_failed() == self.what && words(run) == words(&self.best.run)
    }

    fn with_deviations(&mut self, deviations: &[Deviation]) -> bool {
        let plan = self.best.run.plan.clone();
        self.take(&plan, Sparse::new(deviations))
    }

    fn with_plan(&mut self, plan: &Plan) -> bool {
        let sparse = Sparse::new(&self.best.deviations);
        *plan != self.best.run.plan && self.take(plan, sparse)
    }

    // ── kinds of questions ──

    /// Answers all questions of a kind, or about a client or server, by the default.
    fn calm_kinds(&mut self) {
        let asked = |one: &Deviation| one.asked.question;
        let all = std::mem::take(&mut self.best.deviations);
        let points: BTreeSet<Point> = all.iter().map(|one| asked(one).point).collect();
        let parties: BTreeSet<Victim> = all.iter().map(|one| asked(one).whom).collect();
        self.best.deviations = all;
        for point in points {
            self.keep(|one| asked(one).point != point);
        }
        for party in parties {
            self.keep(|one| asked(one).whom != party);
        }
    }

    fn keep(&mut self, is_kept: impl Fn(&Deviation) -> bool) {
        let kept: Vec<Deviation> = self.best.deviations.iter().copied().filter(is_kept).collect();
        if kept.len() < self.best.deviations.len() {
            self.with_deviations(&kept);
        }
    }

    // ── the plan ──

    fn shrink_plan(&mut self) {
        while self.drop_a_client() {}
        let Plan { rounds, servers, .. } = self.best.run.plan;
        let powers = (0..u32::BITS - 1).map(|power| 1 << power);
        let fewer = powers.chain([rounds - 1]).filter(|fewer| (1..rounds).contains(fewer));
        let _ = { fewer }.any(|rounds| self.with_plan(&Plan { rounds, ..self.best.run.plan.clone() }));
        let _ = (1..servers).any(|servers| self.with_plan(&Plan { servers, ..self.best.run.plan.clone() }));
        self.drop_interference();
        self.draw_no_more_than_struck();
    }

    /// Removes one client, the last first.
    fn drop_a_client(&mut self) -> bool {
        let clients = self.best.run.plan.clients;
        clients > 1
            && (0..clients).rev().any(|gone| {
                let left = self.best.deviations.iter().filter_map(|one| one.without_client(gone));
                let left: Vec<Deviation> = left.collect();
                self.take(&Plan { clients: clients - 1, ..self.best.run.plan.clone() }, Sparse::new(&left))
            })
    }

    fn drop_interference(&mut self) {
        let plan = self.best.run.plan.clone();
        if plan.interference.is_none()
            || self.with_plan(&Plan { interference: Interference::default(), ..plan.clone() })
        {
            return;
        }
        let acts = self.best.run.faults().filter(|kind| is_foreign(*kind)).count() as u32;
        let interference =
            Interference { acts: acts.clamp(1, plan.interference.acts), ..plan.interference.clone() };
        self.with_plan(&Plan { interference, ..plan });
    }

    /// Removes kinds of fault that were not injected from the plan.
    fn draw_no_more_than_struck(&mut self) {
        let struck: Vec<_> = self.best.deviations.iter().filter_map(Deviation::fault).collect();
        let plan = &self.best.run.plan;
        let rates: BTreeMap<_, _> =
            plan.rates.iter().filter(|(name, _)| struck.iter().any(|fault| fault.name() == *name)).collect();
        let rates = rates.into_iter().map(|(name, rate)| (name.clone(), *rate)).collect();
        // Foreign clients act only while faults can be injected, which needs at least one fault in the plan.
        let least = u32::from(!plan.interference.is_none());
        let faults = (struck.len() as u32).max(least).min(plan.faults);
        self.with_plan(&Plan { faults, rates, ..plan.clone() });
    }

    // ── deviations ──

    /// Removes deviations that the failure does not need: half of them at a time, a quarter, and so on, finally each by
    /// itself.
    fn calm_deviations(&mut self) {
        let mut chunk = self.best.deviations.len().div_ceil(2);
        while chunk > 0 {
            let fewer = self.calm_chunks(chunk);
            if chunk == 1 && !fewer {
                break;
            }
            chunk = chunk.div_ceil(2);
        }
    }

    /// Starts with the last ones: deviations after the failure have no effect on it.
    fn calm_chunks(&mut self, chunk: usize) -> bool {
        let (mut end, mut fewer) = (self.best.deviations.len(), false);
        while end > 0 {
            let start = end.saturating_sub(chunk);
            let mut left = self.best.deviations.clone();
            left.drain(start..end);
            fewer |= self.with_deviations(&left);
            // Taking a candidate may have removed other deviations, too.
            end = start.min(self.best.deviations.len());
        }
        fewer
    }

    // ── choices ──

    /// Replaces each choice by the smallest number that keeps the failure, found by bisection.
    fn lower_choices(&mut self) {
        let all = self.best.deviations.clone();
        for one in all.iter().filter(|one| one.choice > 1 && !one.is_fault()) {
            // `low` is not known to fail; `high` fails.
            let (mut low, mut high) = (0, one.choice);
            while high - low > 1 {
                let middle = if low == 0 { 1 } else { low.midpoint(high) };
                let mut lower = self.best.deviations.clone();
                let Some(found) = lower.iter_mut().find(|other| other.asked == one.asked) else { break };
                found.choice = middle;
                if self.with_deviations(&lower) { high = middle } else { low = middle }
            }
        }
    }

    /// Moves each answer to the earliest question of the kind that keeps the failure, found by bisection: a run that
    /// fails sooner needs fewer rounds.
    fn ask_sooner(&mut self) {
        let all = self.best.deviations.clone();
        for one in all {
            let mut nth = one.asked.nth;
            while nth > 0 {
                let sooner = NthQuestion { nth: nth / 2, ..one.asked };
                let mut moved = self.best.deviations.clone();
                let is_free = moved.iter().all(|other| other.asked != sooner);
                let here = NthQuestion { nth, ..one.asked };
                let Some(found) = moved.iter_mut().find(|other| other.asked == here) else { break };
                found.asked = sooner;
                if !is_free || !self.with_deviations(&moved) {
                    break;
                }
                nth /= 2;
            }
        }
    }
}
