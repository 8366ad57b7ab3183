//! What a run draws besides what its strategy does: other sizes, and strangers.

use crate::plan::Act;
use crate::plan::{Plan, Strangers, rate};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often strangers act at the most.
const ACTS: u32 = 7;

/// What each run draws besides what its strategy does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variations {
    /// Sizes: servers, clients, rounds, and the sessions' timeout.
    pub sizes: bool,
    /// Strangers, or that there are none: what they do, and how often.
    pub strangers: bool,
}

impl Variations {
    /// The plan with what else the run of a number draws.
    pub(super) fn drawn(self, plan: Plan, number: u64) -> Plan {
        // Each from a stream of its own: what the plan drew, and what the run will draw, stay what they are.
        let plan = if self.sizes { vary(plan, number) } else { plan };
        if self.strangers { meddled_with(plan, number) } else { plan }
    }
}

/// The plan with strangers in one of two runs: a subset of what they can do, each at a rate of its own.
fn meddled_with(plan: Plan, number: u64) -> Plan {
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
    let strangers = if rng.random_bool(0.5) { Strangers { acts, rates } } else { Strangers::default() };
    plan.among(strangers)
}

/// The plan with sizes that are drawn around its own: no fewer than two clients where there were several, and no more than
/// twice as many rounds.
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
