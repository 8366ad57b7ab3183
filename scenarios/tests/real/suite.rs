//! The behaviour suite over the real client, on an Apache ZooKeeper server that the test starts.
//!
//! Where none is installed the tests say so and pass, unless `ZK_REQUIRE_REAL=1` asks for them.

use crate::common::site::Real;
use crate::common::{connected, refusing, run};
use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use zk_client::{Client, Options};
use zk_real::{Server, ServerOptions, StartError};
use zk_recipes::zk::{CreateMode, Error, ErrorKind, EventKind, Over, State};
use zk_recipes::{Delivery, Idle, Queue, QueueOptions, Runtime, ZooKeeper};
use zk_serve::{Ensemble, Server as Served};
use zk_suite::{self as suite, Site};

const TICK: Duration = Duration::from_millis(200);
const SESSION: Options = Options::new(Duration::from_secs(2));

/// For sessions that must not expire on a busy machine.
const BUSY: Options = Options::new(Duration::from_secs(6));

/// For sessions that connect again and again: they rest for up to a quarter of it.
const SHORT: Options = Options::new(Duration::from_secs(3));

const QUEUE: QueueOptions = QueueOptions::new(Delivery::AtMostOnce).with_idle(Idle::HerdFree);

/// How often connections break in other places.
const SEEDS: u64 = 2;

/// A server, or `None` and a word about it where none is installed.
fn server() -> Option<Server> {
    crate::common::server(TICK)
}

#[test]
fn the_real_client_keeps_every_rule_of_the_suite() {
    let Some(server) = server() else { return };
    let broken = run(Real::new(server.address(), "", SESSION).broken_rules());
    assert!(broken.is_empty(), "rules that do not hold: {broken:?}");
}

/// Several sessions of a rule are connected with different servers, and a reconnect may change the server.
#[test]
fn the_real_client_keeps_every_rule_of_the_suite_on_three_servers() {
    let Some(servers) = crate::common::ensemble(3, 2 * TICK) else { return };
    let broken = run(Real::new(servers.address(), "", BUSY).broken_rules());
    assert!(broken.is_empty(), "rules that do not hold: {broken:?}");
}

/// A simulated ensemble behind sockets: it needs nothing that is installed.
fn served(servers: u8) -> Served {
    let options = zk_serve::Options { servers, tick: TICK, ..Default::default() };
    Ensemble::listen(&options).and_then(|ensemble| Ok(ensemble.spawn()?)).unwrap()
}

#[test]
fn the_real_client_keeps_every_rule_of_the_suite_on_simulated_servers_behind_sockets() {
    for (servers, options) in [(1, SESSION), (3, BUSY)] {
        let served = served(servers);
        let broken = run(Real::new(served.connect_string(), "", options).broken_rules());
        assert!(broken.is_empty(), "rules that do not hold on {servers} servers: {broken:?}");
    }
}

#[test]
fn the_real_client_keeps_the_rules_for_faults_behind_sockets_while_connections_break() {
    for servers in [1, 3] {
        keeps_rules_for_faults(&served(servers).connect_string());
    }
}

#[test]
fn the_real_client_keeps_the_rules_for_faults_while_connections_break() {
    let Some(server) = server() else { return };
    keeps_rules_for_faults(&server.address());
}

#[test]
fn the_real_client_keeps_the_rules_for_faults_on_three_servers_while_connections_break() {
    let Some(servers) = crate::common::ensemble(3, 2 * TICK) else { return };
    keeps_rules_for_faults(&servers.address());
}

fn keeps_rules_for_faults(servers: &str) {
    for seed in 0..SEEDS {
        let site = Real::under_faults(servers.to_owned(), SHORT, seed * 1000);
        let broken = run(site.broken_of(suite::UNDER_FAULTS.iter().copied()));
        assert!(broken.is_empty(), "rules that do not hold with seed {seed}: {broken:?}");
    }
}

