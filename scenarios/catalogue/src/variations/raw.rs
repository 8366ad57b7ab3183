//! Clients that send random requests to a few znodes, without a recipe: they test the promises of ZooKeeper itself.
//!
//! Each round: one to three pipelined requests, some of them reads that leave a watch; occasionally a persistent watch,
//! a sync and a read behind it, a wait for one of the watches, or a session that is abandoned while it lives. All
//! values differ.

use crate::prelude::*;
use futures_util::future::{Either, join_all, select};
use std::pin::pin;
use std::time::Duration;
use zk_checker::Probe;
use zk_recipes::zk::{CreateMode, Op};

/// ZooKeeper itself under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients send random requests to a few znodes, judged by the promises of ZooKeeper itself",
    plan: |seed| Plan { rounds: 20, ..Plan::drawn(seed) },
    required: &[Zk1, Zk2, Zk3, Zk4, Zk5, Zk6, Zk7, Zk8, Zk9, Zk10, Zk11, Zk12, Zk13, Zk14],
    must_reach: MUST_REACH,
    // Without a recipe there is no object to judge.
    ..Workload::own("raw", |_, _| Vec::new(), |task| client(task).boxed(), &STATED)
};

/// Plain requests, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe::of(&WORKLOAD);

/// What its runs must fulfil.
pub static STATED: Stated = Stated { finishes_within: Duration::from_secs(60), rules: None, sometimes: &[] };

/// Anomalies that ZooKeeper allows, and that a long sweep must reach. Two more occur only once in some thousand seeds:
/// several workloads together must reach them.
pub static MUST_REACH: &[Probe] = &[
    Probe::StaleRead,
    Probe::CreatedAndDeletedUnseen,
    Probe::RecreatedToldAsChanged,
    Probe::AppliedWithoutReply,
    Probe::OwnOldEphemeral,
    Probe::WriteAfterReads,
    Probe::ExpiredEarly,
];

/// The znodes of the workload.
const NAMES: [&str; 5] = ["/a", "/b", "/a/c", "/b/c", "/a/d"];

/// The time limit of a wait for a watch.
const WAIT: Duration = Duration::from_millis(500);

/// One client's part.
pub async fn client<C: Client>(Task { client, rounds, done, .. }: Task<C>) {
    let mut session: Option<C::Zk> = None;
    let mut watches = Vec::new();
    let mut tree = None;
    for round in rounds {
        client.sleep(Duration::from_millis(20) * client.choose(8)).await;
        let zk = match &session {
            Some(zk) if zk.status().over().is_none() => zk.clone(),
            _ => match client.open().await {
                Ok(zk) => session.insert(zk).clone(),
                Err(_) => continue,
            },
        };
        if !zk.status().is_connected() && client.choose(4) == 3 {
            // Abandoned while it lives: the session ends when it expires.
            let _ = zk.close(Duration::ZERO).await;
            session = None;
            watches.clear();
            tree = None;
            continue;
        }
        let thought = think(&client, &zk, round, &mut watches, &mut tree);
        let _ = select(pin!(client.cancelled()), pin!(thought)).await;
        done(round + 1);
    }
    drop((watches, tree));
    if let Some(zk) = session {
        let _ = zk.close(Duration::from_secs(1)).await;
    }
}

async fn think<C: Client>(
    client: &C,
    zk: &C::Zk,
    round: u32,
    watches: &mut Vec<<C::Zk as ZooKeeper>::Watch>,
    tree: &mut Option<<C::Zk as ZooKeeper>::TreeWatch>,
) {
    let name = || NAMES[client.choose(NAMES.len() as u32) as usize];
    let mut flight = Vec::new();
    for number in 0..=client.choose(3) {
        let value = format!("{}-{round}-{number}", client.number());
        let value = value.as_bytes();
        let path = name();
        match client.choose(16) {
            0 | 1 => flight.push(zk.create(path, value, CreateMode::Persistent).map(drop).boxed()),
            2 => flight.push(zk.create(path, value, CreateMode::Ephemeral).map(drop).boxed()),
            3 => flight.push(zk.create(path, value, CreateMode::EphemeralSequential).map(drop).boxed()),
            4 => flight.push(zk.create(path, value, CreateMode::PersistentSequential).map(drop).boxed()),
            5 | 6 => flight.push(zk.set(path, value, None).map(drop).boxed()),
            7 => flight.push(zk.set(path, value, Some(client.choose(3) as i32)).map(drop).boxed()),
            8 | 9 => flight.push(zk.delete(path, None).map(drop).boxed()),
            10 => {
                let ops = vec![
                    Op::Create { path: path.into(), data: value.into(), mode: CreateMode::Ephemeral },
                    Op::Set { path: "/a".into(), data: value.into(), version: None },
                    Op::Check { path: name().into(), version: None },
                ];
                flight.push(zk.multi(ops).map(drop).boxed());
            }
            11 => flight.push(zk.get_many(&[path.to_owned(), name().to_owned()]).map(drop).boxed()),
            12 => {
                flight.push(zk.sync(path).map(drop).boxed());
                flight.push(zk.children(path).map(drop).boxed());
            }
            13 => watches.extend(zk.get_watch(path).await.map(|(_, watch)| watch)),
            14 if client.choose(2) == 1 => *tree = zk.watch_tree(path).await.ok(),
            14 => watches.extend(zk.exists_watch(path).await.map(|(_, watch)| watch)),
            _ => watches.extend(zk.children_watch(path).await.map(|(_, watch)| watch)),
        }
    }
    join_all(flight).await;
    if client.choose(4) == 3
        && let Some(watch) = watches.pop()
        && let Either::Left(_) = select(pin!(watch), pin!(client.sleep(WAIT))).await
    {
        let _ = zk.get(name()).await;
    }
    if watches.len() > 4 {
        drop(watches.swap_remove(0));
    }
}
