//! AN-4: an undisturbed call costs no more than its budget.

use super::later::Later;
use crate::evidence::Doing;
use crate::rule::prelude::*;
use std::collections::BTreeSet;

/// The maximal cost of an undisturbed call.
#[derive(Clone)]
struct Budget {
    requests: u32,
    round_trips: u32,
}

/// The costs of calls. Calls over budget are reported at the end: a wrong call often costs more as well, and the rule
/// about the wrong step takes precedence.
#[derive(Clone, Default)]
pub(super) struct Costly {
    /// The clients that have lost a reply or their connection, were refused, or have dropped a call: their later calls
    /// may have to find out the effect of an earlier one.
    disturbed: BTreeSet<u16>,
}

impl Costly {
    /// Judges the cost of an operation that has returned.
    ///
    /// It is undisturbed if there was no fault, no lost reply and no refused request, now and in earlier calls of its
    /// client: a client that finds a directory missing or a name taken has to do more.
    pub(super) fn judge(&self, scene: &Scene<'_>, doing: &Doing, later: &mut Later, out: &mut Findings) {
        let op = scene.view.op(doing.id);
        let Some(budget) = Budget::of(scene.kind(doing.object), doing.verb) else { return };
        let is_disturbed = !op.undisturbed || self.disturbed.contains(&doing.client);
        if is_disturbed || scene.view.foreign_clients {
            return;
        }
        out.premise(RuleId::An4, doing.object);
        let costs = if op.sends > budget.requests {
            format!("sent {} requests, and its budget is {}", op.sends, budget.requests)
        } else if op.depth > budget.round_trips {
            format!("took {} round trips, and its budget is {}", op.depth, budget.round_trips)
        } else {
            return;
        };
        let text = explain(format!("{} {costs}", doing.text(scene)))
            .because(format!(
                "it was called at {}, and returned at {}",
                scene.when(doing.called),
                scene.when(scene.now())
            ))
            .not_excused("none of its replies was lost, and none of its requests was refused");
        later.keep(RuleId::An4, doing.object, [doing.called.index, scene.index], text);
    }

    /// Notes that a client was disturbed.
    pub(super) fn disturbed(&mut self, client: u16) {
        self.disturbed.insert(client);
    }
}

impl Budget {
    /// The budget in `recipes/COST.md`, for the most expensive option; a producer's first put also creates its receipt.
    /// Calls that wait for others have budgets for each wake-up, which the rules of their recipes judge.
    fn of(kind: Kind, verb: Verb) -> Option<Budget> {
        let (requests, round_trips) = match (kind, verb) {
            (Kind::Barrier, Verb::Raise | Verb::Lower) => (1, 1),
            (Kind::Config, Verb::CompareAndSet | Verb::Overwrite | Verb::Publish) => (1, 1),
            (Kind::Group, Verb::Join) => (1, 1),
            (Kind::Group, Verb::Release | Verb::Replace) => (2, 2),
            (Kind::Names, Verb::Unique) => (1, 1),
            (Kind::Names, Verb::Register) => (2, 2),
            (Kind::Names, Verb::Recall | Verb::Resolve) => (2, 1),
            (Kind::Names, Verb::Replace | Verb::Unregister) => (3, 2),
            (Kind::Queue | Kind::PriorityQueue, Verb::Put) => (5, 4),
            (Kind::Queue | Kind::PriorityQueue, Verb::Confirm) => (2, 2),
            (Kind::Queue | Kind::PriorityQueue, Verb::GiveBack) => (1, 1),
            (Kind::TwoPhaseCommit, Verb::Begin) => (1, 1),
            (Kind::Election, Verb::Acknowledge) => (1, 1),
            (Kind::Lock | Kind::SharedLock | Kind::Election, Verb::Evict) => (1, 1),
            (Kind::Lock | Kind::SharedLock | Kind::Election, Verb::Transact | Verb::TransactOnce) => (1, 1),
            (Kind::RevocableLock | Kind::PriorityLock, Verb::Transact | Verb::TransactOnce) => (2, 1),
            (Kind::RevocableLock | Kind::PriorityLock, Verb::Ask) => (1, 1),
            (Kind::RevocableLock | Kind::PriorityLock, Verb::Force) => (3, 2),
            (Kind::SharedLock, Verb::Downgrade) => (1, 1),
            (Kind::RevocableLock, Verb::Downgrade) => (2, 1),
            _ => return None,
        };
        Some(Budget { requests, round_trips })
    }
}
