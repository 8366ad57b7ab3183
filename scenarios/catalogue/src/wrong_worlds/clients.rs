//! Clients that forget their watches, or mix up notifications and zxids.
//!
//! A forgotten watch never wakes its waiter; mixed-up replies are read as older than they are. The watches of a client
//! belong to its library: [kazoo#170], rust-zookeeper#97, and ClickHouse#59735 for the last zxid it has seen.
//!
//! [kazoo#170]: https://github.com/python-zk/kazoo/issues/170

use super::{CALM, LOSSES, MOVES, Trigger, fewer, world, wrong};
use crate::config::workload as config;
use crate::lock::workload as lock;
use crate::variations::raw;
use sim_zk::fault::Fault;
use sim_zk::injected_bug::InjectedBug;
use zk_checker::RuleId::{Zk3, Zk4, Zk6, Zk7, Zk14};
use zk_harness::plan::Plan;
use zk_harness::workload::Workload;

/// Waiters lose their connections.
const WAITERS: Trigger = Trigger { faults: LEFT, plan: |_| Plan { rounds: 2, ..world().with(LEFT, 0.05) } };
const LEFT: &[Fault] = &[Fault::Disconnect, Fault::WatchLost, Fault::ServerCrash, Fault::ClientPartition];

pub(super) static ALL: &[Workload] = &[
    // Harm: MX-7, no client gets a lock although it is free.
    wrong("lock-forgets-watches", InjectedBug::ForgetsWatches, &lock::WORKLOAD, Some(Zk6), WAITERS),
    wrong("raw-forgets-absent", InjectedBug::ForgetsAbsent, &raw::WORKLOAD, Some(Zk6), LOSSES),
    wrong("raw-forgets-trees", InjectedBug::ForgetsTrees, &raw::WORKLOAD, Some(Zk14), LOSSES),
    wrong("raw-registers-as-of-now", InjectedBug::RegistersAsOfNow, &raw::WORKLOAD, Some(Zk6), LOSSES),
    wrong("raw-keeps-fired", InjectedBug::KeepsFired, &raw::WORKLOAD, Some(Zk6), LOSSES),
    // Harm: CF-1, a value that goes back.
    wrong(
        "config-forgets-zxid",
        InjectedBug::ForgetsZxid,
        &config::WORKLOAD,
        Some(Zk4),
        fewer(MOVES, |seed| Plan { clients: 2, rounds: 4, ..(MOVES.plan)(seed) }),
    ),
    wrong("raw-reply-first", InjectedBug::ReplyFirst, &raw::WORKLOAD, Some(Zk6), CALM),
    wrong("raw-repeats-lost", InjectedBug::RepeatsLost, &raw::WORKLOAD, Some(Zk3), LOSSES),
    wrong("raw-swaps-answers", InjectedBug::SwapsAnswers, &raw::WORKLOAD, Some(Zk3), CALM),
    wrong("raw-hides-loss", InjectedBug::HidesLoss, &raw::WORKLOAD, Some(Zk7), LOSSES),
    wrong("raw-expires-at-loss", InjectedBug::ExpiresAtLoss, &raw::WORKLOAD, Some(Zk7), LOSSES),
    wrong("raw-closes-silently", InjectedBug::ClosesSilently, &raw::WORKLOAD, Some(Zk7), CALM),
];
