//! The operations that a fenced resource accepted: MX-1. Nothing excuses a breach.

use crate::rule::prelude::*;

/// MX-1, by object: the latest holds with an accepted operation, exclusive and shared.
#[derive(Clone, Default)]
pub(crate) struct Resource {
    latest: Vec<[Option<Accepted>; 2]>,
}

#[derive(Clone, Copy)]
struct Accepted {
    rank: u64,
    op: OpId,
    index: u32,
}

impl Rule for Resource {
    const JUDGES: &'static [Property] = &[Property::FencedResource];
    const HEARS: Kinds = hears![Resource];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::Resource { object, token, accepted } = event.what else { return };
        let at = usize::from(object.0);
        let hold = scene.view.op(event.op);
        if !scene.tables.objects[at].fenced || !hold.granted.came() {
            return;
        }
        out.premise(RuleId::Mx1, object);
        // The servers' order of holds counts, so that wrong tokens cannot hide a breach.
        let own = scene.view.contender(hold.own);
        let rank = own.map_or(token, |own| if own.is_held { own.czxid } else { own.stamp });
        let exclusive = hold.verb.asks_for() == Some(Share::Exclusive);
        let [writers, readers] = *slot(&mut self.latest, at);
        // The order of two readers does not matter.
        let later = [writers, readers.filter(|_| exclusive || !accepted)].into_iter().flatten();
        let latest = later.max_by_key(|later| later.rank);
        let told = |what| {
            let (who, when) = (scene.actor(event.op), scene.when(scene.view.now));
            format!("the resource {what} an operation of {who} at {when} (token {token:#x})")
        };
        match (accepted, latest) {
            (true, Some(later)) if later.rank > rank => {
                let text = explain(told("accepted")).because(format!(
                    "e{}: it had accepted an operation of {}, whose hold is later ({:#x} after {rank:#x})",
                    later.index,
                    scene.actor(later.op),
                    later.rank
                ));
                out.fail(RuleId::Mx1, scene, object, &[hold.granted.index, later.index], text);
            }
            (true, _) => {
                let accepted = Accepted { rank, op: event.op, index: scene.index };
                let latest = &mut self.latest[at][usize::from(!exclusive)];
                if latest.is_none_or(|latest| latest.rank <= rank) {
                    *latest = Some(accepted);
                }
            }
            (false, Some(later)) if later.rank > rank => {}
            (false, _) => {
                let text = explain(told("refused")).because(format!(
                    "it had accepted no operation of a hold later than this one ({rank:#x})"
                ));
                out.fail(RuleId::Mx1, scene, object, &[hold.granted.index], text);
            }
        }
    }
}
