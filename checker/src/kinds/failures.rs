//! The reasons of failure, and what must have happened for each, whatever the recipe.

use crate::evidence::{Evidence, Znode};
use crate::history::{Code, Failure, Sym, Verb};
use crate::scene::ms;
use crate::view::Part;

/// The missing justification of a failure; `None` if it is justified.
pub(super) fn lacks(evidence: &Evidence<'_>, failure: Failure) -> Option<String> {
    let unless = |came: bool, text: &str| (!came).then(|| text.to_owned());
    let is_sim = evidence.scene.view.is_sim();
    match failure {
        Failure::None | Failure::Other => None,
        Failure::Nothing => nothing(evidence),
        Failure::TimedOut => before_the_limit(evidence),
        Failure::SessionOver => {
            let session = evidence.scene.view.client(evidence.client).session;
            let is_over = evidence.scene.view.session(session).is_over();
            unless(is_over, "the client has not learned that its session is over")
        }
        // A server that fails to process a request leaves its outcome unknown, too.
        Failure::ConnectionLoss | Failure::Unreachable => unless(
            evidence.is_disturbed || evidence.is_refused(),
            "no reply was lost, and the client was connected all the time",
        ),
        Failure::Unexpected => evidence.lacks_code(&[Code::Other]),
        Failure::ServerRefused => evidence.lacks_code(&[Code::Other, Code::Throttled]),
        Failure::Denied => evidence.lacks_code(&[Code::NoAuth, Code::Other]),
        Failure::BadInput => {
            let sends = evidence.scene.view.op(evidence.id).sends;
            match evidence.is_mistaken {
                true => unless(sends == 0, "it has sent requests, and bad input is refused before"),
                false => unless(evidence.is_disturbed, "its input was good"),
            }
        }
        Failure::NoNode | Failure::NoTransaction => evidence.lacks_code(&[Code::NoNode]),
        Failure::NodeExists => evidence.lacks_code(&[Code::NodeExists]),
        Failure::BadVersion => evidence.lacks_code(&[Code::BadVersion]),
        Failure::NotEmpty => evidence.lacks_code(&[Code::NotEmpty]),
        Failure::NoChildrenForEphemerals => evidence.lacks_code(&[Code::NoChildrenForEphemerals]),
        Failure::Conflict => nobody_wrote(evidence),
        Failure::Taken => nobody_has_it(evidence),
        Failure::Removed => nobody_removed(evidence),
        Failure::Revoked => nobody_asked(evidence),
        // An open handle is notified of foreign changes.
        Failure::Mismatch if evidence.is_interfered_with() => None,
        Failure::Mismatch if is_sim => {
            unless(evidence.is_mistaken, "all clients use it in the same way, and nobody else has touched it")
        }
        Failure::Mismatch
        | Failure::Exhausted
        | Failure::Late
        | Failure::NotAParticipant
        | Failure::AlreadyVoted
        | Failure::AlreadyJoined
        | Failure::ClaimLost => evidence.lacks_an_answer(),
    }
}

/// The missing reason for an attempt that does not wait.
fn nothing(evidence: &Evidence<'_>) -> Option<String> {
    let op = evidence.scene.view.op(evidence.id);
    if let Some(missing) = never_asked(evidence) {
        return Some(missing);
    }
    if !evidence.verb.is_try() || !evidence.scene.view.is_sim() || gave_up(evidence) || op.nodes == 0 {
        return None;
    }
    let text = "nobody was ahead of its znode, from its creation on";
    let own = evidence.scene.view.contender(op.node);
    let contest = evidence.scene.view.contest(evidence.object);
    // When the number of permits has changed, they may be too few.
    let is_changed = own.is_some_and(|own| contest.changes_since(own.czxid) > 0);
    (!op.found_somebody && !is_changed && !evidence.is_interfered_with()).then(|| text.to_owned())
}

