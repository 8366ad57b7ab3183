//! A raw workload: clients that send random requests for a handful of znodes, in one hostile world.
//!
//! Every request is an operation of its own, numbered across the run, so a tape shows the request behind each
//! transaction.

use super::{TIMEOUT, Tape};
use futures_util::FutureExt;
use sim_zk::choose::Chooser;
use sim_zk::{Config, Finished, Process, Sim, SimClient};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Op, Runtime, ZooKeeper};

const LIMIT: Duration = Duration::from_secs(600);

/// Runs the workload in a world with that configuration, with `rounds` rounds of requests per client.
pub fn run_in<C: Chooser + 'static>(
    config: Config,
    chooser: C,
    clients: u8,
    rounds: u32,
) -> Finished<(), C, Tape> {
    Sim::run(config, LIMIT, chooser, Tape::default(), move |sim| async move {
        let ops = Arc::new(AtomicU32::new(0));
        let lives = (0..clients).map(|number| live(sim.clone(), number, rounds, ops.clone()));
        futures_util::future::join_all(lives).await;
        sim.heal();
        sim.quiet().await;
    })
}

/// Runs one client, in a new process after each crash.
async fn live(sim: Sim, number: u8, rounds: u32, ops: Arc<AtomicU32>) {
    let done = Arc::new(AtomicU32::new(0));
    loop {
        let process = sim.process(&format!("client-{number}"));
        let part = client(sim.clone(), process.clone(), rounds, done.clone(), ops.clone());
        if process.spawn(part).await.is_ok() {
            return;
        }
    }
}

async fn client(sim: Sim, process: Process, rounds: u32, done: Arc<AtomicU32>, ops: Arc<AtomicU32>) {
    let mut watches = Vec::new();
    'session: while done.load(Ordering::Relaxed) < rounds {
        let zk = process.open(TIMEOUT).await;
        while done.fetch_add(1, Ordering::Relaxed) < rounds {
            let seen = process.cancels();
            {
                let thought = think(&sim, &process, &zk, &ops, &mut watches);
                let cancelled = process.cancelled(seen);
                futures_util::pin_mut!(thought, cancelled);
                let _ = futures_util::future::select(cancelled, thought).await;
            }
            // Drops the watches that have fired.
            watches.retain_mut(|watch: &mut sim_zk::driver::SimWatch| watch.now_or_never().is_none());
            if zk.status().over().is_some() {
                continue 'session;
            }
        }
        process.set_op(ops.fetch_add(1, Ordering::Relaxed) + 1);
        let _ = zk.close(Duration::from_secs(1)).await;
    }
}

const NAMES: [&str; 4] = ["/a", "/b", "/a/c", "/b/c"];

/// Sends one to four requests, and waits for the replies.
async fn think(
    sim: &Sim,
    process: &Process,
    zk: &SimClient,
    ops: &AtomicU32,
    watches: &mut Vec<sim_zk::driver::SimWatch>,
) {
    if sim.choose(8) == 1 {
        zk.sleep_until(zk.now() + Duration::from_millis(200)).await;
    }
    let mut writes = Vec::new();
    for _ in 0..=sim.choose(4) {
        process.set_op(ops.fetch_add(1, Ordering::Relaxed) + 1);
        let path = NAMES[sim.choose(4) as usize];
        match sim.choose(11) {
            0 => writes.push(zk.create(path, b"", CreateMode::Persistent).map(drop).boxed()),
            1 | 2 => writes.push(zk.create(path, b"", CreateMode::Ephemeral).map(drop).boxed()),
            3 => writes.push(zk.create(path, b"", CreateMode::EphemeralSequential).map(drop).boxed()),
            4 => writes.push(zk.set(path, b"data", None).map(drop).boxed()),
            5 => writes.push(zk.delete(path, None).map(drop).boxed()),
            6 => {
                let ops = vec![
                    Op::Create { path: path.into(), data: Vec::new(), mode: CreateMode::Ephemeral },
                    Op::Set { path: "/a".into(), data: Vec::new(), version: None },
                    Op::Check { path: NAMES[sim.choose(4) as usize].into(), version: None },
                ];
                writes.push(zk.multi(ops).map(drop).boxed());
            }
            7 => writes.push(zk.sync(path).map(drop).boxed()),
            8 => watches.extend(zk.get_watch(path).await.map(|(_, watch)| watch)),
            9 => watches.extend(zk.exists_watch(path).await.map(|(_, watch)| watch)),
            _ => watches.extend(zk.children_watch(path).await.map(|(_, watch)| watch)),
        }
    }
    for write in writes {
        write.await;
    }
    if watches.len() > 3 {
        watches.swap_remove(0);
    }
}
