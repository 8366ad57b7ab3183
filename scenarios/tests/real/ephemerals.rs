//! What the ephemerals of a session take in the transaction that ends it: a client refuses the one of which servers would die,
//! and the limit is what real servers survive (ZOOKEEPER-4306).

use crate::common::calls::Objects;
use crate::common::site::Real;
use crate::common::{connected, open, run};
use std::time::Duration;
use zk_client::{Client, Options};
use zk_recipes::ZooKeeper;
use zk_recipes::zk::{CreateMode, Error, Op};
use zk_serve::{Ensemble, Server as Served};
use zk_suite::Site;

const TICK: Duration = Duration::from_secs(1);

const SESSION: Options = Options::new(Duration::from_secs(20));

const LIMIT: Duration = Duration::from_secs(60);

/// The most bytes of paths, each with a length of 4, that a server survives: twice `jute.maxbuffer`, without the 48 bytes of a
/// closeSession beside them.
const SURVIVED: usize = 2 * 0xfffff - 48;

/// The length of most paths.
const PATH: usize = 1020;

/// The operations of a transaction that a server takes.
const OPS: usize = 700;

/// Simulated members behind sockets that die as real ones do.
fn served(servers: u8) -> Served {
    let options = zk_serve::Options { servers, tick: TICK, dies_of_long_closes: true, ..Default::default() };
    Ensemble::listen(&options).and_then(|ensemble| Ok(ensemble.spawn()?)).unwrap()
}

/// Paths that take so many bytes together.
fn paths(bytes: usize) -> Vec<String> {
    let (mut left, mut paths) = (bytes, Vec::new());
    while left > 0 {
        let length = if left > 2 * PATH { PATH } else { left - 4 };
        paths.push(format!("/{:0width$}", paths.len(), width = length - 1));
        left -= length + 4;
    }
    paths
}

/// Creates ephemerals at these paths.
async fn fills(zk: &Client, paths: &[String]) -> Result<(), Error> {
    let create =
        |path: &String| Op::Create { path: path.clone(), data: Vec::new(), mode: CreateMode::Ephemeral };
    for some in paths.chunks(OPS) {
        zk.multi(some.iter().map(create).collect()).await?;
    }
    Ok(())
}

#[test]
fn a_server_survives_as_many_ephemerals_as_the_limit_allows_and_dies_of_more() {
    let Options { max_ephemeral_bytes, .. } = SESSION;
    assert!(max_ephemeral_bytes <= SURVIVED, "the limit is what servers survive");
    for (bytes, survives) in [(SURVIVED, true), (SURVIVED + 1, false)] {
        let Some(mut server) = crate::common::server(TICK) else { return };
        run(async {
            let zk = open(&server.address(), SESSION.with_max_ephemeral_bytes(usize::MAX)).await;
            fills(&zk, &paths(bytes)).await.unwrap();
            assert_eq!(zk.close(LIMIT).await, Ok(()), "it goes on until it is started again");
        });
        let started = server.start_again();
        assert_eq!(started.is_ok(), survives, "{bytes} bytes: {started:?}");
    }
}

/// What passes the limit is refused before it is sent; what is deleted, by whomever, makes room.
async fn keeps_the_limit(address: &str) {
    let (me, other) = (open(address, SESSION).await, open(address, SESSION).await);
    let all = paths(SESSION.max_ephemeral_bytes);
    fills(&me, &all).await.expect("the limit is not passed");
    let create = |path: &str, mode| me.create(path, b"", mode);
    for mode in [CreateMode::Ephemeral, CreateMode::EphemeralSequential] {
        let refused = create("/one-more", mode).await.unwrap_err();
        assert!(refused.is_session_full() && !refused.is_outcome_unknown(), "{refused}");
    }
    let several = ["/one", "/more"].map(|path| Op::Create {
        path: path.to_owned(),
        data: Vec::new(),
        mode: CreateMode::Ephemeral,
    });
    assert!(me.multi(several.to_vec()).await.is_err_and(|e| e.is_session_full()));
    assert_eq!(other.exists("/one").await, Ok(None), "nothing of it was sent");
    assert!(create("/persistent", CreateMode::Persistent).await.is_ok(), "that is no ephemeral");
    // Its own deletions are known.
    me.delete(&all[0], None).await.unwrap();
    assert!(create(&all[0], CreateMode::Ephemeral).await.is_ok());
    assert!(create("/one-more", CreateMode::Ephemeral).await.is_err_and(|e| e.is_session_full()));
    // Those of others are read, and what is called behind the create stays behind it.
    other.delete(&all[1], None).await.unwrap();
    me.sync("/").await.unwrap();
    let flight = (create("/one-more", CreateMode::Ephemeral), me.exists("/one-more"), me.children("/"));
    assert!(flight.0.await.is_ok(), "another client has made room");
    assert!(flight.1.await.is_ok_and(|stat| stat.is_some()), "calls keep their order");
    assert!(flight.2.await.is_ok_and(|list| list.names.contains(&"one-more".to_owned())));
    assert_eq!(me.close(LIMIT).await, Ok(()));
}

