//! Operations through the trait, with everything recorded and hashed: three reads to one write.
//!
//! `cargo bench -p zk-scenarios --bench operations`; beside another simulator: `sim-zk/benches/etcd`.

#![allow(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sim_zk::choose::{Rates, Seeded};
use sim_zk::{Config, End, Sim};
use std::time::Duration;
use zk_checker::history::Names;
use zk_harness::journal::Journal;
use zk_harness::run::header;
use zk_recipes::zk::{CreateMode, ZooKeeper};

const OPERATIONS: u32 = 20_000;
const SESSION: Duration = Duration::from_secs(6);

/// One client, one request after the other.
fn in_turn(servers: u8) {
    run(servers, |zk| async move {
        for number in 0..OPERATIONS {
            if number % 4 == 3 {
                zk.set("/a", b"data", None).await.expect("it exists");
            } else {
                zk.get("/a").await.expect("it exists");
            }
        }
    });
}

/// One client, sixteen requests in a flight.
fn in_flights(servers: u8) {
    run(servers, |zk| async move {
        for _ in 0..OPERATIONS / 16 {
            let sets: Vec<_> = (0..4).map(|_| zk.set("/a", b"data", None)).collect();
            let gets: Vec<_> = (0..12).map(|_| zk.get("/a")).collect();
            for set in sets {
                set.await.expect("it exists");
            }
            for get in gets {
                get.await.expect("it exists");
            }
        }
    });
}

fn run<F>(servers: u8, work: impl FnOnce(sim_zk::SimClient) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send + 'static,
{
    let config = Config::default().with_servers(servers);
    let journal = Journal::new(header(&config, SESSION), Names::default(), Vec::new());
    let limit = Duration::from_secs(1_000_000);
    let run = Sim::run(config, limit, Seeded::new(1, Rates::NONE), journal, |sim| async move {
        let process = sim.process("a");
        let opening = process.open(SESSION);
        let life = process.spawn(async move {
            let zk = opening.await;
            zk.create("/a", b"", CreateMode::Persistent).await.expect("it is new");
            work(zk).await;
        });
        life.await.expect("nothing panics");
    });
    assert_eq!(run.end, End::Done, "it comes to its end");
    let (history, _) = run.observer.finish();
    assert!(history.events.len() > OPERATIONS as usize, "everything was recorded");
}

fn operations(c: &mut Criterion) {
    let mut group = c.benchmark_group("operations through the trait, recorded");
    group.throughput(Throughput::Elements(u64::from(OPERATIONS)));
    for servers in [1, 3] {
        group.bench_function(format!("in turn, servers: {servers}"), |b| b.iter(|| in_turn(servers)));
        group.bench_function(format!("in flights of 16, servers: {servers}"), |b| {
            b.iter(|| in_flights(servers))
        });
    }
    group.finish();
}

criterion_group!(benches, operations);
criterion_main!(benches);
