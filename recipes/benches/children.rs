//! What a recipe's own work on a list costs, beside the list: by what it is more than twice as slow it is too slow.
//!
//! `cargo bench -p zk-recipes --bench children`; the second argument is a filter, as in `-- "lock, .*/100000"`.

#![allow(missing_docs, reason = "criterion's macros make public functions")]

mod common;

use common::{CASES, Case, DOUBLE_BARRIER};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::time::Duration;

fn measure(c: &mut Criterion, case: &Case, sizes: &[u32]) {
    let mut group = c.benchmark_group(case.name);
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    for many in sizes {
        let tree = (case.tree)(*many);
        group.throughput(Throughput::Elements(u64::from(*many)));
        group.bench_function(BenchmarkId::new("the list alone", many), |b| b.iter(|| case.list_only(&tree)));
        group.bench_function(BenchmarkId::new("with the recipe", many), |b| {
            b.iter_batched_ref(|| tree.copy(), |zk| (case.work)(zk), BatchSize::PerIteration);
        });
    }
    group.finish();
}

fn children(c: &mut Criterion) {
    for case in CASES {
        measure(c, case, &[1_000, 10_000, 100_000]);
    }
    measure(c, &DOUBLE_BARRIER, &[1_000, 5_000]);
}

criterion_group!(benches, children);
criterion_main!(benches);
