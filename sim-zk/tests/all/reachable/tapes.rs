//! Anomalies that the tapes of a raw workload show now and then.

use crate::common::tapes::{Leaders, committed};
use crate::common::{Tape, chaos, everything, hostile_ensemble};
use sim_zk::choose::{Rates, Seeded};
use sim_zk::fault::Fault;
use sim_zk::message::{Answer, Code};
use sim_zk::observer::{Kind, SessionNews, SimEvent};
use sim_zk::paths::PathId;
use sim_zk::{End, Finished};
use std::collections::{BTreeMap, BTreeSet};
use zk_recipes::zk::SessionId;

const SEEDS: u64 = 1_000;

fn chaotic(seed: u64, servers: u8, rates: Rates) -> Finished<(), Seeded, Tape> {
    let run = chaos::run_in(hostile_ensemble(servers, 8), Seeded::new(seed, rates), 3, 10);
    assert_eq!(run.end, End::Done, "seed {seed} ends");
    run
}

/// Checks that at least three of a thousand seeds have a hostile tape that satisfies `shows`.
fn seen_with(rates: Rates, servers: u8, name: &str, shows: impl Fn(&Tape) -> bool) {
    let found = (0..SEEDS).filter(|seed| shows(&chaotic(*seed, servers, rates).observer)).take(3).count();
    assert_eq!(found, 3, "{name} is seen within {SEEDS} seeds on {servers} servers");
}

fn seen_on(servers: u8, name: &str, shows: impl Fn(&Tape) -> bool) {
    seen_with(everything(0.01), servers, name, shows);
}

fn seen_in(name: &str, shows: impl Fn(&Tape) -> bool) {
    seen_on(1, name, &shows);
    seen_on(3, name, &shows);
}

#[test]
fn a_write_applied_without_an_answer() {
    seen_in("a write applied without an answer", |tape| {
        let mut applied = BTreeSet::new();
        tape.seen.iter().any(|(_, event)| match event {
            SimEvent::Txn { op, kind: Kind::Create, outcome: None, .. } => {
                applied.insert(*op);
                false
            }
            SimEvent::Lost { op, .. } => applied.contains(op),
            _ => false,
        })
    });
}

#[test]
fn a_write_lost_without_having_been_applied() {
    seen_in("a write lost without having been applied", |tape| {
        let applied: BTreeSet<u32> = tape
            .seen
            .iter()
            .filter_map(|(_, event)| match event {
                SimEvent::Txn { op, .. } => Some(*op),
                _ => None,
            })
            .collect();
        let creates: BTreeSet<u32> = tape
            .seen
            .iter()
            .filter_map(|(_, event)| match event {
                SimEvent::Sent { op, kind: Kind::Create, .. } => Some(*op),
                _ => None,
            })
            .collect();
        tape.count(
            |h| matches!(h, SimEvent::Lost { op, .. } if creates.contains(op) && !applied.contains(op)),
        ) > 0
    });
}

/// Returns whether `look` accepts an event, given the state in which each client believes its session.
fn believed(tape: &Tape, mut look: impl FnMut(&BTreeMap<SessionId, SessionNews>, &SimEvent) -> bool) -> bool {
    let mut news = BTreeMap::new();
    tape.seen.iter().any(|(_, event)| {
        if let SimEvent::News { session, news: told, .. } = event {
            news.insert(*session, *told);
        }
        look(&news, event)
    })
}

#[test]
fn a_session_that_is_over_while_its_client_believes_it_is_connected() {
    seen_in("an end that the client does not see", |tape| {
        believed(tape, |news, event| match event {
            SimEvent::Marked { session, .. } => news.get(session) == Some(&SessionNews::Connected),
            _ => false,
        })
    });
}

#[test]
fn a_session_that_is_over_while_its_client_looks_for_a_server() {
    seen_in("an end while suspended", |tape| {
        believed(tape, |news, event| match event {
            SimEvent::Marked { session, .. } => news.get(session) == Some(&SessionNews::Suspended),
            _ => false,
        })
    });
}

#[test]
fn a_session_that_outlives_a_disconnect() {
    seen_in("a return", |tape| {
        let mut connections: BTreeMap<SessionId, u32> = BTreeMap::new();
        tape.seen.iter().any(|(_, event)| match event {
            SimEvent::News { session, news: SessionNews::Connected, .. } => {
                let count = connections.entry(*session).or_default();
                *count += 1;
                *count > 1
            }
            _ => false,
        })
    });
}

