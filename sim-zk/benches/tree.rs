//! The tree alone: create, get, set, get, delete of each of a thousand znodes in one directory.
//!
//! `cargo bench -p sim-zk --bench tree`

#![allow(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sim_zk::bench::Work;

fn tree(c: &mut Criterion) {
    let mut group = c.benchmark_group("the tree alone");
    let mut work = Work::new(1000);
    group.throughput(Throughput::Elements(work.round() as u64));
    group.bench_function("create, get, set, get, delete", |b| b.iter(|| work.round()));
    group.finish();
}

criterion_group!(benches, tree);
criterion_main!(benches);
