//! AN-2: an operation that fails for a reason has met that reason.

use super::later::Later;
use crate::evidence::{Doing, Znode, Znodes, is_path, proves_nothing};
use crate::rule::prelude::*;
use crate::view::Part;

/// Judges the reason that an operation gave.
pub(super) fn judge(
    scene: &Scene<'_>,
    doing: &Doing,
    failure: Failure,
    znodes: &Znodes,
    (later, out): (&mut Later, &mut Findings),
) {
    if failure == Failure::None {
        return;
    }
    out.premise(RuleId::An2, doing.object);
    let Some(missing) = missing(scene, doing, failure, znodes) else { return };
    if out.is_enough(RuleId::An2, doing.object) {
        return;
    }
    let text =
        explain(format!("{} failed at {}: {}", doing.text(scene), scene.when(scene.now()), failure.text()))
            .because(missing)
            .because(format!("it was called at {}", scene.when(doing.called)));
    // Another client may have broken the recipe's rules before, and a site with a wrong decision cannot finish.
    let is_told_later = failure == Failure::Mismatch || doing.verb == Verb::Finish;
    if is_told_later {
        later.keep(RuleId::An2, doing.object, [doing.called.index, scene.index], text);
    } else {
        out.fail(RuleId::An2, scene, doing.object, &[doing.called.index], text);
    }
}

/// The missing justification of a failure; `None` if it is justified.
fn missing(scene: &Scene<'_>, doing: &Doing, failure: Failure, znodes: &Znodes) -> Option<String> {
    let unless = |came: bool, text: &str| (!came).then(|| text.to_owned());
    let unless_heard = |codes: &[Code]| {
        let name = codes.first().map_or("", |code| code.name()).replace('_', " ");
        (!doing.heard(codes)).then(|| format!("none of its requests was answered with {name:?}"))
    };
    match failure {
        Failure::None | Failure::Other => None,
        Failure::Nothing => nothing(scene, doing, znodes),
        Failure::TimedOut => before_the_limit(scene, doing, znodes),
        Failure::SessionOver => {
            let session = scene.view.session(scene.view.client(doing.client).session);
            unless(session.is_over(), "the client has not learned that its session is over")
        }
        // A double barrier that foreign clients have deleted does not show whether it had opened.
        Failure::ConnectionLoss if doing.verb == Verb::Enter && scene.is_interfered_with(doing.object) => {
            None
        }
        // A server that fails to process a request leaves its outcome unknown, too.
        Failure::ConnectionLoss | Failure::Unreachable => unless(
            doing.is_disturbed || doing.is_refused(),
            "no reply was lost, and the client was connected all the time",
        ),
        Failure::Unexpected => unless_heard(&[Code::Other]),
        Failure::ServerRefused => unless_heard(&[Code::Other, Code::Throttled]),
        Failure::Denied => unless_heard(&[Code::NoAuth, Code::Other]),
        Failure::BadInput => {
            let sends = scene.view.op(doing.id).sends;
            match doing.is_mistaken {
                true => unless(sends == 0, "it has sent requests, and bad input is refused before"),
                false => unless(doing.is_disturbed, "its input was good"),
            }
        }
        Failure::NoNode | Failure::NoTransaction => unless_heard(&[Code::NoNode]),
        Failure::NodeExists => unless_heard(&[Code::NodeExists]),
        Failure::BadVersion => unless_heard(&[Code::BadVersion]),
        Failure::NotEmpty => unless_heard(&[Code::NotEmpty]),
        Failure::NoChildrenForEphemerals => unless_heard(&[Code::NoChildrenForEphemerals]),
        Failure::Conflict => nobody_wrote(scene, doing, znodes),
        Failure::Taken => nobody_has_it(scene, doing, znodes),
        Failure::Removed => nobody_removed(scene, doing, znodes),
        Failure::Revoked => nobody_asked(scene, doing, znodes),
        Failure::ClaimLost => still_claimed(scene, doing, znodes),
        // A put learns of it from the existing znode with the last number, or from the number of items so far.
        Failure::Exhausted if doing.verb == Verb::Put => has_numbers_left(scene, doing),
        Failure::NotAParticipant if doing.verb == Verb::Open => is_named(scene, doing, znodes),
        Failure::AlreadyVoted if doing.verb == Verb::Vote => has_not_voted(scene, doing, znodes),
        // An open handle is notified of foreign changes.
        Failure::Mismatch if scene.is_interfered_with(doing.object) => None,
        Failure::Mismatch if scene.view.is_sim() => {
            unless(doing.is_mistaken, "all clients use it in the same way, and nobody else has touched it")
        }
        Failure::Mismatch
        | Failure::Exhausted
        | Failure::Late
        | Failure::NotAParticipant
        | Failure::AlreadyVoted => unless(doing.heard_any(), "none of its requests was answered"),
        Failure::AlreadyJoined => has_not_joined(scene, doing, znodes),
    }
}