#[test]
fn the_create_that_would_pass_the_limit_is_refused_and_every_deletion_makes_room() {
    run(keeps_the_limit(&served(1).connect_string()));
    let Some(mut server) = crate::common::server(TICK) else { return };
    run(keeps_the_limit(&server.address()));
    assert!(server.start_again().is_ok(), "the limit is what a server survives");
}

/// The limit counts what the server counts: a chroot, and the digits of a sequential name.
#[test]
fn a_chroot_and_the_digits_of_a_sequential_name_are_counted() {
    const NAMES: usize = 5;
    let served = served(1);
    run(async {
        let above = open(&served.connect_string(), SESSION).await;
        above.create("/chroot", b"", CreateMode::Persistent).await.unwrap();
        let each = 4 + "/chroot/lock-0000000000".len();
        let options = SESSION.with_max_ephemeral_bytes(NAMES * each);
        let me = open(&format!("{}/chroot", served.connect_string()), options).await;
        // All in one flight: what is not answered yet counts.
        let asked: Vec<_> =
            (0..=NAMES).map(|_| me.create("/lock-", b"", CreateMode::EphemeralSequential)).collect();
        let made = futures_util::future::join_all(asked).await;
        assert!(made[..NAMES].iter().all(Result::is_ok), "{made:?}");
        assert!(made[NAMES].as_ref().is_err_and(Error::is_session_full));
    });
}

/// A create whose answer is lost counts until it is known what became of it, and no longer.
#[test]
fn creates_whose_answers_are_lost_take_no_room_for_ever() {
    let served = served(1);
    run(async {
        let options = SESSION.with_max_ephemeral_bytes(10 * (4 + "/lost-0".len()));
        let site = Real::new(served.connect_string(), "", options);
        let me = site.open().await;
        for round in 0..30 {
            let path = format!("/lost-{}", round % 10);
            let made = me.create(&path, b"", CreateMode::Ephemeral);
            site.cut(&me).await;
            assert!(!made.await.is_err_and(|e| e.is_session_full()), "round {round}");
            connected(&me).await;
            let _ = me.delete(&path, None).await;
        }
    });
}

#[test]
fn every_recipe_says_that_the_session_is_full_and_leaves_nothing() {
    /// Calls that need an ephemeral of their own.
    const NEED_ONE: [&str; 12] = [
        "Names::register",
        "Group::join",
        "DoubleBarrier::enter",
        "Lock::acquire",
        "SharedLock::read",
        "SharedLock::write",
        "RevocableLock::read",
        "RevocableLock::write",
        "PriorityLock::read",
        "PriorityLock::write",
        "Election::stand",
        "Queue: Consumer::claim",
    ];
    let served = served(1);
    run(async {
        let me = open(&served.connect_string(), SESSION.with_max_ephemeral_bytes(0)).await;
        let objects = Objects::new(&me, "/mine", 2).unwrap();
        let needing = objects.waits().into_iter().filter(|(name, _)| NEED_ONE.contains(name));
        let mut ended = 0;
        for (name, work) in needing {
            let end = tokio::time::timeout(LIMIT, work).await.expect("it does not wait");
            assert!(end.as_ref().is_err_and(Error::is_session_full), "{name}: {end:?}");
            ended += 1;
        }
        assert_eq!(ended, NEED_ONE.len());
        assert_eq!(me.close(LIMIT).await, Ok(()), "no clean-up is left to do");
        let other = open(&served.connect_string(), SESSION).await;
        for directory in ["lock", "shared-lock", "revocable-lock", "election", "names", "group"] {
            let left = other.children(&format!("/mine/{directory}")).await;
            assert_eq!(left.map_or(0, |list| list.names.len()), 0, "{directory}");
        }
    });
}
