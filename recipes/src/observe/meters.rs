//! Counters, gauges and histograms, through the facade `metrics`. Labels have few values: recipes, operations and outcomes,
//! no paths. Time is the handle's.

use crate::zk::{Time, ZooKeeper};
use metrics::{Unit, counter, gauge, histogram};

const OPERATIONS: &str = "zk_recipes_operations_total";
const SECONDS: &str = "zk_recipes_operation_duration_seconds";
const ACTIVE: &str = "zk_recipes_operations_active";
const HELD: &str = "zk_recipes_holds_active";
const LOST: &str = "zk_recipes_holds_lost_total";
const LOST_ANSWERS: &str = "zk_recipes_lost_answers_total";

/// Tells the installed recorder what the crate's metrics mean, and in which units they are. Call it once, after the recorder
/// is installed.
pub fn describe_metrics() {
    metrics::describe_counter!(OPERATIONS, Unit::Count, "Operations that have ended, by outcome");
    metrics::describe_histogram!(SECONDS, Unit::Seconds, "How long operations took, waiting included");
    metrics::describe_gauge!(ACTIVE, Unit::Count, "Operations under way: waiters, and clean-ups");
    metrics::describe_gauge!(HELD, Unit::Count, "Locks, terms, names and places that are held");
    metrics::describe_counter!(LOST, Unit::Count, "Holds that were lost, by reason");
    metrics::describe_counter!(
        LOST_ANSWERS,
        Unit::Count,
        "Requests whose answer was lost, each a second try"
    );
}

/// The measurement of an operation.
pub(super) struct Meter<Z> {
    zk: Z,
    recipe: &'static str,
    operation: &'static str,
    begun: Time,
}

impl<Z: ZooKeeper> Meter<Z> {
    pub(super) fn begin(zk: &Z, recipe: &'static str, operation: &'static str) -> Self {
        gauge!(ACTIVE, "recipe" => recipe, "operation" => operation).increment(1);
        Meter { zk: zk.clone(), recipe, operation, begun: zk.now() }
    }

    pub(super) fn ended(&self, outcome: &'static str) {
        let Meter { zk, recipe, operation, begun } = self;
        let seconds = zk.now().since(*begun).as_secs_f64();
        gauge!(ACTIVE, "recipe" => *recipe, "operation" => *operation).decrement(1);
        counter!(OPERATIONS, "recipe" => *recipe, "operation" => *operation, "outcome" => outcome)
            .increment(1);
        histogram!(SECONDS, "recipe" => *recipe, "operation" => *operation, "outcome" => outcome)
            .record(seconds);
    }
}

/// A hold begins.
pub(super) fn held(recipe: &'static str) {
    gauge!(HELD, "recipe" => recipe).increment(1);
}

/// A hold has ended, or is lost.
pub(super) fn not_held(recipe: &'static str) {
    gauge!(HELD, "recipe" => recipe).decrement(1);
}

pub(super) fn lost(recipe: &'static str, reason: &'static str) {
    counter!(LOST, "recipe" => recipe, "reason" => reason).increment(1);
}

pub(super) fn second_try() {
    counter!(LOST_ANSWERS).increment(1);
}
