//! What the client spends beside the network: allocations, wake-ups and tasks of a call, and the packets of its requests.
//!
//! The server is a stub on a thread of its own, so that only the client is counted. It grants whatever is asked for.

mod kept;
#[path = "../common/script.rs"]
#[allow(dead_code, reason = "this binary uses a part of it")]
mod script;
mod stub;

use allocation_counter::measure;
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use stub::Stub;
use tokio::runtime::{Builder, Handle, Runtime};
use zk_client::{Client, Options};
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Lock, LockOptions, Parents};

/// Calls before anything is counted: buffers have their size then.
const WARM_UP: usize = 200;

/// Calls that are counted.
const COUNTED: usize = 500;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime starts")
}

async fn open(stub: &Stub) -> (Client, Lock<Client>) {
    let options = Options::new(Duration::from_secs(30));
    let zk = Client::open(&stub.address(), options).await.expect("the stub answers");
    let options = LockOptions::default().with_parents(Parents::MustExist);
    let lock = Lock::new(&zk, "/lock", options).expect("the path is good");
    (zk, lock)
}

async fn takes_and_releases(lock: &Lock<Client>, times: usize) {
    for _ in 0..times {
        lock.acquire().await.expect("it is free").release().await.expect("it is held");
    }
}

/// Drives a future and counts how often it is polled.
async fn polled<T>(future: impl Future<Output = T>) -> (T, usize) {
    let mut future = pin!(future);
    let polls = Cell::new(0);
    let output = std::future::poll_fn(|context| {
        polls.set(polls.get() + 1);
        future.as_mut().poll(context)
    });
    (output.await, polls.get())
}

/// The most allocations of an acquire and its release, three requests in all.
const MOST_ALLOCATIONS: u64 = 33;

#[test]
fn a_call_allocates_little() {
    let (stub, runtime) = (Stub::start(), runtime());
    let (zk, lock) = runtime.block_on(open(&stub));
    runtime.block_on(takes_and_releases(&lock, WARM_UP));
    let counted = measure(|| runtime.block_on(takes_and_releases(&lock, COUNTED)));
    let each = counted.count_total.div_ceil(COUNTED as u64);
    assert!(
        each <= MOST_ALLOCATIONS,
        "{each} allocations an acquire and release, at most {MOST_ALLOCATIONS}"
    );
    assert!(counted.count_current < 100, "{} allocations are kept", counted.count_current);
    drop(zk);
}

#[test]
fn a_call_wakes_once_for_each_round_trip_and_spawns_no_task() {
    let (stub, runtime) = (Stub::start(), runtime());
    runtime.block_on(async {
        let (_zk, lock) = open(&stub).await;
        takes_and_releases(&lock, WARM_UP).await;
        let tasks = Handle::current().metrics().num_alive_tasks();
        for _ in 0..COUNTED {
            let (guard, polls) = polled(lock.acquire()).await;
            assert!(polls <= 2, "{polls} polls of an acquire: one sends, and one has both replies");
            assert_eq!(Handle::current().metrics().num_alive_tasks(), tasks);
            let (_, polls) = polled(guard.expect("it is free").release()).await;
            assert!(polls <= 2, "{polls} polls of a release");
        }
    });
}

#[test]
fn requests_of_one_flight_leave_in_one_packet() {
    let (stub, runtime) = (Stub::start(), runtime());
    runtime.block_on(async {
        let (zk, lock) = open(&stub).await;
        takes_and_releases(&lock, WARM_UP).await;
        stub.take_packets();
        takes_and_releases(&lock, COUNTED).await;
        let packets = stub.take_packets();
        assert_eq!(
            packets,
            [2, 1].repeat(COUNTED),
            "create and list in one packet, and the delete in another"
        );
        futures_util::future::join_all((0..100).map(|_| zk.exists("/lock"))).await;
        assert_eq!(stub.take_packets(), [100]);
    });
}
