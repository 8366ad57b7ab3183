//! An election whose leader never looks at its candidate again, and a stranger that deletes candidates: the next one leads
//! beside it (CURATOR-49).
//!
//! Caught by LE-9 (leadership ends in time); the harm is LE-1 (one leader).

use crate::broken::election::deaf_leader;
use crate::plan::Plan;
use crate::strangers::Act;
use crate::target::Target;

pub(in crate::broken) static TARGET: Target = Target {
    name: "election-deaf-when-deposed",
    about: "an election whose leader is not told when a stranger deletes its candidate",
    plan: |_| Plan { rounds: 4, ..Plan::calm() }.with_strangers(&[Act::Delete], 0.25, 6),
    ..deaf_leader::TARGET
};
