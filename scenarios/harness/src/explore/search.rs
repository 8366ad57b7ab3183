//! The search, batch by batch.
//!
//! 1. Take a batch of branches off the front of the queue. A branch is a list of choices that leads to an untried
//!    alternative.
//! 2. Run them on several threads. Each run follows its list, then takes the default choices, records the states that
//!    it reaches and the alternatives that it leaves, and is cut short in a state that an earlier batch has visited.
//! 3. Merge the results in the order of the batch: a run's states count up to the first that is already visited, and
//!    the alternatives that it left before that state go to the end of the queue.
//!
//! The set of visited states does not change while a batch runs. So the results do not depend on the number of threads,
//! and the first breach has the fewest choices that are not the default.

use super::chooser::Exhaustive;
use super::scope::Scope;
use super::visited::Visited;
use crate::panics::caught;
use crate::run::{PANIC, Run};
use sim_zk::End;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use zk_checker::{Judge, Verdict};

/// The number of branches per batch: enough that threads rarely wait for each other, and few enough that runs of one
/// batch rarely visit the same states.
const BATCH: usize = 256;

/// Untried alternatives of one choice.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Branch {
    /// The planned choices of the run that left them; later choices were the default.
    pub planned: Arc<[u16]>,
    /// The index of the choice.
    pub at: u32,
    /// The alternatives, one bit each.
    pub left: u64,
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The broken rule, or the other kind of failure.
    pub what: String,
    /// The choices that lead to it; all later ones are the default.
    pub choices: Vec<u16>,
}

impl Breach {
    /// The number of choices that are not the default.
    pub fn length(&self) -> usize {
        self.choices.iter().filter(|choice| **choice != 0).count()
    }
}

/// The results so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// The number of runs.
    pub runs: u64,
    /// The number of runs that were cut short.
    pub cut: u64,
    /// The number of choices in all runs.
    pub choices: u64,
    /// Depth of the deepest state, in choices.
    pub depth: u32,
    /// The first breach of each rule, and the number of breaches.
    pub breaches: BTreeMap<String, (Breach, u64)>,
    /// The first breach of all.
    pub first: Option<Breach>,
}

/// The exploration of a scope.
pub struct Exploration {
    pub(super) scope: Scope,
    pub(super) visited: Arc<Visited>,
    pub(super) queue: VecDeque<Branch>,
    pub(super) found: Results,
}

/// The result of one run.
struct Ran {
    planned: Vec<u16>,
    made: usize,
    left: Vec<(u32, u64)>,
    states: Vec<(u128, u32)>,
    was_cut: bool,
    failed: Option<String>,
}

impl Exploration {
    /// A search at its beginning.
    pub fn new(scope: Scope) -> Exploration {
        // The root has no choices: its run takes the default everywhere.
        let root = Branch { planned: Arc::from([]), at: 0, left: 0 };
        Exploration {
            scope,
            visited: Arc::default(),
            queue: VecDeque::from([root]),
            found: Results::default(),
        }
    }

    /// The scope of the search.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The results so far.
    pub fn found(&self) -> &Results {
        &self.found
    }

    /// The number of visited states.
    pub fn states(&self) -> usize {
        self.visited.len()
    }

    /// A hash of the set of visited states.
    pub fn hash(&self) -> u128 {
        self.visited.hash()
    }

    /// The number of runs with untried alternatives.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether every run of the scope was visited.
    pub fn is_complete(&self) -> bool {
        self.queue.is_empty()
    }

    /// Runs one batch.
    pub fn advance(&mut self, jobs: usize) {
        let batch = self.take_batch();
        for ran in self.run_all(&batch, jobs) {
            self.take_in(ran);
        }
    }

    /// Runs batches until the search is complete.
    #[must_use]
    pub fn finish(mut self, jobs: usize) -> Exploration {
        while !self.is_complete() {
            self.advance(jobs);
        }
        self
    }

