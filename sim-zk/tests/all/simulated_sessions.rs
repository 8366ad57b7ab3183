//! Simulated sessions and connections: one test for each item of the list in the crate's documentation.

use crate::common::{
    TICK, TIMEOUT, calm, client, make, make_ephemeral, ms, unsteady, until_back, until_over, until_suspended,
    wait,
};
use futures_util::FutureExt;
use futures_util::future::join_all;
use sim_zk::End;
use sim_zk::fault::Fault;
use sim_zk::observer::{SessionNews, SimEvent};
use zk_recipes::zk::{CreateMode, ErrorKind, EventKind, Runtime, ZooKeeper};

#[test]
fn a_timeout_is_negotiated_between_two_and_twenty_ticks() {
    calm(|sim| async move {
        let process = sim.process("a");
        for (asked, given) in [(1, 4), (4, 4), (6, 6), (40, 40), (100, 40)] {
            let zk = process.open(ms(asked * 1000)).await;
            assert_eq!(zk.timeout(), ms(given * 1000));
        }
    });
}

#[test]
fn an_idle_client_pings_at_a_third_of_its_timeout() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        // The connect request was sent at zero; a reply takes 10 ms.
        for (at, sent) in
            [(10, 0), (2_005, 0), (2_010, 2_000), (4_005, 2_000), (4_010, 4_000), (6_010, 6_000)]
        {
            zk.sleep_until(zk_recipes::zk::Time::from_micros(at * 1000)).await;
            // Other events of this instant come first.
            sim.stalled().await;
            let answered = zk.safe_until().before(TIMEOUT);
            assert_eq!(answered.as_micros(), sent * 1000, "at {at} ms");
        }
        // A request counts as well.
        wait(&zk, ms(1_000)).await;
        let sent = zk.now();
        zk.sync("/").await.expect("the sync succeeds");
        wait(&zk, ms(1_995)).await;
        assert_eq!(zk.safe_until(), sent + TIMEOUT);
        wait(&zk, ms(20)).await;
        assert_eq!(zk.safe_until(), sent + ms(2_000) + TIMEOUT);
    });
}

/// Observers get an event for the reply to a ping; the reply to a request has its own event.
#[test]
fn an_answer_to_a_ping_is_told_with_the_time_of_its_sending() {
    for drift in [false, true] {
        let (_, tape) = calm(move |sim| async move {
            let (process, zk) = client(&sim, "a").await;
            if drift {
                process.inflict(Fault::ClockDrift, ms(60_000));
            }
            wait(&zk, ms(4_500)).await;
            zk.sync("/").await.expect("the sync succeeds");
        });
        let heard = |event: &SimEvent<'static>| match event {
            SimEvent::Heard { sent, .. } => Some(*sent),
            _ => None,
        };
        let told: Vec<(u64, u64)> =
            tape.seen.iter().filter_map(|(at, event)| heard(event).map(|sent| (*at, sent))).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        // A reply takes 10 ms, and times on another clock are rounded.
        assert!(told.iter().all(|(at, sent)| (9_998..=10_002).contains(&(at - sent))), "{told:?}");
    }
}

#[test]
fn a_client_that_comes_back_pings_a_third_later() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        process.order(Fault::RequestLost);
        assert_eq!(zk.sync("/").await, Err(ErrorKind::ConnectionLoss.into()));
        let connect = until_back(&zk, 1).await.before(ms(10));
        wait(&zk, ms(1_990)).await;
        assert_eq!(zk.safe_until(), connect + TIMEOUT, "no ping has been answered as yet");
        wait(&zk, ms(20)).await;
        assert_eq!(zk.safe_until(), connect + ms(2_000) + TIMEOUT);
    });
}

#[test]
fn two_thirds_of_the_timeout_without_a_word_end_the_connection() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        zk.sync("/").await.expect("the sync succeeds");
        let heard = zk.now();
        process.inflict(Fault::SessionExpiry, ms(5_000));
        let pending = zk.sync("/");
        assert_eq!(until_suspended(&zk).await, heard + ms(4_000));
        assert_eq!(pending.await, Err(ErrorKind::ConnectionLoss.into()));
        // The partition is shorter than the timeout: the session lives on.
        until_back(&zk, 1).await;
        zk.sync("/").await.expect("the sync succeeds");
    });
}

