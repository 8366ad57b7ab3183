//! Own code declares objects and names rules: each rule judges one of them, or is refused at once, in a sentence.

use futures_util::future::BoxFuture;
use sim_zk::SimClient;
use std::cell::Cell;
use std::panic::catch_unwind;
use std::time::Duration;
use zk_checker::Layer;
use zk_harness::testing::prelude::*;
use zk_harness::testing::{first_failure, holds, shown, turns};
use zk_recipes::zk::{CreateMode, Error};
use zk_recipes::{Released, Stop, ZooKeeper};

/// The clients that may be inside at once.
const LEASES: u32 = 2;

const DIRECTORY: &str = "/leases";

/// A place among the first znodes of the directory.
struct Lease {
    zk: SimClient,
    path: String,
    token: i64,
}

impl Held for Lease {
    fn token(&self) -> i64 {
        self.token
    }
    async fn lost(&self) -> Stop {
        std::future::pending().await
    }
    async fn release(self) -> Result<Released, Error> {
        self.zk.delete(&self.path, None).await.map(|()| Released::Clean)
    }
}

/// Simply dropped, it goes as well.
impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.zk.delete(&self.path, None));
    }
}

/// Waits for a place among so many.
async fn lease(zk: SimClient, places: usize) -> Result<Lease, Error> {
    // It may be there.
    let _ = zk.create(DIRECTORY, b"", CreateMode::Persistent).await;
    let own = zk.create(&format!("{DIRECTORY}/l-"), b"", CreateMode::EphemeralSequential).await?;
    loop {
        let (listing, changes) = zk.children_watch(DIRECTORY).await?;
        let mut names = listing.names;
        names.sort();
        let before = names.iter().take_while(|name| !own.path.ends_with(name.as_str())).count();
        if before < places {
            return Ok(Lease { zk, token: own.stat.czxid, path: own.path });
        }
        let _ = changes.await;
    }
}

fn as_many_as_there_are(task: Task<SimProcess>) -> BoxFuture<'static, ()> {
    turns(task, |zk| lease(zk, LEASES as usize)).boxed()
}

/// The mistake: one too many.
fn one_more(task: Task<SimProcess>) -> BoxFuture<'static, ()> {
    turns(task, |zk| lease(zk, LEASES as usize + 1)).boxed()
}

static SM_1: Stated =
    Stated { finishes_within: Duration::from_secs(60), rules: Some(&[RuleId::Sm1]), sometimes: &[] };

fn crowded(_: u64) -> Plan {
    Plan { clients: 5, rounds: 4, ..Plan::calm() }
}

static SEMAPHORE: Workload = Workload {
    plan: crowded,
    ..Workload::own(
        "semaphore",
        |names, setting| {
            vec![Object { size: LEASES, ..setting.held(Kind::Semaphore, names.intern(DIRECTORY)) }]
        },
        as_many_as_there_are,
        &SM_1,
    )
};
static CROWDED: Workload = Workload { name: "crowded", sim: one_more, ..SEMAPHORE };
static WITHOUT_SIZE: Workload = Workload {
    name: "without-size",
    objects: |names, setting| vec![setting.held(Kind::Semaphore, names.intern(DIRECTORY))],
    ..SEMAPHORE
};

#[test]
fn a_semaphore_is_judged_by_its_size() {
    holds(&SEMAPHORE, 0..20);
    assert_eq!(shown(&SEMAPHORE, 0).1, Verdict::Pass);
    let failure = first_failure(&CROWDED, 0..20).expect("three are inside");
    assert_eq!(failure.what, "SM-1");
    assert!(failure.finding.contains("3 clients hold one at once; there are 2 leases"), "{failure}");
    let shrunk = failure.shrunk.as_ref().expect("it fails again");
    assert_eq!(shrunk.after().clients, 3, "{failure}");
    assert_eq!(
        refused(&WITHOUT_SIZE).expect("it has no size"),
        "without-size: the semaphore /leases has no leases: declare how many, as its `size`"
    );
}

thread_local! {
    /// The kind of the one object.
    static KIND: Cell<Kind> = const { Cell::new(Kind::Lock) };
}

fn one_object(names: &mut Names, setting: &Setting) -> Vec<Object> {
    vec![Object { size: 2, ..setting.held(KIND.get(), names.intern("/object")) }]
}

/// What the testing API says before the first run.
fn refused(workload: &'static Workload) -> Option<String> {
    let said = catch_unwind(|| first_failure(workload, 0..0)).err()?;
    let said = said.downcast_ref::<String>().expect("it is a sentence").clone();
    (!said.starts_with("no evidence")).then_some(said)
}

#[test]
fn each_rule_judges_an_object_of_its_kind_or_is_refused() {
    let mut judged = Vec::new();
    for kind in Kind::ALL {
        KIND.set(*kind);
        let mut rules = Vec::new();
        for rule in RuleId::ALL {
            let stated = Stated { rules: Some(Box::leak(Box::new([*rule]))), ..CALM };
            let own = Workload::own("own", one_object, |_| async {}.boxed(), Box::leak(Box::new(stated)));
            let own: &'static Workload = Box::leak(Box::new(own));
            let objects = one_object(&mut Names::default(), &Setting::simulated(&Plan::calm()));
            let is_judged =
                rule.layer() <= Layer::ZooKeeper || objects.iter().any(|object| rule.judges(object));
            match refused(own) {
                Some(said) => {
                    assert!(said.starts_with("own: ") && !said.contains('\n'), "{said}");
                    assert!(said.contains(rule.name()) || said.contains("/object"), "{said}");
                }
                None => {
                    assert!(is_judged, "{} of a {}", rule.name(), kind.name());
                    rules.push(rule.name());
                }
            }
        }
        let families = rules.iter().filter(|rule| !rule.starts_with("ZK") && **rule != "W");
        let mut families: Vec<&str> = families.filter_map(|rule| rule.split('-').next()).collect();
        families.dedup();
        judged.push(format!("{}: {}", kind.name(), families.join(" ")));
    }
    assert_eq!(judged, JUDGED);
}

const CALM: Stated = Stated { finishes_within: Duration::from_secs(60), rules: Some(&[]), sometimes: &[] };

/// The families of rules that judge own code, by kind of object. What foreign programs alone have is refused.
const JUDGED: [&str; 20] = [
    "lock: MX SV AN",
    "shared_lock: MX RW SV AN",
    "revocable_lock: MX RW RV SV AN",
    "priority_lock: MX RV SV AN",
    "election: MX LE SV AN",
    "barrier: BA AN",
    "double_barrier: DB AN",
    "queue: QU AN",
    "priority_queue: QU AN",
    "two_phase_commit: TC AN",
    "names: NS AN",
    "config: CF AN",
    "group: GM AN",
    "persistent_node: PN AN",
    "shared_counter: CT AN",
    "permits: MX SM AN",
    "semaphore: SM",
    "counter: ",
    "partition: ",
    "cache: ",
];
