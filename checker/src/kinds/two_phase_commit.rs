//! Two-phase commit: sites with their votes below the transaction, and `decision`, its record.

use super::{Call, Recipe, Value};
use crate::evidence::{Evidence, Judged, wrong};
use crate::history::{Failure, Seen, Sym, Verb};
use crate::view::Part;

pub(super) static TWO_PHASE_COMMIT: Recipe = Recipe::of_znodes(part, &[CALLS]).replaceable();

const CALLS: &[Call] = &[
    Call::of(Verb::Begin)
        .costs(1, 1)
        .done(|evidence| Some(evidence.exists(evidence.declared().path).and_then(|()| is_about(evidence)))),
    Call::of(Verb::Open)
        .done(|evidence| Some(is_about(evidence)))
        .fails(&[(Failure::NotAParticipant, is_named)]),
    Call::of(Verb::Vote).done(has_voted).fails(&[(Failure::AlreadyVoted, has_not_voted)]),
    Call::of(Verb::Decide).hands_out(&[
        Value { seen: Seen::Vote, what: "another site's vote", untrue: untrue_vote },
        Value { seen: Seen::Missing, what: "that no vote is to come", untrue: untrue_absence },
        Value { seen: Seen::Name, what: "that it has taken over", untrue: untrue_takeover },
    ]),
    Call::of(Verb::Finish).done(has_finished),
];

/// The number of the coordinator.
pub(crate) const COORDINATOR: u64 = 0xffff;

fn part(below: &str) -> Part {
    match below {
        "" => Part::Itself,
        "decision" => Part::Record,
        "tally" => Part::Other,
        _ if below.starts_with("alive_") || below.ends_with("/alive") => Part::Life,
        _ if below.contains('/') => Part::Other,
        _ => Part::Site,
    }
}

/// The payload and sites that a coordinator or a site reports are those of the transaction's begin.
fn is_about(evidence: &Evidence<'_>) -> Judged {
    let Some((payload, sites)) = evidence.znodes.begun(evidence.object) else { return Ok(()) };
    for (seen, told) in &evidence.about {
        let (what, begun) = match seen {
            Seen::Value => ("the payload", payload),
            Seen::View => ("the sites", sites),
            Seen::Name => ("the path", evidence.declared().path),
            _ => continue,
        };
        if *told != begun {
            let (told, begun) = (evidence.scene.path(*told), evidence.scene.path(begun));
            return wrong(format!("it was told {told} as {what} of the transaction, and not {begun}"));
        }
    }
    Ok(())
}

fn is_decided(evidence: &Evidence<'_>) -> bool {
    evidence.child("decision").is_some_and(|(_, record)| record.created.came())
}

/// A vote is the one in the znode of its site, unless the transaction was decided without it.
fn has_voted(evidence: &Evidence<'_>) -> Option<Judged> {
    // A site that voted in an earlier session keeps that vote.
    let vote = match evidence.seen {
        Some((Seen::Vote, cast)) => cast,
        _ => *evidence.given.first()?,
    };
    let wanted = evidence.scene.digest(vote);
    Some(match evidence.znodes.vote_of(evidence.object, evidence.number) {
        _ if is_decided(evidence) => Ok(()),
        Some((_, cast)) if cast == wanted => Ok(()),
        Some((site, _)) => {
            let why = format!("another vote stands in {}", evidence.scene.znode(site));
            Err((why, evidence.znodes.at(site).written.index))
        }
        None => wrong("no vote of its site was written"),
    })
}

/// The znode of the site is gone. The site that removes the last one removes the transaction, and so does the
/// coordinator.
fn has_finished(evidence: &Evidence<'_>) -> Option<Judged> {
    if evidence.is_last || evidence.number == COORDINATOR {
        return Some(evidence.is_absent(evidence.declared().path));
    }
    let (site, _) = evidence.znodes.vote_of(evidence.object, evidence.number)?;
    Some(evidence.is_absent(site))
}

/// A site that is no participant is not in the transaction's list.
fn is_named(evidence: &Evidence<'_>) -> Option<String> {
    let (_, sites) = evidence.znodes.begun(evidence.object)?;
    let name = evidence.argument(0)?;
    let is_named = evidence.scene.text(sites).split(',').any(|site| site == name);
    let text = || format!("the transaction was begun with {name} as one of its sites");
    (is_named && !evidence.is_interfered_with()).then(text)
}

/// A second vote differs from the first.
fn has_not_voted(evidence: &Evidence<'_>) -> Option<String> {
    if !evidence.is_conclusive() {
        return None;
    }
    let vote = evidence.scene.digest(*evidence.given.first()?);
    match evidence.znodes.vote_of(evidence.object, evidence.number) {
        None => Some("no vote of its site was cast".to_owned()),
        Some((_, cast)) => (cast == vote).then(|| "the vote of its site is the same".to_owned()),
    }
}

/// The vote of another site is the one that it has cast.
fn untrue_vote(evidence: &Evidence<'_>, told: Sym, site: u64) -> Option<&'static str> {
    if evidence.is_interfered_with() {
        return None;
    }
    match evidence.znodes.vote_of(evidence.object, site) {
        None => Some("that site has cast no vote"),
        Some((_, cast)) => (cast != evidence.scene.digest(told)).then_some("that site has cast another one"),
    }
}

/// No further vote is to come if all were told, or the transaction is decided.
fn untrue_absence(evidence: &Evidence<'_>, _: Sym, _: u64) -> Option<&'static str> {
    let told = evidence.about.iter().filter(|(seen, _)| *seen == Seen::Vote).count();
    let others = evidence.declared().size.saturating_sub(1);
    let is_due = (told as u32) < others && !evidence.is_interfered_with() && !is_decided(evidence);
    is_due.then_some("not all votes were told, and no decision is on record")
}

fn untrue_takeover(evidence: &Evidence<'_>, _: Sym, _: u64) -> Option<&'static str> {
    (!evidence.is_interfered_with() && !is_decided(evidence))
        .then_some("whoever takes over decides, and no decision is on record")
}