#[test]
fn a_notification_that_is_lost_and_told_at_the_return() {
    seen_in("a notification told at the return", |tape| {
        // The notifications that are queued but not delivered, and those for missed changes after a reconnect.
        let mut queued: BTreeSet<(SessionId, PathId)> = BTreeSet::new();
        let mut returned: BTreeSet<(u32, PathId)> = BTreeSet::new();
        tape.seen.iter().any(|(_, event)| match event {
            SimEvent::Fired { session, conn, path, zxid, .. } => {
                if *zxid > 0 {
                    queued.insert((*session, *path));
                } else if queued.contains(&(*session, *path)) {
                    returned.insert((*conn, *path));
                }
                false
            }
            SimEvent::Noticed { session, conn, path, .. } => {
                queued.remove(&(*session, *path));
                returned.contains(&(*conn, *path))
            }
            _ => false,
        })
    });
}

/// Returns whether a read is older than a write that was acknowledged before the read was sent.
fn stale_read(tape: &Tape, by_leader: bool) -> bool {
    let mut leaders = Leaders::new(3);
    let zxids: BTreeMap<u32, i64> = committed(tape).iter().map(|txn| (txn.op, txn.zxid)).collect();
    let mut acknowledged = 0;
    let mut owed: BTreeMap<u32, i64> = BTreeMap::new();
    tape.seen.iter().any(|(_, event)| {
        leaders.take(event);
        match event {
            SimEvent::Sent { req, .. } => _ = owed.insert(*req, acknowledged),
            SimEvent::Replied { op, outcome: None, .. } => {
                acknowledged = acknowledged.max(zxids.get(op).copied().unwrap_or(0));
            }
            SimEvent::Served { server, req, zxid, .. } => {
                let stale = owed.get(req).is_some_and(|owed| zxid < owed);
                return stale && leaders.is_leader(*server) == by_leader;
            }
            _ => {}
        }
        false
    })
}

#[test]
fn a_stale_read_at_a_follower() {
    seen_on(3, "a stale read at a follower", |tape| stale_read(tape, false));
}

#[test]
fn a_stale_read_at_a_leader() {
    seen_on(3, "a stale read at a leader", |tape| stale_read(tape, true));
}

#[test]
fn a_write_in_flight_applied_after_its_session_has_read_elsewhere() {
    seen_on(3, "a late write", |tape| {
        let mut sessions = BTreeMap::new();
        let mut lost: BTreeMap<SessionId, BTreeSet<u32>> = BTreeMap::new();
        let mut missed: BTreeSet<u32> = BTreeSet::new();
        tape.seen.iter().any(|(_, event)| {
            match event {
                SimEvent::News { process, session, .. } => _ = sessions.insert(*process, *session),
                SimEvent::Lost { process, op, .. } => {
                    if let Some(session) = sessions.get(process) {
                        lost.entry(*session).or_default().insert(*op);
                    }
                }
                // A reply on the next connection, not one queued on the old connection.
                SimEvent::Replied { session, .. } => missed.extend(lost.remove(session).unwrap_or_default()),
                SimEvent::Txn {
                    op, kind: Kind::Create | Kind::Delete | Kind::Set, outcome: None, ..
                } => {
                    return missed.contains(op);
                }
                _ => {}
            }
            false
        })
    });
}

#[test]
fn an_ephemeral_of_a_session_that_has_ended_seen_by_another() {
    let rates = Rates::NONE.with(Fault::ServerPartition, 0.02).with(Fault::ClientCrash, 0.05);
    seen_with(rates, 3, "an ephemeral after its session's end", |tape| {
        let mut ended = BTreeSet::new();
        let mut reads = tape.read.iter();
        tape.seen.iter().any(|(_, event)| match event {
            SimEvent::Ended { session, .. } => {
                ended.insert(*session);
                false
            }
            SimEvent::Served { session, .. } => match reads.next().expect("each read was written down") {
                (_, _, Ok(Answer::Stat(stat) | Answer::Data(_, stat))) => {
                    stat.ephemeral_owner != *session && ended.contains(&stat.ephemeral_owner)
                }
                _ => false,
            },
            _ => false,
        })
    });
}

#[test]
fn a_write_of_a_session_that_has_moved_closes_its_old_connection() {
    seen_on(3, "a write refused as moved", |tape| tape.count(|h| matches!(h, SimEvent::Moved { .. })) > 0);
}

