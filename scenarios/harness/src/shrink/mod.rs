//! From a run that fails, the smallest that fails in the same way.
//!
//! 1. Fresh: in smaller plans, draw a few runs that are calm most of the time. If one breaks the same rule, go on from there.
//! 2. Kinds: answer all questions of a kind, or about a party, calmly.
//! 3. Plan: fewer clients, rounds, servers and strangers. What was chosen stays where it was asked.
//! 4. Deviations: answer calmly where that keeps the failure, many questions at a time and then each by itself.
//! 5. Choices: smaller numbers in place of large ones, and the same answers to earlier questions.
//!
//! Steps 3 to 5 until nothing gets smaller; and if that is still not [small](Size::is_small), more fresh runs, each cut
//! down in the same way. A candidate counts if the same rule is the first to be broken in it; nothing
//! that makes a run larger is taken. What comes depends on the run alone: it is bounded by a number of runs, not by a clock.

pub mod deviation;
mod nearest;
mod resampling;
mod search;
mod size;

pub use nearest::{Nearest, Parting};
pub use size::Size;

use crate::plan::Plan;
use crate::recording::Recording;
use crate::run::Run;
use crate::target::Target;
use deviation::Deviation;
use search::Search;
use sim_zk::choose::Replay;
use zk_checker::Verdict;

/// How many runs a shrinking may take if nothing else is said. Most take a hundred; what needs several sessions to end, each at
/// its time, is only found small among some thousands of fresh runs.
pub const RUNS: u32 = 10_000;

/// A run that fails, and where it departs from the calm one.
#[derive(Debug)]
pub struct Failure {
    /// What was drawn for it.
    pub plan: Plan,
    /// Where it is not calm, in the order of the run.
    pub deviations: Vec<Deviation>,
    /// What came.
    pub run: Run,
}

/// What shrinking came to.
#[derive(Debug)]
pub struct Shrunk {
    /// What was run.
    pub target: &'static Target,
    /// What failed: the rule, as [`Run::what_failed`](crate::run::Run::what_failed) has it.
    pub what: String,
    /// How large the run was.
    pub before: Size,
    /// The smallest that fails in the same way.
    pub failure: Failure,
    /// The run nearest to it that does not fail, if one was found.
    pub near: Option<Nearest>,
    /// How many runs it took.
    pub runs: u32,
    /// Whether more runs could have made it smaller still.
    pub is_cut_short: bool,
}

/// Why there is nothing to shrink.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ShrinkError {
    /// The run does not fail.
    #[error("the run does not fail, so there is nothing to shrink: its verdict is {0}")]
    DoesNotFail(Verdict),
    /// The code under test panics in it.
    #[error("the code under test panics in this run, and then nothing is recorded: {0}")]
    Panics(String),
}

/// Shrinks a run.
///
/// # Errors
///
/// If it does not fail.
pub fn shrink(
    target: &'static Target,
    plan: &Plan,
    choices: Vec<u16>,
    runs: u32,
) -> Result<Shrunk, ShrinkError> {
    let failure = Failure::of(target, plan, Replay::new(choices)).map_err(ShrinkError::Panics)?;
    if failure.run.verdict() < Verdict::Unknown {
        return Err(ShrinkError::DoesNotFail(failure.run.verdict()));
    }
    let what = failure.run.what_failed();
    let before = failure.size();
    let mut search = Search::new(target, failure, runs);
    search.shrink();
    let near = search.near();
    let is_cut_short = search.is_out_of_runs();
    let runs = search.runs();
    Ok(Shrunk { target, what, before, failure: search.into_best(), near, runs, is_cut_short })
}

impl Shrunk {
    /// The smallest run, to keep.
    pub fn recorded(&self) -> Recording {
        Recording::of(self.target, &self.failure.plan, &self.failure.run)
    }

    /// How large it is.
    pub fn after(&self) -> Size {
        self.failure.size()
    }
}

#[cfg(test)]
mod tests;
