//! Groups: each member is a znode.

use super::failures::{before_the_limit, is_answered};
use super::reported::{done, refused};
use super::{Call, ClaimedAs, Meaning, Recipe, ReportedEvent, Roles, Value, child};
use crate::evidence::{Evidence, Znode};
use crate::history::{Failure, Seen, Sym, Verb};

pub(super) static GROUP: Recipe = Recipe::of_znodes(child, &[CALLS])
    .with_roles(Roles { is: "a member", ..Roles::PLAIN })
    .with_handle(Verb::Join, "membership")
    .reported(ClaimedAs::Group, &[REPORTED]);

const CALLS: &[Call] = &[
    Call::of(Verb::Join)
        .costs(1, 1)
        .fails(&[(Failure::AlreadyJoined, has_not_joined), (Failure::TimedOut, could_tell_at_once)]),
    Call::of(Verb::Release).costs(2, 2).done(|evidence| evidence.is_given_up()),
    Call::of(Verb::Replace).costs(2, 2).done(|evidence| Some(evidence.is_replaced())),
    Call::of(Verb::Watch).hands_out(&[Value::read(Seen::View)]),
    // Foreign programs report these.
    Call::of(Verb::Yield),
    Call::of(Verb::Audit),
];

const REPORTED: &[ReportedEvent] = &[
    ReportedEvent::with("joins", Meaning::Begins(Verb::Join)),
    ReportedEvent::with("joined", done(Verb::Join)),
    ReportedEvent::with("refused", refused(Verb::Join)),
    ReportedEvent::with("leaves", Meaning::Happens(Verb::Yield)),
    ReportedEvent::with("members", Meaning::Tells(Verb::Audit, Seen::View)),
];

/// A second join finds the znode of the first one.
fn has_not_joined(evidence: &Evidence<'_>) -> Option<String> {
    if !evidence.is_conclusive() {
        return None;
    }
    let id = evidence.argument(0)?;
    // Znodes deleted with the session count until the client learns of its end: later calls report that the session is
    // over.
    let session = evidence.scene.view.session(evidence.session);
    let is_unheard = session.ended.came() && !session.known_over.came();
    let went_with_it = |path, znode: &Znode| {
        znode.owner == evidence.session && evidence.znodes.went_with_its_session(evidence.scene, path)
    };
    let is_own = |(path, znode): (Sym, &Znode)| match znode.client == evidence.client {
        true => znode.existed_since(evidence.called) || is_unheard && went_with_it(path, znode),
        // Another client has had the name since, and the earlier owner is unknown.
        false => is_unheard,
    };
    (!evidence.child(id).is_some_and(is_own))
        .then(|| format!("it had no znode {id:?} at any time during the call"))
}

/// A client that joins under its own name although it is a member is told so at once. A client that has abandoned its
/// membership may still wait for the clean-up.
fn could_tell_at_once(evidence: &Evidence<'_>) -> Option<String> {
    before_the_limit(evidence).or_else(|| {
        if !is_answered(evidence) || !evidence.scene.view.is_sim() {
            return None;
        }
        let (path, znode) = evidence.child(evidence.argument(0)?)?;
        let is_own =
            znode.owner == evidence.session && evidence.znodes.is_own(evidence.client, evidence.object, path);
        let own = evidence.scene.znode(path);
        (is_own && !znode.was_absent_since(evidence.called))
            .then(|| format!("{own} is its own, and has stood all through the call, which is told at once"))
    })
}
