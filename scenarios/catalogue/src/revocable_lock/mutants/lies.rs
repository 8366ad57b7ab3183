//! The right revocable lock, one operation of which [lies](crate::lies).

use crate::lies::How::{EndsClean, FindsNothing, Pretends, Refuses, StopsHalfway};
use crate::lies::{DENIES, Hold, Lies, Lying, UNMET_OF_HOLDS, refuses, row};
use crate::prelude::*;
use crate::revocable_lock::workload::{HeldUntilAsked, Revocable, WORKLOAD, client, new};
use std::time::Duration;
use zk_checker::history::Failure::{self, Denied, Removed, Revoked};
use zk_checker::history::Verb::{Ask, Downgrade, Force, Read, Release, TryRead, TryWrite, Write};
use zk_recipes::{Contender, Fate};

/// The lies.
pub(in crate::revocable_lock) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: &[],
    plan: |_| Plan { clients: 4, rounds: 4, ..Plan::calm() },
    part: |task, liar| client(task, Box::new(move |zk| liar.over(new(zk)))).boxed(),
    rows: &[
        // The holder is reported as asked to go, but is never notified.
        row(Ask, Pretends, An1, "a request to go is said to be written, and is not"),
        refuses(Ask, UNMET_OF_HOLDS, "a request to go"),
        // The holder is reported as revoked by force, but still holds.
        row(Force, Pretends, An1, "a contender is said to be deleted, and is not even asked"),
        // The forced revocation is reported as failed, but took effect. Most contenders go within the grace period: it
        // takes many rounds.
        row(Force, DENIES, An3, "a contender is deleted by force, and the call fails").plan(|_| Plan {
            clients: 4,
            rounds: 24,
            ..Plan::calm()
        }),
        refuses(Force, UNMET_OF_HOLDS, "a forced revocation"),
        // A contender that was only asked to go is reported as deleted: the second step, after the grace period, is
        // left out.
        row(Force, StopsHalfway, An1, "a contender is said to be deleted when the first request is answered"),
        // The reader is reported as holding, but has no znode: a writer enters beside it.
        row(Read, Pretends, Rw2, "a reader is granted the lock without asking").harm(&[Rw1]),
        // A reader fails for a reason that never occurred, such as a request to go that no client has made.
        row(
            Read,
            Refuses(NOT_ASKED),
            An2,
            "a reader is said to be asked to go, or fails for another reason that never occurred",
        ),
        // The writer is reported as holding, but has no znode: others enter beside it.
        row(Write, Pretends, Rw2, "a writer is granted the lock without asking").harm(&[Rw1]),
        // A writer fails for a reason that never occurred, such as a request to go that no client has made.
        row(
            Write,
            Refuses(NOT_ASKED),
            An2,
            "a writer is said to be asked to go, or fails for another reason that never occurred",
        ),
        refuses(TryRead, UNMET_OF_HOLDS, "a reader's attempt"),
        // A free lock is reported as taken: its reader never gets it.
        row(TryRead, FindsNothing, An2, "a reader's attempt says that the lock is not free, without asking"),
        refuses(TryWrite, UNMET_OF_HOLDS, "a writer's attempt"),
        // A free lock is reported as taken: its writer never gets it.
        row(TryWrite, FindsNothing, An2, "a writer's attempt says that the lock is not free, without asking"),
        // The writer is reported as a reader, but still blocks all others.
        row(Downgrade, Pretends, Rw2, "downgrade returns done and leaves the writer's znode"),
        // The hold is reported as released, but its znode stays: the next waiter waits for as long as the session
        // lives.
        row(Release, Pretends, Mx12, "release returns done and deletes nothing"),
        // The release is reported as failed, but took effect.
        row(Release, DENIES, An3, "release deletes the znode and fails"),
        // A lost hold is reported as kept until its release: the caller does not check the writes made meanwhile.
        row(Release, EndsClean, An1, "release says that a hold lasted until then, whatever has become of it"),
    ],
};

/// Reasons for which a contender may fail, none of which has occurred.
const NOT_ASKED: &[Failure] = &[Revoked, Removed, Denied];

// Takes and downgrades lie as those of the shared lock.
impl<C: Client, L: Revocable> Revocable for Lying<C, L> {
    async fn contenders(&self) -> Result<Vec<Contender>, Error> {
        self.right.contenders().await
    }

    async fn ask(&self, contender: &Contender) -> Result<Fate, Error> {
        let work = || async { self.right.ask(contender).await };
        self.liar.call(Verb::Ask, work, || Some(Fate::Asked)).await
    }

    async fn force(&self, contender: &Contender, grace: Duration) -> Result<Fate, Error> {
        let work = || async { self.right.force(contender, grace).await };
        self.liar.call(Verb::Force, work, || Some(Fate::Forced)).await
    }
}

impl<C: Client, H: HeldUntilAsked> HeldUntilAsked for Hold<C, H> {
    async fn is_asked(&self) -> bool {
        self.waits(H::is_asked).await
    }
}
