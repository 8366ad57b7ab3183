//! Calls of a session that has ended, before the call or while it waits.

use super::{Ready, Row, prepared, reads, waits, writes};
use crate::common::{Client, Stage, TIMEOUT, play};
use futures_util::FutureExt;
use sim_zk::fault::Fault;
use std::time::Duration;
use zk_recipes::zk::{Over, ZooKeeper};

async fn ends(stage: &Stage, client: &Client, how: Over) {
    if how == Over::Closed {
        client.zk.close(Duration::from_secs(1)).await.expect("it is closed");
        return;
    }
    client.process.inflict(Fault::SessionExpiry, 3 * TIMEOUT);
    let mut status = client.zk.status();
    while status.over().is_none() {
        status = client.zk.changed(status).await;
    }
    stage.settle().await;
}

/// Prepares a call, ends its session, and makes it; or makes it, and ends the session when it waits.
fn says_that_the_session_is_over(row: &'static Row, how: Over, waits: bool) {
    play(move |stage| async move {
        let a = stage.client("a").await;
        let Ready { mut call, keeps } = prepared(row, &stage, &a).await;
        if waits {
            let waiting = a.process.spawn(call);
            stage.settle().await;
            ends(&stage, &a, how).await;
            call = async move { waiting.await.expect("its process lives") }.boxed();
        } else {
            ends(&stage, &a, how).await;
        }
        let ended = call.await.expect_err(row.name);
        assert!(ended.is_session_over() && ended.is_outcome_unknown(), "{}, {how:?}: {ended}", row.name);
        drop(keeps);
    });
}

#[test]
fn every_call_of_a_session_that_is_over_says_so() {
    for row in writes::all().chain(reads::all()).chain(waits::ALL) {
        for how in [Over::Closed, Over::Expired] {
            says_that_the_session_is_over(row, how, false);
        }
    }
}

#[test]
fn every_call_that_waits_ends_with_its_session() {
    for row in waits::ALL {
        for how in [Over::Closed, Over::Expired] {
            says_that_the_session_is_over(row, how, true);
        }
    }
}