#[test]
fn dropped_watches_are_removed_at_the_server_and_closed_sessions_leave_nothing() {
    let Some(server) = server() else { return };
    run(async {
        let zk = Client::open(&server.address(), SESSION).await.unwrap();
        let (_, one) = zk.children_watch("/").await.unwrap();
        let (_, two) = zk.get_watch("/").await.unwrap();
        zk.sync("/").await.unwrap();
        assert_eq!(watches(&server), 2);
        drop(one);
        zk.sync("/").await.unwrap();
        assert_eq!(watches(&server), 1);
        drop(two);
        drop(zk.exists_watch("/later"));
        zk.sync("/").await.unwrap();
        zk.sync("/").await.unwrap();
        assert_eq!(watches(&server), 0);
        zk.close(Duration::from_secs(5)).await.unwrap();
        let told = server.ask("dump").unwrap();
        assert!(!told.contains("\t0x"), "no session is left: {told}");
    });
}

/// How many watches of either kind the server holds for all clients.
fn watches(server: &Server) -> u32 {
    let told = server.ask("mntr").expect("the server answers");
    let total = told.lines().find_map(|line| line.strip_prefix("zk_watch_count"));
    total.and_then(|number| number.trim().parse().ok()).unwrap_or_else(|| panic!("no total in {told:?}"))
}

#[test]
fn a_handle_that_is_only_dropped_closes_its_session() {
    let Some(server) = server() else { return };
    run(async {
        let zk = Client::open(&server.address(), SESSION).await.unwrap();
        let other = Client::open(&server.address(), SESSION).await.unwrap();
        zk.create("/e", b"", zk_recipes::zk::CreateMode::Ephemeral).await.unwrap();
        let (_, watch) = other.children_watch("/e").await.unwrap();
        // Asking keeps the session's questions going; they must not keep the session.
        zk.safe_until();
        drop(zk);
        let begun = other.now();
        watch.await.unwrap();
        assert!(other.now().since(begun) < SESSION.session_timeout / 2, "it was closed, not expired");
    });
}

#[test]
fn a_server_that_crashes_is_a_lost_connection_and_then_another_one() {
    // Long enough for Java to begin again on a busy machine.
    let Some(mut server) = crate::common::server(5 * TICK) else { return };
    let long = Options::new(Duration::from_secs(20));
    run(async {
        let zk = Client::open(&server.address(), long).await.unwrap();
        zk.create("/a", b"", zk_recipes::zk::CreateMode::Ephemeral).await.unwrap();
        let (_, watch) = zk.children_watch("/a").await.unwrap();
        let first = zk.status();
        server.pause().unwrap();
        let caught = zk.get("/a");
        server.kill().unwrap();
        assert_eq!(caught.await, Err(ErrorKind::ConnectionLoss.into()));
        let away = zk.status();
        assert_eq!((away.state, away.connection, away.changes), (State::Suspended, 1, first.changes + 1));
        server.start_again().unwrap();
        // Held back, not refused, until the connection is there again; an attempt before the server is back would fail it.
        assert!(zk.get("/a").await.is_ok());
        let back = zk.status();
        assert_eq!((back.state, back.connection, back.changes), (State::Connected, 2, first.changes + 2));
        // The watch came along.
        zk.delete("/a", None).await.unwrap();
        assert_eq!(watch.await.unwrap().path, "/a");
        zk.close(Duration::from_secs(5)).await.unwrap();
    });
}

/// Only a server can say that a session has ended: an ensemble that was down for longer than its timeout goes on with it.
#[test]
fn a_session_outlives_servers_that_are_down_for_longer_than_its_timeout() {
    let Some(mut server) = server() else { return };
    run(async {
        let zk = Client::open(&server.address(), SESSION).await.unwrap();
        zk.create("/mine", b"", CreateMode::Ephemeral).await.unwrap();
        let (_, watch) = zk.children_watch("/").await.unwrap();
        let (id, connected) = (zk.session(), zk.status());
        server.kill().unwrap();
        let suspended = zk.changed(connected).await;
        assert_eq!(suspended.state, State::Suspended);
        let (begun, mut refused) = (zk.now(), 0);
        while zk.now().since(begun) < zk.timeout() * 2 {
            assert_eq!(
                zk.get("/").await,
                Err(ErrorKind::ConnectionLoss.into()),
                "the attempt for which it waited fails"
            );
            refused += 1;
        }
        assert!(refused > 2, "each attempt fails what waits for it: {refused}");
        assert!(zk.safe_until() < zk.now(), "nobody may rely on it meanwhile");
        server.start_again().unwrap();
        let again = zk.changed(suspended).await;
        assert_eq!((again.state, again.connection, zk.session()), (State::Connected, 2, id));
        let mine = zk.exists("/mine").await.unwrap().expect("an ephemeral lives as long as its session");
        assert_eq!(mine.ephemeral_owner, id);
        zk.create("/other", b"", CreateMode::Persistent).await.unwrap();
        assert_eq!(watch.await.unwrap().path, "/");
        assert_eq!(zk.close(Duration::from_secs(5)).await, Ok(()));
    });
}

