//! Frames as client libraries of other languages send them.

use crate::any_bytes::converse;
use sim_zk::Config;
use sim_zk::choose::Calm;
use sim_zk::message::{Answer, Code, Down, Refusal};
use sim_zk::raw::Raw;

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as i32).to_be_bytes(), text.as_bytes()].concat()
}

/// An authentication: operation 100, with a type that no server reads.
fn authentication(xid: i32, scheme: &str) -> Vec<u8> {
    let header = [xid.to_be_bytes(), 100i32.to_be_bytes(), 0i32.to_be_bytes()].concat();
    [header, text(scheme), text("ann:secret")].concat()
}

/// go-zookeeper and the crate zookeeper-client count authentications like other requests, and wait for a reply of that
/// number. The Java and C clients send -4 (`ZooKeeperServer.processPacket` repeats what it was sent).
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
