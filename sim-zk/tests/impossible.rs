//! What real ZooKeeper excludes never happens, whatever the faults.
//!
//! Some thousand seeds of a raw workload with every kind of fault; one judge a rule reads each tape.

mod common;

use common::{TICK, Tape, chaos, everything};
use sim_zk::End;
use sim_zk::choose::Seeded;
use sim_zk::paths::PathId;
use sim_zk::witness::{Happening, Kind, Outcome, SessionNews};
use std::collections::{BTreeMap, BTreeSet};
use zk_recipes::zk::{EventKind, SessionId};

const SEEDS: u64 = 3_000;

/// Judges some thousand hostile tapes; a complaint ends the test with the seed.
fn never(judge: impl Fn(&Tape) -> Result<(), String>) {
    for seed in 0..SEEDS {
        let run = chaos::run(Seeded::new(seed, everything(0.01)), 4, 3, 8);
        assert_eq!(run.end, End::Done, "seed {seed} ends");
        if let Err(complaint) = judge(&run.witness) {
            let tape: Vec<String> =
                run.witness.seen.iter().map(|(at, happening)| format!("{at:>10} {happening:?}")).collect();
            panic!("seed {seed}: {complaint}\n{}", tape.join("\n"));
        }
    }
}

fn hold(truth: bool, complaint: impl FnOnce() -> String) -> Result<(), String> {
    if truth { Ok(()) } else { Err(complaint()) }
}

#[test]
fn replies_come_in_request_order_and_none_after_a_lost_one_on_its_connection() {
    never(|tape| {
        // Of each process, on its present connection: the last reply, and whether one was lost.
        let mut last: BTreeMap<u8, (u32, bool)> = BTreeMap::new();
        for (at, happening) in &tape.seen {
            match happening {
                Happening::News { process, news: SessionNews::Connected, .. } => {
                    last.insert(*process, (0, false));
                }
                Happening::Replied { process, req, zxid, .. } if *zxid > 0 => {
                    let (before, lost) = last.get(process).copied().unwrap_or_default();
                    hold(*req > before, || format!("at {at}, {req} is answered after {before}"))?;
                    hold(!lost, || format!("at {at}, {req} is answered after a loss"))?;
                    last.insert(*process, (*req, false));
                }
                Happening::Lost { process, req, .. } => {
                    let entry = last.entry(*process).or_default();
                    hold(*req > entry.0, || {
                        format!("at {at}, {req} is lost after the answer to {}", entry.0)
                    })?;
                    *entry = (*req, true);
                }
                _ => {}
            }
        }
        Ok(())
    });
}

#[test]
fn zxids_strictly_increase() {
    never(|tape| {
        let mut last = 0;
        for (at, happening) in &tape.seen {
            if let Happening::Txn { zxid, .. } = happening {
                hold(*zxid > last, || format!("at {at}, {zxid} follows {last}"))?;
                last = *zxid;
            }
        }
        Ok(())
    });
}

#[test]
fn what_a_session_is_answered_never_goes_back() {
    never(|tape| {
        let mut sessions = BTreeMap::new();
        let mut last: BTreeMap<SessionId, i64> = BTreeMap::new();
        for (at, happening) in &tape.seen {
            match happening {
                Happening::News { process, session, .. } => {
                    sessions.insert(*process, *session);
                }
                Happening::Replied { process, zxid, .. } if *zxid > 0 => {
                    let before = last.entry(sessions[process]).or_default();
                    hold(*zxid >= *before, || format!("at {at}, {zxid} follows {before}"))?;
                    *before = *zxid;
                }
                _ => {}
            }
        }
        Ok(())
    });
}

/// What has been queued for a session's present connection, and what came of it.
#[derive(Default)]
struct Mail {
    queued: Vec<(EventKind, PathId, i64)>,
    /// What came although nobody had queued it: what was missed while away.
    missed: Vec<(PathId, EventKind)>,
}