    /// Step 1: takes a batch.
    fn take_batch(&mut self) -> Vec<Vec<u16>> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH
            && let Some(mut branch) = self.queue.pop_front()
        {
            if branch.left == 0 {
                batch.push(branch.planned.to_vec());
                continue;
            }
            let mut list = branch.planned.to_vec();
            list.resize(branch.at as usize, 0);
            while branch.left != 0 && batch.len() < BATCH {
                let next = branch.left.trailing_zeros();
                branch.left &= branch.left - 1;
                let mut list = list.clone();
                list.push(next as u16);
                batch.push(list);
            }
            if branch.left != 0 {
                self.queue.push_front(branch);
            }
        }
        batch
    }

    /// Step 2: runs it.
    fn run_all(&self, batch: &[Vec<u16>], jobs: usize) -> Vec<Ran> {
        let next = AtomicUsize::new(0);
        let all = Mutex::new(Vec::with_capacity(batch.len()));
        std::thread::scope(|threads| {
            for _ in 0..jobs.clamp(1, batch.len()) {
                threads.spawn(|| {
                    let mut own = Vec::new();
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(planned) = batch.get(index) else { break };
                        own.push((index, self.run(planned.clone())));
                    }
                    all.lock().expect("a thread that panicked ends the search").append(&mut own);
                });
            }
        });
        let mut all = all.into_inner().expect("all threads are done");
        all.sort_by_key(|(index, _)| *index);
        all.into_iter().map(|(_, ran)| ran).collect()
    }

    /// Makes one run and judges it.
    fn run(&self, planned: Vec<u16>) -> Ran {
        let Ok((run, chooser)) = caught(|| self.scope.draw(planned.clone(), &self.visited).play(|_| ()))
        else {
            let (left, states, failed) = (Vec::new(), Vec::new(), Some(PANIC.to_owned()));
            return Ran { planned, made: 0, left, states, was_cut: false, failed };
        };
        let Exhaustive { made, left, states, ran_away, .. } = chooser;
        let failed = if ran_away { Some("loops without new states".to_owned()) } else { what_failed(&run) };
        Ran { planned, made, left, states, was_cut: run.end == End::Cut, failed }
    }

    /// Step 3: merges a result.
    fn take_in(&mut self, ran: Ran) {
        let Ran { planned, made, left, states, was_cut, failed } = ran;
        let visited = Arc::get_mut(&mut self.visited).expect("no run goes on");
        let mut known_from = u32::MAX;
        for (state, at) in states {
            if !visited.insert(state) && self.scope.cutting {
                known_from = at;
                break;
            }
            self.found.depth = self.found.depth.max(at);
        }
        self.found.runs += 1;
        self.found.cut += u64::from(was_cut || known_from != u32::MAX);
        self.found.choices += made as u64;
        let planned: Arc<[u16]> = planned.into();
        for (at, left) in left.into_iter().take_while(|(at, _)| *at < known_from) {
            self.queue.push_back(Branch { planned: planned.clone(), at, left });
        }
        if let Some(what) = failed {
            let breach = Breach { what: what.clone(), choices: planned.to_vec() };
            self.found.first.get_or_insert_with(|| breach.clone());
            self.found.breaches.entry(what).or_insert((breach, 0)).1 += 1;
        }
    }
}

/// The rule that a run broke, or the other kind of failure. Rules about the end do not judge a run that was cut short.
fn what_failed(run: &Run<()>) -> Option<String> {
    let (history, rules) = (&run.history, run.workload.rules());
    if run.panic.is_some() {
        return Some(PANIC.to_owned());
    }
    if run.end == End::Cut {
        let mut judge = Judge::new(history.tables(), &rules);
        history.events.iter().for_each(|event| _ = judge.push(history.tables(), event));
        let broken = judge.findings().iter().find(|finding| finding.verdict == Verdict::Fail);
        return broken.map(|finding| finding.rule.name().to_owned());
    }
    let report = zk_checker::judge(history, &rules);
    match run.end {
        End::Done if report.verdict() < Verdict::Unknown => None,
        End::Stuck if report.first().is_none() => Some("stuck".to_owned()),
        End::OutOfTime if report.first().is_none() => Some("out of time".to_owned()),
        _ => Some(report.first().map_or("unknown", |finding| finding.rule.name()).to_owned()),
    }
}
