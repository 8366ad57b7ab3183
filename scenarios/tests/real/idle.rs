//! Who wants nothing asks for nothing: counted on the way to a real server.
//!
//! Where none is installed the test says so and passes, unless `ZK_REQUIRE_REAL=1` asks for it.

use crate::common::calls::Objects;
use crate::common::proxy::Proxy;
use crate::common::run;
use futures_util::FutureExt;
use std::time::Duration;
use zk_client::{Client, Options};
use zk_protocol::wire::number::PING;
use zk_recipes::zk::{CreateMode, Runtime, ZooKeeper};
use zk_recipes::{Group, GroupOptions, HoldState, Lock, LockOptions, Released};

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
    let doomed = open(way.address(), CLOCK).await;
    doomed.create("/doomed", b"", CreateMode::Ephemeral).await.unwrap();
    let (_, gone) = observer.children_watch("/doomed").await.unwrap();
    drop(way);
    gone.await.unwrap();
}

#[test]
fn who_is_idle_or_waits_or_looks_at_the_time_sends_nothing_but_pings() {
    let Some(server) = crate::common::server(TICK) else { return };
    let address = server.address();
    let taps = [Proxy::reading(&address), Proxy::reading(&address), Proxy::reading(&address)];
    run(async {
        let observer = open(&address, CLOCK).await;
        let [idle, waiting, asked] = &taps;
        let handles = [
            open(idle.address(), SESSION).await,
            open(waiting.address(), SESSION).await,
            open(asked.address(), SESSION).await,
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
        let safe = handles[2].safe_until();

        a_while(&address, &observer).await;
        for (who, tap) in [("idle", idle), ("waiting", waiting), ("asked", asked)] {
            let operations = tap.asked();
            assert!(operations.contains(&PING), "{who}: it lives");
            assert!(operations.iter().all(|operation| *operation == PING), "{who}: {operations:?}");
        }
        let later = handles[2].safe_until();
        assert!(safe < later && handles[2].now() < later, "answered pings keep it safe: {safe:?}, {later:?}");
        drop(held);
        assert!(acquiring.await.is_ok(), "it was in line all the time");
    });
}

/// Whoever works for longer than a session timeout under a lock, and calls nothing meanwhile, has it all the same.
#[test]
fn what_is_held_for_ten_idle_timeouts_is_held_still_and_costs_pings_only() {
    let Some(server) = crate::common::server(TICK) else { return };
    let (address, tap) = (server.address(), Proxy::reading(&server.address()));
    run(async {
        let observer = open(&address, CLOCK).await;
        let zk = open(tap.address(), SESSION).await;
        let group = Group::new(&zk, "/group", GroupOptions::default()).unwrap();
        let lock = Lock::new(&zk, "/lock", LockOptions::default()).unwrap();
        let (member, guard) = (group.join(None, b"").await.unwrap(), lock.acquire().await.unwrap());
        let holds = Objects::new(&zk, "/mine", 1).unwrap().holds().await.unwrap();
        // Behind the answer to this nothing of what was asked for before is on its way.
        zk.sync("/").await.unwrap();
        let (begun, status) = (zk.now(), zk.status());
        drop(tap.asked());

        while zk.now().since(begun) < 10 * zk.timeout() {
            a_while(&address, &observer).await;
        }
        let operations = tap.asked();
        let passed = zk.now().since(begun);
        eprintln!("{} holds, {passed:?}, {} requests: pings", holds.len() + 2, operations.len());
        assert!(operations.iter().all(|operation| *operation == PING), "{operations:?}");
        // One a third of the timeout, and one each for what comes late.
        let most = passed.as_micros() * 3 / zk.timeout().as_micros() + 2;
        assert!(operations.len() as u128 <= most, "{} pings in {passed:?}", operations.len());

        assert_eq!(zk.status(), status, "the connection was there all the time");
        for (name, lost) in holds {
            assert_eq!(lost.now_or_never(), None, "{name} is lost");
        }
        assert_eq!((member.state(), guard.state()), (HoldState::Held, HoldState::Held));
        assert!(guard.run(async { 7 }).await.is_ok(), "its work is done");
        assert_eq!(guard.release().await, Ok(Released::Clean));
        assert_eq!(member.leave().await, Ok(Released::Clean));
    });
}