/// The spare numbers of a queue: when only so many are left, a put is refused.
const SPARE_NUMBERS: i32 = 1 << 24;

/// A queue without numbers has had almost as many items as ZooKeeper can count.
fn has_numbers_left(scene: &Scene<'_>, doing: &Doing) -> Option<String> {
    if doing.heard(&[Code::NodeExists]) {
        return None;
    }
    let queue = scene.object(doing.object).path;
    if !scene.view.is_sim() || scene.is_interfered_with(doing.object) {
        return (!doing.heard_any()).then(|| "none of its requests was answered".to_owned());
    }
    let had = scene.view.oracle.creations(queue);
    let puts = i32::try_from(doing.given.len()).unwrap_or(i32::MAX);
    let is_at_the_end = had.saturating_add(puts) > i32::MAX - SPARE_NUMBERS;
    (!is_at_the_end).then(|| {
        format!("{} has had {had} children, and no znode with the last number stood", scene.path(queue))
    })
}

/// A time limit is over by the caller's own clock, which may run fast by a tenth.
fn before_the_limit(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<String> {
    let op = scene.view.op(doing.id);
    let is_answered = op.in_flight == 0 && !doing.is_disturbed && !doing.is_refused();
    if doing.is_mistaken && op.sends > 0 && is_answered && !scene.is_interfered_with(doing.object) {
        return Some(
            "its input is wrong, which is told at once, and all of its requests were answered".to_owned(),
        );
    }
    if is_answered && let Some(own) = its_membership(scene, doing, znodes) {
        return Some(format!(
            "{} is its own, and has stood all through the call, which is told at once",
            scene.znode(own)
        ));
    }
    let limit = u64::from(op.limit);
    let waited = scene.at - doing.called.at;
    match limit {
        0 => Some("the caller has set no limit".to_owned()),
        limit if waited >= limit - limit / 8 => None,
        limit => Some(format!("it has waited for {}, and its limit is {}", ms(waited), ms(limit))),
    }
}

/// The znode of a client that joins under its own name although it is a member. A client that has abandoned its
/// membership may still wait for the clean-up.
fn its_membership(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<Sym> {
    if doing.verb != Verb::Join || !scene.view.is_sim() {
        return None;
    }
    let id = scene.text(*doing.given.first()?);
    let (path, znode) =
        znodes.named(scene, &format!("{}/{id}", scene.text(scene.object(doing.object).path)))?;
    let is_own = znode.owner == doing.session && znodes.is_own(doing.client, doing.object, path);
    (is_own && !znode.was_absent_since(doing.called)).then_some(path)
}

/// The missing reason for an attempt that does not wait.
fn nothing(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<String> {
    let op = scene.view.op(doing.id);
    let gave_up = doing.is_disturbed || doing.is_refused();
    if op.sends == 0 && !gave_up {
        return Some("it has asked no server".to_owned());
    }
    if doing.verb == Verb::Recall && scene.view.is_sim() {
        return its_registration_stands(scene, doing, znodes);
    }
    if matches!(doing.verb, Verb::Claim | Verb::Take) && scene.view.is_sim() && !gave_up {
        let item = znodes.free_item(scene, doing)?;
        return Some(format!("its session put {} before, and no consumer has got it", scene.znode(item)));
    }
    if !doing.verb.is_try() || !scene.view.is_sim() || gave_up || op.nodes == 0 {
        return None;
    }
    let is_interfered_with = scene.is_interfered_with(doing.object);
    let text = "nobody was ahead of its znode, from its creation on";
    (!op.found_somebody && !is_interfered_with).then(|| text.to_owned())
}

/// A conditional write finds a state other than the expected one.
fn nobody_wrote(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<String> {
    if !scene.view.is_sim() {
        return (!doing.heard_any()).then(|| "none of its requests was answered".to_owned());
    }
    let path = scene.object(doing.object).path;
    let znode = znodes.at(path);
    let since = if znode.is_alive { znode.mzxid } else { 0 };
    let last = [znode.created, znode.deleted, znode.written];
    let is_still = last.iter().all(|change| !change.came() || change.index < doing.called.index);
    (since == doing.number && is_still)
        .then(|| format!("{} was in the expected state all through the call", scene.path(path)))
}

fn nobody_has_it(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<String> {
    let name = scene.text(*doing.given.first()?);
    if !scene.view.is_sim() || name.is_empty() {
        return None;
    }
    let object = scene.text(scene.object(doing.object).path);
    let is_transaction = scene.kind(doing.object) == Kind::TwoPhaseCommit;
    let path = if is_transaction { object.to_owned() } else { format!("{object}/{name}") };
    let znode = znodes.named(scene, &path);
    let there = znode.is_some_and(|(_, znode)| {
        znode.existed_since(doing.called) && (znode.op != doing.id || znode.deleted.came())
    });
    // After a lost reply, a client recognizes its own znode by the data.
    let there = there || znode.is_some_and(|(path, _)| scene.view.is_touched(path));
    (!there).then(|| format!("no other client had {name:?} at any time during the call"))
}

/// A client that searches for its permanent registration has created the znode of that name.
fn its_registration_stands(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<String> {
    let name = scene.text(*doing.given.first()?);
    let (path, znode) =
        znodes.named(scene, &format!("{}/{name}", scene.text(scene.object(doing.object).path)))?;
    let stands = znode.client == doing.client && !znode.was_absent_since(doing.called);
    let is_permanent = znode.owner == Session(0) && !scene.is_interfered_with(doing.object);
    (stands && is_permanent)
        .then(|| format!("{} is its own, and has stood all through the call", scene.znode(path)))
}

/// A site that is no participant is not in the transaction's list.
fn is_named(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<String> {
    let (_, sites) = znodes.begun(doing.object)?;
    let name = scene.text(*doing.given.first()?);
    let is_named = scene.text(sites).split(',').any(|site| site == name);
    let text = || format!("the transaction was begun with {name} as one of its sites");
    (is_named && !scene.is_interfered_with(doing.object)).then(text)
}

/// A second vote differs from the first.
fn has_not_voted(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<String> {
    if !scene.view.is_sim() || proves_nothing(scene, doing.object) {
        return None;
    }
    let vote = scene.digest(*doing.given.first()?);
    match znodes.vote_of(doing.object, doing.number) {
        None => Some("no vote of its site was cast".to_owned()),
        Some((_, cast)) => (cast == vote).then(|| "the vote of its site is the same".to_owned()),
    }
}

/// A second join finds the znode of the first one.
fn has_not_joined(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<String> {
    if !scene.view.is_sim() || scene.is_interfered_with(doing.object) {
        return None;
    }
    let id = scene.text(*doing.given.first()?);
    let znode = znodes.named(scene, &format!("{}/{id}", scene.text(scene.object(doing.object).path)));
    // Znodes deleted with the session count until the client learns of its end: later calls report that the session is
    // over.
    let session = scene.view.session(doing.session);
    let is_unheard = session.ended.came() && !session.known_over.came();
    let with_it =
        |path, znode: &Znode| znode.owner == doing.session && znodes.went_with_its_session(scene, path);
    let is_own = znode.is_some_and(|(path, znode)| match znode.client == doing.client {
        true => znode.existed_since(doing.called) || is_unheard && with_it(path, znode),
        // Another client has had the name since, and the earlier owner is unknown.
        false => is_unheard,
    });
    (!is_own).then(|| format!("it had no znode {id:?} at any time during the call"))
}

fn nobody_removed(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<String> {
    if !scene.view.is_sim() || scene.is_interfered_with(doing.object) {
        return None;
    }
    if let (Verb::Replace, [_, path]) = (doing.verb, &doing.given[..]) {
        let znode = znodes.at(*path);
        let stands = znode.client == doing.client && !znode.was_absent_since(doing.called);
        return stands
            .then(|| format!("{} is its own, and has stood all through the call", scene.znode(*path)));
    }
    let text = "no other client has deleted a znode of it";
    (!znodes.lost_one(doing.client, doing.object)).then(|| text.to_owned())
}

fn nobody_asked(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<String> {
    if !scene.view.is_sim() {
        return None;
    }
    let members = doing.effects.iter().filter(|effect| effect.place.part == Part::Member);
    let own = members.map(|effect| znodes.at(effect.path)).find(|znode| znode.op == doing.id);
    let asked = own.is_none_or(|own| own.written.came() || own.deleted.came());
    (!asked).then(|| "no other client has asked it to go".to_owned())
}

/// A claim is lost if it does not exist, or if the item was delivered again. With several claims, one is enough.
fn still_claimed(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<String> {
    // A client that has claimed an item again has an existing claim besides the lost one.
    let was_taken = znodes.lost_a_claim(doing.client, doing.object);
    if !scene.view.is_sim() || scene.is_interfered_with(doing.object) || was_taken {
        return None;
    }
    let stands = |text: &Sym| {
        let digest = scene.digest(*text);
        znodes.claims_on(scene, doing, digest).find(|claim| {
            let claim = znodes.at(*claim);
            claim.created.index < doing.called.index
        })
    };
    let items = doing.given.iter().filter(|given| !is_path(scene, **given));
    let standing: Vec<Sym> = items.map(stands).collect::<Option<_>>()?;
    let first = standing.first()?;
    Some(format!("its claim {} stands, and has stood all through the call", scene.znode(*first)))
}
