//! A scenario, and the ensemble on which it was recorded.

use super::expected::Expected;
use super::step::Step;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The ensemble on which the scenarios were recorded.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// The version of the format.
    pub meta: u32,
    /// The number of members.
    pub members: usize,
    /// The `tickTime`, in ms. Scenarios count in ticks.
    pub tick_ms: u64,
    /// The ticks within which a follower has to catch up with a new leader.
    #[serde(rename = "initLimit")]
    pub init_limit: u32,
    /// The ticks without a packet after which followers and leader disconnect each other.
    #[serde(rename = "syncLimit")]
    pub sync_limit: u32,
    /// A remark about it.
    #[serde(default)]
    pub note: String,
}

impl Meta {
    /// The number of microseconds in so many ticks.
    pub fn micros(&self, ticks: f64) -> u64 {
        (ticks * self.tick_ms as f64 * 1000.0).round() as u64
    }

    /// The number of ticks in so many microseconds.
    pub fn ticks(&self, micros: u64) -> f64 {
        micros as f64 / (self.tick_ms as f64 * 1000.0)
    }
}

/// An outcome that a run may show, or must not: a value for each of some labels.
pub type Outcome = BTreeMap<String, Expected>;

/// One scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its number in the recording.
    pub n: u32,
    /// Its name.
    pub id: String,
    /// What it shows.
    pub about: String,
    /// The facts that it concerns.
    pub semantics: String,
    /// The steps.
    pub steps: Vec<Step>,
    /// A run shows one of these.
    pub allowed: Vec<Outcome>,
    /// A run shows none of these.
    pub never: Vec<Outcome>,
    /// Whether the same steps were played on a real ensemble.
    pub exec: bool,
    /// How often it was recorded; 0 if unknown.
    pub runs: u32,
}
