//! The standard lock workload: three clients, two rounds, faults drawn by each seed; recorded, hashed and judged.
//!
//! `cargo bench -p zk-scenarios`; one iteration is one run, so seeds a second are the inverse of the time.

#![allow(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{Criterion, criterion_group, criterion_main};
use zk_catalogue::lock::workload as lock;
use zk_checker::RuleSet;
use zk_harness::plan::Plan;
use zk_harness::run;

fn locks(c: &mut Criterion) {
    let mut seed = 0;
    c.bench_function("lock, 3 clients x 2 rounds, faults on", |b| {
        b.iter(|| {
            seed += 1;
            run::seed(&lock::WORKLOAD, &Plan::drawn(seed), seed)
        });
    });
    let histories: Vec<_> =
        (0..1000).map(|seed| run::seed(&lock::WORKLOAD, &Plan::drawn(seed), seed).history).collect();
    let mut next = (0..histories.len()).cycle();
    c.bench_function("the judge's part of it", |b| {
        b.iter(|| {
            let at = next.next().expect("a cycle has no end");
            zk_checker::judge(&histories[at], &RuleSet::default())
        });
    });
}

criterion_group!(benches, locks);
criterion_main!(benches);
