//! The right priority lock, one operation of which [lies](crate::lies).

use crate::lies::How::{Denies, EndsClean, Pretends, Refuses};
use crate::lies::{DENIES, Hold, Lies, Lying, NOT_HELD, UNMET_OF_HOLDS, refuses, row};
use crate::prelude::*;
use crate::priority_lock::workload::{HeldUrgently, Urgent, WORKLOAD, client, right};
use std::time::Duration;
use zk_checker::history::Verb::{Read, Release, Write};
use zk_recipes::{LostReason, Priority, PriorityLock};

/// The lies.
pub(in crate::priority_lock) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: &[],
    plan: |_| Plan { rounds: 4, ..Plan::calm() },
    part: |task, liar| client(task, Box::new(move |zk, preempt| liar.over(right(zk, preempt)))).boxed(),
    rows: &[
        // The reader is reported as holding, but has no znode: a writer enters beside it.
        row(Read, Pretends, Mx4, "a reader is granted the lock without asking"),
        // A granted read is reported as failed: no writer enters for as long as the session lives.
        row(Read, Denies(NOT_HELD), An2, "a reader is granted the lock and told that it is not")
            .or(&[(Mx12, "its znode stays")]),
        row(Read, Refuses(UNMET_OF_HOLDS), An2, "a reader is turned away for a reason that never occurred"),
        // The writer is reported as holding, but has no znode: others enter beside it.
        row(Write, Pretends, Mx4, "a writer is granted the lock without asking"),
        // A granted write is reported as failed: no client enters for as long as the session lives.
        row(Write, Denies(NOT_HELD), An2, "a writer is granted the lock and told that it is not")
            .or(&[(Mx12, "its znode stays")]),
        row(Write, Refuses(UNMET_OF_HOLDS), An2, "a writer is turned away for a reason that never occurred"),
        // The hold is reported as released, but its znode stays: the next waiter waits for as long as the session
        // lives.
        row(Release, Pretends, Mx12, "release returns done and deletes nothing"),
        // The release is reported as failed, but took effect.
        row(Release, DENIES, An3, "release deletes the znode and fails"),
        refuses(Release, UNMET_OF_HOLDS, "release"),
        // A lost hold is reported as kept until its release: the caller does not check the writes made meanwhile.
        row(Release, EndsClean, An1, "release says that a hold lasted until then, whatever has become of it"),
    ],
};

impl<C: Client, Z: ZooKeeper> Urgent for Lying<C, PriorityLock<Z>> {
    type Guard = Hold<C, <PriorityLock<Z> as Urgent>::Guard>;

    async fn acquire(&self, verb: Verb, priority: Priority, limit: Duration) -> Result<Self::Guard, Error> {
        self.liar.grants(verb, || Urgent::acquire(&self.right, verb, priority, limit)).await
    }
}

impl<C: Client, H: HeldUrgently> HeldUrgently for Hold<C, H> {
    async fn revoked(&self) -> Result<(), LostReason> {
        self.waits(H::revoked).await
    }
}
