//! An election whose leader never looks at its candidate again, and a stranger that deletes candidates: the next one leads
//! beside it (CURATOR-49).
//!
//! Caught by LE-9 (leadership ends in time); the harm is LE-1 (one leader).

use super::deaf_leader;
use zk_harness::plan::Act;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "election-deaf-when-deposed",
    about: "an election whose leader is not told when a stranger deletes its candidate",
    plan: |_| Plan { rounds: 4, ..Plan::calm() }.with_strangers(&[Act::Delete], 0.25, 6),
    ..deaf_leader::TARGET
};
