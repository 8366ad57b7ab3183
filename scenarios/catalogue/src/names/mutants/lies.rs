//! The right name service, one operation of which [lies](crate::lies).

use crate::lies::How::{EndsClean, Pretends, Refuses, Repeats};
use crate::lies::{DENIES, FEIGNED, Hold, Lies, Lying, UNMET_OF_READS, refuses, row};
use crate::names::workload::{NameService, Registered, WORKLOAD, client, new};
use crate::prelude::*;
use zk_checker::history::Failure::{ConnectionLoss, Denied, Removed, Taken, TimedOut};
use zk_checker::history::Verb::{Register, Resolve, Unique, Unregister};
use zk_recipes::names::{Freshness, Names, PermanentName, Registration, UniqueName};
use zk_recipes::{Released, Versioned};

/// The lies.
pub(in crate::names) static LIES: Lies = Lies {
    workload: &WORKLOAD,
    faults: &[],
    plan: |_| Plan { rounds: 6, ..Plan::calm() },
    part: |task, liar| client(task, Box::new(move |zk, waits| liar.over(new(zk, waits)))).boxed(),
    rows: &[
        // The name is reported as registered, but is not: another client gets it as well.
        row(Register, Pretends, Ns1, "register returns done and creates nothing"),
        // The registration is reported as failed, but took effect: no client can have the name for as long as the
        // session lives.
        row(Register, DENIES, Ns4, "register creates the znode and fails")
            .or(&[(An3, "a name that was registered for good stays")]),
        // A free name is reported as taken.
        row(
            Register,
            Refuses(&[Taken, TimedOut, ConnectionLoss]),
            An2,
            "register fails for a reason that never occurred, such as an owner that there is not",
        ),
        // The name is reported as released, but is not: no other client can have it.
        row(Unregister, Pretends, An1, "unregister returns done and deletes nothing"),
        // The release is reported as failed, but took effect: another client may have the name by now.
        row(Unregister, DENIES, An3, "unregister deletes the znode and fails"),
        refuses(Unregister, &[TimedOut, Removed, Denied, ConnectionLoss], "unregister"),
        // A lost registration is reported as kept until its release: the caller does not check which client had the
        // name.
        row(
            Unregister,
            EndsClean,
            An1,
            "unregister says that the registration lasted until then, whatever has become of it",
        ),
        // A registered name is reported as free.
        row(Resolve, Pretends, Ns5, "resolve says that there is no such name, without asking")
            .or(&[(An1, "it was to read behind a sync")]),
        refuses(Resolve, UNMET_OF_READS, "resolve"),
        // A lookup that costs twice what the recipe promises.
        row(Resolve, Repeats, An4, "resolve looks the name up twice"),
        // A name is reported as unique, but was made up: two clients have the same.
        row(Unique, Pretends, An1, "unique makes a name up and creates nothing")
            .or(&[(Ns2, "all such names are the same")]),
        refuses(Unique, UNMET_OF_READS, "unique"),
        // A name is created that no client knows.
        row(Unique, Repeats, An4, "unique makes two names and returns the second"),
    ],
};

impl<C: Client, Z: ZooKeeper> NameService<Z> for Lying<C, Names<Z>> {
    type Registered = Hold<C, Registration<Z>>;

    async fn register(&self, name: &str, data: &[u8]) -> Result<Self::Registered, Error> {
        self.liar.grants(Verb::Register, || self.right.register(name, data)).await
    }

    async fn register_permanent(
        &self,
        names: &Names<Z>,
        name: &str,
        data: &[u8],
    ) -> Result<PermanentName<Z>, Error> {
        let work = || async { names.register_permanent(name, data).await };
        self.liar.call(Verb::Register, work, || None).await
    }

    async fn unregister(&self, registered: &PermanentName<Z>) -> Result<bool, Error> {
        let work = async { registered.unregister().await };
        self.liar.call_once(Verb::Unregister, work, || Some(true)).await
    }

    async fn resolve(
        &self,
        names: &Names<Z>,
        name: &str,
        freshness: Freshness,
    ) -> Result<Option<Versioned>, Error> {
        let work = || async { names.resolve(name, freshness).await };
        self.liar.call(Verb::Resolve, work, || Some(None)).await
    }

    async fn unique(&self, names: &Names<Z>, prefix: &str) -> Result<UniqueName, Error> {
        let work = || async { names.unique(prefix).await };
        let feigned = || Some(UniqueName { name: format!("{prefix}-1"), number: 1, czxid: FEIGNED });
        self.liar.call(Verb::Unique, work, feigned).await
    }
}

impl<C: Client, Z: ZooKeeper> Registered<Z> for Hold<C, Registration<Z>> {
    fn czxid(&self) -> i64 {
        self.held.as_ref().map_or(FEIGNED, Registration::token)
    }

    async fn lost(&self) {
        self.waits(Registration::lost).await;
    }

    async fn release(self, _: Z) -> Result<Option<Released>, Error> {
        let Some(right) = self.held else { return Ok(None) };
        let work = async { right.release().await.map(Some) };
        self.liar.ends(Verb::Unregister, work, Some(Released::Clean)).await
    }
}
