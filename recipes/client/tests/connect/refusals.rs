//! Servers that refuse a session, or are none.

use super::addresses::lives;
use super::run;
use super::script::{greets, serves};
use std::time::Duration;
use zk_client::{Client, Options};
use zk_recipes::zk::ZooKeeper;

const SHORT: Options = Options::new(Duration::from_millis(800));

#[test]
fn a_server_that_grants_a_new_session_no_time_is_passed_over() {
    run(async {
        for millis in [0, -1, i32::MIN] {
            let liar = serves(move |mut peer| peer.welcomes(millis));
            for _ in 0..4 {
                let zk =
                    Client::open(&format!("{liar},{}", lives()), SHORT).await.expect("the other one is used");
                assert!(zk.status().is_connected());
            }
        }
    });
}

#[test]
fn a_session_that_exists_and_is_granted_no_time_has_expired() {
    let ends = greets(|mut peer, hello| {
        peer.grants(if hello.is_new() { 2_000 } else { 0 });
    });
    run(async {
        let zk = Client::open(&ends, Options::new(Duration::from_secs(2))).await.expect("it is granted");
        let mut status = zk.status();
        while status.over().is_none() {
            status = zk.changed(status).await;
        }
        assert_eq!(
            status.over().map(|over| over.to_string()).as_deref(),
            Some("the session is over (expired)")
        );
    });
}
