//! The memory of a judge during a run: `cargo bench -p zk-checker --bench memory`. The allocator counts it, so there is
//! no noise.
//!
//! The same crowd is judged for longer and longer: memory must grow with live entries, not with past ones.

mod common;

use common::{Crowd, lock_trace};
use peak_alloc::PeakAlloc;
use zk_checker::{Judge, RuleSet};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The memory of a judge at the end, and its peak, in bytes.
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
