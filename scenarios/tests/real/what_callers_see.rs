//! What the caller of each recipe sees when things go wrong: there is no server, it is not the one that was meant, it
//! refuses us, it goes away for good, the session expires. Nothing hangs where an end is promised.
//!
//! The simulation says what happens when; real servers say that it happens. Where none is installed those tests say so and
//! pass, unless `ZK_REQUIRE_REAL=1` asks for them.

use crate::common::calls::{Call, Held, Objects};
use crate::common::{open, refusing, run};
use futures_util::FutureExt;
use futures_util::future::{Either, join_all, select};
use sim_zk::choose::Calm;
use sim_zk::fault::Fault;
use sim_zk::{Config, End, Sim};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::pin::pin;
use std::thread;
use std::time::Duration;
use zk_client::{Acl, Client, Options};
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Over, Runtime, Time, ZooKeeper};
use zk_recipes::{Lock, LockOptions, LostReason, RevocableLock, RevocableLockOptions};

const TICK: Duration = Duration::from_millis(200);
const SESSION: Duration = Duration::from_secs(2);

/// For whatever ends by itself, and may not take as long.
const LIMIT: Duration = Duration::from_secs(60);

const EXPIRED: ErrorKind = ErrorKind::SessionOver(Over::Expired);

/// How many recipes there are, the priority queue counted as a queue.
const RECIPES: usize = 12;

/// The ends of all calls, in the order of the list, or a list of those that have none within [`LIMIT`].
async fn ends<Z: ZooKeeper>(zk: &Z, all: Vec<Call>) -> Vec<(&'static str, Result<(), Error>)> {
    let until = zk.now() + LIMIT;
    let each = all.into_iter().map(|(name, work)| async move {
        match select(work, pin!(zk.sleep_until(until))).await {
            Either::Left((end, _)) => (name, Some(end)),
            Either::Right(_) => (name, None),
        }
    });
    let (ended, hanging): (Vec<_>, Vec<_>) =
        join_all(each).await.into_iter().partition(|(_, end)| end.is_some());
    let hanging: Vec<&str> = hanging.into_iter().map(|(name, _)| name).collect();
    assert!(hanging.is_empty(), "these never end: {hanging:?}");
    ended.into_iter().map(|(name, end)| (name, end.expect("the others were sorted out"))).collect()
}

/// All calls end like that.
async fn all_end<Z: ZooKeeper>(zk: &Z, all: Vec<Call>, like: impl Fn(&Error) -> bool) {
    let ends = ends(zk, all).await;
    let others: Vec<_> = ends.iter().filter(|(_, end)| !end.as_ref().is_err_and(&like)).collect();
    assert!(others.is_empty(), "these end otherwise: {others:?}");
}

/// Drives them all until they wait for somebody: each answer to us is a step for each of them, and none takes so many.
async fn wait_all<Z: ZooKeeper>(zk: &Z, all: &mut [Call]) {
    let mut driven = pin!(join_all(all.iter_mut().map(|(name, work)| async { (*name, work.await) })));
    for _ in 0..40 {
        zk.exists("/").await.expect("the connection is there");
        let over = (&mut driven).now_or_never();
        assert!(over.is_none(), "all wait: {over:?}");
    }
}

#[test]
fn the_list_has_every_recipe() {
    simulated(|sim| async move {
        let zk = sim.process("a").open(SESSION).await;
        let objects = Objects::new(&zk, "/at", 1).unwrap();
        let recipe = |(name, _): &Call| {
            let name = name.split(':').next().unwrap_or_default();
            // A set of values is a configuration, and a queue with priorities is a queue.
            match name {
                "ConfigSet" => "Config".to_owned(),
                "PriorityQueue" => "Queue".to_owned(),
                name => name.to_owned(),
            }
        };
        for list in [objects.waits(), objects.makes()] {
            let mut recipes: Vec<String> = list.iter().map(recipe).collect();
            recipes.sort();
            recipes.dedup();
            assert_eq!(recipes.len(), RECIPES, "{recipes:?}");
        }
    });
}

