//! Scenarios of faults on an ensemble, with the outcomes of a real Apache ZooKeeper: tests whether an ensemble stays
//! within them.
//!
//! | module | content |
//! |---|---|
//! | [`case`](mod@case) | a file of scenarios |
//! | [`scenario`] | a scenario and its ensemble; [`step`] and [`expected`], its steps and allowed results |
//! | `check` | whether a scenario can be played at all |
//! | [`cluster`] | the target of a scenario: raw connections, faults, and time |
//! | [`play`] | plays one scenario, and records the result of each labelled step |
//! | [`judge`] | compares those results with the allowed and the forbidden outcomes |
//! | [`sim`] | the simulation as such an ensemble |
//! | [`served`] | an ensemble behind sockets, in real time, with injected faults |
//! | [`run`] | the same scenario under many seeds; [`report`], the frequency of each outcome |
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
pub mod scenario;
pub mod served;
mod session;
pub mod sim;
pub mod step;
#[cfg(test)]
mod tests;
mod written;
