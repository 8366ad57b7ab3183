//! Priority queues that are wrong in one step: bends of the queue.

mod as_text;
mod old_list;
mod page;

use zk_harness::target::Target;

/// All of them.
pub(super) static ALL: &[&Target] = &[&as_text::TARGET, &old_list::TARGET, &page::TARGET];