/// A caller's stack is two megabytes, and without optimization a future is copied a few times before it is polled.
#[test]
fn no_call_is_a_large_future() {
    const LARGE: usize = 12 << 10;
    simulated(|sim| async move {
        let zk = sim.process("a").open(SESSION).await;
        let objects = Objects::new(&zk, "/at", 1).unwrap();
        for calls in [objects.makes(), objects.asks(), objects.waits(), objects.waits_within(LIMIT)] {
            for (name, work) in calls {
                let size = size_of_val(&*work);
                assert!(size <= LARGE, "{name}: {size} bytes");
            }
        }
        // What is done under a hold is kept once.
        let work = || async {
            let much = [0_u8; LARGE];
            std::future::pending::<()>().await;
            std::hint::black_box(&much);
        };
        let lock = Lock::new(&zk, "/lock", LockOptions::default()).unwrap().acquire().await.unwrap();
        let revocable = RevocableLock::new(&zk, "/revocable", RevocableLockOptions::default()).unwrap();
        let revocable = revocable.write().await.unwrap();
        for size in [size_of_val(&lock.run(work())), size_of_val(&revocable.run(work()))] {
            assert!(size <= 2 * LARGE, "{size} bytes");
        }
    });
}

/// Plays a script on a calm network.
fn simulated<F: Future<Output = ()> + Send + 'static>(script: impl FnOnce(Sim) -> F) {
    let run = Sim::run(Config::default(), Duration::from_secs(600), Calm, (), script);
    assert_eq!(run.end, End::Done, "the script comes to its end");
}

#[test]
fn when_a_session_expires_every_wait_ends_and_every_hold_is_lost_in_time() {
    simulated(|sim| async move {
        let (a, b) = (sim.process("a"), sim.process("b"));
        let (other, me) = (a.open(SESSION).await, b.open(SESSION).await);
        let taken = Objects::new(&other, "/at", 2).unwrap().all_taken().await.unwrap();
        let objects = Objects::new(&me, "/at", 2).unwrap();
        let mut waits = objects.waits();
        wait_all(&me, &mut waits).await;
        let holds = Objects::new(&me, "/mine", 1).unwrap().holds().await.unwrap();

        b.inflict(Fault::SessionExpiry, 3 * SESSION);
        let (lost, ()) = futures_util::join!(all_lost(&me, holds), all_end(&me, waits, |e| *e == EXPIRED));
        for (name, why, at, safe_until) in lost {
            // The margin of a tenth before the session can have ended; a member of a double barrier has the same.
            assert!(
                at <= safe_until,
                "{name} learns it at {at:?}, and the session is safe until {safe_until:?}"
            );
            assert_eq!(why, LostReason::DeadlinePassed, "{name}");
        }
        for calls in [objects.makes(), objects.asks(), objects.waits(), objects.waits_within(LIMIT)] {
            let begun = me.now();
            all_end(&me, calls, |e| *e == EXPIRED).await;
            assert_eq!(me.now(), begun, "what is over is said at once");
        }
        drop(taken);
    });
}

/// For each: why it is lost, when that was told, and until when the session was safe.
async fn all_lost<Z: ZooKeeper>(zk: &Z, holds: Vec<Held>) -> Vec<(&'static str, LostReason, Time, Time)> {
    join_all(holds.into_iter().map(|(name, lost)| async move {
        let why = lost.await;
        (name, why, zk.now(), zk.safe_until())
    }))
    .await
}

