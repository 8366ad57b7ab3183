//! What the tests on real servers share.

pub mod calls;
pub mod cases;
pub mod command;
pub mod examples;
pub mod proxy;
pub mod refusals;
pub mod secure;
pub mod service;
pub mod site;
pub mod transcript;
pub mod waits;

pub use waits::{connected, connection, over, run, run_on};

use socket2::{Domain, Socket, Type};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use zk_client::{Client, Options};
use zk_real::{Ensemble, EnsembleOptions, Server, ServerOptions, Settings, StartError};
use zk_recipes::ZooKeeper;

/// A session that can be had.
pub async fn open(address: &str, options: Options) -> Client {
    Client::open(address, options).await.expect("the server of this test accepts a session")
}

/// The names of all znodes at the root, as the server at that address knows them by now.
pub fn at_the_root(address: &str) -> Vec<String> {
    run(async {
        let zk = open(address, Options::new(Duration::from_secs(5))).await;
        zk.sync("/").await.expect("the session lives");
        zk.children("/").await.expect("the session lives").names
    })
}

/// A server, or `None` and a word about it where none is installed.
pub fn server(tick: Duration) -> Option<Server> {
    server_with(tick, Settings::default())
}

/// As [`server`], with those settings.
pub fn server_with(tick: Duration, settings: Settings<'_>) -> Option<Server> {
    or_left_out(Server::start_with(ServerOptions { port: None, tick }, settings))
}

/// So many servers that make up an ensemble, or `None` and a word about it where none is installed.
pub fn ensemble(servers: u8, tick: Duration) -> Option<Ensemble> {
    ensemble_with(servers, tick, Settings::default())
}

/// As [`ensemble`], with those settings.
pub fn ensemble_with(servers: u8, tick: Duration, settings: Settings<'_>) -> Option<Ensemble> {
    or_left_out(Ensemble::start_with(&EnsembleOptions { servers, port: None, tick }, settings))
}

/// An address at which nobody listens, and which no server of another test gets as long as the socket lives.
pub fn refusing() -> (Socket, SocketAddr) {
    let bound = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket can be had");
    bound.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("there is a free port");
    let address = bound.local_addr().expect("it is bound").as_socket().expect("it has an IP address");
    (bound, address)
}

fn or_left_out<T>(started: Result<T, StartError>) -> Option<T> {
    match started {
        Ok(started) => Some(started),
        Err(e) if e.is_not_installed() && std::env::var_os("ZK_REQUIRE_REAL").is_none_or(|v| v != "1") => {
            left_out(&e.to_string(), "ZK_REQUIRE_REAL");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

/// Says aloud that this test is left out, why, and what makes that a failure.
pub fn left_out(why: &str, variable: &str) {
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    // Not by `eprintln!`: what a passing test says in that way is swallowed.
    let _ = writeln!(std::io::stderr(), "LEFT OUT: {name}: {why}. {variable}=1 makes this a failure.");
}
