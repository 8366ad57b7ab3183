//! False losses: MX-16 (LE-10 of elections, GM-8 of groups).
//!
//! A holder loses its hold because its connection broke, its session is over, its znode was deleted, or it was without
//! a reply for so long that the session may be over. The last reason is the recipe's own conclusion, from requests and
//! pings. If pings are recorded, the time of the last answer is known. If not, a connected client still pings three
//! times in a session timeout, and gets replies while there is no fault: after one patience without a fault it has
//! received an answer, with or without requests.
//!
//! A simulation shows the causes of connection losses and session ends. A capture shows only the losses, and the
//! possible causes if all faults were recorded (`faults_recorded`): then a broken connection, an expired session and a
//! znode that no client deleted are breaches as well if there was no fault for long enough.

use crate::rule::prelude::*;
use crate::view::{Moment, Phase};

/// A belief that ended with a report of its loss.
#[derive(Clone)]
pub(super) struct Loss {
    pub(super) object: ObjectId,
    pub(super) op: OpId,
    pub(super) session: Session,
    /// The begin of the belief.
    pub(super) since: Moment,
    pub(super) znode: Znode,
}

/// The state of a holder's znode.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Znode {
    /// It existed, as far as the holder knew.
    There,
    /// It was deleted.
    Deleted,
    /// In a capture: the holder learned that it does not exist, and no client had sent a request to delete it.
    Vanished,
}

impl Znode {
    /// The state in a capture.
    pub(super) fn seen(told_gone: bool, may_have_been_deleted: bool) -> Znode {
        match (told_gone, may_have_been_deleted) {
            (false, _) => Znode::There,
            (true, true) => Znode::Deleted,
            (true, false) => Znode::Vanished,
        }
    }
}

/// The contradiction in a loss. `None`: the loss has a reason, or the reason cannot be known.
fn wrong(scene: &Scene<'_>, loss: &Loss) -> Option<String> {
    let view = scene.view;
    let session = view.session(loss.session);
    let client = view.op(loss.op).client;
    let was_suspended =
        session.suspended.came() && session.suspended.at.saturating_add(view.settle) >= loss.since.at;
    if loss.znode == Znode::Deleted || !session.connected.came() {
        return None;
    }
    if session.known_over.came() || session.is_suspended || was_suspended {
        let what = if session.known_over.came() { "its session ended" } else { "its connection broke" };
        return session.broke_unstruck.then(|| format!("{what}, and {}", calm(scene, client)));
    }
    if loss.znode == Znode::Vanished {
        let unstruck = view.is_unstruck(client);
        return unstruck
            .then(|| format!("no client had sent a delete of its znode, and {}", calm(scene, client)));
    }
    let patience = view.patience(scene.object(loss.object), loss.session);
    // A clock that runs fast reaches the deadline earlier.
    let drifts = view.client(client).drifts.came();
    let shortest = if drifts { patience - patience / 5 } else { patience };
    let silent = scene.at.saturating_sub(session.answered_sent);
    if silent.saturating_add(view.settle) < shortest {
        let what = if view.pings_recorded { "a request or a ping" } else { "a request" };
        return Some(format!(
            "{what} that it had sent {} before was answered; it stops after {} without an answer",
            ms(silent),
            ms(patience)
        ));
    }
    if view.pings_recorded {
        return None;
    }
    if !view.is_sim() {
        return view
            .is_unstruck(client)
            .then(|| format!("{}, so its pings were answered", calm(scene, client)));
    }
    let calm = scene.at.saturating_sub(view.calm_since.max(session.connected.at));
    (calm > patience.saturating_add(view.round_trip))
        .then(|| format!("no fault had been active for {}, so its pings were answered", ms(calm)))
}

/// The time since the last fault that affected a client of a capture.
fn calm(scene: &Scene<'_>, client: u16) -> String {
    match scene.view.calm_for(client) {
        Some(calm) => format!("no fault had been active for {}", ms(calm)),
        None => "there had been no fault at all".to_owned(),
    }
}

/// Judges a report that a holder must stop, or may have to.
pub(super) fn judge(scene: &Scene<'_>, loss: &Loss, out: &mut Findings) {
    let rule = scene.rule(Property::NoFalseLoss, loss.object);
    out.premise(rule, loss.object);
    let Some(why) = wrong(scene, loss) else { return };
    if out.only_counts(rule, loss.object) {
        return;
    }
    let session = scene.view.session(loss.session);
    let text = explain(format!(
        "{} was told at {} that it may be {} no more, which it had been since {}",
        scene.actor(loss.op),
        scene.when(scene.now()),
        scene.kind(loss.object).recipe().roles.is,
        scene.when(loss.since)
    ))
    .because(match loss.znode {
        Znode::There => {
            format!("it was connected since {}, and its znode existed", scene.when(session.connected))
        }
        _ => format!("it was connected since {}", scene.when(session.connected)),
    })
    .because(why);
    out.fail(rule, scene, loss.object, &[loss.since.index, session.connected.index], text);
}

/// Counts a hold that lasted to its end, if it lasted longer than a client may be without a reply.
pub(super) fn kept(scene: &Scene<'_>, object: ObjectId, session: Session, since: Moment, out: &mut Findings) {
    let patience = scene.view.patience(scene.object(object), session);
    if scene.at > since.at.saturating_add(patience) {
        out.premise(scene.rule(Property::NoFalseLoss, object), object);
    }
}

/// MX-16 of all contests.
#[derive(Clone, Default)]
pub(crate) struct FalseLoss;

impl Rule for FalseLoss {
    const JUDGES: &'static [Property] = &[Property::NoFalseLoss];
    const HEARS: Kinds = hears![Unbelieve];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::Unbelieve { why } = event.what else { return };
        let op = scene.view.op(event.op);
        if op.phase == Phase::Unborn {
            return;
        }
        if why == Why::Suspect && scene.object(op.object).on_suspect == OnSuspect::UntilDeadline {
            return Self::too_soon(scene, event.op, out);
        }
        if !matches!(why, Why::Suspect | Why::Lost) {
            return kept(scene, op.object, op.session, op.believed, out);
        }
        // The znode of an unknown hold may be deleted; a downgrade deletes the znode of its hold.
        let Some(own) = scene.view.contender(op.own) else { return };
        if scene.view.is_downgrading(event.op) {
            return;
        }
        let (object, session, since) = (op.object, op.session, op.believed);
        let znode = match scene.view.is_sim() {
            true if own.is_alive() => Znode::There,
            true => Znode::Deleted,
            false => {
                let is_foreign = own.by_foreign || own.by_force;
                let delete_sent = own.delete_sent || is_foreign;
                Znode::seen(own.told_gone, scene.view.may_have_been_deleted(object, delete_sent))
            }
        };
        let loss = Loss { object, op: event.op, session, since, znode };
        judge(scene, &loss, out);
    }
}

impl FalseLoss {
    /// A holder with the policy to go on until the deadline is stopped before it.
    fn too_soon(scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        let op = scene.view.op(id);
        let rule = scene.rule(Property::NoFalseLoss, op.object);
        out.premise(rule, op.object);
        if out.only_counts(rule, op.object) {
            return;
        }
        let text = explain(format!(
            "{} was told at {} that it may be the holder no more, which it had been since {}",
            scene.actor(id),
            scene.when(scene.now()),
            scene.when(op.believed)
        ))
        .because("by its policy it goes on until the deadline, whatever becomes of the connection");
        out.fail(rule, scene, op.object, &[op.believed.index], text);
    }
}