#[test]
fn a_limit_is_kept_to_the_microsecond_also_while_the_connection_is_away() {
    const WITHIN: Duration = Duration::from_millis(700);
    simulated(|sim| async move {
        let (a, b) = (sim.process("a"), sim.process("b"));
        let (other, me) = (a.open(6 * SESSION).await, b.open(6 * SESSION).await);
        let taken = Objects::new(&other, "/at", 2).unwrap().all_taken().await.unwrap();
        let objects = Objects::new(&me, "/at", 2).unwrap();
        let connected = me.status();
        b.inflict(Fault::ClientPartition, SESSION * 5);
        drop(me.exists("/"));
        me.changed(connected).await;
        let begun = me.now();
        all_end(&me, objects.waits_within(WITHIN), Error::is_timed_out).await;
        assert_eq!(me.now().since(begun), WITHIN);
        assert!(!me.status().is_connected(), "it was away all the time");
        drop(taken);
    });
}

#[test]
fn without_the_right_server_there_is_no_session_and_that_is_said_in_time() {
    let (_held, free) = refusing();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let web = answering(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    let short = answering(&[0, 0, 0, 4, 1, 2, 3, 4]);
    let asked = Duration::from_millis(500);
    run(async {
        for (what, address) in [
            ("nobody listens", free.to_string()),
            ("the address is nobody's", "nobody.invalid:2181".to_owned()),
            ("somebody listens and says nothing", silent.local_addr().unwrap().to_string()),
            ("a web server", web),
            ("what is too short to be an answer", short),
            ("several of them", format!("{free},nobody.invalid")),
        ] {
            let open = Client::open(&address, Options::new(asked));
            // The timeout, and what a busy machine needs.
            let opened = tokio::time::timeout(asked * 10, open).await.expect("it ends by itself");
            let error = opened.unwrap_err();
            assert_eq!(error, ErrorKind::Unreachable, "{what}");
            assert!(!error.is_outcome_unknown() && !error.is_session_over() && !error.is_bad_input());
        }
    });
}

/// Where somebody gives everybody the same answer.
fn answering(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer);
        }
    });
    address
}

#[test]
fn who_is_not_let_in_is_told_so_by_every_recipe() {
    let Some(server) = crate::common::server(TICK) else { return };
    let address = server.address();
    let ann = Options::new(SESSION).with_auth("digest", "ann:pw").with_acl(Acl::creator());
    run(async {
        let owner = open(&address, ann).await;
        owner.create("/at", b"", CreateMode::Persistent).await.unwrap();
        let taken = Objects::new(&owner, "/at", 2).unwrap().all_taken().await.unwrap();
        let wrong = open(&address, Options::new(SESSION).with_auth("digest", "ann:guess")).await;
        let objects = Objects::new(&wrong, "/at", 2).unwrap();
        for calls in [objects.makes(), objects.asks(), objects.waits(), objects.waits_within(LIMIT)] {
            all_end(&wrong, calls, |e| e.is_denied() && !e.is_outcome_unknown()).await;
        }
        let begun = wrong.now();
        assert_eq!(wrong.close(LIMIT).await, Ok(()), "no duty tries for ever what is denied");
        assert!(wrong.now().since(begun) < LIMIT / 2, "closing does not wait for what can never be done");
        drop(taken);
    });
}

#[test]
fn who_may_not_make_the_upper_levels_makes_the_lower_ones() {
    let Some(server) = crate::common::server(TICK) else { return };
    let address = server.address();
    let ann = || Options::new(SESSION).with_auth("digest", "ann:pw");
    let readable = Acl::of(&[("world", "anyone", "r"), ("auth", "", "cdrwa")]).unwrap();
    run(async {
        let makes =
            |zk: Client, path| async move { zk.create(path, b"", CreateMode::Persistent).await.unwrap() };
        makes(open(&address, ann().with_acl(Acl::creator())).await, "/closed").await;
        makes(open(&address, ann().with_acl(readable)).await, "/readable").await;
        makes(open(&address, ann()).await, "/readable/app").await;

        let me = open(&address, Options::new(SESSION)).await;
        let mut makes = Objects::new(&me, "/readable/app/at", 1).unwrap().makes();
        // All at once, and only one of two can be the first to write there.
        makes.retain(|(name, _)| *name != "ConfigSet::publish");
        for (name, end) in ends(&me, makes).await {
            assert_eq!(end, Ok(()), "{name}");
        }
        for above in ["/closed/app/at", "/readable/at"] {
            let objects = Objects::new(&me, above, 1).unwrap();
            all_end(&me, objects.makes(), Error::is_denied).await;
        }
    });
}

