//! What only the client for real servers can show: addresses, threads, runtimes, and servers that say odd things.
//!
//! `recipes/CLIENTS.md` compares it with the simulated client. Where no ZooKeeper is installed the tests that need one say so and
//! pass, unless `ZK_REQUIRE_REAL=1` asks for them.

use crate::common::site::Real;
use crate::common::{connection, open, over, refusing, run, run_on};
use futures_util::future::join_all;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;
use zk_client::{Client, Options};
use zk_protocol::wire::frame;
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Over, ZooKeeper};
use zk_suite::Site;

const TICK: Duration = Duration::from_millis(200);
const SESSION: Options = Options::new(Duration::from_secs(2));

/// The operation that a connection begins with has no number.
const CONNECT: Option<i32> = None;

/// `ZooDefs.OpCode.auth`.
const AUTH: Option<i32> = Some(100);

#[test]
fn dead_and_mute_servers_are_passed_over() {
    let Some(server) = crate::common::server(TICK) else { return };
    let (_held, dead) = refusing();
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let all = format!("{dead},{},{}", mute.local_addr().unwrap(), server.address());
    // The order is drawn for each session: of eight, some begin with each.
    let opened = run(join_all((0..8).map(|_| Client::open(&all, Options::new(Duration::from_secs(12))))));
    let failed: Vec<_> = opened.iter().filter_map(|zk| zk.as_ref().err()).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn watches_dropped_while_away_are_not_registered_again() {
    let Some(server) = crate::common::server(TICK) else { return };
    run(async {
        let site = Real::new(server.address(), "", SESSION);
        let zk = site.open().await;
        let (_, data) = zk.get_watch("/").await.unwrap();
        let (_, children) = zk.children_watch("/").await.unwrap();
        let (_, kept) = zk.exists_watch("/later").await.unwrap();
        let tree = zk.watch_tree("/tree").await.unwrap();
        let before = zk.status();
        site.with_way(&zk, |way| way.refuse(true));
        site.cut(&zk).await;
        drop((data, children, tree));
        site.with_way(&zk, |way| way.refuse(false));
        connection(&zk, before.connection + 1).await;
        zk.sync("/").await.unwrap();
        let told = server.ask("mntr").unwrap();
        assert!(told.contains("zk_watch_count\t1\n"), "one is left: {told}");
        zk.create("/later", b"", CreateMode::Persistent).await.unwrap();
        assert_eq!(kept.await.unwrap().path, "/later");
    });
}

/// A slot that is free for the next request while an event of its former watch can still arrive breaks that request.
#[test]
fn watches_that_several_threads_drop_and_arm_do_not_meet() {
    const TASKS: usize = 8;
    const ROUNDS: usize = 1500;
    let Some(server) = crate::common::server(TICK) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    run_on(&runtime, async {
        let zk = open(&server.address(), Options::new(Duration::from_secs(10))).await;
        zk.create("/a", b"", CreateMode::Persistent).await.unwrap();
        let tasks: Vec<_> = (0..TASKS)
            .map(|_| {
                let zk = zk.clone();
                tokio::spawn(async move {
                    for _ in 0..ROUNDS {
                        let (_, watch) = zk.get_watch("/a").await.unwrap();
                        let set = zk.set("/a", b"", None);
                        drop(zk.exists("/a"));
                        drop(watch);
                        drop(zk.exists("/a"));
                        set.await.unwrap();
                    }
                })
            })
            .collect();
        for task in join_all(tasks).await {
            task.unwrap();
        }
        assert_eq!(zk.status().connection, 1);
        zk.close(Duration::from_secs(10)).await.unwrap();
    });
}

#[test]
fn a_session_is_over_when_its_runtime_ends() {
    let Some(server) = crate::common::server(TICK) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let zk = run_on(&runtime, open(&server.address(), SESSION));
    let (_, watch) = run_on(&runtime, zk.get_watch("/")).unwrap();
    drop(runtime);
    let over = Error::from(ErrorKind::SessionOver(Over::Closed));
    assert_eq!(zk.status().over(), Some(over.clone()));
    run(async {
        assert_eq!(zk.get("/").await, Err(over.clone()));
        assert_eq!(watch.await, Err(over));
        assert_eq!(zk.close(Duration::from_secs(5)).await, Ok(()));
    });
}

#[test]
fn credentials_refused_at_a_reconnect_end_the_session() {
    const AUTH_FAILED: i32 = -115;
    let address = scripted(|mut client, number| {
        client.expects(CONNECT);
        client.welcomes();
        client.expects(AUTH);
        client.answers(-4, if number == 0 { 0 } else { AUTH_FAILED }, b"");
    });
    run(async {
        let zk = open(&address, SESSION.with_auth("digest", "ann:pw")).await;
        assert_eq!((over(&zk).await, zk.status().connection), (Over::AuthFailed, 1));
        let over = Error::from(ErrorKind::SessionOver(Over::AuthFailed));
        assert_eq!(zk.get("/").await, Err(over.clone()));
        assert!(over.is_auth_failed() && over.is_session_over());
        assert_eq!(zk.close(Duration::from_secs(5)).await, Ok(()));
    });
}

#[test]
fn an_answer_that_cannot_be_read_leaves_the_outcome_open() {
    const NO_NODE: i32 = -101;
    let address = scripted(|mut client, _| {
        client.expects(CONNECT);
        client.welcomes();
        // The third removes the watch that the second has armed.
        for (xid, error) in [(1, 0), (2, 0), (3, 0), (4, NO_NODE)] {
            client.hears();
            client.answers(xid, error, &[1, 2, 3]);
        }
        // Until the client has gone.
        while client.hears().is_some() {}
    });
    run(async {
        let zk = open(&address, SESSION).await;
        let created = zk.create("/a", b"", CreateMode::Persistent).await.unwrap_err();
        assert!(created.is_outcome_unknown() && created.is_unexpected(), "{created}");
        let armed = zk.get_watch("/a").await.map(drop).unwrap_err();
        assert!(armed.is_unexpected(), "{armed}");
        assert_eq!(zk.get("/a").await, Err(ErrorKind::NoNode.into()), "the session goes on");
        assert_eq!(zk.status().connection, 1);
    });
}

/// A server that follows a script, which is told how many connections came before; where.
fn scripted(script: fn(Scripted, usize)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().map_while(Result::ok).enumerate() {
            script(Scripted { stream, has_begun: false }, number);
        }
    });
    address
}

