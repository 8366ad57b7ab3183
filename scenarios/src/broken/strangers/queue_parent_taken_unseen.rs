//! A queue whose consumers wait, without a watch, when the queue's znode is not there, and a stranger that takes the whole
//! queue away: nobody tells them when it is there again (CURATOR-308).
//!
//! Caught by QU-6 (nobody starves).

use crate::broken::queue::parent_ignored;
use crate::plan::Plan;
use crate::strangers::Act;
use crate::target::Target;

pub(in crate::broken) static TARGET: Target = Target {
    name: "queue-parent-taken-unseen",
    about: "a queue whose consumers wait without a watch when a stranger has taken the queue away",
    plan: |_| Plan { rounds: 6, ..Plan::calm() }.with_strangers(&[Act::Parent], 0.25, 4),
    ..parent_ignored::TARGET
};
