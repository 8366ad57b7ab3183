//! Limits on calls that give something back, while there is no connection.

use crate::common::{Client, Stage, play};
use std::future::Future;
use std::time::Duration;
use zk_recipes::zk::Error;
use zk_recipes::{
    DoubleBarrier, DoubleBarrierOptions, Election, ElectionOptions, Group, GroupOptions, Leave, Names,
    NamesOptions, Reuse, Semaphore, SemaphoreOptions,
};

/// Less than it takes until there is a connection again.
const LIMIT: Duration = Duration::from_millis(500);

/// The call ends with its limit; its znode is deleted once there is a connection.
async fn gives_up_in_time<T: std::fmt::Debug>(
    stage: &Stage,
    a: &Client,
    call: impl Future<Output = Result<T, Error>>,
) {
    let asked = stage.sim.now();
    assert!(call.await.expect_err("there is no connection").is_timed_out());
    assert_eq!(stage.sim.now().since(asked), LIMIT);
    a.is_connected_again().await;
    stage.settle().await;
    a.has_left_nothing(stage, "after the connection came back");
}

#[test]
fn a_release_ends_with_its_limit() {
    play(|stage| async move {
        let a = stage.founder().await;
        let held = a.acquires().await;
        a.is_disconnected().await;
        gives_up_in_time(&stage, &a, held.release().within(LIMIT)).await;
    });
}

#[test]
fn a_release_of_permits_ends_with_its_limit() {
    play(|stage| async move {
        let a = stage.founder().await;
        let options = SemaphoreOptions::default();
        let semaphore = Semaphore::new(&a.zk, "/slots", 3, options).expect("the input is good");
        let held = semaphore.acquire(2).await.expect("they are free");
        a.is_disconnected().await;
        gives_up_in_time(&stage, &a, held.release().within(LIMIT)).await;
    });
}

#[test]
fn a_resignation_ends_with_its_limit() {
    play(|stage| async move {
        let a = stage.founder().await;
        let election = Election::new(&a.zk, "/offices/a", ElectionOptions::default()).expect("a good path");
        let term = election.stand().await.expect("nobody else stands");
        term.acknowledge(b"begun").await.expect("it leads");
        a.is_disconnected().await;
        gives_up_in_time(&stage, &a, term.resign().within(LIMIT)).await;
    });
}

#[test]
fn the_end_of_a_registration_ends_with_its_limit() {
    play(|stage| async move {
        let a = stage.founder().await;
        let names = Names::new(&a.zk, "/names", NamesOptions::default()).expect("a good path");
        let registered = names.register("db", b"db-1:5432").await.expect("it is free");
        a.is_disconnected().await;
        gives_up_in_time(&stage, &a, registered.release().within(LIMIT)).await;
    });
}

#[test]
fn the_end_of_a_membership_ends_with_its_limit() {
    play(|stage| async move {
        let a = stage.founder().await;
        let group = Group::new(&a.zk, "/workers", GroupOptions::default()).expect("a good path");
        let member = group.join(Some("one"), b"").await.expect("it is new");
        a.is_disconnected().await;
        gives_up_in_time(&stage, &a, member.leave().within(LIMIT)).await;
    });
}

#[test]
fn the_end_of_a_place_in_a_double_barrier_ends_with_its_limit() {
    play(|stage| async move {
        let a = stage.founder().await;
        let alone = DoubleBarrierOptions::new(1, Reuse::Generations, Leave::Keeper);
        let barrier = DoubleBarrier::new(&a.zk, "/barriers/a", alone).expect("a good path");
        let inside = barrier.enter().await.expect("it waits for nobody");
        a.is_disconnected().await;
        gives_up_in_time(&stage, &a, inside.leave().within(LIMIT)).await;
    });
}