#[test]
fn expiry_comes_at_a_tick_within_a_tick_after_the_timeout() {
    for (asked, pause) in
        [(4_000, 0), (4_000, 700), (5_000, 1_300), (6_000, 1_999), (7_100, 50), (40_000, 10)]
    {
        let (_, tape) = calm(move |sim| async move {
            let process = sim.process("a");
            let zk = process.open(ms(asked)).await;
            wait(&zk, ms(pause)).await;
            zk.sync("/").await.expect("the sync succeeds");
            process.inflict(Fault::SessionExpiry, ms(60_000));
            assert_eq!(until_over(&zk).await, ErrorKind::SessionOver(zk_recipes::zk::Over::Expired));
        });
        let marked = |h: &SimEvent| match h {
            SimEvent::Marked { heard, .. } => Some(*heard),
            _ => None,
        };
        let (at, heard) = tape.find(marked).expect("it expired");
        let after = at - heard;
        let (timeout, tick) = (asked * 1000, TICK.as_micros() as u64);
        assert!(
            after > timeout && after <= timeout + tick,
            "{after} after the last touch, timeout {timeout}"
        );
        assert_eq!(at % tick, 0, "in batches");
    }
}

#[test]
fn a_client_learns_of_its_expiry_only_from_a_server() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        make_ephemeral(&zk, "/e").await;
        process.inflict(Fault::SessionExpiry, ms(30_000));
        wait(&zk, ms(29_000)).await;
        let session = zk.session();
        assert!(!sim.look(|world| world.lives(session)), "the leader has ended it");
        assert!(sim.look(|world| world.znodes().all(|(path, _)| path != "/e")), "and its ephemerals");
        assert_eq!(zk.status().over(), None, "the client does not know");
        until_over(&zk).await;
        assert!(zk.now().as_micros() >= 30_000_000, "it had to reach a server first");
    });
    let news = tape.seen.iter().filter_map(|(_, event)| match event {
        SimEvent::News { news, .. } => Some(*news),
        _ => None,
    });
    assert_eq!(
        news.collect::<Vec<_>>(),
        [SessionNews::Connected, SessionNews::Suspended, SessionNews::Expired]
    );
}

#[test]
fn every_answer_of_an_expired_session_and_every_watch_is_over() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, watch) = zk.exists_watch("/a").await.expect("the exists succeeds");
        process.inflict(Fault::SessionExpiry, ms(12_000));
        until_suspended(&zk).await;
        let over = until_over(&zk).await;
        assert_eq!(watch.await, Err(over.clone()));
        assert_eq!(zk.exists("/a").await, Err(over.clone()));
        assert_eq!(zk.get("/a").await.err(), Some(over));
    });
}

#[test]
fn a_session_takes_its_ephemerals_along_in_one_transaction() {
    let (_, tape) = calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        make(&zk, "/stays").await;
        for path in ["/e1", "/e2", "/e3"] {
            make_ephemeral(&zk, path).await;
        }
        let (_, watch) = other.get_watch("/e2").await.expect("the get succeeds");
        zk.close(ms(1_000)).await.expect("the close succeeds");
        assert_eq!(watch.await.expect("it fires").kind, EventKind::NodeDeleted);
        assert!(other.exists("/stays").await.expect("the exists succeeds").is_some());
    });
    let (_, end) = tape
        .find(|h| match h {
            SimEvent::Ended { zxid, .. } => Some(*zxid),
            _ => None,
        })
        .expect("it ended");
    let deleted = |h: &SimEvent| matches!(h, SimEvent::Deleted { zxid, .. } if *zxid == end);
    assert_eq!(tape.count(deleted), 3);
}

#[test]
fn what_is_asked_while_away_waits_for_the_next_connection() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        process.order(Fault::RequestLost);
        assert_eq!(zk.sync("/").await, Err(ErrorKind::ConnectionLoss.into()));
        let waiting =
            [zk.create("/a", b"", CreateMode::Persistent), zk.create("/b", b"", CreateMode::Persistent)];
        let made = join_all(waiting).await;
        assert!(made.iter().all(Result::is_ok), "{made:?}");
        assert_eq!(zk.status().connection, 2);
    });
}

#[test]
fn what_is_asked_while_away_fails_with_the_next_attempt_that_fails() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        process.inflict(Fault::SessionExpiry, ms(30_000));
        let lost = until_suspended(&zk).await;
        assert_eq!(zk.sync("/").await, Err(ErrorKind::ConnectionLoss.into()));
        // Half a second until the attempt, one more because every server has been tried (`StaticHostProvider.next`),
        // and the whole timeout until the client gives the attempt up.
        assert_eq!(zk.now(), lost + ms(7_500));
    });
}

#[test]
fn losses_are_told_in_order_and_before_the_state() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        process.order(Fault::RequestLost);
        let all = (0..5).map(|_| zk.sync("/"));
        let all = join_all(all.collect::<Vec<_>>()).await;
        assert!(all.iter().all(|answer| *answer == Err(ErrorKind::ConnectionLoss.into())), "{all:?}");
    });
    let told: Vec<_> = tape
        .seen
        .iter()
        .filter_map(|(_, event)| match event {
            SimEvent::Lost { req, .. } => Some(*req),
            SimEvent::News { news: SessionNews::Suspended, .. } => Some(u32::MAX),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 6);
    assert!(told.is_sorted(), "{told:?}");
}

