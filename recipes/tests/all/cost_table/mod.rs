//! What every recipe costs on the wire, counted on a calm network and held against its budget: the table in `COST.md`.
//!
//! One module a recipe, each with its `rows`. After a change that is meant, `UPDATE_COST_TABLE=1 cargo test -p zk-recipes
//! cost_table` writes the table anew: read the difference.

mod barrier;
mod counter;
mod election;
mod herd;
mod lock;
mod names_config_group;
mod priority_lock;
mod queue;
mod revocable_lock;
mod semaphore;
mod shared_lock;
mod two_phase_commit;

use crate::common::{Client, Stage};
use herd::Herd;
use sim_zk::observer::SimEvent;
use std::fmt::Write;
use std::path::Path;

/// The rows of all recipes.
fn rows() -> Vec<Row> {
    let rows = [
        barrier::rows(),
        queue::rows(),
        lock::rows(),
        shared_lock::rows(),
        revocable_lock::rows(),
        priority_lock::rows(),
        semaphore::rows(),
        two_phase_commit::rows(),
        election::rows(),
        names_config_group::rows(),
        counter::rows(),
    ];
    rows.into_iter().flatten().collect()
}

/// What one client spends on something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Requests that it sends, clean-up included.
    pub requests: usize,
    /// Round trips that it waits for: requests that leave together share one.
    pub round_trips: usize,
    /// Notifications that it gets, or that an event sends to all: the case says which.
    pub notifications: usize,
    /// Watches that it has armed while it waits, or afterwards.
    pub watches: usize,
}

/// A cost in the order of the table's columns.
pub const fn cost(requests: usize, round_trips: usize, notifications: usize, watches: usize) -> Cost {
    Cost { requests, round_trips, notifications, watches }
}

/// One case of one recipe.
#[derive(Clone, Debug)]
pub struct Row {
    recipe: &'static str,
    case: String,
    counted: Cost,
    budget: Cost,
}

/// A row.
pub fn row(recipe: &'static str, case: impl Into<String>, counted: Cost, budget: Cost) -> Row {
    Row { recipe, case: case.into(), counted, budget }
}

/// Counts from here on.
pub struct Meter {
    mark: usize,
}

impl Meter {
    /// From now on.
    pub fn begins(stage: &Stage) -> Meter {
        Meter { mark: stage.mark() }
    }

    /// What a client has spent since. A request is one round trip deeper than the deepest answer that had come before it
    /// left.
    pub fn of(&self, stage: &Stage, client: &Client) -> Cost {
        let me = client.process.id();
        let mut depths = Vec::new();
        let (mut deepest, mut notifications) = (0, 0);
        for (_, happening) in stage.since(self.mark) {
            match happening {
                SimEvent::Sent { process, req, .. } if process == me => depths.push((req, deepest + 1)),
                SimEvent::Replied { process, req, .. } if process == me => {
                    let depth = depths.iter().find(|(sent, _)| *sent == req).map_or(0, |(_, depth)| *depth);
                    deepest = deepest.max(depth);
                }
                SimEvent::Noticed { process, .. } if process == me => notifications += 1,
                _ => {}
            }
        }
        cost(depths.len(), deepest, notifications, client.watches(stage).len())
    }

    /// How many requests all clients together have sent since, and how many notifications the servers.
    pub fn of_all(&self, stage: &Stage) -> (usize, usize) {
        let sent = stage.count(self.mark, |happening| matches!(happening, SimEvent::Sent { .. }));
        (sent, stage.fired(self.mark))
    }
}

