//! How much memory a recipe takes for a list with very many names, beside that of the list: it is its own work on each name
//! that shows in it, whatever machine it runs on. A test of its own binary, since what is allocated is counted.

#[path = "../../benches/common/mod.rs"]
mod common;

use common::{CASES, Case, DOUBLE_BARRIER, Fake};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The most that is allocated at a time meanwhile, in bytes.
fn most(work: impl FnOnce()) -> usize {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    work();
    ALLOCATOR.peak_usage() - before
}

fn ratio(case: &Case, many: u32) -> f64 {
    let zk: Fake = (case.tree)(many);
    most(|| (case.work)(&zk)) as f64 / most(|| case.list_only(&zk)) as f64
}

/// How much more than the list alone an operation may take: that needs one of its names, all in another order, or all of
/// them twice.
const ONE: f64 = 1.05;
const ORDERED: f64 = 1.5;
const ALL: f64 = 3.0;

/// By case.
const LIMITS: &[(&str, f64)] = &[
    ("lock, contenders", ALL),
    ("lock, try_acquire", ONE),
    ("lock, acquire", ONE),
    ("shared lock, contenders", ALL),
    ("shared lock, try_read", ONE),
    ("priority lock, contenders", ALL),
    ("priority lock, write", ONE),
    ("election, observe", ORDERED),
    ("group, view", ALL),
    ("queue, take", ALL),
    ("queue, claim where all is claimed", 2.0 * ALL),
    ("priority queue, take", ALL),
    ("double barrier, enter and leave", 4.0 * ALL),
];

#[test]
fn what_a_recipe_keeps_of_a_name_is_no_more_than_it_needs() {
    for ((name, limit), case) in LIMITS.iter().zip(CASES.iter().chain([&DOUBLE_BARRIER])) {
        assert_eq!(*name, case.name);
        // Of an opening's names there may not be more than one request has room for.
        let many = if case.name == DOUBLE_BARRIER.name { 5_000 } else { 20_000 };
        let ratio = ratio(case, many);
        assert!(ratio <= *limit, "{name}: {ratio:.2} times the list, {limit} at the most");
    }
}
