//! Frames as client libraries of other languages send them.

use crate::any_bytes::{converse, hello, take};
use sim_zk::Config;
use sim_zk::choose::Calm;
use sim_zk::message::{Answer, Code, Down, Refusal};
use sim_zk::raw::Raw;
use sim_zk::wire::Codec;

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as i32).to_be_bytes(), text.as_bytes()].concat()
}

/// An authentication: operation 100, with a type that no server reads.
fn authentication(xid: i32, scheme: &str) -> Vec<u8> {
    let header = [xid.to_be_bytes(), 100i32.to_be_bytes(), 0i32.to_be_bytes()].concat();
    [header, text(scheme), text("ann:secret")].concat()
}

/// go-zookeeper and the crate zookeeper-client number authentications like other requests, and wait for a reply with
/// that xid. The Java and C clients send -4 (`ZooKeeperServer.processPacket` repeats the xid).
#[test]
fn the_reply_to_an_authentication_repeats_its_xid() {
    for servers in [1, 3] {
        for xid in [-4, 7] {
            let mut raw = Raw::new(Config::default().with_servers(servers), Calm);
            let told = converse(&mut raw, 0, &[authentication(xid, "digest")]);
            let done = Down::Reply { xid, zxid: 0, result: Ok(Answer::Nothing) };
            assert_eq!(told[1], done, "{servers} servers");
            let told = converse(&mut raw, 0, &[authentication(xid, "nonsense")]);
            let failed = Down::Reply { xid, zxid: 0, result: Err(Refusal::All(Code::AuthFailed)) };
            assert_eq!(told[1..], [failed, Down::Fin], "{servers} servers");
        }
    }
}

/// The crate zookeeper-async sends its first request behind its connect request. A server reads it once the session is
/// open (`ServerCnxn.disableRecv`), at the leader and at a follower, which asks the leader first.
#[test]
fn a_request_behind_a_connect_request_is_answered_behind_the_session() {
    for server in 0..3 {
        let mut raw = Raw::new(Config::default().with_servers(3), Calm);
        let mut codec = Codec::default();
        let conn = raw.connect(server, codec.hello(&hello()));
        let exists = [7i32.to_be_bytes(), 3i32.to_be_bytes()].concat();
        let exists = [exists, text("/"), vec![0]].concat();
        let requests = [exists, [(-2i32).to_be_bytes(), 11i32.to_be_bytes()].concat()];
        let requests = requests.iter().map(|frame| codec.request(frame, raw.paths())).collect();
        raw.send(conn, requests);
        let told = take(&mut raw, conn, 1_000_000);
        let [
            Down::Connected { timeout, .. },
            Down::Reply { xid: 7, result, .. },
            Down::Reply { xid: -2, .. },
        ] = told.as_slice()
        else {
            panic!("server {server}: {told:?}")
        };
        assert!(*timeout > 0 && matches!(result, Ok(Answer::Stat(_))), "server {server}: {told:?}");
    }
}
