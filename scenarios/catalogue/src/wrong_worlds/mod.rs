//! Right recipes and plain requests in wrong worlds: a simulated client or server that breaks one of ZooKeeper's
//! promises, the workload that shows it, and the rule that must be the first to report it.
//!
//! # How to add one
//!
//! An [`InjectedBug`], queried in one place of the simulator, and one entry here. It is named after the workload whose
//! promise it breaks, or `raw-…`. As for every mutant, `plan` draws only its triggers, and the workload itself is
//! silent on the same seeds: `tests/all/quirks.rs` tests both.

mod clients;
mod kind;
mod servers;
mod sessions;
mod writes;

use sim_zk::fault::Fault;
use sim_zk::injected_bug::InjectedBug;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::workload::Workload;

/// Every wrong world that a rule must catch.
static ALL: &[&[Workload]] = &[clients::ALL, servers::ALL, sessions::ALL, writes::ALL];

/// Right recipes in wrong worlds, which a rule must catch.
pub fn caught() -> impl Iterator<Item = &'static Workload> {
    ALL.iter().copied().flatten()
}

/// Worlds that break no promise, but are more lenient than ZooKeeper: no rule fails in them, and a sweep of them is not
/// green.
pub fn too_kind() -> impl Iterator<Item = &'static Workload> {
    kind::ALL.iter()
}

/// The faults and plans that trigger an injected bug.
struct Trigger {
    faults: &'static [Fault],
    plan: fn(u64) -> Plan,
}

/// The workload `base` in a wrong world.
const fn wrong(
    name: &'static str,
    injected_bug: InjectedBug,
    base: &'static Workload,
    caught_by: Option<RuleId>,
    trigger: Trigger,
) -> Workload {
    Workload {
        name,
        about: injected_bug.about(),
        caught_by: match caught_by {
            Some(rule) => Some(Caught::by(rule)),
            None => None,
        },
        faults: trigger.faults,
        plan: trigger.plan,
        injected_bug: Some(injected_bug),
        // A world that is too lenient shows by the anomalies that it never reaches.
        must_reach: if caught_by.is_none() { base.must_reach } else { &[] },
        required: &[],
        ..*base
    }
}

/// Three servers without faults.
const CALM: Trigger = Trigger { faults: &[], plan: |_| world() };

/// Connections break, and clients move to other servers.
const LOSSES: Trigger =
    Trigger { faults: LOSE, plan: |_| Plan { faults: 18, rounds: 60, ..world().with(LOSE, 0.06) } };
const LOSE: &[Fault] = &[Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect, Fault::ServerCrash];

/// The same, with lagging servers.
const MOVES: Trigger =
    Trigger { faults: MOVE, plan: |_| Plan { faults: 16, rounds: 40, ..world().with(MOVE, 0.06) } };
const MOVE: &[Fault] = &[Fault::RequestLost, Fault::Disconnect, Fault::LinkHeld, Fault::ApplyStall];

/// Clients crash, or their sessions expire.
const ENDS: Trigger =
    Trigger { faults: END, plan: |_| Plan { faults: 6, rounds: 40, ..world().with(END, 0.03) } };
const END: &[Fault] = &[Fault::ClientCrash, Fault::SessionExpiry];

/// Leaders crash, or are partitioned.
const ELECTIONS: Trigger = Trigger { faults: ELECT, plan: |_| world().with(ELECT, 0.02) };
const ELECT: &[Fault] = &[Fault::LeaderCrash, Fault::ServerCrash, Fault::ServerPartition];

/// Servers are partitioned for longer than they may serve.
const PARTITIONS: Trigger =
    Trigger { faults: PART, plan: |_| Plan { rounds: 60, faults: 6, ..world().with(PART, 0.01) } };
const PART: &[Fault] = &[Fault::ServerPartition];

/// Servers stall before they apply what is committed, for less than it takes to lose a connection.
const STALLS: Trigger =
    Trigger { faults: STALL, plan: |_| Plan { timeout_ms: 60_000, faults: 6, ..world().with(STALL, 0.02) } };
const STALL: &[Fault] = &[Fault::ApplyStall];

/// Three servers, three clients, twenty rounds each.
fn world() -> Plan {
    Plan { servers: 3, rounds: 20, ..Plan::calm() }
}

/// The trigger with another plan: twenty rounds are many for a recipe.
const fn fewer(trigger: Trigger, plan: fn(u64) -> Plan) -> Trigger {
    Trigger { plan, ..trigger }
}