#[test]
fn a_client_that_has_seen_more_is_turned_away() {
    seen_on(3, "a refusal", |tape| tape.count(|h| matches!(h, SimEvent::TurnedAway { .. })) > 0);
}

#[test]
fn a_write_that_was_lost_and_survives_a_change_of_leaders() {
    seen_on(3, "a write that a new leader commits", |tape| {
        let mut lost = BTreeSet::new();
        let mut applied = BTreeMap::new();
        tape.seen.iter().any(|(_, event)| {
            match event {
                SimEvent::Lost { op, .. } => _ = lost.insert(*op),
                // A new leader commits its whole log just before its `Elected` event.
                SimEvent::Txn { server, op, outcome: None, kind, .. } if *kind != Kind::CloseSession => {
                    applied.insert(*server, *op);
                }
                SimEvent::Elected { server, .. } => {
                    return applied.get(server).is_some_and(|op| lost.contains(op));
                }
                _ => {}
            }
            false
        })
    });
}

#[test]
fn an_old_ephemeral_in_the_way_of_a_new_session() {
    seen_in("an old ephemeral in the way", |tape| {
        // A process crashes, and its successor finds its ephemerals.
        let mut owners: BTreeMap<PathId, SessionId> = BTreeMap::new();
        let mut dead: BTreeSet<SessionId> = BTreeSet::new();
        let mut sessions: BTreeMap<u8, SessionId> = BTreeMap::new();
        let mut asked: BTreeMap<u32, PathId> = BTreeMap::new();
        tape.seen.iter().any(|(_, event)| {
            match event {
                SimEvent::News { process, session, news: SessionNews::Connected, .. } => {
                    sessions.insert(*process, *session);
                }
                SimEvent::Crashed { process } => dead.extend(sessions.get(process)),
                SimEvent::Created { path, owner, .. } => {
                    owners.insert(*path, *owner);
                }
                SimEvent::Deleted { path, .. } => {
                    owners.remove(path);
                }
                SimEvent::Sent { op, kind: Kind::Create, path, .. } => {
                    asked.insert(*op, *path);
                }
                SimEvent::Txn { op, outcome: Some(Code::NodeExists), .. } => {
                    return asked
                        .get(op)
                        .and_then(|path| owners.get(path))
                        .is_some_and(|owner| dead.contains(owner));
                }
                _ => {}
            }
            false
        })
    });
}

#[test]
fn every_happening_every_outcome_and_every_fault() {
    let mut kinds = BTreeSet::new();
    // Notifications are rare here.
    let rates = everything(0.003).with(Fault::WatchLost, 0.05);
    for seed in 0..300 {
        let run = chaotic(seed, 3, rates);
        for (_, event) in &run.observer.seen {
            let told = format!("{event:?}");
            kinds.insert(told.split([' ', '{']).next().unwrap_or_default().to_owned());
            match event {
                SimEvent::Injected { fault, .. } => kinds.insert(format!("{fault:?}")),
                SimEvent::Replied { outcome: Some(code), .. } => kinds.insert(format!("{code:?}")),
                SimEvent::News { news, .. } => kinds.insert(format!("{news:?}")),
                SimEvent::Noticed { kind, .. } => kinds.insert(format!("{kind:?}")),
                _ => false,
            };
        }
    }
    let expected = [
        "Sent",
        "Replied",
        "Lost",
        "Noticed",
        "News",
        "Txn",
        "Created",
        "Deleted",
        "Written",
        "Applied",
        "Served",
        "Barrier",
        "Attached",
        "TurnedAway",
        "Moved",
        "Elected",
        "Serving",
        "Ceased",
        "Clock",
        "Armed",
        "Fired",
        "Disarmed",
        "Opened",
        "Marked",
        "Ended",
        "Injected",
        "Mended",
        "Crashed",
        "Began",
        "Healed",
        "NoNode",
        "NodeExists",
        "NotEmpty",
        "NoChildrenForEphemerals",
        "SessionExpired",
        "Connected",
        "Suspended",
        "Expired",
        "Closed",
        "NodeCreated",
        "NodeDeleted",
        "NodeDataChanged",
        "NodeChildrenChanged",
    ];
    let missing: Vec<_> = expected.into_iter().filter(|name| !kinds.contains(*name)).collect();
    assert!(missing.is_empty(), "never seen: {missing:?}");
    let missing: Vec<_> =
        Fault::DRAWN.iter().filter(|fault| !kinds.contains(&format!("{fault:?}"))).collect();
    assert!(missing.is_empty(), "never struck: {missing:?}");
}
