//! Locks of all kinds and elections on directories whose sequence numbers are exhausted.
//!
//! As the [workload of guards](crate::variations::guard_methods::workload), on directories that have had so many children that few numbers
//! are left, or none. At 2147483647 a server's counter stays: all further contenders get that number, or negative ones
//! while creates are pipelined. The number no longer defines their order, but the czxid does. So all promises about
//! contenders hold beyond the last number: the order of grants, mutual exclusion, no herd. One call is refused: a
//! writer cannot downgrade to a reader, since its place cannot be taken over.

mod mutants;

use crate::prelude::*;
use crate::variations::guard_methods::holds::{Line, THINGS};
use crate::variations::guard_methods::workload::{client, objects};
use std::time::Duration;

/// Contenders without numbers, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe { mutants: mutants::ALL, ..Recipe::of(&WORKLOAD) };

/// Contenders whose numbers run out, under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients hold something by any recipe while the sequence numbers run out",
    plan: |seed| Plan {
        clients: 4,
        rounds: THINGS.len() as u32,
        first_number: first_number(seed),
        ..Plan::drawn(seed)
    },
    required: &[Mx1, Mx4, Mx5, Mx6, Mx7, Mx12, Rw2, Le2, Le3, An1, An2, An3],
    ..Workload::own(
        "exhausted-lines",
        objects,
        |task| client(task, &THINGS, Box::new(Line::new)).boxed(),
        &STATED,
    )
};

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(120),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a contender is asked to go",
        "a contender is evicted",
        "a contender is made to go",
        "a hold that was suspect is confirmed",
        "a hold that was suspect is lost",
        "a write under a hold has an unknown outcome",
        "a write under a hold is refused since the hold is over",
        "an acquire has bad input",
        "work ends since its holder is asked to go",
        "work ends with its hold",
    ],
};

/// The number of the first contender, from a random stream of its own: the draws of the plan are those of other
/// workloads.
fn first_number(seed: u64) -> i32 {
    const LEFT: [i32; 8] = [0, 1, 2, 3, 4, 6, 8, 12];
    i32::MAX - LEFT[(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61) as usize]
}
