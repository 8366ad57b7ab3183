//! Who is told to stop without a reason: MX-16 (LE-10 of elections, GM-8 of groups).
//!
//! What is lost is lost because the connection was, the session is over, the znode has gone, or nothing was answered for so
//! long that the session may be over. The last of these is the recipe's own conclusion, and the only one that it can draw
//! where nothing has happened: from requests and pings. Pings are not recorded. But a client whose connection stands pings
//! three times in a session timeout, and where no fault strikes it is answered: after one whole patience without a fault it
//! has heard of its server, whether it has asked for anything or not.

use super::{Kinds, Rule, hears};
use crate::history::{Event, ObjectId, OpId, Session, What, Why};
use crate::sink::{Scene, Sink, Story, ms};
use crate::verdict::RuleId;
use crate::view::{Moment, Phase};

/// A belief that was ended by what its holder was told.
pub(super) struct Loss {
    pub(super) object: ObjectId,
    pub(super) op: OpId,
    pub(super) session: Session,
    /// When it began.
    pub(super) since: Moment,
    /// Whether its znode is gone.
    pub(super) znode_gone: bool,
}

/// Why a loss is none. `None`: it has a reason, or there is no telling.
fn wrong(scene: &Scene<'_>, loss: &Loss) -> Option<String> {
    let view = scene.view;
    let session = view.session(loss.session);
    let was_suspended =
        session.suspended.came() && session.suspended.at.saturating_add(view.settle) >= loss.since.at;
    if loss.znode_gone || session.known_over.came() || session.is_suspended || was_suspended {
        return None;
    }
    if !session.connected.came() {
        return None;
    }
    let patience = view.patience(&scene.tables.objects[usize::from(loss.object.0)], loss.session);
    // A clock that runs fast comes to the end of it sooner.
    let drifts = view.client(view.op(loss.op).client).drifts.came();
    let shortest = if drifts { patience - patience / 5 } else { patience };
    let silent = scene.at.saturating_sub(session.answered_sent);
    if silent.saturating_add(view.settle) < shortest {
        return Some(format!("what it had sent {} before was answered", ms(silent)));
    }
    let calm = scene.at.saturating_sub(view.calm_since.max(session.connected.at));
    (calm > patience.saturating_add(view.round_trip))
        .then(|| format!("no fault had struck for {}, so that its pings were answered", ms(calm)))
}

/// A holder was told that it must stop, or may have to.
pub(super) fn judge(rule: RuleId, scene: &Scene<'_>, loss: &Loss, sink: &mut Sink) {
    // What a real ensemble did is not seen.
    if !scene.view.is_sim() {
        return;
    }
    sink.premise(rule, loss.object);
    let Some(why) = wrong(scene, loss) else { return };
    if sink.is_enough(rule, loss.object) {
        return;
    }
    let session = scene.view.session(loss.session);
    let story = Story::new(format!(
        "{} was told at {} that it may no longer have what it had since {}",
        scene.party(loss.op),
        scene.when(Moment { at: scene.at, index: scene.index }),
        scene.when(loss.since)
    ))
    .because(format!("it was connected since {}, and its znode was there", scene.when(session.connected)))
    .because(why);
    sink.fail(rule, scene, loss.object, &[loss.since.index, session.connected.index], story);
}

/// It was kept to the end: that puts the promise to the test if it was kept for longer than a client may hear nothing.
pub(super) fn kept(
    rule: RuleId,
    scene: &Scene<'_>,
    object: ObjectId,
    session: Session,
    since: Moment,
    sink: &mut Sink,
) {
    let patience = scene.view.patience(&scene.tables.objects[usize::from(object.0)], session);
    if scene.view.is_sim() && scene.at > since.at.saturating_add(patience) {
        sink.premise(rule, object);
    }
}

/// MX-16 of all that stand in line.
#[derive(Default)]
pub(crate) struct FalseLoss;

impl Rule for FalseLoss {
    const ID: RuleId = RuleId::Mx16;
    const ALSO: &'static [RuleId] = &[RuleId::Le10];
    const HEARS: Kinds = hears::Unbelieve;

    fn event(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        let What::Unbelieve { why } = event.what else { return };
        let op = scene.view.op(event.op);
        if op.phase == Phase::Unborn {
            return;
        }
        if !matches!(why, Why::Suspect | Why::Lost) {
            return kept(scene.rule(Self::ID, op.object), scene, op.object, op.session, op.believed, sink);
        }
        // The znode of a hold that is not known may have gone; that of one that is being downgraded goes.
        let Some(own) = scene.view.contender(op.own) else { return };
        if scene.view.is_downgrading(event.op) {
            return;
        }
        let (object, session, since) = (op.object, op.session, op.believed);
        let loss = Loss { object, op: event.op, session, since, znode_gone: !own.is_alive() };
        judge(scene.rule(Self::ID, object), scene, &loss, sink);
    }
}
