//! Faults of a client's connection and clock: one-way partitions, lost notifications, clock drift.

use crate::common::{
    LIMIT, TIMEOUT, Tape, calm, client, hostile, make, make_ephemeral, ms, until_back, until_over,
    until_suspended, wait,
};
use sim_zk::choose::{Chooser, Point};
use sim_zk::fault::Fault;
use sim_zk::observer::SimEvent;
use sim_zk::{End, Sim};
use zk_recipes::zk::{CreateMode, ErrorKind, EventKind, Over, Runtime, State, ZooKeeper};

#[test]
fn a_muted_client_is_notified_until_its_session_expires() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        let mut watches = Vec::new();
        for number in 0..10 {
            watches.push(zk.exists_watch(&format!("/{number}")).await.expect("the exists succeeds").1);
        }
        process.inflict(Fault::ClientMuted, ms(12_000));
        let session = zk.session();
        let mut told = 0;
        for watch in watches {
            make(&other, &format!("/{told}")).await;
            wait(&other, ms(900)).await;
            if !sim.look(|world| world.lives(session)) {
                break;
            }
            assert_eq!(zk.status().state, State::Connected, "what it hears keeps it calm");
            assert!(watch.await.is_ok(), "it is notified");
            told += 1;
        }
        // Expiry comes within a tick after the timeout, and each round takes 910 ms.
        assert!((6..=8).contains(&told), "{told} times");
        assert_eq!(until_over(&zk).await, ErrorKind::SessionOver(Over::Expired));
    });
    assert_eq!(tape.struck(Fault::ClientMuted), 1);
}

#[test]
fn a_deafened_client_is_heard_and_believes_its_write_lost() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        make(&zk, "/a").await;
        let session = zk.session();
        process.inflict(Fault::ClientDeafened, ms(5_000));
        let set = zk.set("/a", b"heard", None);
        wait(&other, ms(100)).await;
        assert_eq!(other.get("/a").await.expect("the get succeeds").data, b"heard");
        assert_eq!(
            set.await.map(drop),
            Err(ErrorKind::ConnectionLoss.into()),
            "after two thirds of the timeout"
        );
        until_back(&zk, 1).await;
        assert_eq!(zk.session(), session, "the session lives on");
    });
}

#[test]
fn a_partition_holds_everything_up_both_ways() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        make(&zk, "/a").await;
        let (_, watch) = zk.exists_watch("/b").await.expect("the exists succeeds");
        let cut = zk.now();
        process.inflict(Fault::ClientPartition, ms(3_000));
        let set = zk.set("/a", b"late", None);
        make(&other, "/b").await;
        wait(&other, ms(2_000)).await;
        assert_eq!(other.get("/a").await.expect("the get succeeds").data, b"data", "it does not arrive");
        watch.await.expect("it fires");
        assert!(zk.now() >= cut + ms(3_000), "nor does the notification");
        set.await.expect("both come in the end");
        assert_eq!(zk.status().connection, 1, "nobody has noticed");
    });
}

#[test]
fn a_long_partition_ends_the_session() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        make_ephemeral(&zk, "/e").await;
        process.inflict(Fault::ClientPartition, ms(12_000));
        until_suspended(&zk).await;
        assert!(other.exists("/e").await.expect("the exists succeeds").is_some(), "noticed before the end");
        assert_eq!(until_over(&zk).await, ErrorKind::SessionOver(Over::Expired));
        assert_eq!(other.exists("/e").await, Ok(None));
    });
}

#[test]
fn a_notification_that_is_lost_is_told_at_the_return() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        make(&zk, "/a").await;
        let (_, watch) = zk.get_watch("/a").await.expect("the get succeeds");
        process.order(Fault::WatchLost);
        other.set("/a", b"new", None).await.expect("the set succeeds");
        until_suspended(&zk).await;
        assert_eq!(watch.await.expect("it fires").kind, EventKind::NodeDataChanged);
        assert_eq!(zk.status().connection, 2, "on the next connection only");
    });
    assert_eq!(tape.struck(Fault::WatchLost), 1);
    let fired = tape.seen.iter().filter_map(|(_, h)| match h {
        SimEvent::Fired { zxid, conn, .. } => Some((*zxid > 0, *conn)),
        _ => None,
    });
    let (first, second) = (fired.clone().next(), fired.clone().nth(1));
    assert!(first.is_some_and(|(live, _)| live), "queued by the write, and lost");
    assert!(second.is_some_and(|(live, conn)| !live && Some(conn) != first.map(|(_, conn)| conn)));
    assert_eq!(tape.count(|h| matches!(h, SimEvent::Noticed { .. })), 1);
}

#[test]
fn a_fast_clock_runs_ahead_of_the_world_until_it_is_mended() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        let (world, local) = (other.now(), zk.now());
        process.inflict(Fault::ClockDrift, ms(10_000));
        wait(&zk, ms(1_100)).await;
        assert_eq!(other.now(), world + ms(1_000), "what it takes for 1.1 seconds is one");
        wait(&other, ms(19_000)).await;
        assert_eq!(
            (other.now(), zk.now()),
            (world + ms(20_000), local + ms(21_000)),
            "ten of them were fast"
        );
    });
    let rates: Vec<u32> = tape
        .seen
        .iter()
        .filter_map(|(_, h)| match h {
            SimEvent::Clock { rate, .. } => Some(*rate),
            _ => None,
        })
        .collect();
    assert_eq!(rates, [1100, 1000]);
}

/// Fault-free, with the longest durations.
struct Long;

impl Chooser for Long {
    fn choose(&mut self, point: Point, n: u32) -> u32 {
        if point == Point::Duration { n - 1 } else { 0 }
    }
}

/// Returns whether a client with a slow clock considers its session safe after the ensemble has expired it.
async fn believes_too_long(sim: Sim) -> bool {
    let (process, zk) = client(&sim, "a").await;
    let (_, other) = client(&sim, "b").await;
    process.inflict(Fault::ClockDrift, ms(60_000));
    // The last touch comes just before a tick, and the expiry just after the timeout.
    let touch = 4_000_000 - 100_000;
    wait(&other, std::time::Duration::from_micros(touch - other.now().as_micros())).await;
    zk.sync("/").await.expect("the sync succeeds");
    let (session, safe_until) = (zk.session(), zk.safe_until());
    process.inflict(Fault::ClientPartition, ms(30_000));
    while sim.look(|world| world.lives(session)) {
        wait(&other, ms(50)).await;
    }
    zk.now() < safe_until
}

#[test]
fn by_a_slow_clock_a_client_believes_in_its_session_for_too_long() {
    let run = Sim::run(hostile(0), LIMIT, Long, Tape::default(), believes_too_long);
    assert_eq!((run.end, run.output), (End::Done, Some(true)), "over, and by its clock still safe");
    let calm_clock = Sim::run(hostile(0), LIMIT, Long, Tape::default(), |sim| async move {
        let (process, zk) = client(&sim, "a").await;
        zk.create("/e", b"", CreateMode::Ephemeral).await.expect("the create succeeds");
        let (session, safe_until) = (zk.session(), zk.safe_until());
        process.inflict(Fault::ClientPartition, TIMEOUT * 3);
        let (_, other) = client(&sim, "b").await;
        while sim.look(|world| world.lives(session)) {
            wait(&other, ms(50)).await;
        }
        zk.now() >= safe_until
    });
    assert_eq!(calm_clock.output, Some(true), "by a right clock never");
}
