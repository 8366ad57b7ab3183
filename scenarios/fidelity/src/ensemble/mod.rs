//! Scenarios of faults on an ensemble, with what a real Apache ZooKeeper showed in them: does an ensemble stay within that?
//!
//! | module | what it holds |
//! |---|---|
//! | [`case`](mod@case) | a file of scenarios; [`step`] and [`expected`], what a scenario does and what it may show |
//! | `check` | whether a scenario can be played at all |
//! | [`cluster`] | what a scenario is played against: raw connections, faults, and time |
//! | [`play`] | plays one scenario, and notes what came of each labelled step |
//! | [`judge`] | those results, against what is allowed and what must never be |
//! | [`sim`] | the simulation as such an ensemble |
//! | [`served`] | an ensemble behind sockets, in real time, whose faults are asked for |
//! | [`run`] | the same scenario under many seeds; [`report`], which outcomes came how often |
//!
//! A scenario does not know ensembles, a [`cluster::Cluster`] does not know scenarios.

mod answer;
pub mod case;
mod check;
mod client_link;
pub mod cluster;
pub mod expected;
#[cfg(test)]
mod fake;
mod faults;
pub mod judge;
pub mod play;
#[cfg(test)]
mod play_tests;
pub mod report;
pub mod run;
pub mod served;
mod session;
pub mod sim;
pub mod step;
#[cfg(test)]
mod tests;
mod written;
