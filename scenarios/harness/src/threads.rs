//! Distributes the seeds of a sweep to threads.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Calls `work` for every `step`-th seed, in order, on `jobs` threads. A thread stops when `work` returns false.
pub fn on_threads(seeds: Range<u64>, step: u64, jobs: usize, work: &(dyn Fn(u64) -> bool + Sync)) {
    let next = AtomicU64::new(seeds.start);
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(step, Ordering::Relaxed);
                    if seed >= seeds.end || !work(seed) {
                        break;
                    }
                }
            });
        }
    });
}
