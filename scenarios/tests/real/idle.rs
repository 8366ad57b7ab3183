//! Who wants nothing asks for nothing: counted on the way to a real server.
//!
//! Where none is installed the test says so and passes, unless `ZK_REQUIRE_REAL=1` asks for it.

use crate::common::proxy::Proxy;
use crate::common::tap::{EXISTS, PING, Tap};
use futures_util::FutureExt;
use std::time::Duration;
use zk_recipes::client::{Client, Options};
use zk_recipes::zk::{CreateMode, ZooKeeper};
use zk_recipes::{Lock, LockOptions};

const TICK: Duration = Duration::from_millis(100);

/// Of those who are counted.
const SESSION: Duration = Duration::from_secs(1);

/// Of the one whose end tells that two of their timeouts have passed: all that the server grants.
const CLOCK: Duration = Duration::from_secs(2);

async fn open(address: &str, session_timeout: Duration) -> Client {
    crate::common::open(address, Options::new(session_timeout)).await
}

/// Resolves when [`CLOCK`] has passed by the server: it has ended a session that it did not hear of for so long.
async fn a_while(server: &str, observer: &Client) {
    let way = Proxy::to(server);
    let doomed = open(&way.address(), CLOCK).await;
    doomed.create("/doomed", b"", CreateMode::Ephemeral).await.unwrap();
    let (_, gone) = observer.children_watch("/doomed").await.unwrap();
    drop(way);
    gone.await.unwrap();
}

#[test]
fn who_is_idle_or_waits_sends_nothing_but_pings_and_who_was_asked_falls_silent_again() {
    let Some(server) = crate::common::server(TICK) else { return };
    let address = server.address();
    let taps = [Tap::to(&address), Tap::to(&address), Tap::to(&address)];
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let observer = open(&address, CLOCK).await;
        let [idle, waiting, asked] = &taps;
        let handles = [
            open(&idle.address(), SESSION).await,
            open(&waiting.address(), SESSION).await,
            open(&asked.address(), SESSION).await,
        ];
        let lock = |zk: &Client| Lock::new(zk, "/lock", LockOptions::default()).unwrap();
        let held = lock(&observer).acquire().await.unwrap();
        let line = lock(&handles[1]);
        let mut acquiring = Box::pin(line.acquire());
        // Each answer to the handle is a step for whoever waits on it.
        for _ in 0..20 {
            handles[1].exists("/").await.unwrap();
            assert!((&mut acquiring).now_or_never().is_none(), "somebody else has it");
        }
        taps.iter().for_each(|tap| drop(tap.asked()));
        handles[2].safe_until();

        a_while(&address, &observer).await;
        let questions = asked.asked().into_iter().filter(|operation| *operation != PING);
        let questions: Vec<i32> = questions.collect();
        // For two timeouts, one a quarter at most.
        assert!((1..=9).contains(&questions.len()), "{questions:?}");
        assert!(questions.iter().all(|operation| *operation == EXISTS), "{questions:?}");

        a_while(&address, &observer).await;
        for (who, tap) in [("idle", idle), ("waiting", waiting), ("asked once", asked)] {
            let operations = tap.asked();
            assert!(operations.contains(&PING), "{who}: it lives");
            assert!(operations.iter().all(|operation| *operation == PING), "{who}: {operations:?}");
        }
        drop(held);
        assert!(acquiring.await.is_ok(), "it was in line all the time");
    });
}
