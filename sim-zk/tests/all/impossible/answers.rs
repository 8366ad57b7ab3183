//! Anomalies that clients never observe.

use super::{Run, Verdict, hold};
use crate::common::tapes::committed;
use sim_zk::observer::{Kind, Outcome, SessionNews, SimEvent};
use sim_zk::paths::PathId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use zk_recipes::zk::{EventKind, SessionId};

pub fn replies_come_in_request_order_and_none_after_a_lost_one_on_its_connection(run: &Run<'_>) -> Verdict {
    // Per process, on its current connection: the last reply, and whether a request was lost.
    let mut last: BTreeMap<u8, (u32, bool)> = BTreeMap::new();
    for (at, event) in &run.tape.seen {
        match event {
            SimEvent::News { process, news: SessionNews::Connected, .. } => {
                last.insert(*process, (0, false));
            }
            SimEvent::Replied { process, req, zxid, .. } if *zxid > 0 => {
                let (before, lost) = last.get(process).copied().unwrap_or_default();
                hold(*req > before, || format!("at {at}, {req} is answered after {before}"))?;
                hold(!lost, || format!("at {at}, {req} is answered after a loss"))?;
                last.insert(*process, (*req, false));
            }
            SimEvent::Lost { process, req, .. } => {
                let entry = last.entry(*process).or_default();
                hold(*req > entry.0, || format!("at {at}, {req} is lost after the answer to {}", entry.0))?;
                *entry = (*req, true);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks that zxids of replies never decrease; `of` returns the group of a reply.
fn replies_never_go_back<K: Ord + std::fmt::Debug>(
    run: &Run<'_>,
    of: impl Fn(SessionId, u32) -> K,
) -> Verdict {
    let mut last: BTreeMap<K, i64> = BTreeMap::new();
    for (at, event) in &run.tape.seen {
        if let SimEvent::Replied { session, conn: Some(conn), zxid, .. } = event
            && *zxid > 0
        {
            let before = last.entry(of(*session, *conn)).or_default();
            hold(zxid >= before, || format!("at {at}, {zxid:#x} follows {before:#x}"))?;
            *before = *zxid;
        }
    }
    Ok(())
}

pub fn what_a_connection_is_answered_never_goes_back(run: &Run<'_>) -> Verdict {
    replies_never_go_back(run, |_, conn| conn)
}

pub fn what_a_session_is_answered_never_goes_back(run: &Run<'_>) -> Verdict {
    replies_never_go_back(run, |session, _| session)
}

/// The rule holds across servers. Reads on a connection that the client has left are exempt: their replies are dropped.
pub fn no_read_is_older_than_an_answer_its_session_has_seen(run: &Run<'_>) -> Verdict {
    let mut present: BTreeMap<SessionId, u32> = BTreeMap::new();
    let mut seen: BTreeMap<SessionId, i64> = BTreeMap::new();
    for (at, event) in &run.tape.seen {
        match event {
            SimEvent::News { session, conn, news: SessionNews::Connected, .. } => {
                present.insert(*session, *conn);
            }
            SimEvent::News { session, .. } => _ = present.remove(session),
            SimEvent::Replied { session, zxid, .. } => {
                let last = seen.entry(*session).or_default();
                *last = (*last).max(*zxid);
            }
            SimEvent::Served { session, zxid, conn, .. } if present.get(session) == Some(conn) => {
                let last = seen.get(session).copied().unwrap_or(0);
                hold(*zxid >= last, || format!("at {at}, a read of {zxid:#x} behind {last:#x}"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

type WatchItem = (EventKind, PathId, i64);

pub fn a_notification_comes_before_every_reply_that_shows_its_transaction(run: &Run<'_>) -> Verdict {
    let mut queued: BTreeMap<u32, VecDeque<WatchItem>> = BTreeMap::new();
    for (at, event) in &run.tape.seen {
        match event {
            SimEvent::Fired { conn, kind, path, zxid, .. } => {
                queued.entry(*conn).or_default().push_back((*kind, *path, *zxid));
            }
            SimEvent::Noticed { conn, .. } => {
                queued.entry(*conn).or_default().pop_front();
            }
            SimEvent::Replied { conn: Some(conn), zxid, .. } if *zxid > 0 => {
                let late =
                    queued.get(conn).and_then(|queued| queued.iter().find(|(.., of)| *of > 0 && of <= zxid));
                hold(late.is_none(), || format!("at {at}, {late:?} has not come before {zxid:#x}"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The notifications of a connection are a prefix of those queued for it. After a reconnect, each list that contains a
/// path notifies a missed change once.
pub fn notifications_come_in_order_and_once(run: &Run<'_>) -> Verdict {
    let mut queued: BTreeMap<u32, VecDeque<(EventKind, PathId)>> = BTreeMap::new();
    let mut missed: BTreeMap<(u32, String, PathId), u32> = BTreeMap::new();
    for (at, event) in &run.tape.seen {
        match event {
            SimEvent::Fired { conn, kind, path, zxid, .. } => {
                queued.entry(*conn).or_default().push_back((*kind, *path));
                if *zxid == 0 {
                    let told = missed.entry((*conn, format!("{kind:?}"), *path)).or_default();
                    *told += 1;
                    // A deletion is notified for the data watches and for the child watches.
                    let most = if *kind == EventKind::NodeDeleted { 2 } else { 1 };
                    hold(*told <= most, || format!("at {at}, {kind:?} of {path:?} is told {told} times"))?;
                }
            }
            SimEvent::Noticed { conn, kind, path, .. } => {
                let next = queued.entry(*conn).or_default().pop_front();
                hold(next == Some((*kind, *path)), || format!("at {at}, {kind:?} instead of {next:?}"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

pub fn nothing_is_answered_twice_or_answered_and_lost(run: &Run<'_>) -> Verdict {
    let mut answered = BTreeSet::new();
    for (at, event) in &run.tape.seen {
        if let SimEvent::Replied { req, .. } | SimEvent::Lost { req, .. } = event {
            hold(answered.insert(*req), || format!("at {at}, {req} is answered again"))?;
        }
    }
    Ok(())
}

fn is_write(kind: Kind) -> bool {
    matches!(kind, Kind::Create | Kind::Delete | Kind::Set | Kind::Multi | Kind::CloseSession)
}

/// A write with a reply was applied once, with that outcome: no error was applied, and no success is lost, because
/// every server ends with the whole committed order.
pub fn an_answer_tells_the_truth_about_the_write(run: &Run<'_>) -> Verdict {
    let mut ops: BTreeMap<u32, u32> = BTreeMap::new();
    let mut writes: BTreeMap<u32, u32> = BTreeMap::new();
    let mut applied: BTreeMap<u32, (i64, Outcome)> = BTreeMap::new();
    for (at, event) in &run.tape.seen {
        match event {
            SimEvent::Sent { req, op, kind, cleanup: false, .. } => {
                hold(ops.insert(*op, *req).is_none(), || format!("operation {op} has two requests"))?;
                if is_write(*kind) {
                    writes.insert(*req, *op);
                }
            }
            SimEvent::Txn { op, outcome, zxid, .. } if *op > 0 => {
                let again = applied.insert(*op, (*zxid, *outcome));
                hold(again.is_none(), || format!("at {at}, operation {op} is applied again"))?;
            }
            // Zxid 0 is a reply of the library, not of a server: the session is over.
            SimEvent::Replied { req, outcome, zxid, .. } if *zxid > 0 => {
                if let Some(op) = writes.get(req) {
                    let known = applied.get(op);
                    let true_to_it = known.is_some_and(|(of, known)| known == outcome && of <= zxid);
                    hold(true_to_it, || format!("at {at}, {req} is told {outcome:?}, applied {known:?}"))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Of the writes that a process sends on one connection, a prefix is processed, in order.
pub fn a_later_request_of_a_flight_is_not_processed_without_the_earlier(run: &Run<'_>) -> Verdict {
    let processed: BTreeMap<u32, i64> =
        committed(run.tape).iter().filter(|txn| txn.op > 0).map(|txn| (txn.op, txn.zxid)).collect();
    // The writes that wait for a connection, and those sent on the current one.
    let mut waiting: BTreeMap<u8, Vec<(u32, u32)>> = BTreeMap::new();
    let mut flights: BTreeMap<u8, Option<Vec<u32>>> = BTreeMap::new();
    let mut landed = Vec::new();
    for (_, event) in &run.tape.seen {
        match event {
            SimEvent::Sent { process, req, op, kind, cleanup: false, .. } if is_write(*kind) => {
                match flights.entry(*process).or_default() {
                    Some(flight) => flight.push(*op),
                    None => waiting.entry(*process).or_default().push((*req, *op)),
                }
            }
            // The write is lost, or the library itself reports that the session is over.
            SimEvent::Lost { process, req, .. } | SimEvent::Replied { process, req, .. } => {
                waiting.entry(*process).or_default().retain(|(of, _)| of != req);
            }
            SimEvent::News { process, news, .. } => {
                let now = (*news == SessionNews::Connected).then(|| {
                    let waited = waiting.remove(process).unwrap_or_default();
                    waited.into_iter().map(|(_, op)| op).collect()
                });
                landed.extend(flights.insert(*process, now).flatten());
            }
            _ => {}
        }
    }
    landed.extend(flights.into_values().flatten());
    for flight in landed {
        let zxids: Vec<Option<i64>> = flight.iter().map(|op| processed.get(op).copied()).collect();
        let in_order = zxids.windows(2).all(|two| match two {
            [Some(first), Some(second)] => first < second,
            [None, Some(_)] => false,
            _ => true,
        });
        hold(in_order, || format!("the flight of {flight:?} was processed as {zxids:x?}"))?;
    }
    Ok(())
}

/// A read behind a write of its flight is answered in a state in which that write has been processed.
pub fn a_read_sees_the_writes_before_it_in_its_flight(run: &Run<'_>) -> Verdict {
    let mut turns: BTreeMap<u32, i64> = BTreeMap::new();
    let mut last_write: BTreeMap<u8, u32> = BTreeMap::new();
    let mut behind: BTreeMap<u32, u32> = BTreeMap::new();
    for (at, event) in &run.tape.seen {
        match event {
            SimEvent::News { process, .. } => _ = last_write.remove(process),
            // The write may have waited for a connection that was never opened.
            SimEvent::Lost { process, op, .. } if last_write.get(process) == Some(op) => {
                last_write.remove(process);
            }
            SimEvent::Sent { process, op, kind, cleanup: false, .. } if is_write(*kind) => {
                last_write.insert(*process, *op);
            }
            SimEvent::Sent { process, req, .. } => {
                behind.extend(last_write.get(process).map(|write| (*req, *write)));
            }
            SimEvent::Txn { op, zxid, .. } => _ = turns.insert(*op, *zxid),
            SimEvent::Served { req, zxid, .. } => {
                if let Some(write) = behind.get(req) {
                    let turn = turns.get(write);
                    let seen = turn.is_some_and(|of| of <= zxid);
                    hold(seen, || format!("at {at}, {req} reads {zxid:#x} without {write} of {turn:x?}"))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// When a sync is answered, the client's server has applied everything that the leader had proposed at the arrival of
/// the sync. The leader of the newest epoch had proposed everything that any server had applied.
pub fn a_sync_through_a_follower_is_a_barrier(run: &Run<'_>) -> Verdict {
    let txns: Vec<i64> = committed(run.tape).iter().map(|txn| txn.zxid).collect();
    let newest_up_to =
        |zxid: i64| txns[..txns.partition_point(|of| *of <= zxid)].last().copied().unwrap_or(0);
    let (mut newest, mut epoch) = (0, 0);
    let mut barriers: BTreeMap<u32, i64> = BTreeMap::new();
    for (at, event) in &run.tape.seen {
        match event {
            SimEvent::Txn { zxid, .. } => newest = newest.max(*zxid),
            SimEvent::Elected { epoch: of, .. } => epoch = epoch.max(i64::from(*of)),
            SimEvent::Barrier { req, zxid, .. } => {
                let deposed = zxid >> 32 < epoch;
                hold(deposed || *zxid >= newest, || {
                    format!("at {at}, a sync up to {zxid:#x} behind {newest:#x}")
                })?;
                // A leader counts from the start of its epoch, followers from its first transaction.
                barriers.insert(*req, newest_up_to(*zxid));
            }
            SimEvent::Replied { req, zxid, outcome: None, .. } => {
                if let Some(barrier) = barriers.get(req) {
                    hold(zxid >= barrier, || format!("at {at}, {zxid:#x} is short of {barrier:#x}"))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}