#[test]
fn a_path_that_is_not_there_is_told_by_every_recipe_that_would_make_something() {
    let Some(server) = crate::common::server(TICK) else { return };
    run(async {
        let me = open(&format!("{}/nowhere", server.address()), Options::new(SESSION)).await;
        for directory in ["", "/at", "/some/way/down"] {
            let objects = Objects::new(&me, directory, 1).unwrap();
            all_end(&me, objects.makes(), |e| *e == ErrorKind::NoNode).await;
        }
        assert_eq!(me.close(LIMIT).await, Ok(()));
    });
}

#[test]
fn when_the_server_goes_for_good_holds_are_lost_limits_are_kept_and_closing_ends_the_rest() {
    let Some(mut server) = crate::common::server(TICK) else { return };
    let address = server.address();
    run(async {
        let (other, me) =
            (open(&address, Options::new(SESSION)).await, open(&address, Options::new(SESSION)).await);
        let taken = Objects::new(&other, "/at", 2).unwrap().all_taken().await.unwrap();
        let objects = Objects::new(&me, "/at", 2).unwrap();
        let mut waits = objects.waits();
        wait_all(&me, &mut waits).await;
        let holds = Objects::new(&me, "/mine", 1).unwrap().holds().await.unwrap();
        let connected = me.status();
        server.kill().unwrap();
        let away = me.changed(connected).await;
        assert!(!away.is_connected());

        let limit = Duration::from_millis(100);
        // An object of their own: one joins a group once at a time.
        let (begun, hurried) = (me.now(), Objects::new(&me, "/at", 2).unwrap());
        all_end(&me, hurried.waits_within(limit), Error::is_timed_out).await;
        assert!(me.now().since(begun) < SESSION, "a limit does not wait for the session's end");
        for (name, why, at, safe_until) in all_lost(&me, holds).await {
            assert_eq!(why, LostReason::DeadlinePassed, "{name}");
            assert!(at <= safe_until, "{name} learns it at {at:?}, safe until {safe_until:?}");
        }
        // Nobody but a server can say that the session has ended, so whoever has no limit waits for one.
        let late = objects.makes();
        let closed = |e: &Error| *e == ErrorKind::SessionOver(Over::Closed);
        let (closing, (), ()) =
            futures_util::join!(me.close(LIMIT), all_end(&me, waits, closed), all_end(&me, late, closed));
        assert_eq!(closing, Err(ErrorKind::ConnectionLoss.into()));
        for calls in [objects.makes(), objects.asks(), objects.waits(), objects.waits_within(LIMIT)] {
            all_end(&me, calls, closed).await;
        }
        drop(taken);
    });
}

#[test]
fn closing_waits_for_what_was_given_up_no_longer_than_its_limit() {
    let Some(server) = crate::common::server(TICK) else { return };
    let address = server.address();
    run(async {
        let me = open(&address, Options::new(SESSION)).await;
        let holds = Objects::new(&me, "/mine", 1).unwrap().holds().await.unwrap();
        server.pause().unwrap();
        // Each of them has something to clean up, and nobody answers.
        drop(holds);
        let (begun, limit) = (me.now(), Duration::from_millis(100));
        assert_eq!(me.close(limit).await, Err(ErrorKind::ConnectionLoss.into()));
        assert!(me.now().since(begun) < SESSION, "a limit is kept");
        server.resume().unwrap();
        // What had left is done, and the session's end takes the rest along.
        let (begun, other) = (me.now(), open(&address, Options::new(SESSION)).await);
        while !other.children("/mine/lock").await.unwrap().names.is_empty() {
            assert!(me.now().since(begun) < LIMIT, "a znode was left behind");
        }
    });
}
