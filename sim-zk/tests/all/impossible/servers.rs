//! Anomalies that servers never show.

use super::{Run, Verdict, hold};
use crate::common::tapes::{Chronicle, Leaders, committed};
use sim_zk::fault::{Fault, Victim};
use sim_zk::message::{Answer, Ask, Code};
use sim_zk::observer::{Kind, SimEvent};
use sim_zk::paths::PathId;
use std::collections::{BTreeMap, BTreeSet};

fn epoch(zxid: i64) -> i64 {
    zxid >> 32
}

pub fn zxids_strictly_increase_and_leave_no_gap_within_an_epoch(run: &Run<'_>) -> Verdict {
    let mut last = 0;
    for txn in committed(run.tape) {
        let next = txn.zxid == last + 1 || epoch(txn.zxid) > epoch(last) && txn.zxid & 0xffff_ffff == 1;
        hold(next, || format!("at {}, {:#x} follows {last:#x}", txn.at, txn.zxid))?;
        last = txn.zxid;
    }
    Ok(())
}

/// The applied transactions of every server are a prefix of the one committed order at every moment, and all of it at
/// the end.
pub fn every_server_applies_the_same_transactions_in_the_same_order(run: &Run<'_>) -> Verdict {
    let mut order = Vec::new();
    let mut reached = vec![0; usize::from(run.config.servers)];
    for (at, event) in &run.tape.seen {
        let (server, zxid) = match event {
            SimEvent::Txn { server, zxid, .. } => {
                order.push(*zxid);
                (*server, *zxid)
            }
            SimEvent::Applied { server, zxid } => (*server, *zxid),
            _ => continue,
        };
        let reached = &mut reached[usize::from(server)];
        let next = order.get(*reached);
        hold(next == Some(&zxid), || format!("at {at}, {server} applies {zxid:#x} instead of {next:x?}"))?;
        *reached += 1;
    }
    let all = reached.iter().all(|reached| *reached == order.len());
    hold(all, || format!("of {} transactions the servers have applied {reached:?}", order.len()))
}

pub fn an_epoch_has_one_leader_and_no_older_one_commits(run: &Run<'_>) -> Verdict {
    let mut elected = BTreeMap::new();
    let mut newest = 0;
    for (at, event) in &run.tape.seen {
        match event {
            // A single server elects itself repeatedly, without a new epoch.
            SimEvent::Elected { server, epoch } if run.config.servers > 1 => {
                let before = elected.insert(*epoch, *server);
                hold(before.is_none(), || format!("at {at}, {server} and {before:?} lead in epoch {epoch}"))?;
            }
            SimEvent::Txn { zxid, .. } => {
                hold(epoch(*zxid) >= newest, || {
                    format!("at {at}, {zxid:#x} after epoch {newest} has begun")
                })?;
                newest = epoch(*zxid);
            }
            _ => {}
        }
    }
    Ok(())
}