fn judge_mail(
    tape: &Tape,
    mut at_reply: impl FnMut(&Mail, i64) -> Result<(), String>,
    mut at_missed: impl FnMut(EventKind, usize) -> Result<(), String>,
) -> Result<(), String> {
    let mut mail: BTreeMap<SessionId, Mail> = BTreeMap::new();
    let mut sessions = BTreeMap::new();
    for (_, happening) in &tape.seen {
        match happening {
            Happening::News { process, session, .. } => {
                sessions.insert(*process, *session);
                mail.insert(*session, Mail::default());
            }
            Happening::Fired { session, kind, path, zxid, .. } => {
                mail.entry(*session).or_default().queued.push((*kind, *path, *zxid));
            }
            Happening::Noticed { session, kind, path, .. } => {
                let mail = mail.entry(*session).or_default();
                match mail.queued.first() {
                    Some((first, of, _)) if (first, of) == (kind, path) => {
                        mail.queued.remove(0);
                    }
                    _ => {
                        mail.missed.push((*path, *kind));
                        let again = mail.missed.iter().filter(|missed| **missed == (*path, *kind));
                        at_missed(*kind, again.count())?;
                    }
                }
            }
            Happening::Replied { process, zxid, .. } if *zxid > 0 => {
                if let Some(mail) = mail.get(&sessions[process]) {
                    at_reply(mail, *zxid)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn a_notification_comes_before_every_reply_that_shows_its_transaction() {
    never(|tape| {
        let shown = |mail: &Mail, zxid: i64| {
            let late = mail.queued.iter().find(|(_, _, of)| *of <= zxid);
            hold(late.is_none(), || format!("{late:?} has not come before the answer with {zxid}"))
        };
        judge_mail(tape, shown, |_, _| Ok(()))
    });
}

#[test]
fn notifications_come_in_order_and_once() {
    never(|tape| {
        // At a return each path is told at most once a list: a deletion by two lists.
        let told = |kind, count| {
            let most = if kind == EventKind::NodeDeleted { 2 } else { 1 };
            hold(count <= most, || format!("{kind:?} is told {count} times at one return"))
        };
        judge_mail(tape, |_, _| Ok(()), told)
    });
}

#[test]
fn nothing_is_answered_twice_or_answered_and_lost() {
    never(|tape| {
        let mut answered = BTreeSet::new();
        for (at, happening) in &tape.seen {
            if let Happening::Replied { req, .. } | Happening::Lost { req, .. } = happening {
                hold(answered.insert(*req), || format!("at {at}, {req} is answered again"))?;
            }
        }
        Ok(())
    });
}

#[test]
fn an_answer_tells_the_truth_about_the_write() {
    never(|tape| {
        let is_write = |kind: Kind| {
            matches!(kind, Kind::Create | Kind::Delete | Kind::Set | Kind::Multi | Kind::CloseSession)
        };
        let mut ops: BTreeMap<u32, u32> = BTreeMap::new();
        let mut writes: BTreeMap<u32, u32> = BTreeMap::new();
        let mut applied: BTreeMap<u32, Outcome> = BTreeMap::new();
        for (at, happening) in &tape.seen {
            match happening {
                Happening::Sent { req, op, kind, cleanup: false, .. } => {
                    hold(ops.insert(*op, *req).is_none(), || format!("operation {op} has two requests"))?;
                    if is_write(*kind) {
                        writes.insert(*req, *op);
                    }
                }
                Happening::Txn { op, outcome, .. } if *op > 0 => {
                    let again = applied.insert(*op, *outcome);
                    hold(again.is_none(), || format!("at {at}, operation {op} is applied again"))?;
                }
                Happening::Replied { req, outcome, zxid, .. } if *zxid > 0 => {
                    if let Some(op) = writes.get(req) {
                        let known = applied.get(op);
                        hold(known == Some(outcome), || {
                            format!("{req} is told {outcome:?}, applied {known:?}")
                        })?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    });
}

#[test]
fn a_sessions_ephemerals_go_in_one_transaction_and_nobody_elses() {
    never(|tape| {
        let mut living: BTreeMap<PathId, SessionId> = BTreeMap::new();
        let mut closing = BTreeMap::new();
        for (at, happening) in &tape.seen {
            match happening {
                Happening::Txn { kind: Kind::CloseSession, zxid, session, .. } => {
                    closing.insert(*zxid, *session);
                }
                Happening::Created { path, owner, .. } if *owner != SessionId(0) => {
                    living.insert(*path, *owner);
                }
                Happening::Created { path, .. } => {
                    living.remove(path);
                }
                Happening::Deleted { path, zxid, .. } => {
                    let owner = living.remove(path);
                    if let Some(session) = closing.get(zxid) {
                        hold(owner == Some(*session), || {
                            format!("at {at}, {owner:?}'s goes with {session:?}")
                        })?;
                    }
                }
                Happening::Ended { session, .. } => {
                    let left = living.values().any(|owner| owner == session);
                    hold(!left, || format!("at {at}, an ephemeral of {session:?} has outlived it"))?;
                }
                _ => {}
            }
        }
        Ok(())
    });
}

#[test]
fn nothing_of_a_session_is_applied_after_its_end() {
    never(|tape| {
        let mut ended = BTreeSet::new();
        for (at, happening) in &tape.seen {
            match happening {
                Happening::Ended { session, .. } => {
                    hold(ended.insert(*session), || format!("at {at}, {session:?} ends again"))?;
                }
                Happening::Txn { session, .. }
                | Happening::Armed { session, .. }
                | Happening::Fired { session, .. }
                | Happening::Opened { session, .. } => {
                    hold(!ended.contains(session), || format!("at {at}, {happening:?} after the end"))?;
                }
                _ => {}
            }
        }
        Ok(())
    });
}

#[test]
fn expiry_is_never_early_and_at_most_a_tick_late() {
    never(|tape| {
        let mut timeouts = BTreeMap::new();
        for (at, happening) in &tape.seen {
            match happening {
                Happening::Opened { session, timeout, .. } => {
                    timeouts.insert(*session, *timeout);
                }
                Happening::Marked { session, heard, .. } => {
                    let (after, timeout) = (at - heard, timeouts[session]);
                    let late = timeout + TICK.as_micros() as u64;
                    hold(after > timeout && after <= late, || format!("at {at}, {session:?} after {after}"))?;
                }
                _ => {}
            }
        }
        Ok(())
    });
}

#[test]
fn what_is_refused_leaves_nothing() {
    never(|tape| {
        let mut refused = BTreeSet::new();
        for (at, happening) in &tape.seen {
            match happening {
                Happening::Txn { zxid, outcome, .. } if *outcome != Outcome::Ok => {
                    refused.insert(*zxid);
                }
                Happening::Created { zxid, .. }
                | Happening::Deleted { zxid, .. }
                | Happening::Written { zxid, .. }
                | Happening::Fired { zxid, .. } => {
                    hold(!refused.contains(zxid), || format!("at {at}, {happening:?} of what was refused"))?;
                }
                _ => {}
            }
        }
        Ok(())
    });
}

#[test]
fn a_client_is_told_of_the_loss_before_it_is_told_of_another_connection() {
    never(|tape| {
        let mut connected: BTreeMap<u8, bool> = BTreeMap::new();
        for (at, happening) in &tape.seen {
            if let Happening::News { process, news, .. } = happening {
                let before = connected.insert(*process, *news == SessionNews::Connected).unwrap_or(false);
                hold(!(before && *news == SessionNews::Connected), || format!("at {at}, connected twice"))?;
            }
        }
        Ok(())
    });
}
