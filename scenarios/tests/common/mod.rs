//! What the tests on real servers share.

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::io::Write;
use std::time::Duration;
use zk_scenarios::real::{Ensemble, EnsembleOptions, Server, ServerOptions, StartError};

/// A server, or `None` and a word about it where none is installed.
pub fn server(tick: Duration) -> Option<Server> {
    or_left_out(Server::start(ServerOptions { port: None, tick }))
}

/// So many servers that make up an ensemble, or `None` and a word about it where none is installed.
#[allow(dead_code, reason = "not every test wants several")]
pub fn ensemble(servers: u8, tick: Duration) -> Option<Ensemble> {
    or_left_out(Ensemble::start(&EnsembleOptions { servers, port: None, tick }))
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
