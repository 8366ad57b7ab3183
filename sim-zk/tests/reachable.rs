//! What must be reachable: the odd things that real ZooKeeper may do, and that a simulation without bugs of its own
//! might never show.

mod common;

use common::{TIMEOUT, Tape, chaos, everything, make, make_ephemeral, ms, run_hostile, wait};
use sim_zk::choose::Seeded;
use sim_zk::fault::Fault;
use sim_zk::paths::PathId;
use sim_zk::witness::{Happening, Kind, Outcome, SessionNews};
use sim_zk::{End, Sim};
use std::collections::{BTreeMap, BTreeSet};
use zk_recipes::zk::{CreateMode, EventKind, SessionId, ZooKeeper};

const SEEDS: u64 = 3_000;

/// The first seeds whose hostile tape shows it: at least three within some thousand.
fn seen_in(name: &str, shows: impl Fn(&Tape) -> bool) {
    let found = (0..SEEDS)
        .filter(|seed| shows(&chaos::run(Seeded::new(*seed, everything(0.01)), 4, 3, 8).witness))
        .take(3)
        .count();
    assert_eq!(found, 3, "{name} is seen within {SEEDS} seeds");
}

#[test]
fn a_write_applied_without_an_answer() {
    seen_in("a write applied without an answer", |tape| {
        let mut applied = BTreeSet::new();
        tape.seen.iter().any(|(_, happening)| match happening {
            Happening::Txn { op, kind: Kind::Create, outcome: Outcome::Ok, .. } => {
                applied.insert(*op);
                false
            }
            Happening::Lost { op, .. } => applied.contains(op),
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
            .filter_map(|(_, happening)| match happening {
                Happening::Txn { op, .. } => Some(*op),
                _ => None,
            })
            .collect();
        let creates: BTreeSet<u32> = tape
            .seen
            .iter()
            .filter_map(|(_, happening)| match happening {
                Happening::Sent { op, kind: Kind::Create, .. } => Some(*op),
                _ => None,
            })
            .collect();
        tape.count(
            |h| matches!(h, Happening::Lost { op, .. } if creates.contains(op) && !applied.contains(op)),
        ) > 0
    });
}

/// Follows what each process believes of its session, by the session.
fn believed(
    tape: &Tape,
    mut look: impl FnMut(&BTreeMap<SessionId, SessionNews>, &Happening) -> bool,
) -> bool {
    let mut news = BTreeMap::new();
    tape.seen.iter().any(|(_, happening)| {
        if let Happening::News { session, news: told, .. } = happening {
            news.insert(*session, *told);
        }
        look(&news, happening)
    })
}

#[test]
fn a_session_that_is_over_while_its_client_believes_it_is_connected() {
    seen_in("an end that the client does not see", |tape| {
        believed(tape, |news, happening| match happening {
            Happening::Marked { session, .. } => news.get(session) == Some(&SessionNews::Connected),
            _ => false,
        })
    });
}

#[test]
fn a_session_that_is_over_while_its_client_looks_for_a_server() {
    seen_in("an end while suspended", |tape| {
        believed(tape, |news, happening| match happening {
            Happening::Marked { session, .. } => news.get(session) == Some(&SessionNews::Suspended),
            _ => false,
        })
    });
}

#[test]
fn a_session_that_outlives_a_disconnect() {
    seen_in("a return", |tape| {
        let mut connections: BTreeMap<SessionId, u32> = BTreeMap::new();
        tape.seen.iter().any(|(_, happening)| match happening {
            Happening::News { session, news: SessionNews::Connected, .. } => {
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
        let mut queued: Vec<(SessionId, EventKind, PathId)> = Vec::new();
        tape.seen.iter().any(|(_, happening)| match happening {
            Happening::News { session, .. } => {
                queued.retain(|(of, ..)| of != session);
                false
            }
            Happening::Fired { session, kind, path, .. } => {
                queued.push((*session, *kind, *path));
                false
            }
            Happening::Noticed { session, kind, path, .. } => {
                match queued.iter().position(|queued| *queued == (*session, *kind, *path)) {
                    Some(at) => {
                        queued.remove(at);
                        false
                    }
                    None => true,
                }
            }
            _ => false,
        })
    });
}

#[test]
fn every_happening_every_outcome_and_every_fault() {
    let mut kinds = BTreeSet::new();
    for seed in 0..500 {
        let run = chaos::run(Seeded::new(seed, everything(0.01)), 4, 3, 8);
        for (_, happening) in &run.witness.seen {
            let told = format!("{happening:?}");
            kinds.insert(told.split([' ', '{']).next().unwrap_or_default().to_owned());
            match happening {
                Happening::Struck { fault, .. } => kinds.insert(format!("{fault:?}")),
                Happening::Replied { outcome, .. } => kinds.insert(format!("{outcome:?}")),
                Happening::News { news, .. } => kinds.insert(format!("{news:?}")),
                Happening::Noticed { kind, .. } => kinds.insert(format!("{kind:?}")),
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
        "Armed",
        "Fired",
        "Disarmed",
        "Opened",
        "Marked",
        "Ended",
        "Struck",
        "Mended",
        "Crashed",
        "Began",
        "Healed",
        "Ok",
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
        Fault::ALL.into_iter().filter(|fault| !kinds.contains(&format!("{fault:?}"))).collect();
    assert!(missing.is_empty(), "never struck: {missing:?}");
}

/// Tries seeds with one fault that hits the watching process, until the story has ended this way three times.
fn told(name: &str, story: impl Fn(Sim) -> futures_util::future::BoxFuture<'static, bool>) {
    let rates = common::everything(0.0).with(Fault::ReplyLost, 0.03).with(Fault::RequestLost, 0.03);
    let found = (0..SEEDS)
        .filter(|seed| {
            let run = run_hostile(2, Seeded::new(*seed, rates), &story);
            assert_eq!(run.end, End::Done, "seed {seed} ends");
            run.output == Some(true)
        })
        .take(3)
        .count();
    assert_eq!(found, 3, "{name} is seen within {SEEDS} seeds");
}

/// A watcher and somebody who changes what is watched, for as long as the faults let them. True if it went as named.
async fn created_and_deleted(sim: Sim) -> bool {
    let (watcher, other) = (sim.process("watcher"), sim.process("other"));
    let (zk, actor) = (watcher.open(TIMEOUT).await, other.open(TIMEOUT).await);
    let Ok((None, mut watch)) = zk.exists_watch("/a").await else { return false };
    let busy = watcher.spawn({
        let zk = zk.clone();
        async move { drop(zk.sync("/").await) }
    });
    wait(&actor, ms(100)).await;
    let done = actor.create("/a", b"", CreateMode::Persistent).await.is_ok()
        && actor.delete("/a", None).await.is_ok();
    let _ = busy.await;
    sim.heal();
    sim.quiet().await;
    done && futures_util::FutureExt::now_or_never(&mut watch).is_none()
}

#[test]
fn a_znode_created_and_deleted_while_away_and_never_told() {
    told("a znode that was never told", |sim| Box::pin(created_and_deleted(sim)));
}

async fn deleted_and_made_again(sim: Sim) -> bool {
    let (watcher, other) = (sim.process("watcher"), sim.process("other"));
    let (zk, actor) = (watcher.open(TIMEOUT).await, other.open(TIMEOUT).await);
    if actor.create("/a", b"", CreateMode::Persistent).await.is_err() {
        return false;
    }
    let Ok((_, watch)) = zk.get_watch("/a").await else { return false };
    let busy = watcher.spawn({
        let zk = zk.clone();
        async move { drop(zk.sync("/").await) }
    });
    wait(&actor, ms(100)).await;
    let done = actor.delete("/a", None).await.is_ok()
        && actor.create("/a", b"", CreateMode::Persistent).await.is_ok();
    let _ = busy.await;
    done && watch.await.is_ok_and(|event| event.kind == EventKind::NodeDataChanged)
}

#[test]
fn a_znode_deleted_and_made_again_while_away_told_as_a_change() {
    told("a new znode told as a change of the old", |sim| Box::pin(deleted_and_made_again(sim)));
}

#[test]
fn ones_own_old_ephemeral_seen_by_ones_new_session() {
    let (_, tape) = common::calm(|sim| async move {
        let process = sim.process("a");
        let zk = process.open(TIMEOUT).await;
        make(&zk, "/dir").await;
        make_ephemeral(&zk, "/dir/e").await;
        process.inflict(Fault::ClientCrash, ms(0));
        let zk = sim.process("a again").open(TIMEOUT).await;
        let (old, gone) = zk.get_watch("/dir/e").await.expect("the old one is there");
        assert_ne!(old.stat.ephemeral_owner, zk.session());
        gone.await.expect("it fires");
        assert_eq!(make_ephemeral(&zk, "/dir/e").await.stat.ephemeral_owner, zk.session());
    });
    assert_eq!(tape.count(|h| matches!(h, Happening::Marked { .. })), 1);
}

#[test]
fn an_old_ephemeral_in_the_way_of_a_new_session() {
    seen_in("an old ephemeral in the way", |tape| {
        // A process that crashed, and the next one of the same name meets its ephemerals.
        let mut owners: BTreeMap<PathId, SessionId> = BTreeMap::new();
        let mut dead: BTreeSet<SessionId> = BTreeSet::new();
        let mut sessions: BTreeMap<u8, SessionId> = BTreeMap::new();
        let mut asked: BTreeMap<u32, PathId> = BTreeMap::new();
        tape.seen.iter().any(|(_, happening)| {
            match happening {
                Happening::News { process, session, news: SessionNews::Connected } => {
                    sessions.insert(*process, *session);
                }
                Happening::Crashed { process } => dead.extend(sessions.get(process)),
                Happening::Created { path, owner, .. } => {
                    owners.insert(*path, *owner);
                }
                Happening::Deleted { path, .. } => {
                    owners.remove(path);
                }
                Happening::Sent { op, kind: Kind::Create, path, .. } => {
                    asked.insert(*op, *path);
                }
                Happening::Txn { op, outcome: Outcome::NodeExists, .. } => {
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
