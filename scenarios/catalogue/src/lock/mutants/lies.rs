//! The right lock, one operation of which [lies](crate::lies).

use crate::lies::How::{Denies, EndsClean, FindsNothing, Pretends};
use crate::lies::{DENIES, Hold, How, Lies, Lying, NOT_HELD, UNMET_OF_HOLDS, refuses, row};
use crate::lock::workload::{Exclusive, WORKLOAD, client, new};
use crate::prelude::*;
use zk_checker::history::Verb::{Acquire, Release, TryAcquire};
use zk_recipes::Lock;

/// The lies.
pub(in crate::lock) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    part: |task, liar| client(task, Box::new(move |zk| liar.over(new(zk)))).boxed(),
    rows: &[
        // The client is reported as holding, but has no znode: the next holder enters beside it.
        row(Acquire, Pretends, Mx4, "acquire grants the lock without asking")
            .harm(&[Mx3])
            .breaks(Promise::Exclusion),
        // A granted acquire is reported as failed: no other client holds for as long as the session lives.
        row(Acquire, Denies(NOT_HELD), An2, "acquire is granted and fails")
            .or(&[(Mx12, "its znode stays"), (Mx8, "nobody is granted the lock meanwhile")]),
        refuses(Acquire, UNMET_OF_HOLDS, "acquire"),
        // A held lock is reported as free.
        row(TryAcquire, Pretends, Mx4, "an attempt is granted the lock without asking"),
        // An attempt that succeeds is reported as failed.
        row(TryAcquire, Denies(NOT_HELD), An2, "an attempt is granted the lock and fails")
            .or(&[(Mx12, "its znode stays")]),
        refuses(TryAcquire, UNMET_OF_HOLDS, "an attempt"),
        // A free lock is reported as taken: its caller never gets it.
        row(TryAcquire, FindsNothing, An2, "an attempt says that the lock is not free, without asking"),
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

impl<C: Client, Z: ZooKeeper> Exclusive for Lying<C, Lock<Z>> {
    type Guard = Hold<C, <Lock<Z> as Exclusive>::Guard>;

    async fn take(&self, call: Call) -> Result<Option<Self::Guard>, Error> {
        let liar = &self.liar;
        let work = || async {
            let held = self.right.take(call).await?;
            Ok(held.map(|held| Hold::of(liar, held)))
        };
        let feigned = || Some((liar.how() != How::FindsNothing).then(|| Hold::feigned(liar)));
        liar.call(call.verb, work, feigned).await
    }
}
