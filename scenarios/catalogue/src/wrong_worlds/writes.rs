//! Servers that lose, split, reorder or misreport writes, and show an inconsistent tree.
//!
//! A lost acknowledged write lets two clients hold a lock (MX-2): ZOOKEEPER-4785. So does a number that is given twice:
//! ZOOKEEPER-1046.

use super::{CALM, ELECTIONS, fewer, wrong};
use crate::lock::workload as lock;
use crate::variations::raw;
use sim_zk::injected_bug::InjectedBug;
use zk_checker::RuleId::{Zk1, Zk3, Zk5, Zk8, Zk9, Zk10, Zk11, Zk12};
use zk_harness::plan::Plan;
use zk_harness::workload::Workload;

pub(super) static ALL: &[Workload] = &[
    wrong("raw-loses-acknowledged", InjectedBug::LosesAcknowledged, &raw::WORKLOAD, Some(Zk10), ELECTIONS),
    wrong("raw-skips-writes", InjectedBug::SkipsWrites, &raw::WORKLOAD, Some(Zk1), CALM),
    wrong("raw-half-multi", InjectedBug::HalfMulti, &raw::WORKLOAD, Some(Zk11), CALM),
    wrong("raw-two-part-multi", InjectedBug::TwoPartMulti, &raw::WORKLOAD, Some(Zk11), CALM),
    wrong(
        "lock-recounts-children",
        InjectedBug::RecountsChildren,
        &lock::WORKLOAD,
        Some(Zk8),
        fewer(ELECTIONS, |seed| Plan { rounds: 6, ..(ELECTIONS.plan)(seed) }),
    ),
    wrong("raw-ignores-version", InjectedBug::IgnoresVersion, &raw::WORKLOAD, Some(Zk9), CALM),
    wrong("raw-version-stays", InjectedBug::VersionStays, &raw::WORKLOAD, Some(Zk9), CALM),
    wrong("raw-pzxid-stays", InjectedBug::PzxidStays, &raw::WORKLOAD, Some(Zk9), CALM),
    wrong("raw-hides-owner", InjectedBug::HidesOwner, &raw::WORKLOAD, Some(Zk9), CALM),
    wrong("raw-hides-child", InjectedBug::HidesChild, &raw::WORKLOAD, Some(Zk5), CALM),
    wrong("raw-false-error", InjectedBug::FalseError, &raw::WORKLOAD, Some(Zk11), CALM),
    wrong("raw-false-success", InjectedBug::FalseSuccess, &raw::WORKLOAD, Some(Zk10), CALM),
    wrong("raw-passes-writes", InjectedBug::PassesWrites, &raw::WORKLOAD, Some(Zk3), CALM),
    wrong("raw-syncs-alone", InjectedBug::SyncsAlone, &raw::WORKLOAD, Some(Zk12), ELECTIONS),
];
