//! Arbitrary bytes from clients: a server answers, refuses or hangs up, and continues to serve.

use proptest::prelude::*;
use sim_zk::choose::Calm;
use sim_zk::message::Down;
use sim_zk::raw::Raw;
use sim_zk::wire::Codec;
use sim_zk::{Config, ConnId};

/// The first frame of a connection, for a new session of six seconds.
pub fn hello() -> Vec<u8> {
    let mut frame = Vec::new();
    frame.extend(0i32.to_be_bytes());
    frame.extend(0i64.to_be_bytes());
    frame.extend(6000i32.to_be_bytes());
    frame.extend(0i64.to_be_bytes());
    frame.extend(16i32.to_be_bytes());
    frame.extend([0; 16]);
    frame
}

/// A request of any operation: its body begins with a text, as most bodies do, followed by arbitrary bytes.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        Just(String::new()),
        "/[a-c]?(/[a-c.]{0,2}){0,3}",
        "[/a\u{0}\u{e000}]{0,4}",
        Just("/zookeeper/quota/a/zookeeper_limits".to_owned()),
    ];
    let rest = proptest::collection::vec(prop_oneof![Just(0u8), Just(1), Just(255), any::<u8>()], 0..60);
    (-20i32..110, text, rest).prop_map(|(operation, text, rest)| {
        let mut frame = Vec::new();
        frame.extend(7i32.to_be_bytes());
        frame.extend(operation.to_be_bytes());
        frame.extend((text.len() as i32).to_be_bytes());
        frame.extend(text.as_bytes());
        frame.extend(rest);
        frame
    })
}

/// Takes the packets that a connection receives within a time.
pub fn take(raw: &mut Raw, conn: ConnId, micros: u64) -> Vec<Down> {
    let end = raw.now() + micros;
    while raw.advance(end) {}
    std::iter::from_fn(|| raw.receive(conn)).collect()
}

/// Sends frames on a new connection, and takes the packets that it receives within ten seconds.
pub fn converse(raw: &mut Raw, server: u8, frames: &[Vec<u8>]) -> Vec<Down> {
    let mut codec = Codec::default();
    let conn = raw.connect(server, codec.hello(&hello()));
    let requests = frames.iter().map(|frame| codec.request(frame, raw.paths())).collect();
    let end = raw.now() + 100_000;
    while raw.advance(end) {}
    raw.send(conn, requests);
    let told = take(raw, conn, 10_000_000);
    for down in &told {
        assert_eq!(
            codec.frame(down, raw.paths()).is_none(),
            *down == Down::Fin,
            "all but the end is a frame"
        );
    }
    told
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_frames_stop_an_ensemble(frames in proptest::collection::vec(frame(), 1..30), servers in 1u8..4) {
        let config = Config::default().with_servers(servers);
        let mut raw = Raw::new(config, Calm);
        converse(&mut raw, 0, &frames);
        // A ping, and its answer.
        let ping = [(-2i32).to_be_bytes(), 11i32.to_be_bytes()].concat();
        for server in 0..servers {
            let told = converse(&mut raw, server, std::slice::from_ref(&ping));
            let answered = told.iter().any(|down| matches!(down, Down::Reply { xid: -2, result: Ok(_), .. }));
            prop_assert!(answered, "server {server} serves: {told:?}");
        }
        prop_assert!(raw.world().is_settled(), "and nothing is stuck");
    }
}
