//! A queue of claims that says "done" without reading what its transaction answered, and a stranger that deletes claims: an
//! item is told to be done with, and handed out again. Found by reading Kazoo's `LockingQueue`.
//!
//! Caught by QU-1 (no duplicate).

use super::confirms_blindly;
use zk_harness::plan::Act;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "queue-blind-to-lost-claims",
    about: "a queue that says done although a stranger has taken the claim",
    faults: &[],
    plan: |_| Plan { rounds: 8, ..Plan::calm() }.with_strangers(&[Act::Delete], 0.25, 12),
    ..confirms_blindly::TARGET
};
