//! Runs of other sizes: servers, clients, rounds, and how long a session's timeout is beside the network's latency.

use crate::plan::Plan;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The plan with sizes that are drawn around its own: no fewer than two clients where there were several, and no more than
/// twice as many rounds.
pub(super) fn vary(plan: Plan, number: u64) -> Plan {
    // A stream of its own: what the plan drew, and what the run will draw, stay what they are.
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(number ^ 0x7369_7a65);
    let clients = if plan.clients > 1 { rng.random_range(2..=plan.clients + 2) } else { 1 };
    Plan {
        servers: if plan.servers > 1 { [3, 3, 5][rng.random_range(0..3)] } else { 1 },
        clients,
        rounds: rng.random_range(1..=2 * plan.rounds),
        timeout_ms: rng.random_range(4..=20) * 1000,
        ..plan
    }
}
