//! Worlds that are too kind: no promise is broken, and something that ZooKeeper does not exclude never happens.
//!
//! A recipe that was only seen in such a world may rely on what nobody promises. No rule catches them: what is missing is
//! told by the probes, and a sweep that is long enough is not green.

use super::{Trigger, Wrong, wrong};
use crate::plan::Plan;
use crate::workloads::raw;
use sim_zk::fault::Fault;
use sim_zk::quirk::Quirk;

/// Of the faults that can take an answer away only those that the first of them knows: each fault of servers can, too.
const BREAKS: &[Fault] = &[Fault::RequestLost, Fault::ReplyLost, Fault::ReplyLate, Fault::Disconnect];
const LINES: Trigger = Trigger { faults: BREAKS, plan: |seed| of(BREAKS, seed) };

const WHATEVER: Trigger =
    Trigger { faults: &Fault::ALL, plan: |seed| Plan { rounds: 20, ..Plan::drawn(seed) } };

fn of(faults: &[Fault], seed: u64) -> Plan {
    let mut plan = Plan { rounds: 20, ..Plan::drawn(seed) };
    plan.rates.clear();
    plan.with(faults, 0.02)
}

pub(super) static ALL: &[Wrong] = &[
    wrong("raw-loses-no-reply", Quirk::LosesNoReply, &raw::TARGET, None, LINES),
    wrong("raw-never-stale", Quirk::NeverStale, &raw::TARGET, None, WHATEVER),
    wrong("raw-tells-all", Quirk::TellsAll, &raw::TARGET, None, WHATEVER),
];
