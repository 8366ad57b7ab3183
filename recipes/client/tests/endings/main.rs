//! How sessions end: what callers are told of a session is what the client does. Servers are scripts on loopback sockets; what
//! real servers say stands in `scenarios/tests/real`.

mod answers;
mod behind;
mod runtimes;
#[path = "../common/script.rs"]
#[allow(dead_code, reason = "this binary uses a part of it")]
mod script;

use std::future::Future;
use std::time::Duration;
use zk_client::{Client, Options};
use zk_recipes::ZooKeeper;
use zk_recipes::zk::{Error, Status};

/// The session timeout that servers grant, in milliseconds.
const TIMEOUT: i32 = 600;

/// More than any of these tests takes, also on a busy machine.
const LONG: Duration = Duration::from_secs(60);

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(async { tokio::time::timeout(LONG, work).await.expect("it does not hang") })
}

async fn open(address: &str) -> Client {
    let options = Options::new(Duration::from_secs(2));
    Client::open(address, options).await.expect("the server of this test accepts a session")
}

/// Waits for such a status.
async fn until(zk: &Client, fits: impl Fn(&Status) -> bool) -> Status {
    let mut status = zk.status();
    while !fits(&status) {
        status = zk.changed(status).await;
    }
    status
}

/// Waits until the session is over, and says why.
async fn over(zk: &Client) -> Option<Error> {
    until(zk, |status| status.over().is_some()).await.over()
}
