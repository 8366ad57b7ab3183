//! Worlds that are not adversarial enough: no promise is broken, but an anomaly that ZooKeeper allows never happens.
//!
//! A recipe that was only tested in such a world may rely on properties that ZooKeeper does not promise. No rule
//! catches them: the probes report what was never reached, and a sweep that is long enough is not green.

use super::{LOSSES, Trigger, world, wrong};
use crate::variations::raw;
use sim_zk::fault::Fault;
use sim_zk::injected_bug::InjectedBug;
use zk_harness::plan::Plan;
use zk_harness::workload::Workload;

/// Of the faults that can lose a reply, only those that break connections; server faults can, too.
const BREAKS: Trigger =
    Trigger { faults: CONNECTION_FAULTS, plan: |_| world().with(CONNECTION_FAULTS, 0.03) };
const CONNECTION_FAULTS: &[Fault] =
    &[Fault::RequestLost, Fault::ReplyLost, Fault::ReplyLate, Fault::Disconnect];

/// Servers lag.
const LAGS: Trigger =
    Trigger { faults: LAG_FAULTS, plan: |_| Plan { faults: 6, ..world().with(LAG_FAULTS, 0.02) } };
const LAG_FAULTS: &[Fault] = &[Fault::LinkHeld, Fault::ApplyStall, Fault::ServerPartition];

pub(super) static ALL: &[Workload] = &[
    wrong("raw-loses-no-reply", InjectedBug::LosesNoReply, &raw::WORKLOAD, None, BREAKS),
    wrong("raw-never-stale", InjectedBug::NeverStale, &raw::WORKLOAD, None, LAGS),
    wrong("raw-tells-all", InjectedBug::TellsAll, &raw::WORKLOAD, None, LOSSES),
];
