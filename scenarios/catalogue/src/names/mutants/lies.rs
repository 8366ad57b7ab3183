//! The right name service, one operation of which [lies](crate::lies).

use crate::lies::{FEIGNED, How, LOSSES, Liar, Lie, lossy};
use crate::names::workload::{NameService, Registered, WORKLOAD, client, new};
use crate::prelude::*;
use std::future::pending;
use zk_checker::history::Failure;
use zk_harness::workload::TaskFn;
use zk_recipes::Released;
use zk_recipes::config::Versioned;
use zk_recipes::names::{Freshness, Names, PermanentName, Registration, UniqueName};

/// All mutants.
pub(in crate::names) static ALL: &[&Workload] = &[
    &REGISTER_PRETENDS,
    &REGISTER_DENIES,
    &REGISTER_REFUSES,
    &UNREGISTER_PRETENDS,
    &UNREGISTER_DENIES,
    &UNREGISTER_REFUSES,
    &UNREGISTER_ENDS_CLEAN,
    &RESOLVE_PRETENDS,
    &RESOLVE_REFUSES,
    &RESOLVE_REPEATS,
    &UNIQUE_PRETENDS,
    &UNIQUE_REFUSES,
    &UNIQUE_REPEATS,
];

#[derive(Clone)]
struct LyingNames<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: Names<Z>,
}

impl<C: Client, Z: ZooKeeper> NameService<Z> for LyingNames<C, Z> {
    type Registered = LyingRegistration<C, Z>;