/// One connection of a client.
struct Scripted {
    stream: TcpStream,
    has_begun: bool,
}

impl Scripted {
    /// The type of the next request; none at the end, or of the connect.
    fn hears(&mut self) -> Option<i32> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).ok()?;
        let mut request = vec![0; u32::from_be_bytes(length) as usize];
        self.stream.read_exact(&mut request).ok()?;
        let has_type = std::mem::replace(&mut self.has_begun, true);
        has_type.then(|| i32::from_be_bytes(request[4..8].try_into().expect("four bytes")))
    }

    fn expects(&mut self, kind: Option<i32>) {
        assert_eq!(self.hears(), kind);
    }

    fn says(&mut self, frame: &[u8]) {
        // The client may have gone.
        let _ = self.stream.write_all(&frame::of(frame));
    }

    /// Grants session 7, for two seconds.
    fn welcomes(&mut self) {
        let ints = |all: [i32; 2]| all.map(i32::to_be_bytes).concat();
        let session = 7_i64.to_be_bytes();
        self.says(&[&ints([0, 2000])[..], &session, &16_i32.to_be_bytes(), &[1; 16], &[0]].concat());
    }

    fn answers(&mut self, xid: i32, error: i32, body: &[u8]) {
        let zxid = 1_i64.to_be_bytes();
        self.says(&[&xid.to_be_bytes()[..], &zxid, &error.to_be_bytes(), body].concat());
    }
}