/// Whether a call may have given up because it got no answer.
pub(super) fn gave_up(evidence: &Evidence<'_>) -> bool {
    evidence.is_disturbed || evidence.is_refused()
}

/// A call that finds nothing has asked a server.
pub(super) fn never_asked(evidence: &Evidence<'_>) -> Option<String> {
    let sends = evidence.scene.view.op(evidence.id).sends;
    (sends == 0 && !gave_up(evidence)).then(|| "it has asked no server".to_owned())
}

/// A time limit is over by the caller's own clock, which may run fast by a tenth.
pub(super) fn before_the_limit(evidence: &Evidence<'_>) -> Option<String> {
    let op = evidence.scene.view.op(evidence.id);
    if evidence.is_mistaken && op.sends > 0 && is_answered(evidence) && !evidence.is_interfered_with() {
        return Some(
            "its input is wrong, which is told at once, and all of its requests were answered".to_owned(),
        );
    }
    let limit = u64::from(op.limit);
    let waited = evidence.scene.at - evidence.called.at;
    match limit {
        0 => Some("the caller has set no limit".to_owned()),
        limit if waited >= limit - limit / 8 => None,
        limit => Some(format!("it has waited for {}, and its limit is {}", ms(waited), ms(limit))),
    }
}

/// Whether all of its requests were answered.
pub(super) fn is_answered(evidence: &Evidence<'_>) -> bool {
    evidence.scene.view.op(evidence.id).in_flight == 0 && !gave_up(evidence)
}

/// A conditional write finds a state other than the expected one.
fn nobody_wrote(evidence: &Evidence<'_>) -> Option<String> {
    if !evidence.scene.view.is_sim() {
        return evidence.lacks_an_answer();
    }
    let path = evidence.declared().path;
    let znode = evidence.znodes.at(path);
    let since = if znode.is_alive { znode.mzxid } else { 0 };
    let last = [znode.created, znode.deleted, znode.written];
    let is_still = last.iter().all(|change| !change.came() || change.index < evidence.called.index);
    (since == evidence.number && is_still)
        .then(|| format!("{} was in the expected state all through the call", evidence.scene.path(path)))
}

/// Another client has the name. A recipe that is one znode is what is taken; of others, the child with the name.
fn nobody_has_it(evidence: &Evidence<'_>) -> Option<String> {
    let name = evidence.argument(0)?;
    let view = evidence.scene.view;
    if !view.is_sim() || name.is_empty() {
        return None;
    }
    let object = evidence.declared().path;
    let znode = match (view.protocol(evidence.object).part)("") {
        Part::Itself => Some((object, evidence.znodes.at(object))),
        _ => evidence.child(name),
    };
    // After a lost reply, a client recognizes its own znode by the data.
    let is_taken = |(path, znode): (Sym, &Znode)| {
        znode.existed_since(evidence.called) && (znode.op != evidence.id || znode.deleted.came())
            || view.is_touched(path)
    };
    (!znode.is_some_and(is_taken))
        .then(|| format!("no other client had {name:?} at any time during the call"))
}

fn nobody_removed(evidence: &Evidence<'_>) -> Option<String> {
    if !evidence.is_conclusive() {
        return None;
    }
    if let (Verb::Replace, [_, path]) = (evidence.verb, &evidence.given[..]) {
        return evidence.stands((*path, evidence.znodes.at(*path)));
    }
    let text = "no other client has deleted a znode of it";
    (!evidence.znodes.lost_one(evidence.client, evidence.object)).then(|| text.to_owned())
}

fn nobody_asked(evidence: &Evidence<'_>) -> Option<String> {
    if !evidence.scene.view.is_sim() {
        return None;
    }
    let members = evidence.effects.iter().filter(|effect| effect.place.part == Part::Member);
    let own = members.map(|effect| evidence.znodes.at(effect.path)).find(|znode| znode.op == evidence.id);
    let asked = own.is_none_or(|own| own.written.came() || own.deleted.came());
    (!asked).then(|| "no other client has asked it to go".to_owned())
}
