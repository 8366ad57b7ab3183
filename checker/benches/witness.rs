//! The speed of judging a history event by event with all rules on: `cargo bench -p zk-checker --bench witness`.
//!
//! The traces are created before the measurement. Failing and passing traces are measured in the same run.

#![allow(missing_docs, reason = "criterion's macros make public functions")]

mod common;

use common::{Crowd, lock_trace};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::cell::LazyCell;
use zk_checker::history::History;
use zk_checker::{RuleId, RuleSet, Verdict, jsonl, judge};

const CROWDS: [Crowd; 3] = [
    Crowd { locks: 1, clients: 30, events: 300_000, held: 0 },
    Crowd { locks: 100, clients: 30, events: 300_000, held: 0 },
    Crowd { locks: 1, clients: 1000, events: 300_000, held: 0 },
];

fn locks(c: &mut Criterion) {
    let mut group = c.benchmark_group("judge");
    group.sample_size(10);
    for crowd in CROWDS {
        let name = format!("{} x {} clients", crowd.locks, crowd.clients);
        for breach_at in [None, Some(0.1), Some(0.5), Some(0.9)] {
            // Creates only the measured traces.
            let history = LazyCell::new(|| trace(crowd, breach_at));
            let name = match breach_at {
                None => format!("{name}, passing"),
                Some(share) => format!("{name}, failing from {:.0} % on", share * 100.0),
            };
            group.throughput(Throughput::Elements(crowd.events as u64));
            group.bench_function(name, |b| {
                let history = &*history;
                b.iter(|| judge(history, &RuleSet::all()));
            });
        }
    }
}

/// A trace, whose verdict is checked once.
fn trace(crowd: Crowd, breach_at: Option<f64>) -> History {
    let history = lock_trace(crowd, breach_at);
    let report = judge(&history, &RuleSet::all());
    let exclusion = if breach_at.is_some() { Verdict::Fail } else { Verdict::Pass };
    assert_eq!(report.of(RuleId::Mx3), exclusion, "{report}");
    assert_eq!(report.verdict() == Verdict::Fail, breach_at.is_some(), "{report}");
    history
}

fn files(c: &mut Criterion) {
    let crowd = Crowd { locks: 1, clients: 30, events: 100_000, held: 0 };
    let file = LazyCell::new(|| {
        let mut file = Vec::new();
        jsonl::write(&lock_trace(crowd, None), &mut file).expect("memory takes everything");
        file
    });
    let mut group = c.benchmark_group("JSON lines");
    group.sample_size(10).throughput(Throughput::Elements(crowd.events as u64));
    group.bench_function("read", |b| {
        let file = &*file;
        b.iter(|| jsonl::read(&mut file.as_slice()).expect("it was written"));
    });
}

criterion_group!(benches, locks, files);
criterion_main!(benches);
