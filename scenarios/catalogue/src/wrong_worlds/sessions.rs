//! Servers with a wrong belief about which session lives, which server leads, and which server lags.
//!
//! An ephemeral that stays blocks a lock for ever (MX-8): ZOOKEEPER-1367, -2355, -3144. A session that moves to a
//! lagging server reads older state than before: ClickHouse Keeper.

use super::{ENDS, MOVES, PARTITIONS, fewer, wrong};
use crate::lock::workload as lock;
use crate::variations::raw;
use sim_zk::injected_bug::InjectedBug;
use zk_checker::RuleId::{Zk4, Zk7, Zk13};
use zk_harness::plan::Plan;
use zk_harness::workload::Workload;

pub(super) static ALL: &[Workload] = &[
    wrong(
        "lock-keeps-ephemeral",
        InjectedBug::KeepsEphemeral,
        &lock::WORKLOAD,
        Some(Zk7),
        fewer(ENDS, |seed| Plan { rounds: 2, ..(ENDS.plan)(seed) }),
    ),
    wrong("raw-expires-early", InjectedBug::ExpiresEarly, &raw::WORKLOAD, Some(Zk7), ENDS),
    wrong(
        "lock-never-expires",
        InjectedBug::NeverExpires,
        &lock::WORKLOAD,
        Some(Zk7),
        fewer(ENDS, |seed| Plan { rounds: 2, ..(ENDS.plan)(seed) }),
    ),
    wrong("raw-accepts-anyone", InjectedBug::AcceptsAnyone, &raw::WORKLOAD, Some(Zk4), MOVES),
    wrong("raw-serves-on", InjectedBug::ServesOn, &raw::WORKLOAD, Some(Zk13), PARTITIONS),
];
