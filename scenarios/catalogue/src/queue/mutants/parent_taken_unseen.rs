//! A queue whose consumers wait, without a watch, when the queue's znode is not there, and a stranger that takes the whole
//! queue away: nobody tells them when it is there again (CURATOR-308).
//!
//! Caught by QU-6 (nobody starves).

use super::parent_ignored;
use zk_harness::plan::Act;
use zk_harness::plan::Plan;
use zk_harness::target::Target;

pub(super) static TARGET: Target = Target {
    name: "queue-parent-taken-unseen",
    about: "a queue whose consumers wait without a watch when a stranger has taken the queue away",
    plan: |_| Plan { rounds: 6, ..Plan::calm() }.with_strangers(&[Act::Parent], 0.25, 4),
    ..parent_ignored::TARGET
};
