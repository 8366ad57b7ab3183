//! Variations that a run draws in addition to its strategy: sizes, and interference of foreign clients.

use crate::plan::{Act, Interference, Plan, rate};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The maximal number of acts of foreign clients.
const ACTS: u32 = 7;

/// The variations that each run draws in addition to its strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variations {
    /// Sizes: the numbers of servers, clients and rounds, and the session timeout.
    pub sizes: bool,
    /// Whether foreign clients interfere, and how.
    #[serde(alias = "strangers")]
    pub interference: bool,
}

impl Variations {
    /// Adds the variations that the run of a number draws.
    pub(super) fn draw(self, plan: Plan, number: u64) -> Plan {
        // Each variation has its own random stream, so that it changes neither the plan's draws nor the run's.
        let plan = if self.sizes { vary(plan, number) } else { plan };
        if self.interference { with_foreign_clients(plan, number) } else { plan }
    }
}

/// Adds foreign clients to the plan in every second run: a subset of their acts, each at its own rate.
fn with_foreign_clients(plan: Plan, number: u64) -> Plan {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(number ^ 0x666f_7265_6967_6e00);
    let acts = rng.random_range(1..=ACTS);
    let mut rates = BTreeMap::new();
    for act in Act::ALL {
        // Log-uniform between one look in 200 and one in 4.
        let rate = rate(rng.random_range(-5.3..-1.4));
        if rng.random_bool(0.5) {
            rates.insert(act.name().to_owned(), rate);
        }
    }
    let interference =
        if rng.random_bool(0.5) { Interference { acts, rates } } else { Interference::default() };
    plan.interfered(interference)
}

/// Draws sizes around those of the plan: at least two clients if there were several, and at most twice as many rounds.
fn vary(plan: Plan, number: u64) -> Plan {
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
