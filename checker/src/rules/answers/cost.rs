//! AN-4: an undisturbed call costs no more than its budget.

use super::later::Later;
use crate::evidence::Doing;
use crate::rule::prelude::*;
use std::collections::BTreeSet;

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
        let call = scene.kind(doing.object).recipe().call(doing.verb);
        let Some((requests, round_trips)) = call.and_then(|call| call.budget) else { return };
        let is_disturbed = !op.undisturbed || self.disturbed.contains(&doing.client);
        if is_disturbed || scene.view.foreign_clients {
            return;
        }
        out.premise(RuleId::An4, doing.object);
        let costs = if op.sends > requests {
            format!("sent {} requests, and its budget is {requests}", op.sends)
        } else if op.depth > round_trips {
            format!("took {} round trips, and its budget is {round_trips}", op.depth)
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