#[test]
fn a_session_whose_servers_never_come_back_ends_when_it_is_closed() {
    let Some(mut server) = server() else { return };
    run(async {
        let zk = Client::open(&server.address(), SESSION).await.unwrap();
        let (_, watch) = zk.children_watch("/").await.unwrap();
        let connected = zk.status();
        server.kill().unwrap();
        zk.changed(connected).await;
        assert_eq!(zk.close(Duration::from_secs(5)).await, Err(ErrorKind::ConnectionLoss.into()));
        let over = Error::from(ErrorKind::SessionOver(Over::Closed));
        assert_eq!((zk.status().over(), zk.get("/").await), (Some(over.clone()), Err(over.clone())));
        assert_eq!(watch.await, Err(over));
        assert_eq!(zk.close(Duration::from_secs(5)).await, Ok(()), "it is over, as was asked");
    });
}

/// A request that registers more than a megabyte of paths again is one on which a server hangs up.
#[test]
fn twenty_thousand_watches_outlive_a_reconnect() {
    let Some(server) = server() else { return };
    let watches: usize = std::env::var("ZK_WATCHES").map_or(20_000, |n| n.parse().expect("a number"));
    run(async {
        let site = Real::new(server.address(), "", Options::new(Duration::from_secs(4)));
        let (zk, other) = (site.open().await, site.open().await);
        let path = |number: usize| format!("/{number:079}");
        let asked: Vec<_> = (0..watches).map(|number| zk.exists_watch(&path(number))).collect();
        let mut armed = Vec::new();
        for each in asked {
            armed.push(each.await.unwrap().1);
        }
        let (id, before) = (zk.session(), zk.now());
        site.cut(&zk).await;
        let status = connected(&zk).await;
        zk.sync("/").await.unwrap();
        eprintln!("{watches} watches: registered again after {:?}", zk.now().since(before));
        assert_eq!((status.connection, zk.session()), (2, id), "with the first attempt");
        assert!(zk.now().since(before) < zk.timeout());
        let told = server.ask("mntr").unwrap();
        assert!(told.contains(&format!("zk_watch_count\t{watches}")), "{told}");
        for (number, watch) in armed.into_iter().enumerate().step_by(watches / 7) {
            other.create(&path(number), b"", CreateMode::Persistent).await.unwrap();
            let event = watch.await.unwrap();
            assert_eq!((event.kind, event.path), (EventKind::NodeCreated, path(number)));
        }
    });
}

/// With a chroot every path is longer for the server than for the caller.
#[test]
fn twelve_thousand_watches_below_a_long_chroot_outlive_a_reconnect() {
    let chroot = format!("/{}", "chroot".repeat(20));
    let served = served(1);
    keeps_watches_below(&chroot, served.connect_string());
    if let Some(server) = server() {
        keeps_watches_below(&chroot, server.address());
    }
}

fn keeps_watches_below(chroot: &str, address: String) {
    const WATCHES: usize = 12_000;
    run(async {
        let above = Client::open(&address, BUSY).await.unwrap();
        above.create(chroot, b"", CreateMode::Persistent).await.unwrap();
        let site = Real::new(address, chroot, BUSY);
        let (zk, other) = (site.open().await, site.open().await);
        let asked: Vec<_> = (0..WATCHES).map(|number| zk.exists_watch(&format!("/{number}"))).collect();
        let mut armed = Vec::new();
        for each in asked {
            armed.push(each.await.unwrap().1);
        }
        site.cut(&zk).await;
        connected(&zk).await;
        zk.sync("/").await.unwrap();
        assert_eq!(zk.status().connection, 2, "with the first attempt, and for good");
        for (number, watch) in armed.into_iter().enumerate().step_by(WATCHES / 7) {
            let path = format!("/{number}");
            other.create(&path, b"", CreateMode::Persistent).await.unwrap();
            assert_eq!(watch.await.unwrap().path, path);
        }
    });
}

