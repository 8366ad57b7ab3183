//! The stream of states.

use super::addresses::lives;
use super::script::greets;
use super::{open, run};
use futures_util::StreamExt;
use std::time::Duration;
use zk_client::Options;
use zk_recipes::zk::{Over, State};

#[test]
fn states_follow_the_session_to_its_end() {
    run(async {
        let (hang_up, hangs_up) = std::sync::mpsc::channel::<()>();
        let flaky = greets(move |mut peer, hello| {
            peer.grants(if hello.is_new() { 2_000 } else { 0 });
            // Until the test says so.
            let _ = hangs_up.recv();
        });
        let zk = open(&flaky, Options::new(Duration::from_secs(2))).await;
        let mut states = zk.states();
        assert_eq!(states.next().await.map(|status| status.state), Some(State::Connected));
        drop(hang_up);
        assert_eq!(states.next().await.map(|status| status.state), Some(State::Suspended));
        assert_eq!(states.next().await.map(|status| status.state), Some(State::Over(Over::Expired)));
        assert_eq!(states.next().await, None);
    });
}

#[test]
fn a_stream_of_states_does_not_keep_a_session_open() {
    run(async {
        let zk = open(&lives(), Options::new(Duration::from_secs(10))).await;
        let mut states = zk.states();
        assert!(states.next().await.is_some_and(|status| status.is_connected()));
        drop(zk);
        assert_eq!(states.next().await.map(|status| status.state), Some(State::Over(Over::Closed)));
        assert_eq!(states.next().await, None);
    });
}
