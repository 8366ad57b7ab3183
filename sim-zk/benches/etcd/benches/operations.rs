//! One client, one request after the other, three reads to one write: this simulator, and madsim's of etcd.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use madsim::runtime::{Handle, Runtime};
use sim_zk::choose::{Rates, Seeded};
use sim_zk::{Config, End, Sim};
use std::time::Duration;
use zk_recipes::zk::{CreateMode, ZooKeeper};

const OPERATIONS: u32 = 20_000;

fn zookeeper() {
    let limit = Duration::from_secs(1_000_000);
    let run = Sim::run(Config::default(), limit, Seeded::new(1, Rates::NONE), (), |sim| async move {
        let process = sim.process("a");
        let opening = process.open(Duration::from_secs(6));
        let life = process.spawn(async move {
            let zk = opening.await;
            zk.create("/a", b"", CreateMode::Persistent).await.expect("it is new");
            for number in 0..OPERATIONS {
                if number % 4 == 3 {
                    zk.set("/a", b"data", None).await.expect("it exists");
                } else {
                    zk.get("/a").await.expect("it exists");
                }
            }
        });
        life.await.expect("nothing panics");
    });
    assert_eq!(run.end, End::Done, "it comes to its end");
}

fn etcd() {
    let runtime = Runtime::with_seed_and_config(1, madsim::Config::default());
    runtime.block_on(async {
        let handle = Handle::current();
        let address = "10.0.0.1:2379";
        let server = handle.create_node().name("server").ip("10.0.0.1".parse().expect("an address")).build();
        server.spawn(async move {
            let server = madsim_etcd_client::SimServer::builder();
            server.serve(address.parse().expect("an address")).await.expect("it serves");
        });
        madsim::time::sleep(Duration::from_secs(1)).await;
        let client = handle.create_node().name("client").ip("10.0.0.2".parse().expect("an address")).build();
        let life = client.spawn(async move {
            let client = madsim_etcd_client::Client::connect([address], None).await.expect("it connects");
            let mut keys = client.kv_client();
            for number in 0..OPERATIONS {
                if number % 4 == 3 {
                    keys.put("a", "data", None).await.expect("it is put");
                } else {
                    keys.get("a", None).await.expect("it is got");
                }
            }
        });
        life.await.expect("nothing panics");
    });
}

fn operations(c: &mut Criterion) {
    let mut group = c.benchmark_group("three reads to one write, one after the other");
    group.throughput(Throughput::Elements(u64::from(OPERATIONS)));
    group.bench_function("sim-zk", |b| b.iter(zookeeper));
    group.bench_function("madsim-etcd", |b| b.iter(etcd));
    group.finish();
}

criterion_group!(benches, operations);
criterion_main!(benches);