/// Each item's path is longer for the server than for the consumer: a batch that were too long would be refused for ever.
#[test]
fn items_below_a_long_chroot_are_taken_in_transactions_that_a_server_takes() {
    const ITEMS: usize = 7_000;
    let chroot = format!("/{}", "chroot".repeat(20));
    let served = served(1);
    run(async {
        let above = Client::open(&served.connect_string(), BUSY).await.unwrap();
        above.create(&chroot, b"", CreateMode::Persistent).await.unwrap();
        let zk = Client::open(&format!("{}{chroot}", served.connect_string()), BUSY).await.unwrap();
        let queue = Queue::new(&zk, "/queue", QUEUE).unwrap();
        let mut producer = queue.producer();
        for _ in 0..2 {
            producer.put_all(&vec![Vec::new(); ITEMS / 2]).await.unwrap();
        }
        let mut consumer = queue.consumer();
        let mut left = ITEMS;
        while left > 0 {
            left -= consumer.take_up_to(left).await.unwrap().len();
        }
    });
}

#[test]
fn a_close_that_nobody_hears_ends_with_its_limit() {
    let Some(mut server) = server() else { return };
    run(async {
        let zk = Client::open(&server.address(), SESSION).await.unwrap();
        server.kill().unwrap();
        let begun = zk.now();
        let held = zk.create("/a", b"", zk_recipes::zk::CreateMode::Persistent);
        let limit = Duration::from_millis(200);
        assert_eq!(zk.close(limit).await, Err(ErrorKind::ConnectionLoss.into()));
        assert!(zk.now().since(begun) < limit * 4, "a limit is kept");
        assert!(held.await.is_err());
        assert_eq!(zk.status().over(), Some(ErrorKind::SessionOver(Over::Closed).into()));
    });
}

#[test]
fn no_session_without_a_server() {
    let (_held, free) = refusing();
    let short = Options::new(Duration::from_millis(300));
    run(async {
        assert_eq!(Client::open(&free.to_string(), short).await.err(), Some(ErrorKind::Unreachable.into()));
        for bad in ["", "host:port", "127.0.0.1:2181/a/"] {
            let refused = Client::open(bad, SESSION).await.unwrap_err();
            assert!(refused.is_bad_input(), "{bad:?}: {refused}");
        }
        let forever = Client::open("127.0.0.1", Options::new(Duration::ZERO)).await;
        assert!(forever.unwrap_err().is_bad_input());
    });
}

#[test]
fn no_server_on_a_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let refused = Server::start(ServerOptions { port: Some(port), tick: TICK }).unwrap_err();
    assert!(matches!(refused, StartError::PortInUse(in_use) if in_use == port), "{refused}");
    assert_eq!(refused.to_string(), format!("port {port} of 127.0.0.1 is in use"));
}

/// Set for the process that the test below starts and kills.
const LINGER: &str = "ZK_TEST_LINGER";

#[test]
fn a_server_goes_with_its_process() {
    let name = "suite::a_server_goes_with_its_process";
    let Some(server) = server() else { return };
    if std::env::var_os(LINGER).is_some() {
        println!("{}", server.address());
        std::thread::park();
    }
    drop(server);
    let folder = tempfile::tempdir().unwrap();
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(LINGER, "1")
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let told = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    let address =
        told.into_iter().find(|line| line.starts_with("127.0.0.1:")).expect("the server has started");
    let mut open = TcpStream::connect(&address).unwrap();
    assert!(std::fs::read_dir(&folder).unwrap().next().is_some());

    // Killed outright: nothing of it can clean up any more.
    process.kill().unwrap();
    process.wait().unwrap();
    // The end of this connection is the end of the server, or nearly so.
    let _ = open.read(&mut [0]);
    let gone = (0..500).any(|_| {
        #[expect(
            clippy::disallowed_methods,
            reason = "nobody tells when another process has removed a folder"
        )]
        std::thread::sleep(Duration::from_millis(10));
        std::fs::read_dir(&folder).unwrap().next().is_none() && TcpStream::connect(&address).is_err()
    });
    assert!(gone, "the server and its folder are gone");
}

#[test]
fn a_server_goes_with_its_value() {
    let Some(server) = server() else { return };
    let address = server.address();
    assert!(server.ask("ruok").is_ok_and(|answer| answer == "imok"));
    drop(server);
    assert!(TcpListener::bind(address).is_ok(), "the port is free again");
}
