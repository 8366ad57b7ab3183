//! The znodes of an acquire, and their deleters: MX-9 and MX-10.

use crate::rule::prelude::*;
use crate::view::Contender;

/// The contender that the event created or deleted.
fn touched<'a>(scene: &Scene<'a>) -> Option<&'a Contender> {
    scene.view.contender(scene.view.touched)
}

/// MX-9: an acquire has at most one live znode.
#[derive(Clone, Default)]
pub(crate) struct OneZnode;

impl Rule for OneZnode {
    const JUDGES: &'static [Property] = &[Property::OneZnode];
    const HEARS: Kinds = hears![Created];

    fn event(&mut self, scene: &Scene<'_>, _: &Event, out: &mut Findings) {
        let Some(new) = touched(scene) else { return };
        out.premise(RuleId::Mx9, new.object);
        let view = scene.view;
        if view.op(new.op).live < 2 || new.is_held {
            return;
        }
        let contest = view.contest(new.object);
        let mut others = contest.from(0).filter_map(|number| {
            let other = view.contender(number)?;
            (other.op == new.op && other.is_alive() && other.czxid != new.czxid).then_some((number, other))
        });
        let Some((number, other)) = others.next() else { return };
        let text = explain(format!(
            "the acquire of {} created a second znode, {}, at {}",
            scene.actor(new.op),
            scene.contender(scene.view.touched),
            scene.when(view.now)
        ))
        .because(format!(
            "e{}: it had created {}, which still exists",
            other.created,
            scene.contender(number)
        ));
        out.fail(RuleId::Mx9, scene, new.object, &[other.created], text);
    }
}

/// MX-10: a contender is deleted by its own session, by the end of that session, or by a fault. (Forced deletes: RV-2.)
#[derive(Clone, Default)]
pub(crate) struct WhoDeletes;

impl Rule for WhoDeletes {
    const JUDGES: &'static [Property] = &[Property::OwnDelete];
    const HEARS: Kinds = hears![Deleted];

    fn event(&mut self, scene: &Scene<'_>, _: &Event, out: &mut Findings) {
        let Some(gone) = touched(scene) else { return };
        out.premise(RuleId::Mx10, gone.object);
        let is_revoked = scene.view.is_revoker(gone, gone.by_op);
        if gone.by == gone.owner || gone.by == gone.creator || gone.by_foreign || is_revoked {
            return;
        }
        let by = match scene.view.session(gone.by).client {
            Some(client) => format!("{} ({})", scene.client(client), scene.session(gone.by)),
            None => scene.session(gone.by),
        };
        let text = explain(format!(
            "{} of {} was deleted at {} by {by}",
            scene.contender(scene.view.touched),
            scene.actor(gone.op),
            scene.when(scene.view.now)
        ))
        .because(format!("it belongs to {}, which has not ended", scene.session(gone.owner)))
        .not_excused("no recorded fault says that a foreign client deleted it");
        out.fail(RuleId::Mx10, scene, gone.object, &[gone.created], text);
    }
}
