//! What the tests on a real server share.

use std::io::Write;
use std::time::Duration;
use zk_scenarios::real::{Server, ServerOptions};

/// A server, or `None` and a word about it where none is installed.
pub fn server(tick: Duration) -> Option<Server> {
    match Server::start(ServerOptions { port: None, tick }) {
        Ok(server) => Some(server),
        Err(e) if e.is_not_installed() && std::env::var_os("ZK_REQUIRE_REAL").is_none_or(|v| v != "1") => {
            let name = std::thread::current().name().unwrap_or("a test").to_owned();
            // Not by `eprintln!`: what a passing test says in that way is swallowed.
            let _ =
                writeln!(std::io::stderr(), "LEFT OUT: {name}: {e}. ZK_REQUIRE_REAL=1 makes this a failure.");
            None
        }
        Err(e) => panic!("{e}"),
    }
}
