//! A plan from a seed.

use crate::plan::{Action, Plan, SERVERS, Step, When};
use crate::program::{CLIENTS, Scenario};
use rand::Rng;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The time in which faults are drawn, in milliseconds since the begin.
pub const HOSTILE_MS: u64 = 5_000;

/// The most steps of a drawn plan.
const MOST_STEPS: u32 = 5;

/// The verbs, each with its weight: lost replies find the most failures.
const VERBS: [(&str, u32); 15] = [
    ("lose-reply", 8),
    ("lose-request", 3),
    ("lose-notification", 3),
    ("delay-reply", 2),
    ("disconnect", 3),
    ("expire", 5),
    ("partition", 3),
    ("mute", 1),
    ("deafen", 2),
    ("restart", 2),
    ("crash", 1),
    ("pause", 1),
    ("elect", 1),
    ("stop-process", 3),
    ("kill-process", 2),
];

/// The requests that are lost, or whose replies are lost, for each kind of object: those that its libraries send.
/// Writes are listed twice: a write that was applied although its reply was lost finds the most failures.
fn ops(kind: &str) -> &'static [&'static str] {
    match kind {
        "counter" => &["set", "set", "set", "create", "get"],
        "queue" | "priority_queue" => {
            &["create", "create", "delete", "delete", "multi", "multi", "children", "get"]
        }
        "cache" => &["children", "get", "exists"],
        "config" => &["create", "set", "set", "multi", "get"],
        "two_phase_commit" => &["create", "create", "set", "multi", "children", "get"],
        // Contenders, members and barriers are znodes that come and go.
        _ => &["create", "create", "delete", "delete", "set", "multi", "children", "get", "exists"],
    }
}

/// The reported events that may trigger a step, for each kind of object.
fn events(kind: &str) -> &'static [&'static str] {
    match kind {
        "election" => &["asks", "leader", "deposed"],
        "barrier" => &["raised", "lowered", "waits"],
        "double_barrier" => &["enters", "entered", "leaves", "left"],
        "queue" => &["puts", "put", "takes", "took"],
        "counter" => &["adds", "added"],
        "partition" => &["owns", "disowns"],
        "group" => &["joins", "joined"],
        "cache" => &[],
        _ => &["asks", "acquired", "released"],
    }
}

/// The plan of a seed for a scenario: one to five steps, most of them about one client. Requests are drawn as all
/// libraries send them, and replaced by those that the scenario sends in their place.
pub fn plan(scenario: &Scenario, seed: u64) -> Plan {
    let mut draw = Draw { of: Xoshiro256PlusPlus::seed_from_u64(seed), scenario };
    let count = draw.of.random_range(1..=MOST_STEPS);
    Plan { steps: (0..count).map(|_| draw.step()).collect() }.with_requests(&scenario.sends)
}

struct Draw<'a> {
    of: Xoshiro256PlusPlus,
    scenario: &'a Scenario,
}

impl Draw<'_> {
    fn step(&mut self) -> Step {
        let when = self.when();
        Step { when, action: self.action() }
    }

    fn client(&mut self) -> String {
        CLIENTS[self.of.random_range(0..self.scenario.clients)].to_owned()
    }

    fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.of.random_range(from..=to))
    }

    fn when(&mut self) -> When {
        let events = events(&self.scenario.kind);
        if events.is_empty() || self.of.random_ratio(1, 2) {
            return When::At(self.millis(0, HOSTILE_MS));
        }
        let event = events[self.of.random_range(0..events.len())].to_owned();
        let client = self.client();
        let after = if self.of.random_ratio(1, 2) { Duration::ZERO } else { self.millis(1, 30) };
        When::On { client, event, nth: self.of.random_range(1..=10), after }
    }

    fn action(&mut self) -> Action {
        let all: u32 = VERBS.iter().map(|(_, weight)| weight).sum();
        let mut drawn = self.of.random_range(0..all);
        let (verb, _) = VERBS
            .into_iter()
            .find(|(_, weight)| {
                let is_it = drawn < *weight;
                drawn = drawn.saturating_sub(*weight);
                is_it
            })
            .expect("the draw is below the sum of all weights");
        let client = self.client();
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        match verb {
            "stop-process" => return Action::StopProcess { client, lasts: self.millis(100, 4000) },
            "kill-process" => {
                let again = self.of.random_ratio(1, 2).then(|| self.millis(0, 3000));
                return Action::KillProcess { client, again };
            }
            "restart" => {
                set("server", json!(self.of.random_range(0..SERVERS)));
            }
            "crash" | "pause" => {
                set("server", json!(self.of.random_range(0..SERVERS)));
                set("for", text(self.millis(200, 3000)));
            }
            "elect" => {}
            _ => {
                set("client", client.into());
                if ["lose-reply", "lose-request", "delay-reply"].contains(&verb) {
                    let ops = ops(&self.scenario.kind);
                    set("op", ops[self.of.random_range(0..ops.len())].into());
                    if self.of.random_ratio(1, 4) {
                        set("count", json!(self.of.random_range(2..=3)));
                    }
                }
                if verb == "delay-reply" {
                    set("for", text(self.millis(50, 3000)));
                }
                if ["partition", "mute", "deafen"].contains(&verb) {
                    set("for", text(self.millis(200, 4000)));
                }
            }
        }
        Action::Control { verb: verb.to_owned(), fields }
    }
}

fn text(time: Duration) -> Value {
    format!("{}ms", time.as_millis()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn scenario(kind: &str) -> Scenario {
        let (name, object, hold) = ("lock".to_owned(), "/hunt/lock".to_owned(), String::new());
        let (kind, promises) = (kind.to_owned(), Vec::new());
        let sends = BTreeMap::new();
        Scenario { name, kind, object, clients: 3, like: None, sends, lasting: false, hold, promises }
    }

    #[test]
    fn of_a_counter_a_few_plans_lose_the_reply_to_its_write() {
        let loses = |seed: &u64| {
            let fields = |step: Step| match step.action {
                Action::Control { verb, fields } => Some((verb, fields)),
                _ => None,
            };
            let mut drawn = plan(&scenario("counter"), *seed).steps.into_iter().filter_map(fields);
            drawn.any(|(verb, fields)| verb == "lose-reply" && fields["op"] == "set")
        };
        assert!((0..20).filter(loses).count() >= 4);
    }

    #[test]
    fn every_drawn_plan_makes_sense_and_every_verb_is_drawn() {
        let mut verbs = BTreeSet::new();
        for seed in 0..400 {
            let drawn = plan(&scenario(["lock", "queue", "cache"][seed as usize % 3]), seed);
            assert_eq!(Plan::read(&drawn.to_string()), Ok(drawn.clone()));
            assert_eq!(plan(&scenario(["lock", "queue", "cache"][seed as usize % 3]), seed), drawn);
            verbs.extend(drawn.steps.iter().map(|step| match &step.action {
                Action::Control { verb, .. } => verb.clone(),
                Action::StopProcess { .. } => "stop-process".to_owned(),
                Action::KillProcess { .. } => "kill-process".to_owned(),
                Action::EndProcess { .. } => "end-process".to_owned(),
                Action::Delete { .. } => "delete".to_owned(),
            }));
        }
        assert_eq!(verbs.len(), VERBS.len());
    }
}
