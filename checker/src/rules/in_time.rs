//! Beliefs that last too long: MX-14 (LE-9 of elections).

use crate::rule::prelude::*;
use crate::view::{Hold, Moment, Op, Phase, StopWhy};
use std::collections::BTreeSet;

/// The reason to stop, as text.
pub(super) fn had_to_stop(why: StopWhy) -> &'static str {
    match why {
        StopWhy::SessionOver => "it knew that its session had ended",
        StopWhy::ZnodeGone => "it had learned that its znode was deleted",
        StopWhy::Disconnected => "it was disconnected, and its options say that it stops then",
        StopWhy::Deadline => "its deadline passed while it was disconnected",
        StopWhy::Silence => "nothing that it had sent in a session timeout, less its margin, was answered",
        StopWhy::OwnDelete => "it had sent the delete of its own znode",
        StopWhy::EndOfPause => "its pause ended after its deadline",
    }
}

/// MX-14: a holder stops at its must-stop instant, even if no other client is granted. If recipes watch the znode of a
/// hold, the holder must be notified of its deletion.
#[derive(Clone, Default)]
pub(crate) struct InTime {
    /// Beliefs that were reported, by the event of their begin.
    reported: BTreeSet<u32>,
    /// Holders whose znodes are deleted, and the time since which no watch can notify them.
    untold: Vec<(OpId, Moment)>,
}

impl InTime {
    /// The instant and the reason of a holder's stop, as text.
    fn stop_in_words(scene: &Scene<'_>, op: &Op, stop: Moment, why: StopWhy) -> String {
        if why != StopWhy::Silence {
            return format!("at {} it had to stop: {}", scene.when(stop), had_to_stop(why));
        }
        let object = scene.object(op.object);
        format!(
            "e{} is the last answer to it before it had to stop at {}: its session timeout is {}, and it stops {} before its \
             end, which counts from the sending of what is answered",
            stop.index,
            crate::text::seconds(stop.at),
            ms(scene.view.timeout_of(op.session)),
            ms(object.margin)
        )
    }

    /// Checks the holders of deleted znodes until they learn of the deletion.
    fn untold(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        let reported = &mut self.reported;
        self.untold.retain_mut(|(id, since)| {
            let op = view.op(*id);
            if op.hold != Hold::Believed || op.stop.instant().0 != u64::MAX {
                return false;
            }
            if view.is_told_of_loss(*id) {
                *since = scene.now();
                return true;
            }
            if scene.at <= since.at.saturating_add(view.settle) || reported.contains(&op.believed.index) {
                return true;
            }
            reported.insert(op.believed.index);
            let gone = view.contender(op.own).map_or(*since, |own| own.deleted);
            let who = scene.client(op.client);
            let text = explain(format!(
                "{who} believed that it holds (token {:#x}) since {}, and still did at {}",
                op.token,
                scene.when(op.believed),
                scene.when(scene.now())
            ))
            .because(format!("{} was deleted at {}", scene.contender(op.own), scene.when(gone)))
            .because(format!("{who} has no watch on it any more, so no notification can come"));
            let rule = scene.rule(Property::StopsInTime, op.object);
            let at = since.index.max(gone.index);
            out.find(Ruling::fail(rule, at), scene, Some(op.object), &[op.believed.index, gone.index], text);
            false
        });
    }

    /// Notes that the znode of a hold was deleted.
    fn gone(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        let Some(gone) = view.contender(view.touched) else { return };
        let op = view.op(gone.op);
        let holds = op.hold == Hold::Believed && view.contender(op.own).is_some_and(|own| !own.is_alive());
        if holds && op.downgrade == OpId(0) && view.protocol(gone.object).watches_own {
            out.premise(scene.rule(Property::StopsInTime, gone.object), gone.object);
            self.untold.push((gone.op, view.now));
        }
    }
}

impl Rule for InTime {
    const JUDGES: &'static [Property] = &[Property::StopsInTime];
    const HEARS: Kinds = hears![Unbelieve, Call, Deleted, Believe];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        if scene.at <= view.first_stop {
            return self.untold(scene, out);
        }
        for id in view.contests.iter().flat_map(|contest| &contest.believers) {
            let op = view.op(*id);
            let acts = !view.client(op.client).is_paused() && !view.is_downgrading(*id);
            if scene.at <= view.last_belief(*id) || !acts {
                continue;
            }
            let rule = scene.rule(Property::StopsInTime, op.object);
            if !self.reported.insert(op.believed.index) || out.only_counts(rule, op.object) {
                continue;
            }
            let (at, why, index) = op.stop.instant();
            let stop = Moment { at, index };
            let text = explain(format!(
                "{} believed that it holds (token {:#x}) since {}, and still did at {}",
                scene.client(op.client),
                op.token,
                scene.when(op.believed),
                scene.when(scene.now())
            ))
            .because(Self::stop_in_words(scene, op, stop, why))
            .not_excused("it was not paused");
            out.fail(rule, scene, op.object, &[op.believed.index, index], text);
        }
        self.untold(scene, out);
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        let id = match event.what {
            What::Deleted { .. } => return self.gone(scene, out),
            // The znode may have been deleted before the grant reached its client.
            What::Believe { object, .. } => {
                let own = view.contender(view.op(event.op).own);
                if view.is_sim()
                    && view.protocol(object).watches_own
                    && own.is_some_and(|own| !own.is_alive())
                {
                    self.untold.push((event.op, view.now));
                }
                return;
            }
            What::Call { .. } => view.op(event.op).partner,
            _ => event.op,
        };
        let op = view.op(id);
        if op.phase == Phase::Unborn || op.unbelieved.index != scene.index {
            return;
        }
        if op.stop.instant().0 == u64::MAX {
            return;
        }
        let rule = scene.rule(Property::StopsInTime, op.object);
        out.premise(rule, op.object);
        if op.stop.moved && !self.reported.contains(&op.believed.index) {
            let (begin, end) = view.client(op.client).last_pause;
            let text = explain(format!(
                "{} believed that it holds (token {:#x}) from {} to {}, longer than allowed",
                scene.client(op.client),
                op.token,
                scene.when(op.believed),
                scene.when(op.unbelieved)
            ))
            .excused(format!("it was paused from {} to {}", scene.when(begin), scene.when(end)));
            out.find(
                Ruling::unavoidable(rule, scene.index),
                scene,
                Some(op.object),
                &[op.believed.index, begin.index, end.index],
                text,
            );
        }
    }
}
