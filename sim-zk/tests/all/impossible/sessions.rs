//! Anomalies that sessions never show.

use super::{Run, Verdict, hold};
use sim_zk::message::Code;
use sim_zk::observer::{Kind, SessionNews, SimEvent};
use sim_zk::paths::PathId;
use std::collections::{BTreeMap, BTreeSet};
use zk_recipes::zk::SessionId;

pub fn a_sessions_ephemerals_go_in_one_transaction_and_nobody_elses(run: &Run<'_>) -> Verdict {
    let mut living: BTreeMap<PathId, SessionId> = BTreeMap::new();
    let mut closing = BTreeMap::new();
    for (at, event) in &run.tape.seen {
        match event {
            SimEvent::Txn { kind: Kind::CloseSession, zxid, session, .. } => {
                closing.insert(*zxid, *session);
            }
            SimEvent::Created { path, owner, .. } => {
                living.insert(*path, *owner);
            }
            SimEvent::Deleted { path, zxid, .. } => {
                let owner = living.remove(path);
                if let Some(session) = closing.get(zxid) {
                    hold(owner == Some(*session), || format!("at {at}, {owner:?}'s goes with {session:?}"))?;
                }
            }
            SimEvent::Ended { session, .. } => {
                let left = living.values().any(|owner| owner == session);
                hold(!left, || format!("at {at}, an ephemeral of {session:?} has outlived it"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Late requests fail with `SessionExpired`, and closing an ended session has no effect.
pub fn nothing_of_a_session_is_applied_after_its_end(run: &Run<'_>) -> Verdict {
    let mut ended = BTreeSet::new();
    for (at, event) in &run.tape.seen {
        let over = |session| ended.contains(session);
        match event {
            SimEvent::Ended { session, .. } => _ = ended.insert(*session),
            SimEvent::Txn { session, outcome, kind, .. } if over(session) => {
                let vain = *outcome == Some(Code::SessionExpired) || *kind == Kind::CloseSession;
                hold(vain, || format!("at {at}, {event:?} after the end"))?;
            }
            SimEvent::Opened { session, .. } | SimEvent::Created { owner: session, .. } => {
                hold(!over(session), || format!("at {at}, {event:?} after the end"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns each expiry: time, server, session, time since the last touch, and timeout.
fn expiries(run: &Run<'_>) -> Vec<(u64, u8, SessionId, u64, u64)> {
    let mut timeouts = BTreeMap::new();
    let mut found = Vec::new();
    for (at, event) in &run.tape.seen {
        match event {
            SimEvent::Opened { session, timeout, .. } => _ = timeouts.insert(*session, *timeout),
            SimEvent::Marked { server, session, heard } => {
                // Sessions without an `Opened` event yet have requested the same timeout.
                let timeout = timeouts.get(session).copied().unwrap_or(6_000_000);
                found.push((*at, *server, *session, at - heard, timeout));
            }
            _ => {}
        }
    }
    found
}

pub fn expiry_is_never_early(run: &Run<'_>) -> Verdict {
    for (at, _, session, after, timeout) in expiries(run) {
        hold(after > timeout, || format!("at {at}, {session:?} after {after}"))?;
    }
    Ok(())
}

pub fn with_one_server_expiry_is_at_most_a_tick_late(run: &Run<'_>) -> Verdict {
    let latest = expiries(run).into_iter().max_by_key(|(.., after, timeout)| after - timeout);
    let late = latest.filter(|(.., after, timeout)| after - timeout > run.config.tick);
    hold(run.config.servers > 1 || late.is_none(), || format!("{late:?}"))
}

pub fn a_new_leader_lets_nobody_expire_before_a_whole_timeout(run: &Run<'_>) -> Verdict {
    let mut elected: BTreeMap<u8, u64> = BTreeMap::new();
    let mut marked = expiries(run).into_iter().peekable();
    for (at, event) in &run.tape.seen {
        match event {
            SimEvent::Elected { server, .. } => _ = elected.insert(*server, *at),
            SimEvent::Marked { .. } => {
                let (_, server, session, _, timeout) = marked.next().expect("each expiry was found");
                let since = elected.get(&server).map_or(u64::MAX, |led| at - led);
                hold(since > timeout, || format!("at {at}, {session:?} is over {since} after the election"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

pub fn a_client_is_told_of_the_loss_before_it_is_told_of_another_connection(run: &Run<'_>) -> Verdict {
    let mut connected: BTreeMap<u8, bool> = BTreeMap::new();
    for (at, event) in &run.tape.seen {
        if let SimEvent::News { process, news, .. } = event {
            let now = *news == SessionNews::Connected;
            let before = connected.insert(*process, now).unwrap_or(false);
            hold(!(before && now), || format!("at {at}, connected twice"))?;
        }
    }
    Ok(())
}
