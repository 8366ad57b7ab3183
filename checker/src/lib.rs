//! Judges histories of ZooKeeper recipes: which promise was broken, by which client, when and why.
//!
//! A recorded run is a [`history::History`]; [`judge`] checks it against the promises of the recipes ([`RuleId`]) and
//! returns a [`Report`]. An [`Ongoing`] does the same while the run goes on, and a [`Judge`] by its rules alone.
//!
//! ```
//! let history = zk_checker::text::parse(
//!     "run client
//!      lock /lock
//!      0.000 a acquire#1 call /lock
//!      0.001 a #1 believe /lock s1 token 0x3
//!      0.002 b acquire#2 call /lock
//!      0.003 b #2 believe /lock s2 token 0x4",
//! )?;
//! let report = zk_checker::judge(&history, &zk_checker::RuleSet::all());
//! assert_eq!(report.verdict(), zk_checker::Verdict::Fail);
//! assert_eq!(report.of(zk_checker::RuleId::Mx3), zk_checker::Verdict::Fail);
//! # Ok::<(), zk_checker::jsonl::ReadError>(())
//! ```
//!
//! The crate is pure: it opens no file, reads no clock and draws no random number; the same history gives the same
//! report to the byte.

pub mod digest;
pub mod history;
pub mod jsonl;
pub mod monitor;
pub mod search;
pub mod shape;
pub mod text;
pub mod verify;
pub mod wire;

mod actors;
mod black_box;
mod claims;
mod evidence;
mod explanation;
mod findings;
mod ids;
mod judge;
mod kinds;
mod metrics;
mod named;
mod ongoing;
mod property;
mod recent;
mod report;
mod reports;
mod rule;
mod rule_id;
mod rule_set;
mod rules;
mod scene;
mod verdict;
mod view;

pub use black_box::{BlackBox, ClientView};
pub use claims::{STILL, process_of};
pub use findings::{Finding, Row};
pub use judge::Judge;
pub use kinds::{Meaning, ReportedEvent, ReportedItem};
pub use metrics::{Metrics, Probe};
pub use ongoing::{Ongoing, judge, judge_stored};
pub use report::Report;
pub use rule_id::{Layer, RuleId};
pub use rule_set::RuleSet;
pub use verdict::Verdict;
