//! AN-1: an operation that returns done has had the effect that it reports.

use crate::digest;
use crate::evidence::{Act, Doing, Effect, Znodes, is_path, proves_nothing};
use crate::history::PARENTS_MUST_EXIST;
use crate::rule::prelude::*;
use crate::rules::two_phase_commit::COORDINATOR;
use crate::view::Part;

/// The contradiction in a return, and the event that shows it.
type Wrong = (String, u32);

/// The number of a lookup that must see at least everything that the leader has proposed.
const SYNCED: u64 = 1;

/// Judges an operation that returns done.
pub(super) fn judge(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes, out: &mut Findings) {
    if proves_nothing(scene, doing.object) {
        return;
    }
    let Some(brought_about) = check(scene, doing, znodes) else { return };
    out.premise(RuleId::An1, doing.object);
    let Err((why, seen)) = brought_about else { return };
    // Another client may have undone or changed it in any way.
    if out.is_enough(RuleId::An1, doing.object) {
        return;
    }
    let text = explain(format!("{} returned done at {}", doing.text(scene), scene.when(scene.now())))
        .because(why)
        .because(format!("it was called at {}", scene.when(doing.called)));
    out.fail(RuleId::An1, scene, doing.object, &[doing.called.index, seen], text);
}

/// Whether its report is true; `None` if it reports nothing that is judged here.
///
/// An effect at some time during the call is enough if another client may undo it at once.
fn check(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<Result<(), Wrong>> {
    let object = scene.object(doing.object);
    if doing.is_mistaken {
        return Some(Err(("its input is bad, and nothing can have come of it".to_owned(), u32::MAX)));
    }
    Some(match (object.kind, doing.verb) {
        (Kind::Barrier, Verb::Raise) => {
            exists(scene, doing, znodes, object.path).and_then(|()| lives_as_asked(scene, doing, znodes))
        }
        (Kind::TwoPhaseCommit, Verb::Begin) => {
            exists(scene, doing, znodes, object.path).and_then(|()| is_about(scene, doing, znodes))
        }
        (Kind::TwoPhaseCommit, Verb::Open) => is_about(scene, doing, znodes),
        (Kind::DoubleBarrier, Verb::Enter) => {
            let (_, path) = doing.about.iter().rfind(|(seen, _)| *seen == Seen::Name)?;
            let is_own = znodes.at(*path).op == doing.id;
            let why =
                || format!("it was told that {} stands for it, which it has not created", scene.path(*path));
            if is_own { Ok(()) } else { Err((why(), u32::MAX)) }
        }
        (Kind::Barrier, Verb::Lower) => is_absent(scene, doing, znodes, object.path),
        (Kind::Names, Verb::Unregister) => {
            let name = doing.given.first().map(|name| scene.text(*name))?;
            let (path, znode) = znodes.named(scene, &format!("{}/{name}", scene.text(object.path)))?;
            if znode.client != doing.client {
                return None;
            }
            is_absent(scene, doing, znodes, path)
        }
        (Kind::Group, Verb::Release) | (Kind::DoubleBarrier, Verb::Leave) => {
            match doing.gives_up[..] {
                // With several of them, the intended one is unknown.
                [_, _, ..] => return None,
                [] => Ok(()),
                [own] => is_absent(scene, doing, znodes, own),
            }
        }
        (Kind::Names, Verb::Unique) => has_created(doing),
        (Kind::Names, Verb::Resolve) if doing.number == SYNCED => match doing.has_synced {
            true => Ok(()),
            false => {
                Err(("it was to read behind a sync, and no sync of it was answered".to_owned(), u32::MAX))
            }
        },
        (Kind::Names | Kind::Group, Verb::Replace) => is_replaced(scene, doing),
        (Kind::Names, Verb::Recall) => {
            let name = doing.given.first().map(|name| scene.text(*name))?;
            let (path, _) = znodes.named(scene, &format!("{}/{name}", scene.text(object.path)))?;
            exists(scene, doing, znodes, path)
        }
        (Kind::Queue | Kind::PriorityQueue, Verb::Put) => all_items(scene, doing),
        (Kind::Queue | Kind::PriorityQueue, Verb::Confirm) => is_confirmed(scene, doing),
        (Kind::Queue | Kind::PriorityQueue, Verb::Claim) if doing.seen.is_none() => {
            Err(("it has handed out no item".to_owned(), u32::MAX))
        }
        (Kind::Queue | Kind::PriorityQueue, Verb::Take | Verb::Claim)
            if doing.number > 0 && doing.items > doing.number =>
        {
            let why = format!("it has handed out {} items, and {} were asked for", doing.items, doing.number);
            Err((why, u32::MAX))
        }
        (Kind::Queue | Kind::PriorityQueue, Verb::GiveBack) => is_given_back(scene, doing, znodes),
        (Kind::TwoPhaseCommit, Verb::Vote) => has_voted(scene, doing, znodes)?,
        // The site that removes the last site znode removes the transaction, and so does the coordinator.
        (Kind::TwoPhaseCommit, Verb::Finish) if doing.is_last || doing.number == COORDINATOR => {
            is_absent(scene, doing, znodes, object.path)
        }
        (Kind::TwoPhaseCommit, Verb::Finish) => {
            let (site, _) = znodes.vote_of(doing.object, doing.number)?;
            is_absent(scene, doing, znodes, site)
        }
        (Kind::Config, Verb::CompareAndSet | Verb::Overwrite | Verb::Publish) => is_written(scene, doing),
        (Kind::Election, Verb::Acknowledge) => is_on_record(scene, doing, znodes),
        (Kind::RevocableLock | Kind::PriorityLock, Verb::Ask | Verb::Force) => {
            has_fate(scene, doing, znodes)?
        }
        (
            Kind::Lock | Kind::SharedLock | Kind::RevocableLock | Kind::PriorityLock | Kind::Election,
            Verb::Acquire
            | Verb::TryAcquire
            | Verb::Read
            | Verb::TryRead
            | Verb::Write
            | Verb::TryWrite
            | Verb::Stand,
        ) => has_its_data(scene, doing)?,
        (_, Verb::Transact | Verb::TransactOnce) => is_applied(scene, doing),
        (_, Verb::Evict) => is_evicted(scene, doing)?,
        _ => return None,
    })
}

/// The created contender has the given data.
fn has_its_data(scene: &Scene<'_>, doing: &Doing) -> Option<Result<(), Wrong>> {
    let given = doing.given.first().filter(|given| !scene.text(**given).is_empty())?;
    let is_own = |effect: &&Effect| effect.act == Act::Creates && effect.place.part == Part::Member;
    let made = doing.effects.iter().find(is_own)?;
    let has = made.data? == scene.digest(*given);
    let why = || format!("{} has not the data that were given", scene.znode(made.path));
    Some(if has { Ok(()) } else { Err((why(), made.at.index)) })
}

/// A write under a hold has changed a znode other than the hold's own.
fn is_applied(scene: &Scene<'_>, doing: &Doing) -> Result<(), Wrong> {
    let Some(last) = doing.effects.iter().rfind(|effect| effect.place.part == Part::Guarded) else {
        return Err(("nothing of it was applied".to_owned(), u32::MAX));
    };
    let data = doing.given.get(1).map(|data| scene.digest(*data));
    match (data, last.data) {
        (Some(data), Some(written)) if data != written => {
            Err((format!("at {} it has written other data", scene.when(last.at)), last.at.index))
        }
        _ => Ok(()),
    }
}

/// An eviction has deleted the znode of its contender, and no other znode.
fn is_evicted(scene: &Scene<'_>, doing: &Doing) -> Option<Result<(), Wrong>> {
    let whom = *doing.given.first()?;
    let deleted = || doing.effects.iter().filter(|effect| effect.act == Act::Deletes);
    if let Some(other) = deleted().find(|effect| effect.path != whom) {
        let why =
            format!("it was to delete {}, and has deleted {}", scene.path(whom), scene.path(other.path));
        return Some(Err((why, other.at.index)));
    }
    let told = || (format!("it has not deleted {}", scene.path(whom)), u32::MAX);
    Some(deleted().next().map(|_| ()).ok_or_else(told))
}

/// A raised barrier lives as long as the session, or permanently, as requested.
fn lives_as_asked(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Result<(), Wrong> {
    let path = scene.object(doing.object).path;
    let znode = znodes.at(path);
    let asked = doing.given.first().map(|word| scene.text(*word));
    let goes_with_session = znode.owner != Session(0);
    let why = match (asked, goes_with_session) {
        (Some("session"), false) => "it was to be deleted with its session, and is permanent",
        (Some("permanent"), true) => "it was to be permanent, and is deleted with its session",
        _ => return Ok(()),
    };
    if znode.op != doing.id || !znode.is_alive {
        return Ok(());
    }
    Err((format!("{}: {why}", scene.path(path)), znode.created.index))
}

fn exists(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes, path: Sym) -> Result<(), Wrong> {
    let znode = znodes.at(path);
    if znode.existed_since(doing.called) {
        return Ok(());
    }
    let why = format!("{} did not exist at any time during the call", scene.path(path));
    let since = if znode.deleted.came() {
        format!("{why}; it was deleted at {}", scene.when(znode.deleted))
    } else {
        why
    };
    Err((since, znode.deleted.index))
}

fn is_absent(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes, path: Sym) -> Result<(), Wrong> {
    let znode = znodes.at(path);
    // A session's znodes are deleted with it, so a client that knows its session is over need not wait for that.
    let goes = znode.owner != Session(0) && scene.view.session(znode.owner).is_over();
    // A client may not recognize its own znode after a foreign client has written to it.
    let is_another = scene.view.is_touched(path);
    if goes || is_another || znode.was_absent_since(doing.called) {
        return Ok(());
    }
    let why = format!(
        "{} has existed since {}, and all through the call",
        scene.path(path),
        scene.when(znode.created)
    );
    Err((why, znode.created.index))
}

/// A unique name is a znode. Other operations that create a znode for their client have grant rules of their own.
fn has_created(doing: &Doing) -> Result<(), Wrong> {
    let is_name = |effect: &Effect| effect.act == Act::Creates && effect.place.part == Part::Member;
    match doing.effects.iter().any(is_name) {
        true => Ok(()),
        false => Err(("it has created no znode".to_owned(), u32::MAX)),
    }
}

/// The payload and sites that a coordinator or a site reports are those of the transaction's begin.
fn is_about(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Result<(), Wrong> {
    let Some((payload, sites)) = znodes.begun(doing.object) else { return Ok(()) };
    for (seen, told) in &doing.about {
        let (what, begun) = match seen {
            Seen::Value => ("the payload", payload),
            Seen::View => ("the sites", sites),
            Seen::Name => ("the path", scene.object(doing.object).path),
            _ => continue,
        };
        if *told != begun {
            let (told, begun) = (scene.path(*told), scene.path(begun));
            return Err((
                format!("it was told {told} as {what} of the transaction, and not {begun}"),
                u32::MAX,
            ));
        }
    }
    Ok(())
}

/// The given data replace those of the registration, in the given znode.
fn is_replaced(scene: &Scene<'_>, doing: &Doing) -> Result<(), Wrong> {
    let [data, path] = doing.given[..] else { return Ok(()) };
    let digest = Some(scene.digest(data));
    let written = |effect: &&Effect| effect.act == Act::Writes && effect.path == path;
    match doing.effects.iter().rfind(written) {
        Some(last) if last.data == digest => Ok(()),
        Some(last) => Err((format!("at {} it has written other data", scene.when(last.at)), last.at.index)),
        None => Err((format!("it has not written {}", scene.path(path)), u32::MAX)),
    }
}

/// A put has created an item for each argument, in order, and all in one transaction.
fn all_items(scene: &Scene<'_>, doing: &Doing) -> Result<(), Wrong> {
    let made =
        doing.effects.iter().filter(|effect| effect.act == Act::Creates && effect.place.part == Part::Item);
    let made: Vec<_> = made.collect();
    if doing.given.is_empty() {
        return Err(("it was given nothing to put".to_owned(), u32::MAX));
    }
    let wanted = doing.given.iter().map(|item| scene.digest(*item));
    let wanted: Vec<_> = wanted.map(Some).collect();
    let found: Vec<_> = made.iter().map(|effect| effect.data).collect();
    if found != wanted {
        let why = if found.len() == wanted.len() {
            "the items in the queue are others, or stand in another order".to_owned()
        } else {
            format!("it was given {} items, and has created {}", wanted.len(), found.len())
        };
        return Err((why, made.first().map_or(u32::MAX, |effect| effect.at.index)));
    }
    is_one_transaction(scene, &made, "its items were not created as one")
}

/// A confirmation has deleted every item, and made every further write, all in one transaction.
fn is_confirmed(scene: &Scene<'_>, doing: &Doing) -> Result<(), Wrong> {
    let mut made = Vec::new();
    for given in &doing.given {
        let text = scene.text(*given);
        let digest = Some(digest::data(Some(text.as_bytes())));
        let is_of = |effect: &&Effect| match effect.place.part {
            Part::Item => effect.act == Act::Deletes && effect.data == digest,
            Part::Along => effect.act != Act::Deletes && effect.path == *given,
            _ => false,
        };
        match doing.effects.iter().find(is_of) {
            Some(effect) => made.push(effect),
            None if is_path(scene, *given) => {
                return Err((format!("it has not written {}", scene.path(*given)), u32::MAX));
            }
            None => return Err((format!("it has not deleted the item {}", scene.path(*given)), u32::MAX)),
        }
    }
    if made.is_empty() {
        return Err(("it was given no item".to_owned(), u32::MAX));
    }
    is_one_transaction(scene, &made, "its changes were not made as one")
}

/// Whether several changes were made in one transaction.
fn is_one_transaction(scene: &Scene<'_>, made: &[&Effect], else_why: &str) -> Result<(), Wrong> {
    let Some(pair) = made.windows(2).find(|pair| pair[0].zxid != pair[1].zxid) else { return Ok(()) };
    let when = |effect: &Effect| scene.when(effect.at);
    let why = format!(
        "{else_why}: {} at {}, {} at {}",
        scene.znode(pair[0].path),
        when(pair[0]),
        scene.znode(pair[1].path),
        when(pair[1])
    );
    Err((why, pair[1].at.index))
}

/// After a claim is given back, the client has no claim on that item. It may have claims on several items with the same
/// data.
fn is_given_back(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Result<(), Wrong> {
    let Some(text) = doing.given.first() else { return Ok(()) };
    let digest = scene.digest(*text);
    let gone = doing.effects.iter().filter(|effect| effect.act == Act::Deletes);
    if gone.map(|effect| effect.path).any(|path| znodes.is_claim_on(scene, doing, path, digest)) {
        return Ok(());
    }
    match znodes.claims_on(scene, doing, digest).next() {
        None => Ok(()),
        Some(claim) => is_absent(scene, doing, znodes, claim),
    }
}

/// A vote is the one in the znode of its site, unless the transaction was decided without it.
fn has_voted(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<Result<(), Wrong>> {
    // A site that voted in an earlier session keeps that vote.
    let vote = match doing.seen {
        Some((Seen::Vote, cast)) => scene.text(cast),
        _ => scene.text(*doing.given.first()?),
    };
    let wanted = digest::data(Some(vote.as_bytes()));
    let record = format!("{}/decision", scene.text(scene.object(doing.object).path));
    let is_decided = znodes.named(scene, &record).is_some_and(|(_, record)| record.created.came());
    Some(match znodes.vote_of(doing.object, doing.number) {
        _ if is_decided => Ok(()),
        Some((_, cast)) if cast == wanted => Ok(()),
        Some((site, _)) => {
            Err((format!("another vote stands in {}", scene.znode(site)), znodes.at(site).written.index))
        }
        None => Err(("no vote of its site was written".to_owned(), u32::MAX)),
    })
}

/// A write to a configuration has written its value, and has not created a directory that had to exist.
fn is_written(scene: &Scene<'_>, doing: &Doing) -> Result<(), Wrong> {
    let must_exist = doing.given.get(1).is_some_and(|second| scene.text(*second) == PARENTS_MUST_EXIST);
    if let Some((directory, created)) = doing.directory.filter(|_| must_exist) {
        let why = format!(
            "at {} it has created {}, which had to exist",
            scene.when(created),
            scene.path(directory)
        );
        return Err((why, created.index));
    }
    let written = |effect: &&Effect| effect.act != Act::Deletes && effect.place.part == Part::Itself;
    let Some(last) = doing.effects.iter().rfind(written) else {
        return Err(("it has written nothing".to_owned(), u32::MAX));
    };
    let is_one_value = doing.verb != Verb::Publish;
    let value = doing.given.first().map(|value| scene.digest(*value));
    if is_one_value && last.data.is_some() && value.is_some() && last.data != value {
        return Err((format!("at {} it has written another value", scene.when(last.at)), last.at.index));
    }
    Ok(())
}

/// An acknowledgement has recorded the leader, now or before.
fn is_on_record(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Result<(), Wrong> {
    let own = |effect: &Effect| effect.act != Act::Deletes && effect.place.part == Part::Record;
    if doing.effects.iter().any(own) {
        return Ok(());
    }
    let record = format!("{}/leader", scene.text(scene.object(doing.object).path));
    match znodes.named(scene, &record) {
        Some((_, record)) if record.client == doing.client && record.existed_since(doing.called) => Ok(()),
        Some((_, record)) if record.is_alive => {
            let owner = scene.session(record.owner);
            Err((format!("the record is that of {owner}"), record.created.index))
        }
        _ => Err(("there is no record of it".to_owned(), u32::MAX)),
    }
}

/// A contender that was asked to release has the word, or is gone.
fn has_fate(scene: &Scene<'_>, doing: &Doing, znodes: &Znodes) -> Option<Result<(), Wrong>> {
    let path = *doing.given.first()?;
    let (Seen::Fate, fate) = doing.seen? else { return None };
    let znode = znodes.at(path);
    let wrong = match scene.text(fate) {
        "asked" if znode.is_alive && !znode.written.came() => "the word was not written into",
        "yielded" | "gone" if znode.is_alive => "nobody has deleted",
        "forced" if znode.is_alive => "it has not deleted",
        _ => return Some(Ok(())),
    };
    let why = format!("it told {}, and {wrong} {}", scene.text(fate), scene.znode(path));
    Some(Err((why, znode.created.index)))
}
