//! Mutants of the semaphore: the right recipe over an [intercepted](crate::session) session.

pub(super) mod lies;

use super::workload::{WORKLOAD, client, new};
use crate::prelude::*;
use crate::session::{Interceptor, LeavesItsZnode, Reply, Watch, over, watched_list};
use std::sync::{Arc, Mutex};
use zk_harness::workload::TaskFn;
use zk_recipes::zk::{CreateMode, Created, Listing, Op, OpResult};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &COUNTS_HOLDERS,
    &SEES_ITSELF_FIRST,
    &SERVES_THE_SMALL_FIRST,
    &WATCHES_ONE_HOLDER,
    &WOKEN_IS_GRANTED,
    &KEEPS_ITS_NUMBER,
    &EVERYBODY_WATCHES,
    &LEAVES_ITS_PERMIT,
];

/// A mutant of the semaphore.
const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    plan: fn(u64) -> Plan,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, &[], plan, sim)
}

fn crowd(_: u64) -> Plan {
    Plan { clients: 5, rounds: 6, ..Plan::calm() }
}

/// One client's part, with an interceptor for each semaphore.
fn run<C: Client>(task: Task<C>, interceptor: fn() -> Arc<dyn Interceptor<C::Zk>>) -> BoxFuture<'static, ()> {
    client(task, over(interceptor, new)).boxed()
}

/// Whether a list is that of the holders.
fn is_held(path: &str) -> bool {
    path.ends_with("/held")
}

/// The number of permits in a name, of a waiter or a holder.
fn permits_in(name: &str) -> Option<u32> {
    name.split_once("-permits")?.0.rsplit_once('-')?.1.parse().ok()
}

/// A semaphore that counts the znodes of the holders, whatever number of permits each holds.
static COUNTS_HOLDERS: Workload = mutant(
    "semaphore-counts-holders",
    "a semaphore that counts holders, and not the permits that they hold",
    Caught::by(Mx4).harm(&[Sm1]),
    crowd,
    |task| run(task, || Arc::new(CountsHolders)),
);

struct CountsHolders;

impl<Z: ZooKeeper> Interceptor<Z> for CountsHolders {
    fn list(&self, path: &str, mut list: Listing) -> Listing {
        if is_held(path) {
            for name in &mut list.names {
                if let Some((guid, _)) = name.split_once('-').filter(|_| permits_in(name).is_some()) {
                    *name = format!("{guid}-1-permits");
                }
            }
        }
        list
    }
}

/// A semaphore whose clients count and then create, without a line: who counts at the same time is granted at the same time. Kazoo
/// and Curator take an inner lock for that, which may be lost in between.
static SEES_ITSELF_FIRST: Workload = mutant(
    "semaphore-sees-itself-first",
    "a semaphore whose clients count the permits without waiting for their turn",
    Caught::by(Mx15)
        .or(&[(Mx4, "two count at the same time"), (Mx13, "all of them watch the holders")])
        .seen("Kazoo 2.11, by reading"),
    crowd,
    |task| run(task, || Arc::new(SeesItselfFirst::default())),
);

/// The name of its own znode in line.
#[derive(Default)]
struct SeesItselfFirst(Arc<Mutex<String>>);

impl<Z: ZooKeeper> Interceptor<Z> for SeesItselfFirst {
    fn create(&self, zk: &Z, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        remembers(&self.0, zk, path, data, mode)
    }

    fn list(&self, path: &str, mut list: Listing) -> Listing {
        let own = self.0.lock().expect("nobody panics in there");
        list.names.retain(|name| is_held(path) || own.ends_with(name.as_str()));
        list
    }
}

/// Creates a znode, and remembers its path.
fn remembers<Z: ZooKeeper>(
    own: &Arc<Mutex<String>>,
    zk: &Z,
    path: &str,
    data: &[u8],
    mode: CreateMode,
) -> Reply<Created> {
    let (create, own) = (zk.create(path, data, mode), own.clone());
    async move {
        let created = create.await?;
        own.lock().expect("nobody panics in there").clone_from(&created.path);
        Ok(created)
    }
    .boxed()
}

/// A semaphore that serves a request for fewer permits before an earlier one for more, which may wait for ever.
static SERVES_THE_SMALL_FIRST: Workload = mutant(
    "semaphore-serves-the-small-first",
    "a semaphore whose small requests overtake large ones",
    Caught::by(Mx15).or(&[
        (Mx4, "two that are both first count at the same time"),
        (Mx13, "two that are both first watch the same holder"),
    ]),
    crowd,
    |task| run(task, || Arc::new(OverlooksTheLarge::default())),
);

/// The name of its own znode in line.
#[derive(Default)]
struct OverlooksTheLarge(Arc<Mutex<String>>);

impl<Z: ZooKeeper> Interceptor<Z> for OverlooksTheLarge {
    fn create(&self, zk: &Z, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        remembers(&self.0, zk, path, data, mode)
    }

