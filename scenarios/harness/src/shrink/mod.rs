//! Shrinking: from a run that fails, the smallest run with the same failure.
//!
//! 1. Resampling: draw a few runs with mostly default choices from smaller plans. If one breaks the same rule, continue from it.
//! 2. Kinds: answer all questions of a kind, or about a client or server, by the default.
//! 3. Plan: fewer clients, rounds and servers, no foreign clients. Each choice stays at its question.
//! 4. Deviations: take the default where that keeps the failure, for many questions at a time and then for each.
//! 5. Choices: smaller numbers in place of large ones, and the same answers to earlier questions.
//!
//! Steps 3 to 5 repeat until the run no longer shrinks. If it is still not [small](Size::is_small), further runs are
//! drawn and shrunk in the same way. A candidate counts if the same rule is its first finding and it is not larger. The
//! result depends on the run alone, since the bound is a number of runs, not a time.

pub mod deviation;
mod failure;
mod nearest;
mod resampling;
mod search;
mod size;

pub use failure::Failure;
pub use nearest::{Nearest, Parting};
pub use size::Size;

use crate::recording::Recording;
use crate::run::Draw;
use search::Shrinking;
use sim_zk::choose::Replay;
use std::sync::atomic::AtomicBool;
use zk_checker::Verdict;

/// The default budget, in runs. Most failures take a hundred; a failure that needs several sessions to expire at
/// different times may take thousands.
pub const RUNS: u32 = 10_000;

/// The result of shrinking.
#[derive(Debug)]
pub struct Shrunk {
    /// The failed rule, as [`Run::what_failed`](crate::run::Run::what_failed) names it.
    pub what: String,
    /// The size of the run before.
    pub before: Size,
    /// The smallest run with the same failure.
    pub failure: Failure,
    /// The nearest run that does not fail, if one was found.
    pub nearest: Option<Nearest>,
    /// The number of runs made.
    pub runs: u32,
    /// Whether the budget or a stop ended the search early.
    pub is_cut_short: bool,
}

/// Why there is nothing to shrink.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ShrinkError {
    /// The run does not fail.
    #[error("the run does not fail, so there is nothing to shrink: its verdict is {0}")]
    DoesNotFail(Verdict),
    /// The code under test panics in the run.
    #[error("the code under test panics in this run, so nothing is recorded: {0}")]
    Panics(String),
}

/// Shrinks a run.
///
/// # Errors
///
/// If it does not fail.
pub fn shrink(failing: Draw<Replay>, runs: u32) -> Result<Shrunk, ShrinkError> {
    shrink_until(failing, runs, &AtomicBool::new(false))
}

/// The same; once `stop` is set, it returns the smallest run so far.
///
/// # Errors
///
/// As [`shrink`].
pub fn shrink_until(failing: Draw<Replay>, runs: u32, stop: &AtomicBool) -> Result<Shrunk, ShrinkError> {
    let failure = Failure::of(failing).map_err(|panic| ShrinkError::Panics(panic.to_string()))?;
    if failure.run.verdict() < Verdict::Unknown {
        return Err(ShrinkError::DoesNotFail(failure.run.verdict()));
    }
    let what = failure.run.what_failed();
    let before = failure.size();
    let mut search = Shrinking::new(failure, runs, stop);
    search.shrink();
    let nearest = search.nearest();
    let is_cut_short = search.is_out_of_runs();
    let runs = search.runs();
    Ok(Shrunk { what, before, failure: search.into_best(), nearest, runs, is_cut_short })
}

impl Shrunk {
    /// The recording of the smallest run.
    pub fn recorded(&self) -> Recording {
        Recording::of(&self.failure.run)
    }

    /// The size of the smallest run.
    pub fn after(&self) -> Size {
        self.failure.size()
    }
}

#[cfg(test)]
mod tests;