fn table(rows: &[Row], herds: &[Herd]) -> String {
    let mut out = String::from(
        "# What the recipes cost\n\n\
         Counted in the simulation on a fault-free network, for one client with existing directories; budgets in brackets. A \
         test holds this table (`cargo test -p zk-recipes cost_table`).\n\n\
         | recipe | case | requests | round trips | notifications | watches |\n|---|---|---|---|---|---|\n",
    );
    for Row { recipe, case, counted: c, budget: b } in rows {
        let _ = writeln!(
            out,
            "| {recipe} | {case} | {} ({}) | {} ({}) | {} ({}) | {} ({}) |",
            c.requests,
            b.requests,
            c.round_trips,
            b.round_trips,
            c.notifications,
            b.notifications,
            c.watches,
            b.watches
        );
    }
    out.push_str(NOTES);
    out.push_str(
        "\n## Herds\n\n\
         Notifications while many clients wait (thundering herd): in all, the most from one transaction, those to the \
         writer itself, and the watches that are armed when all wait. One notification for each client that may continue \
         is a herd index of 1.\n\n\
         | recipe | case | waiters | notifications in all | by one transaction | to the writer | watches |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for Herd { recipe, case, waiters, counted: c, budget: b } in herds {
        let _ = writeln!(
            out,
            "| {recipe} | {case} | {waiters} | {} ({}) | {} ({}) | {} ({}) | {} ({}) |",
            c.others, b.others, c.most, b.most, c.oneself, b.oneself, c.watches, b.watches
        );
    }
    out
}

/// Why each request, notification and watch of the recipes is there that have several.
const NOTES: &str = "\n\
    A participant of a double barrier joins in one transaction, reads its own znode with a watch, is notified when the \
    opening writes it, and reads the roster with a watch on `ready`. Whoever completes the number lists the members before it \
    opens, since only a list has their names. Each leaves in one transaction, is notified when `ready` goes, with which the \
    keeper goes last, and lists once: no member is left.\n\n\
    A participant that waits in a double barrier watches its own znode, which the opening writes; the same watch tells it \
    that another client has deleted its znode. The first of a round, through a handle that was not in the round before, also \
    reads the record of that one, in the round trip of the watch: it may have ended without opening, by another client's \
    write, and those who wait in it are told then.\n\n\
    The first waiter in line for a semaphore watches `held`, which each release changes, and every other waiter the one just ahead; \
    the grant of the first is one list of the holders and one transaction. A free acquire needs both lists: one shows that no waiter is \
    ahead, the other that enough permits are free.\n\n\
    A candidate that takes over is notified that the one ahead went, and lists once: a notification says nothing of others \
    ahead. It watches its own znode only if its owner asks whether the term is lost; that watch tells it when another client \
    has deleted its candidate, and also fires when its own session deletes it.\n";

#[test]
fn every_case_keeps_to_its_budget() {
    for Row { recipe, case, counted: c, budget: b } in rows() {
        assert!(c.requests <= b.requests, "{recipe}, {case}: requests {} of {}", c.requests, b.requests);
        assert!(c.round_trips <= b.round_trips, "{recipe}, {case}: round trips, {c:?} of {b:?}");
        assert!(c.notifications <= b.notifications, "{recipe}, {case}: notifications, {c:?} of {b:?}");
        assert!(c.watches <= b.watches, "{recipe}, {case}: watches, {c:?} of {b:?}");
    }
}

#[test]
fn no_more_are_told_than_the_budget_says() {
    for Herd { recipe, case, waiters, counted: c, budget: b } in herd::herds() {
        let what = format!("{recipe}, {case}, {waiters} wait: {c:?} of {b:?}");
        assert!(c.others <= b.others && c.most <= b.most, "{what}");
        assert!(c.oneself <= b.oneself && c.watches <= b.watches, "{what}");
    }
}

#[test]
fn the_table_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("COST.md");
    let counted = table(&rows(), &herd::herds());
    if std::env::var_os("UPDATE_COST_TABLE").is_some() {
        std::fs::write(&path, &counted).expect("the table can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    for (written, counted) in written.lines().zip(counted.lines()) {
        assert_eq!(written, counted, "COST.md is out of date: see the head of this test");
    }
    assert_eq!(written.len(), counted.len(), "COST.md is out of date: see the head of this test");
}