/// On every server a read shows exactly the transactions up to the zxid of its reply. So a multi, or the end of a
/// session, is visible as a whole, and no transaction is missing.
pub fn every_read_shows_the_state_that_its_zxid_names(run: &Run<'_>) -> Verdict {
    let mut chronicle = Chronicle::default();
    let mut reads = run.tape.read.iter();
    for (at, event) in &run.tape.seen {
        chronicle.take(event).map_err(|complaint| format!("at {at}, {complaint}"))?;
        let SimEvent::Served { zxid, .. } = event else { continue };
        let (_, ask, result) = reads.next().expect("each read was written down");
        let as_read = |path: PathId, czxid, mzxid, owner| {
            let was = chronicle.at(path, *zxid);
            let same = path == PathId::ROOT
                || was.is_some_and(|was| (was.czxid, was.mzxid, was.owner) == (czxid, mzxid, owner));
            hold(same, || {
                format!("at {at}, {path:?} is read as of {czxid:#x} and {mzxid:#x}, and was {was:?}")
            })
        };
        match (ask, result) {
            (Ask::Exists { path, .. }, Ok(Answer::Stat(stat))) => {
                as_read(*path, stat.czxid, stat.mzxid, stat.ephemeral_owner)?;
            }
            (Ask::Get { path, .. }, Ok(Answer::Data(_, stat))) => {
                as_read(*path, stat.czxid, stat.mzxid, stat.ephemeral_owner)?;
            }
            (Ask::Children { path, .. }, Ok(Answer::Children(children, _))) => {
                let parent = run.tape.path(*path);
                let read: BTreeSet<&str> = children.iter().map(|child| run.tape.path(*child)).collect();
                let is_child = |of: &&str| {
                    of.rsplit_once('/').is_some_and(|(dir, _)| dir == parent.trim_end_matches('/'))
                };
                let were = chronicle.all(*zxid).map(|path| run.tape.path(path)).filter(is_child).collect();
                let same = read == were || parent == "/" && read.len() == were.len() + 1;
                hold(same, || format!("at {at}, {parent} has {read:?}, and had {were:?}"))?;
            }
            (Ask::Exists { path, .. } | Ask::Get { path, .. } | Ask::Children { path, .. }, Err(_)) => {
                let was = chronicle.at(*path, *zxid);
                hold(was.is_none(), || format!("at {at}, {path:?} is not found, and was {was:?}"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The workload's multis create one znode and write another.
pub fn a_multi_happens_as_a_whole_or_not_at_all(run: &Run<'_>) -> Verdict {
    let mut effects: BTreeMap<i64, usize> = BTreeMap::new();
    for (_, event) in &run.tape.seen {
        if let SimEvent::Created { zxid, .. } | SimEvent::Written { zxid, .. } = event {
            *effects.entry(*zxid).or_default() += 1;
        }
    }
    for txn in committed(run.tape).iter().filter(|txn| txn.kind == Kind::Multi) {
        let (found, wanted) =
            (effects.get(&txn.zxid).copied().unwrap_or(0), if txn.outcome.is_none() { 2 } else { 0 });
        hold(found == wanted, || format!("{txn:?} has {found} effects"))?;
    }
    Ok(())
}

/// Returns the zxid and the operation of a change or a notification.
fn effect(event: &SimEvent<'_>) -> Option<(i64, u32)> {
    match event {
        SimEvent::Created { zxid, op, .. }
        | SimEvent::Deleted { zxid, op, .. }
        | SimEvent::Written { zxid, op, .. } => Some((*zxid, *op)),
        SimEvent::Fired { zxid, op, .. } if *zxid > 0 => Some((*zxid, *op)),
        _ => None,
    }
}

pub fn what_is_refused_leaves_nothing(run: &Run<'_>) -> Verdict {
    let refused: BTreeSet<i64> =
        committed(run.tape).iter().filter(|txn| txn.outcome.is_some()).map(|txn| txn.zxid).collect();
    for (at, event) in &run.tape.seen {
        if let Some((zxid, _)) = effect(event) {
            hold(!refused.contains(&zxid), || format!("at {at}, {event:?} of what was refused"))?;
        }
    }
    Ok(())
}

/// The write takes a zxid but has no effects, and its client gets no error code.
pub fn a_write_of_a_session_that_has_moved_is_never_applied(run: &Run<'_>) -> Verdict {
    let moved: BTreeMap<u32, i64> = committed(run.tape)
        .iter()
        .filter(|txn| txn.outcome == Some(Code::SessionMoved))
        .map(|txn| (txn.op, txn.zxid))
        .collect();
    for (at, event) in &run.tape.seen {
        match event {
            SimEvent::Moved { zxid, .. } => {
                let refused = moved.values().any(|of| of == zxid);
                hold(refused, || format!("at {at}, {zxid:#x} is refused without having been ordered"))?;
            }
            SimEvent::Replied { outcome, .. } => {
                let told = *outcome == Some(Code::SessionMoved);
                hold(!told, || format!("at {at}, a client is told that its session has moved"))?;
            }
            _ => {
                let late = effect(event).is_some_and(|(_, op)| op > 0 && moved.contains_key(&op));
                hold(!late, || format!("at {at}, {event:?} of a session that has moved"))?;
            }
        }
    }
    Ok(())
}

/// A follower gives up its leader after `syncLimit` ticks, and a leader its quorum after one more. Servers that are
/// paused meanwhile are exempt: packets in their sockets may be read before their timers run.
pub fn who_is_cut_off_serves_no_read_for_long(run: &Run<'_>) -> Verdict {
    let mut leaders = Leaders::new(run.config.servers);
    let mut cut: BTreeMap<u8, (u64, u64)> = BTreeMap::new();
    for (at, event) in &run.tape.seen {
        leaders.take(event);
        match event {
            SimEvent::Injected { fault: Fault::ServerPartition, victim: Victim::Server(id), .. } => {
                let ticks = run.config.sync_limit + u64::from(leaders.is_leader(*id));
                // A packet that passed the leader's check just before the cut counts from the next tick on.
                let latest = at + ticks * run.config.tick;
                cut.entry(*id).or_insert((*at, latest));
            }
            SimEvent::Mended { fault: Fault::ServerPartition, victim: Victim::Server(id) } => {
                cut.remove(id);
            }
            SimEvent::Injected { fault: Fault::ServerPause, victim: Victim::Server(id), .. } => {
                cut.remove(id);
            }
            SimEvent::Served { server, .. } => {
                if let Some((from, latest)) = cut.get(server) {
                    hold(at <= latest, || format!("at {at}, {server} reads, cut off since {from}"))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}
