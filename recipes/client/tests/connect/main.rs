//! How a session gets its connection, keeps it and loses it, and what an operator and a caller are told. Servers are scripts on
//! loopback sockets; what real servers do about certificates stands in `scenarios/tests/real`.

mod addresses;
mod causes;
#[cfg(feature = "metrics")]
mod counted;
mod dead_members;
mod refusals;
mod replies;
#[path = "../common/script.rs"]
#[allow(dead_code, reason = "this binary uses a part of it")]
mod script;
mod states;
#[cfg(feature = "tracing")]
mod told;

use std::future::Future;
use std::time::Duration;
use tokio::runtime::Builder;
use zk_client::{Client, Options};

/// More than any of these tests takes, also on a busy machine.
const LONG: Duration = Duration::from_secs(60);

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(async { tokio::time::timeout(LONG, work).await.expect("it does not hang") })
}

async fn open(address: &str, options: Options) -> Client {
    Client::open(address, options).await.expect("one of the servers accepts the session")
}
