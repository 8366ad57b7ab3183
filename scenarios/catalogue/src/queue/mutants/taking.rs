//! Mutants that take the wrong item, or misjudge the outcome of its delete.

use super::copy::{Mutation, Unanswered};
use super::{BASE, run};
use crate::prelude::*;

/// A queue whose consumers resend a delete when its reply was lost, take "no such znode" for another consumer's delete,
/// and continue with the next item: the first is lost, although the queue promises to lose none. Measured in Apache
/// Curator 5.4 and Kazoo 2.11.
pub(super) static DELETE_AGAIN: Workload = BASE.mutant(
    "queue-delete-again",
    "a queue whose consumers retry a delete and take NoNode for the success of another consumer",
    Caught::by(Qu2).seen("kazoo, Curator"),
    &[Fault::ReplyLost],
    |_| Plan { rounds: 6, ..Plan::calm() }.with(&[Fault::ReplyLost], 0.05),
    |task| run(task, &Mutation { unanswered: Unanswered::DeletedAgain, ..Mutation::RIGHT }),
);

/// A queue that hands out an item whose delete has no reply: if it never arrived, another consumer gets the item too.
pub(super) static HANDS_OUT_IN_DOUBT: Workload = BASE.mutant(
    "queue-hands-out-in-doubt",
    "a queue that delivers an item whose delete has an unknown outcome",
    Caught::by(Qu1),
    &[Fault::RequestLost],
    |_| Plan { rounds: 8, ..Plan::calm().with(&[Fault::RequestLost], 0.1) },
    |task| run(task, &Mutation { unanswered: Unanswered::HandedOut, ..Mutation::RIGHT }),
);

/// A queue that skips an item whose delete has no reply, and takes the next: if it did arrive, the item is lost.
pub(super) static PASSES_OVER_IN_DOUBT: Workload = BASE.mutant(
    "queue-passes-over-in-doubt",
    "a queue that skips an item whose delete has an unknown outcome",
    Caught::by(Qu2),
    &[Fault::ReplyLost],
    |_| Plan { rounds: 8, ..Plan::calm().with(&[Fault::ReplyLost], 0.1) },
    |task| run(task, &Mutation { unanswered: Unanswered::PassedOver, ..Mutation::RIGHT }),
);

/// A queue whose consumers hand an item out although their delete met "no such znode": another consumer has it as well.
pub(super) static NO_NODE_IGNORED: Workload = BASE.mutant(
    "queue-no-node-ignored",
    "a queue whose consumers deliver an item that another consumer deleted",
    Caught::by(Qu1).within(5),
    &[],
    |_| Plan { rounds: 6, ..Plan::calm() },
    |task| run(task, &Mutation { ignores_no_node: true, ..Mutation::RIGHT }),
);

/// A queue that delivers the newest item first: its names are sorted in the wrong order.
pub(super) static NEWEST_FIRST: Workload = BASE.mutant(
    "queue-newest-first",
    "a queue that gives the newest item first",
    Caught::by(Qu4).within(5),
    &[],
    |_| Plan { rounds: 6, ..Plan::calm() },
    |task| run(task, &Mutation { newest_first: true, ..Mutation::RIGHT }),
);
