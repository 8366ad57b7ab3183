//! Mutation testing of the recipes with all mutants in one build.
//!
//! A mutant is a small edit of the source. A mutant that no test, sweep or story objects to shows a promise that nothing judges, or
//! code that nobody needs. Building each of some hundred mutants would take a day, so all of them go into one build (mutant
//! schemata), each behind a switch that a variable of the environment turns on:
//!
//! 1. [`listing`]: cargo-mutants lists what can be edited, and [`statements`] adds deleted and repeated statements.
//! 2. [`schemata`]: a copy of the workspace is rewritten so that each mutant stands beside the original.
//! 3. [`viable`]: mutants that do not type-check are dropped.
//! 4. [`sample`]: some are drawn by a seed.
//! 5. [`built`]: the programs that judge are built, once.
//! 6. [`reach`]: each judge runs without a mutant, and says which mutants it reaches.
//! 7. [`judge`]: each mutant is judged by the judges that reach it.
//! 8. [`table`]: the result by file.
//!
//! Code inside the arguments of macros and inside `macro_rules!` is not mutated, and neither is what must be constant.

pub mod built;
pub mod copy;
pub mod judge;
pub mod listing;
pub mod mutant;
pub mod process;
pub mod reach;
pub mod sample;
pub mod schemata;
pub mod scope;
pub mod sites;
pub mod source;
pub mod statements;
pub mod table;
pub mod viable;