#[test]
fn a_close_that_is_lost_leaves_the_session_to_expire() {
    for (fault, applied) in [(Fault::RequestLost, false), (Fault::Disconnect, true), (Fault::ReplyLost, true)]
    {
        let (_, tape) = calm(move |sim| async move {
            let (process, zk) = client(&sim, "a").await;
            make_ephemeral(&zk, "/e").await;
            process.order(fault);
            assert_eq!(zk.close(ms(1_000)).await, Err(ErrorKind::ConnectionLoss.into()));
            assert_eq!(zk.status().over(), Some(ErrorKind::SessionOver(zk_recipes::zk::Over::Closed).into()));
            assert_eq!(zk.close(ms(1_000)).await, Ok(()), "over is over");
            sim.quiet().await;
            let session = zk.session();
            assert!(!sim.look(|world| world.lives(session)));
        });
        let connected = |h: &SimEvent| matches!(h, SimEvent::News { news: SessionNews::Connected, .. });
        assert_eq!(tape.count(connected), 1, "{fault:?}: it does not come back");
        let expired = tape.count(|h| matches!(h, SimEvent::Marked { .. }));
        assert_eq!(expired, usize::from(!applied), "{fault:?}");
    }
}

#[test]
fn a_close_without_a_connection_sends_nothing() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        process.order(Fault::RequestLost);
        assert_eq!(zk.sync("/").await, Err(ErrorKind::ConnectionLoss.into()));
        assert_eq!(zk.close(ms(1_000)).await, Err(ErrorKind::ConnectionLoss.into()));
        sim.quiet().await;
    });
    assert_eq!(tape.count(|h| matches!(h, SimEvent::Marked { .. })), 1, "it expires");
}

#[test]
fn what_is_asked_behind_a_close_is_not_sent() {
    let (_, tape) = calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let mut close = Box::pin(zk.close(ms(1_000)));
        assert_eq!((&mut close).now_or_never(), None);
        let refused = zk.create("/a", b"", CreateMode::Persistent).await;
        assert_eq!(refused.err(), Some(ErrorKind::SessionOver(zk_recipes::zk::Over::Closed).into()));
        close.await.expect("the close succeeds");
    });
    let create = |h: &SimEvent| matches!(h, SimEvent::Txn { kind: sim_zk::observer::Kind::Create, .. });
    assert_eq!(tape.count(create), 0);
}

// ── connections ──

#[test]
fn streams_are_first_in_first_out_whatever_the_latencies() {
    for seed in 0..50 {
        let run = unsteady(seed, |sim| async move {
            let (_, zk) = client(&sim, "a").await;
            make(&zk, "/p").await;
            let flight: Vec<_> =
                (0..20).map(|_| zk.create("/p/", b"", CreateMode::PersistentSequential)).collect();
            let made = join_all(flight).await;
            for (number, created) in made.into_iter().enumerate() {
                assert_eq!(created.expect("the create succeeds").path, format!("/p/{number:010}"));
            }
        });
        assert_eq!(run.end, End::Done);
        let mut last = 0;
        for (_, event) in &run.observer.seen {
            if let SimEvent::Replied { req, outcome, .. } = event {
                assert_eq!(*outcome, None);
                assert!(*req > last, "answers come in the order of the requests");
                last = *req;
            }
        }
    }
}

#[test]
fn two_connections_have_no_order() {
    let orders: std::collections::BTreeSet<Vec<u8>> = (0..50)
        .map(|seed| {
            let run = unsteady(seed, |sim| async move {
                let (_, a) = client(&sim, "a").await;
                let (_, b) = client(&sim, "b").await;
                let both = [
                    a.create("/a", b"", CreateMode::Persistent),
                    b.create("/b", b"", CreateMode::Persistent),
                ];
                for created in join_all(both).await {
                    created.expect("the create succeeds");
                }
            });
            let replied = run.observer.seen.iter().filter_map(|(_, event)| match event {
                SimEvent::Replied { process, .. } => Some(*process),
                _ => None,
            });
            replied.collect()
        })
        .collect();
    assert_eq!(orders.len(), 2);
}

#[test]
fn the_calm_network_takes_five_milliseconds_one_way() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let sent = zk.now();
        zk.sync("/").await.expect("the sync succeeds");
        assert_eq!(zk.now(), sent + ms(10));
    });
}
