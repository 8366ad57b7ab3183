//! What a judge keeps while a run goes on: `cargo bench -p zk-checker --bench memory`. Counted by the allocator, so no clock
//! and no noise is in it.
//!
//! The same crowd is judged for longer and longer: what is kept must grow with what is alive, not with what has been.

mod common;

use common::{Crowd, lock_trace};
use peak_alloc::PeakAlloc;
use zk_checker::{Judge, RuleSet};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// What a judge holds in the end, and held at most, in bytes.
fn kept(crowd: Crowd) -> (usize, usize, usize) {
    let history = lock_trace(crowd, None);
    let tables = history.tables();
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let mut judge = Judge::new(tables, &RuleSet::all());
    for event in &history.events {
        judge.push(tables, event);
    }
    let (kept, peak) = (ALLOCATOR.current_usage() - before, ALLOCATOR.peak_usage() - before);
    drop(judge);
    (history.events.len(), kept, peak)
}

fn main() {
    println!(
        "{:>7} {:>9} {:>9} {:>12} {:>12} {:>10}",
        "locks", "clients", "events", "kept", "peak", "a further event"
    );
    for (locks, clients) in [(1, 30), (100, 30), (1, 1000)] {
        let mut before: Option<(usize, usize)> = None;
        for events in [250_000, 500_000, 1_000_000] {
            let (events, live, peak) = kept(Crowd { locks, clients, events, held: 0 });
            let more = before.map_or(String::new(), |(was_events, was)| {
                format!("{:.2} B", (live as f64 - was as f64) / (events - was_events) as f64)
            });
            println!("{locks:>7} {clients:>9} {events:>9} {live:>12} {peak:>12} {more:>10}");
            before = Some((events, live));
        }
    }
}
