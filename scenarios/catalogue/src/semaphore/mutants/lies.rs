//! The right semaphore, one operation of which [lies](crate::lies).

use crate::lies::How::{Denies, EndsClean, FindsNothing, Pretends, Repeats};
use crate::lies::{DENIES, Hold, How, Lies, Lying, NOT_HELD, UNMET_OF_HOLDS, UNMET_OF_READS, refuses, row};
use crate::prelude::*;
use crate::semaphore::workload::{Permitting, WORKLOAD, client, new};
use zk_checker::history::Verb::{Acquire, Contenders, Get, Release, Resize, TryAcquire};
use zk_recipes::{PermitHolder, Semaphore};

/// The lies.
pub(in crate::semaphore) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: &[],
    plan: |_| Plan { rounds: 8, ..Plan::calm() },
    part: |task, liar| client(task, Box::new(move |zk| liar.over(new(zk)))).boxed(),
    rows: &[
        row(Acquire, Pretends, Mx4, "acquire grants permits without asking"),
        row(Acquire, Denies(NOT_HELD), An2, "acquire is granted permits and fails")
            .or(&[(Mx12, "its znode stays"), (Mx8, "nobody is granted permits meanwhile")]),
        refuses(Acquire, UNMET_OF_HOLDS, "acquire"),
        row(TryAcquire, Pretends, Mx4, "an attempt is granted permits without asking"),
        row(TryAcquire, Denies(NOT_HELD), An2, "an attempt is granted permits and fails")
            .or(&[(Mx12, "its znode stays")]),
        refuses(TryAcquire, UNMET_OF_HOLDS, "an attempt"),
        row(TryAcquire, FindsNothing, An2, "an attempt says that no permits are free, without asking"),
        row(Release, Pretends, Mx12, "release returns done and deletes nothing"),
        row(Release, DENIES, An3, "release deletes the znode and fails"),
        refuses(Release, UNMET_OF_HOLDS, "release"),
        row(Release, EndsClean, An1, "release says that a hold lasted until then, whatever has become of it"),
        row(Get, Pretends, An1, "permits makes a number up"),
        refuses(Get, UNMET_OF_READS, "permits"),
        row(Get, Repeats, An4, "permits reads the number twice"),
        row(Contenders, Pretends, An1, "holders says that nobody holds permits, without asking"),
        refuses(Contenders, UNMET_OF_READS, "holders"),
        row(Resize, Pretends, An1, "set_permits returns done and changes nothing"),
        row(Resize, DENIES, An3, "set_permits changes the number and fails"),
    ],
};

impl<C: Client, Z: ZooKeeper> Permitting for Lying<C, Semaphore<Z>> {
    type Guard = Hold<C, <Semaphore<Z> as Permitting>::Guard>;

    async fn take(&self, call: Call, permits: u32) -> Result<Option<Self::Guard>, Error> {
        let liar = &self.liar;
        let work = || async {
            let held = self.right.take(call, permits).await?;
            Ok(held.map(|held| Hold::of(liar, held)))
        };
        let feigned = || Some((liar.how() != How::FindsNothing).then(|| Hold::feigned(liar)));
        liar.call(call.verb, work, feigned).await
    }

    async fn permits(&self) -> Result<u32, Error> {
        self.liar.call(Get, || self.right.permits(), || Some(7)).await
    }

    async fn set_permits(&self, permits: u32) -> Result<(), Error> {
        self.liar.call(Resize, || self.right.set_permits(permits), || Some(())).await
    }

    async fn holders(&self) -> Result<Vec<PermitHolder>, Error> {
        self.liar.call(Contenders, || self.right.holders(), || Some(Vec::new())).await
    }
}
