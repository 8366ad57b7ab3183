//! SM-1 for semaphores of this project's clients: there are never more lease holders than leases.
//! [`claims`](crate::claims) judges the leases that foreign programs report.

use crate::rule::prelude::*;

#[derive(Clone, Debug, Default)]
pub(crate) struct Leases;

impl Rule for Leases {
    const JUDGES: &'static [Property] = &[Property::Leases];
    const HEARS: Kinds = hears![Believe];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::Believe { object, .. } = event.what else { return };
        let of = scene.object(object);
        // A foreign client may have deleted a lease without its holder's knowledge.
        if !of.kind.recipe().has_leases || of.manner.reported || scene.is_interfered_with(object) {
            return;
        }
        out.premise(RuleId::Sm1, object);
        let believers = scene.view.contest(object).believers.iter().copied();
        let holders: Vec<OpId> = believers.filter(|op| stands(scene, *op)).collect();
        if holders.len() <= of.size as usize || out.only_counts(RuleId::Sm1, object) {
            return;
        }
        let mut text = explain(format!(
            "{} got a lease at {}, and {} clients hold one at once; there are {} leases",
            scene.actor(event.op),
            scene.when(scene.now()),
            holders.len(),
            of.size
        ));
        let since = |op: OpId| scene.view.op(op).believed;
        for other in holders.iter().filter(|op| **op != event.op) {
            text = text.because(format!(
                "{} holds one since {}",
                scene.actor(*other),
                scene.when(since(*other))
            ));
        }
        let seen: Vec<u32> = holders.iter().map(|op| since(*op).index).collect();
        out.fail(
            RuleId::Sm1,
            scene,
            object,
            &seen,
            text.not_excused("the sessions of all of them are alive"),
        );
    }
}

/// Whether the session behind a hold is alive. A holder whose session has ended has lost its lease, possibly unnoticed.
fn stands(scene: &Scene<'_>, op: OpId) -> bool {
    let session = scene.view.session(scene.view.op(op).session);
    !session.marked.came() && !session.ended.came()
}
