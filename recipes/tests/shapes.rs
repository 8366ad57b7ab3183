//! What the compiler is to promise: futures that can be spawned, a guard that is one of a kind and not to be ignored.

mod common;

use common::{Guard, play};
use sim_zk::SimClient;
use std::time::Duration;
use zk_recipes::{Lock, LockOptions};

fn can_be_spawned<T: Send>(_: &T) {}
fn can_be_shared<T: Send + Sync + 'static>() {}

/// Every future of the lock can be spawned on a runtime of many threads; checked where it compiles.
#[allow(dead_code, reason = "it only has to compile")]
fn every_future_can_be_spawned(lock: &Lock<SimClient>, mut guard: Guard) {
    can_be_spawned(&lock.acquire());
    can_be_spawned(&lock.try_acquire());
    can_be_spawned(&lock.acquire_within(Duration::ZERO));
    can_be_spawned(&lock.contenders());
    can_be_spawned(&guard.lost());
    can_be_spawned(&guard.resumed());
    can_be_spawned(&guard.run(std::future::pending::<()>()));
    can_be_spawned(&guard.transact(vec![]));
    can_be_spawned(&guard.transact_once(vec![]));
    can_be_spawned(&guard.release());
}

/// Two of these hold for a type that is `Clone`, so that the compiler cannot tell which is meant.
trait IsOneOfAKind<Why> {
    const YES: bool = true;
}
impl<T> IsOneOfAKind<()> for T {}
impl<T: Clone> IsOneOfAKind<&'static str> for T {}

const _: () = assert!(<Guard as IsOneOfAKind<_>>::YES);

/// Fails to compile without a warning that the guard is not to be ignored.
#[allow(dead_code, reason = "it only has to compile")]
#[expect(unused_must_use, reason = "a guard that is ignored is released at once")]
fn a_guard_is_not_to_be_ignored(guard: fn() -> Guard) {
    guard();
}

#[test]
fn locks_and_guards_go_from_task_to_task() {
    can_be_shared::<Lock<SimClient>>();
    can_be_shared::<Guard>();
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let lock = Lock::new(&a.zk, common::DIRECTORY, LockOptions::default()).expect("the path is good");
        let clone = lock.clone();
        let held = a.process.spawn(async move { clone.acquire().await }).await.expect("its process lives");
        let held = held.expect("it is granted");
        assert!(format!("{held:?}").contains(held.path()), "it says which it is");
        b.process
            .spawn(async move { held.release().await })
            .await
            .expect("its process lives")
            .expect("released");
        drop(lock.acquire().await);
    });
}
