//! The right shared lock, one operation of which [lies](crate::lies).

use crate::lies::How::{Denies, EndsClean, FindsNothing, Pretends, Refuses};
use crate::lies::{DENIES, Hold, How, Lies, Lying, NOT_HELD, UNMET_OF_HOLDS, refuses, row};
use crate::prelude::*;
use crate::shared_lock::workload::{Granted, Shared, Taken, WORKLOAD, client, new};
use zk_checker::history::Verb::{Downgrade, Read, Release, TryRead, TryWrite, Write};
use zk_recipes::NotDowngraded;

/// The lies.
pub(in crate::shared_lock) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: &[],
    plan: |_| Plan { clients: 4, rounds: 4, ..Plan::calm() },
    part: |task, liar| client(task, Box::new(move |zk| liar.over(new(zk)))).boxed(),
    rows: &[
        // The reader is reported as holding, but has no znode: a writer enters beside it.
        row(Read, Pretends, Rw2, "a reader is granted the lock without asking").harm(&[Rw1]),
        // A granted read is reported as failed: no writer enters for as long as the session lives.
        row(Read, Denies(NOT_HELD), An2, "a reader is granted the lock and told that it is not")
            .or(&[(Mx12, "its znode stays")]),
        row(Read, Refuses(UNMET_OF_HOLDS), An2, "a reader is turned away for a reason that never occurred"),
        // The writer is reported as holding, but has no znode: others enter beside it.
        row(Write, Pretends, Rw2, "a writer is granted the lock without asking").harm(&[Rw1]),
        // A granted write is reported as failed: no client enters for as long as the session lives.
        row(Write, Denies(NOT_HELD), An2, "a writer is granted the lock and told that it is not")
            .or(&[(Mx12, "its znode stays")]),
        row(Write, Refuses(UNMET_OF_HOLDS), An2, "a writer is turned away for a reason that never occurred"),
        refuses(TryRead, UNMET_OF_HOLDS, "a reader's attempt"),
        // A free lock is reported as taken: its reader never gets it.
        row(TryRead, FindsNothing, An2, "a reader's attempt says that the lock is not free, without asking"),
        // A held lock is reported as free.
        row(TryWrite, Pretends, Rw2, "a writer's attempt is granted the lock without asking").harm(&[Rw1]),
        refuses(TryWrite, UNMET_OF_HOLDS, "a writer's attempt"),
        // A free lock is reported as taken: its writer never gets it.
        row(TryWrite, FindsNothing, An2, "a writer's attempt says that the lock is not free, without asking"),
        // The writer is reported as a reader, but still blocks all others.
        row(Downgrade, Pretends, Rw2, "downgrade returns done and leaves the writer's znode"),
        // The downgrade is reported as failed, but took effect.
        row(Downgrade, DENIES, Mx12, "downgrade is done, and fails")
            .or(&[(An1, "the hold that it says it has is none, and ends clean")]),
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

impl<C: Client, L: Shared> Shared for Lying<C, L> {
    type Read = Hold<C, L::Read>;
    type Write = Hold<C, L::Write>;

    async fn take(&self, call: Call) -> Taken<Self::Read, Self::Write> {
        let liar = &self.liar;
        let work = || async {
            let granted = self.right.take(call).await?;
            Ok(granted.map(|granted| match granted {
                Granted::Read(held) => Granted::Read(Hold::of(liar, held)),
                Granted::Write(held) => Granted::Write(Hold::of(liar, held)),
            }))
        };
        let feigned = || {
            Some(match call.verb {
                _ if liar.how() == How::FindsNothing => None,
                Verb::Read | Verb::TryRead => Some(Granted::Read(Hold::feigned(liar))),
                _ => Some(Granted::Write(Hold::feigned(liar))),
            })
        };
        liar.call(call.verb, work, feigned).await
    }

    async fn downgrade(write: Self::Write) -> Result<Self::Read, NotDowngraded<Self::Write>> {
        let Hold { liar, held } = write;
        let Some(held) = held else { return Ok(Hold { liar, held: None }) };
        if !liar.lies_in(Verb::Downgrade) {
            return match L::downgrade(held).await {
                Ok(held) => Ok(Hold { liar, held: Some(held) }),
                Err(NotDowngraded { guard, error }) => {
                    Err(NotDowngraded { guard: Hold { liar, held: Some(guard) }, error })
                }
            };
        }
        match liar.how() {
            How::Pretends => {
                // The writer's znode stays.
                std::mem::forget(held);
                Ok(Hold { liar, held: None })
            }
            how => {
                let error = liar.reason_of(how);
                let denies = matches!(how, How::Denies(_));
                if denies && let Ok(read) = L::downgrade(held).await {
                    std::mem::forget(read);
                }
                Err(NotDowngraded { guard: Hold { liar, held: None }, error })
            }
        }
    }
}
