//! Worlds that are too kind: no promise is broken, and something that ZooKeeper does not exclude never happens.
//!
//! A recipe that was only seen in such a world may rely on what nobody promises. No rule catches them: what is missing is
//! told by the probes, and a sweep that is long enough is not green.

use super::{LOSSES, Trigger, world, wrong};
use crate::raw;
use sim_zk::fault::Fault;
use sim_zk::injected_bug::InjectedBug;
use zk_harness::plan::Plan;
use zk_harness::workload::Workload;

/// Of the faults that can take an answer away only those that break connections: those of servers can, too.
const BREAKS: Trigger = Trigger { faults: BREAK, plan: |_| world().with(BREAK, 0.03) };
const BREAK: &[Fault] = &[Fault::RequestLost, Fault::ReplyLost, Fault::ReplyLate, Fault::Disconnect];

/// Servers are behind.
const LAGS: Trigger = Trigger { faults: LAG, plan: |_| Plan { faults: 6, ..world().with(LAG, 0.02) } };
const LAG: &[Fault] = &[Fault::LinkHeld, Fault::ApplyStall, Fault::ServerPartition];

pub(super) static ALL: &[Workload] = &[
    wrong("raw-loses-no-reply", InjectedBug::LosesNoReply, &raw::WORKLOAD, None, BREAKS),
    wrong("raw-never-stale", InjectedBug::NeverStale, &raw::WORKLOAD, None, LAGS),
    wrong("raw-tells-all", InjectedBug::TellsAll, &raw::WORKLOAD, None, LOSSES),
];
