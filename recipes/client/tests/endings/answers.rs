//! Answers about the session: to requests, to one of several operations, to pings, and out of turn.

use super::script::{Peer, greets};
use super::{TIMEOUT, open, over, run, until};
use futures_util::join;
use std::time::Duration;
use zk_client::Client;
use zk_protocol::wire::jute::Out;
use zk_protocol::wire::number::{AUTH_XID, ERROR, GET_DATA, MULTI, MULTI_READ, PING, PING_XID};
use zk_recipes::ZooKeeper;
use zk_recipes::zk::{Error, ErrorKind, Op, Over, Stat, State};

const EXPIRED: i32 = -112;
const AUTH_FAILED: i32 = -115;
const MOVED: i32 = -118;
const REQUIRES_SASL: i32 = -124;
const UNKNOWN_SESSION: i32 = -12;

/// None if the client has gone.
type Script = fn(&mut Peer) -> Option<()>;

/// A result that is an error, of an answer to several operations.
fn failed(code: i32) -> Vec<u8> {
    Out::default().int(ERROR).bool(false).int(code).int(code).as_bytes().to_vec()
}

/// The data of a znode, as a result of such an answer.
fn data() -> Vec<u8> {
    let mut out = Out::default();
    out.int(GET_DATA).bool(false).int(0).text("x").stat(&Stat::default());
    out.done()
}

/// The end of such an answer.
fn end() -> Vec<u8> {
    Out::default().int(ERROR).bool(true).int(-1).as_bytes().to_vec()
}

/// Answers a transaction without an operation.
fn answers_one(peer: &mut Peer) -> Option<()> {
    let xid = peer.expects(MULTI)?;
    peer.answers(xid, 0, &end())
}

/// Asks for two things at once. Returns what callers are told: by the calls, by the status, and by a later call.
async fn told(zk: &Client) -> [Option<Error>; 3] {
    let check = |path: &str| Op::Check { path: path.to_owned(), version: None };
    let write = async { zk.multi(vec![check("/a"), check("/b")]).await.map(drop) };
    let read = async { zk.get_many(&["/a".to_owned(), "/b".to_owned()]).await.map(drop) };
    let (written, read) = join!(write, read);
    let over = over(zk).await;
    [written.and(read).err(), over, zk.get("/").await.err()]
}

#[test]
fn what_an_answer_says_about_the_session_is_what_the_session_does() {
    let answers: [(&str, Over, Script); 8] = [
        ("to a request", Over::Expired, |peer| {
            let xid = peer.expects(MULTI)?;
            peer.answers(xid, EXPIRED, b"")
        }),
        ("of a server that enforces authentication", Over::AuthFailed, |peer| {
            let xid = peer.expects(MULTI)?;
            peer.answers(xid, AUTH_FAILED, b"")
        }),
        ("of a server that wants SASL", Over::AuthFailed, |peer| {
            let xid = peer.expects(MULTI)?;
            peer.answers(xid, REQUIRES_SASL, b"")
        }),
        ("to a later request, before the first is answered", Over::AuthFailed, |peer| {
            let xid = peer.expects(MULTI_READ)?;
            peer.answers(xid, REQUIRES_SASL, b"")
        }),
        ("in a transaction", Over::Expired, |peer| {
            let xid = peer.expects(MULTI)?;
            peer.answers(xid, 0, &[failed(0), failed(EXPIRED), end()].concat())
        }),
        ("in a read of several znodes", Over::Expired, |peer| {
            let (write, read) = (peer.expects(MULTI)?, peer.expects(MULTI_READ)?);
            peer.answers(write, 0, &end());
            peer.answers(read, 0, &[data(), failed(EXPIRED), end()].concat())
        }),
        ("to a ping", Over::AuthFailed, |peer| {
            peer.expects(PING)?;
            peer.answers(PING_XID, AUTH_FAILED, b"")
        }),
        ("about credentials", Over::AuthFailed, |peer| {
            peer.expects(MULTI)?;
            peer.answers(AUTH_XID, AUTH_FAILED, b"")
        }),
    ];
    for (answer, why, script) in answers {
        let address = greets(move |mut peer, _| {
            peer.grants(TIMEOUT);
            script(&mut peer);
            peer.stays();
        });
        run(async {
            let zk = open(&address).await;
            assert_eq!(
                told(&zk).await,
                [(); 3].map(|()| Some(ErrorKind::SessionOver(why).into())),
                "an answer {answer}"
            );
            assert_eq!(zk.status().connection, 1, "no other connection after an answer {answer}");
            assert_eq!(zk.close(Duration::from_secs(5)).await, Ok(()), "an answer {answer}");
        });
    }
}

#[test]
fn a_server_that_does_not_serve_the_session_is_left() {
    let answers: [(&str, Script); 3] = [
        ("that it has moved", |peer| {
            let xid = peer.expects(MULTI)?;
            peer.answers(xid, MOVED, b"")
        }),
        ("that it is unknown", |peer| {
            let xid = peer.expects(MULTI)?;
            peer.answers(xid, UNKNOWN_SESSION, b"")
        }),
        // A follower passes on what the leader says of a transaction, and does not hang up.
        ("in a transaction", |peer| {
            let xid = peer.expects(MULTI)?;
            peer.answers(xid, 0, &[failed(MOVED), end()].concat())
        }),
    ];
    for (answer, script) in answers {
        let address = greets(move |mut peer, hello| {
            peer.grants(TIMEOUT);
            let script = if hello.is_new() { script } else { answers_one };
            script(&mut peer);
            peer.stays();
        });
        run(async {
            let zk = open(&address).await;
            assert_eq!(
                zk.multi(Vec::new()).await,
                Err(ErrorKind::ConnectionLoss.into()),
                "an answer {answer}"
            );
            let status = until(&zk, |status| status.state != State::Suspended).await;
            assert_eq!((status.state, status.connection), (State::Connected, 2), "an answer {answer}");
            assert_eq!(zk.multi(Vec::new()).await, Ok(Vec::new()), "an answer {answer}");
        });
    }
}
