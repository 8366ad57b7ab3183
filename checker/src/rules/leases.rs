//! SM-1 for semaphores of this project's clients: there are never more lease holders than leases, nor more permits held than
//! there are.
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
        let contest = scene.view.contest(object);
        // A foreign client may have deleted a lease without its holder's knowledge.
        let has_permits = contest.protocol.has_permits();
        if !(of.kind.recipe().has_leases || has_permits)
            || of.manner.reported
            || scene.is_interfered_with(object)
        {
            return;
        }
        out.premise(RuleId::Sm1, object);
        let believers = contest.believers.iter().copied();
        let holders: Vec<OpId> = believers.filter(|op| stands(scene, *op)).collect();
        let own = |op: &OpId| scene.view.contender(scene.view.op(*op).own);
        // Those who hold keep what they have when the number becomes smaller.
        let since = holders.iter().filter_map(own).map(|own| own.czxid).min();
        let permits = since.and_then(|since| contest.most_permits_since(since)).filter(|_| has_permits);
        let taken: u64 = holders.iter().map(|op| own(op).map_or(1, |own| own.permits.into())).sum();
        let most = permits.unwrap_or(of.size);
        if has_permits && permits.is_none() || taken <= most.into() || out.only_counts(RuleId::Sm1, object) {
            return;
        }
        let (actor, when) = (scene.actor(event.op), scene.when(scene.now()));
        let mut text = explain(match has_permits {
            true => format!(
                "{actor} was granted permits at {when}, and {taken} are held at once; there are {most}"
            ),
            false => format!(
                "{actor} got a lease at {when}, and {taken} clients hold one at once; there are {most} leases"
            ),
        });
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
