//! Tests third-party coordination libraries under the faults of a served ensemble, judged by the same rules as our
//! recipes.
//!
//! A *program* is a folder with a `program.json` and a *driver*: a small program in the library's own language. It
//! reads lines that tell it when to begin, when to rest and what to report, and it reports what it believes.
//! `README.md` documents the lines.
//!
//! | module | content |
//! |---|---|
//! | [`program`] | programs, their scenarios, the promises of their authors |
//! | [`plan`] | plans: commands, each at a time or behind a report |
//! | [`draw`] | a plan from a seed |
//! | [`lines`] | the lines that drivers write |
//! | [`process`] | the processes of drivers |
//! | [`attempt`] | one try from its begin to its verdict |
//! | [`troubles`] | plans that every peer of our supervisor is tried under |
//! | [`rate`] | how often a plan fails, with an interval |
//! | [`shrink`] | the smallest plan that still fails |
//! | [`findings`] | findings that are kept |
//! | [`page`] | the page of what was found, and of what was tried and held |
//!
//! A program is nondeterministic: a plan is judged by its failure rate, not by one run.

pub mod attempt;
pub mod draw;
pub mod findings;
pub mod lines;
pub mod packed;
pub mod page;
pub mod plan;
pub mod process;
pub mod program;
pub mod rate;
pub mod shrink;
pub mod troubles;

mod clock;
mod deletes;
mod held;
mod stage;
