//! Every run of a small scope: the calm lock, and the barrier with one lost reply, each to its end.
//!
//! `cargo bench -p zk-scenarios --bench explore`; one element is one choice, so choices a second are told as throughput.

#![allow(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sim_zk::fault::Fault;
use zk_catalogue::barrier::workload as barrier;
use zk_catalogue::lock::workload as lock;
use zk_harness::explore::{Exploration, Scope};

fn scopes(c: &mut Criterion) {
    let mut group = c.benchmark_group("explore");
    group.sample_size(10);
    let calm = Scope::of(&lock::WORKLOAD, 0);
    let one = Scope { kinds: vec![Fault::ReplyLost], ..Scope::of(&barrier::WORKLOAD, 1) };
    for (name, scope) in [("lock, no faults", calm), ("barrier, one lost reply", one)] {
        let choices = Exploration::new(scope.clone()).finish(1).found().choices;
        group.throughput(Throughput::Elements(choices));
        group.bench_function(name, |b| b.iter(|| Exploration::new(scope.clone()).finish(1)));
    }
    group.finish();
}

criterion_group!(benches, scopes);
criterion_main!(benches);