    async fn register(&self, name: &str, data: &[u8]) -> Result<LyingRegistration<C, Z>, Error> {
        let liar = &self.liar;
        let work = || async {
            let right = self.right.register(name, data).await?;
            Ok(LyingRegistration { liar: liar.clone(), right: Some(right) })
        };
        let feigned = || Some(LyingRegistration { liar: liar.clone(), right: None });
        liar.call(Verb::Register, work, feigned).await
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

/// A registration, or a feigned one.
struct LyingRegistration<C, Z: ZooKeeper> {
    liar: Liar<C>,
    right: Option<Registration<Z>>,
}

impl<C: Client, Z: ZooKeeper> Registered<Z> for LyingRegistration<C, Z> {
    fn czxid(&self) -> i64 {
        self.right.as_ref().map_or(FEIGNED, Registration::czxid)
    }

    async fn lost(&self) {
        match &self.right {
            Some(right) => drop(right.lost().await),
            None => pending().await,
        }
    }

    async fn release(self, _: Z) -> Result<Option<Released>, Error> {
        let Some(right) = self.right else { return Ok(None) };
        let work = async { right.release().await.map(Some) };
        self.liar.ends(Verb::Unregister, work, Some(Released::Clean)).await
    }
}

fn run<C: Client>(task: Task<C>, lie: &'static Lie) -> BoxFuture<'static, ()> {
    let liar = Liar::new(&task.client, lie);
    let make = move |zk: &C::Zk, waits| LyingNames { liar: liar.clone(), right: new(zk, waits) };
    client(task, Box::new(make)).boxed()
}

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, &[], |_| Plan { rounds: 6, ..Plan::calm() }, sim)
}

/// A name that is said to be registered, and is not: another client gets it as well.
static REGISTER_PRETENDS: Workload =
    mutant("names-register-pretends", "register returns done and creates nothing", Caught::by(Ns1), |task| {
        run(task, &Lie { verb: Verb::Register, how: How::Pretends })
    });

/// A name that is said not to be registered, and is: for as long as the session lives nobody can have it.
static REGISTER_DENIES: Workload = mutant(
    "names-register-denies",
    "register creates the znode and fails",
    Caught::by(Ns4).or(&[(An3, "a name that was registered for good stays")]),
    |task| run(task, &Lie { verb: Verb::Register, how: How::Denies(&[Failure::Other]) }),
);

/// A free name is said to be taken.
static REGISTER_REFUSES: Workload = mutant(
    "names-register-refuses",
    "register fails for a reason that never occurred, such as an owner that there is not",
    Caught::by(An2),
    |task| {
        const REASONS: &[Failure] = &[Failure::Taken, Failure::TimedOut, Failure::ConnectionLoss];
        run(task, &Lie { verb: Verb::Register, how: How::Refuses(REASONS) })
    },
);

/// A name that is said to be given back, and is not: nobody else can have it.
static UNREGISTER_PRETENDS: Workload = mutant(
    "names-unregister-pretends",
    "unregister returns done and deletes nothing",
    Caught::by(An1),
    |task| run(task, &Lie { verb: Verb::Unregister, how: How::Pretends }),
);

/// A name that is said to be kept, and was given back: another client may have it by now.
static UNREGISTER_DENIES: Workload =
    mutant("names-unregister-denies", "unregister deletes the znode and fails", Caught::by(An3), |task| {
        run(task, &Lie { verb: Verb::Unregister, how: How::Denies(&[Failure::Other]) })
    });

/// A name is not given back, for a reason that is none.
static UNREGISTER_REFUSES: Workload = mutant(
    "names-unregister-refuses",
    "unregister fails for a reason that never occurred",
    Caught::by(An2),
    |task| {
        const REASONS: &[Failure] =
            &[Failure::TimedOut, Failure::Removed, Failure::Denied, Failure::ConnectionLoss];
        run(task, &Lie { verb: Verb::Unregister, how: How::Refuses(REASONS) })
    },
);

/// A registration that was lost is said to have lasted until it was given back: nobody asks who had the name.
static UNREGISTER_ENDS_CLEAN: Workload = WORKLOAD.mutant(
    "names-unregister-ends-clean",
    "unregister says that the registration lasted until then, whatever has become of it",
    Caught::by(An1),
    LOSSES,
    |_| lossy(),
    |task| run(task, &Lie { verb: Verb::Unregister, how: How::EndsClean }),
);

/// A name that is registered is said to be free.
static RESOLVE_PRETENDS: Workload = mutant(
    "names-resolve-pretends",
    "resolve says that there is no such name, without asking",
    Caught::by(Ns5).or(&[(An1, "it was to read behind a sync")]),
    |task| run(task, &Lie { verb: Verb::Resolve, how: How::Pretends }),
);

/// A look-up fails for a reason that never occurred.
static RESOLVE_REFUSES: Workload = mutant(
    "names-resolve-refuses",
    "resolve fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Resolve, how: How::Refuses(UNMET) }),
);

/// A name service that costs twice what it promises.
static RESOLVE_REPEATS: Workload =
    mutant("names-resolve-repeats", "resolve looks the name up twice", Caught::by(An4), |task| {
        run(task, &Lie { verb: Verb::Resolve, how: How::Repeats })
    });

/// A name that is said to be unique, and was made up: two clients have the same.
static UNIQUE_PRETENDS: Workload = mutant(
    "names-unique-pretends",
    "unique makes a name up and creates nothing",
    Caught::by(An1).or(&[(Ns2, "all such names are the same")]),
    |task| run(task, &Lie { verb: Verb::Unique, how: How::Pretends }),
);

/// A unique name is refused for a reason that never occurred.
static UNIQUE_REFUSES: Workload = mutant(
    "names-unique-refuses",
    "unique fails for a reason that never occurred",
    Caught::by(An2),
    |task| run(task, &Lie { verb: Verb::Unique, how: How::Refuses(UNMET) }),
);

/// A name that is made, and of which nobody knows.
static UNIQUE_REPEATS: Workload = mutant(
    "names-unique-repeats",
    "unique makes two names and returns the second",
    Caught::by(An4),
    |task| run(task, &Lie { verb: Verb::Unique, how: How::Repeats }),
);

/// Reasons for which a look-up may fail, none of which has occurred.
const UNMET: &[Failure] = &[Failure::Denied, Failure::NoNode, Failure::ConnectionLoss, Failure::TimedOut];
