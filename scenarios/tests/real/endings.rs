//! How sessions end on real servers: what callers are told of a session is what the client does.
//!
//! Where no ZooKeeper is installed the tests say so and pass, unless `ZK_REQUIRE_REAL=1` asks for them.

use crate::common::secure::KnowsUser;
use crate::common::{connected, open, over, run, server, server_with};
use std::time::Duration;
use zk_client::{Acl, Client, Options};
use zk_real::Settings;
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Over, ZooKeeper};
use zk_recipes::{Group, GroupOptions, Lock, LockOptions, WithData};

const TICK: Duration = Duration::from_millis(200);
const SESSION: Options = Options::new(Duration::from_secs(2));

fn expired() -> Error {
    ErrorKind::SessionOver(Over::Expired).into()
}

#[test]
fn a_server_that_wants_to_know_every_client_ends_the_session_of_one_that_it_does_not_know() {
    let properties = &["zookeeper.enforce.auth.enabled=true", "zookeeper.enforce.auth.schemes=digest"];
    let Some(wants_digest) = server_with(TICK, Settings { properties, ..Settings::default() }) else {
        return;
    };
    let Some(wants_sasl) = KnowsUser::start_exclusive(TICK) else { return };
    run(async {
        is_refused(&wants_digest.address()).await;
        is_refused(&wants_sasl.server.address()).await;
        let known = SESSION.with_auth("digest", "ann:pw").with_acl(Acl::creator());
        let known = open(&wants_digest.address(), known).await;
        assert!(known.create("/known", b"", CreateMode::Ephemeral).await.is_ok());
    });
}

/// A client without credentials has no session there, whether it asks or waits.
async fn is_refused(address: &str) {
    let refused = Some(ErrorKind::SessionOver(Over::AuthFailed).into());
    let asks = open(address, SESSION).await;
    assert_eq!(asks.get("/").await.err(), refused);
    assert_eq!((over(&asks).await, asks.status().connection), (Over::AuthFailed, 1));
    // A ping is refused as well.
    let waits = open(address, SESSION).await;
    assert_eq!((over(&waits).await, waits.status().connection), (Over::AuthFailed, 1));
    let lock = Lock::new(&waits, "/lock", LockOptions::default()).unwrap();
    assert_eq!(lock.acquire().await.err(), refused);
}

#[test]
fn a_session_of_a_server_that_comes_back_empty_ends_by_itself() {
    let Some(mut server) = server(TICK) else { return };
    let address = server.address();
    run(async {
        let zk = open(&address, SESSION).await;
        zk.create("/a", b"", CreateMode::Persistent).await.unwrap();
        server.shut_down();
        server.forget().unwrap();
        server.start_again().unwrap();
        ends_everywhere(&zk).await;
        open(&address, SESSION).await.create("/a", b"", CreateMode::Persistent).await.unwrap();
    });
}

#[test]
fn a_session_of_a_server_that_comes_back_with_a_backup_ends_by_itself_also_if_the_backup_knows_it() {
    let Some(mut server) = server(TICK) else { return };
    let address = server.address();
    run(async {
        let founder = open(&address, SESSION).await;
        founder.create("/before", b"", CreateMode::Persistent).await.unwrap();
        let known = open(&address, Options::new(Duration::from_secs(4))).await;
        known.create("/mine", b"", CreateMode::Ephemeral).await.unwrap();
        server.shut_down();
        let backup = server.back_up().unwrap();
        server.start_again().unwrap();
        let unknown = open(&address, SESSION).await;
        for name in 0..20 {
            unknown.create(&format!("/later-{name}"), b"", CreateMode::Persistent).await.unwrap();
        }
        known.sync("/").await.or_else(|e| if e.is_transient() { Ok(()) } else { Err(e) }).unwrap();
        connected(&known).await;
        known.set("/before", b"later", None).await.unwrap();
        server.shut_down();
        server.restore(&backup).unwrap();
        server.start_again().unwrap();
        futures_util::join!(ends_everywhere(&known), ends_everywhere(&unknown));
        let fresh = open(&address, SESSION).await;
        assert_eq!(fresh.exists("/later-0").await, Ok(None));
        assert_eq!(fresh.exists("/mine").await, Ok(None), "the session of the backup has expired as well");
    });
}

/// Every wait of a session ends, and says why.
async fn ends_everywhere(zk: &Client) {
    let lock = Lock::new(zk, "/lock", LockOptions::default()).unwrap();
    let mut views = Group::new(zk, "/group", GroupOptions::default()).unwrap().follow(WithData::No);
    let waits = async {
        loop {
            // A view that was taken before the end is one.
            if let Err(e) = views.next().await {
                return e;
            }
        }
    };
    let acquired = async { lock.acquire().await.map(drop) };
    let (acquired, seen) = futures_util::join!(acquired, waits);
    assert_eq!((acquired, seen, over(zk).await), (Err(expired()), expired(), Over::Expired));
}