    fn list(&self, path: &str, mut list: Listing) -> Listing {
        let own = permits_in(&self.0.lock().expect("nobody panics in there"));
        list.names.retain(|name| is_held(path) || permits_in(name) <= own);
        list
    }
}

/// A semaphore whose first waiter watches one holder, and not all: another one releases, and nobody is told.
static WATCHES_ONE_HOLDER: Workload = mutant(
    "semaphore-watches-one-holder",
    "a semaphore whose first waiter watches one of the holders",
    Caught::by(Mx7),
    crowd,
    |task| run(task, || Arc::new(WatchesOneHolder)),
);

struct WatchesOneHolder;

impl<Z: ZooKeeper> Interceptor<Z> for WatchesOneHolder {
    fn children_watch(&self, zk: &Z, path: &str) -> Reply<(Listing, Watch)> {
        if !is_held(path) {
            return watched_list(zk, path);
        }
        let (zk, path) = (zk.clone(), path.to_owned());
        async move {
            loop {
                let list = zk.children(&path).await?;
                let Some(holder) = list.names.iter().find(|name| permits_in(name).is_some()) else {
                    return watched_list(&zk, &path).await;
                };
                match zk.children_watch(&format!("{path}/{holder}")).await {
                    Ok((_, watch)) => return Ok((list, watch.boxed())),
                    Err(e) if e.is_no_node() => {}
                    Err(e) => return Err(e),
                }
            }
        }
        .boxed()
    }
}

/// A semaphore whose waiter takes the notification for the permit, and does not count again: it may want two, or the number may have
/// become smaller.
static WOKEN_IS_GRANTED: Workload = mutant(
    "semaphore-woken-is-granted",
    "a semaphore whose waiter takes a notification for the permits that it wants",
    Caught::by(Mx4).harm(&[Sm1]),
    crowd,
    |task| run(task, || Arc::new(WokenIsGranted::default())),
);

/// Whether it has been notified of a change among the holders.
#[derive(Default)]
struct WokenIsGranted(Arc<Mutex<bool>>);

impl<Z: ZooKeeper> Interceptor<Z> for WokenIsGranted {
    fn waits(&self, _: &Z, path: &str, watch: Watch) -> Watch {
        let (is_held, woken) = (is_held(path), self.0.clone());
        async move {
            let event = watch.await;
            *woken.lock().expect("nobody panics in there") |= is_held;
            event
        }
        .boxed()
    }

    fn list(&self, path: &str, mut list: Listing) -> Listing {
        if is_held(path) && *self.0.lock().expect("nobody panics in there") {
            list.names.retain(|name| permits_in(name).is_none());
        }
        list
    }
}

/// A semaphore whose grant does not check the number of permits: it is the one that was read before.
static KEEPS_ITS_NUMBER: Workload = mutant(
    "semaphore-keeps-its-number",
    "a semaphore whose grant does not notice that the number of permits has become smaller",
    Caught::by(Mx4).harm(&[Sm1]),
    |_| Plan { clients: 5, rounds: 20, ..Plan::calm() },
    |task| run(task, || Arc::new(ChecksNothing)),
);

struct ChecksNothing;

impl<Z: ZooKeeper> Interceptor<Z> for ChecksNothing {
    fn multi(&self, zk: &Z, mut ops: Vec<Op>) -> Reply<Vec<OpResult>> {
        for op in &mut ops {
            if let Op::Check { path, .. } = op
                && let Some((held, _)) = path.split_once("/permits-")
            {
                *path = held.to_owned();
            }
        }
        zk.multi(ops).boxed()
    }
}

/// A semaphore whose waiters all watch the line: each grant wakes all of them.
static EVERYBODY_WATCHES: Workload = mutant(
    "semaphore-everybody-watches",
    "a semaphore whose waiters all watch the line",
    Caught::by(Mx13),
    |_| Plan { clients: 6, rounds: 4, ..Plan::calm() },
    |task| run(task, || Arc::new(EverybodyWatches)),
);

struct EverybodyWatches;

impl<Z: ZooKeeper> Interceptor<Z> for EverybodyWatches {
    fn children_watch(&self, zk: &Z, path: &str) -> Reply<(Listing, Watch)> {
        let Some((directory, _)) = path.split_once("/line/") else { return watched_list(zk, path) };
        let (watching, ahead) = (watched_list(zk, &format!("{directory}/line")), zk.children(path));
        async move {
            let watching = watching.await?;
            ahead.await.map(|_| watching)
        }
        .boxed()
    }
}

/// A semaphore that leaves its znodes behind when an acquire is given up: the permit is taken for as long as the session lives.
static LEAVES_ITS_PERMIT: Workload = WORKLOAD.mutant(
    "semaphore-leaves-its-permit",
    "a semaphore whose acquire leaves its znode when it is given up",
    Caught::by(Mx12).or(&[(Mx8, "nobody is granted the permit meanwhile")]).seen("CURATOR-335"),
    &[Fault::Cancel],
    |_| Plan { rounds: 6, ..Plan::calm().with(&[Fault::Cancel], 0.3) },
    |task| run(task, || Arc::new(LeavesItsZnode)),
);
