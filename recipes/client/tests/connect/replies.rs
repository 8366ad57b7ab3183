//! Long replies: over slow links, and from servers that are none.

use super::script::{ZXID, answer, serves};
use super::{open, run};
use std::io::{Read, Write};
use std::time::Duration;
use zk_client::Options;
use zk_protocol::wire::jute::Out;
use zk_protocol::wire::{frame, number};
use zk_recipes::zk::{Runtime, Stat, State, ZooKeeper};

/// The reply takes several times the session timeout, and bytes flow.
#[test]
fn a_long_reply_over_a_slow_link_arrives_and_does_not_renew_the_lease() {
    const TIMEOUT: i32 = 600;
    const CHUNKS: usize = 20;
    let slow = serves(|mut peer| {
        peer.welcomes(TIMEOUT);
        let Some((xid, _)) = peer.request() else { return };
        let data = [7; 1000 * CHUNKS];
        let mut body = Out::default();
        body.buffer(Some(&data)).stat(&Stat::default());
        let reply = frame::of(&answer(xid, ZXID, 0, body.as_bytes()));
        let _ = peer.stream.set_read_timeout(Some(Duration::from_millis(100)));
        let mut pings = 0;
        for chunk in reply.chunks(1000) {
            let _ = peer.stream.write_all(chunk);
            // Pings are answered behind the reply: meanwhile they pass the time.
            pings += usize::from(peer.stream.read(&mut [0; 1024]).is_ok());
        }
        for _ in 0..pings {
            peer.answers(number::PING_XID, 0, &[]);
        }
        let _ = peer.stream.set_read_timeout(None);
        peer.goes_on();
    });
    run(async {
        let zk = open(&slow, Options::new(Duration::from_millis(600))).await;
        let (connected, lease) = (zk.status(), zk.safe_until());
        let get = zk.get("/large");
        zk.sleep_until(lease).await;
        assert_eq!(zk.safe_until(), lease, "bytes are no answer");
        assert_eq!(zk.status(), connected, "and keep the connection");
        assert_eq!(get.await.expect("it arrives").data.len(), 1000 * CHUNKS);
        assert!(zk.safe_until() > lease);
        assert_eq!(zk.status(), connected);
    });
}

#[test]
fn a_reply_that_exceeds_the_limit_ends_the_connection_at_once() {
    for (declared, options) in [
        (0x0fff_ffff, Options::new(Duration::from_secs(600))),
        (-7, Options::new(Duration::from_secs(600))),
        (2_001, Options::new(Duration::from_secs(600)).with_max_reply_bytes(2_000)),
    ] {
        let other = serves(move |mut peer| {
            peer.welcomes(600_000);
            peer.hears();
            let _ = peer.stream.write_all(&i32::to_be_bytes(declared));
            // Until the client has gone.
            let _ = peer.stream.read(&mut [0; 1]);
        });
        run(async {
            let zk = open(&other, options).await;
            let lost = zk.get("/").await.expect_err("it is too long");
            assert!(lost.is_outcome_unknown() && !lost.is_session_over(), "{declared}: {lost}");
            assert_eq!(zk.status().state, State::Suspended);
        });
    }
}
