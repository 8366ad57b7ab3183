//! Who is dropped at any await, and requests and replies that are lost.

use super::*;

/// Two enter and leave; one of them is dropped. The other two of three go on.
async fn all_is_well(stage: &Stage, gave_up: &Client, drops: Drops) {
    stage.pass(gave_up, 3 * RECONNECT).await;
    stage.settle().await;
    gave_up.has_left_nothing(stage, &format!("dropped {drops:?}"));
}

#[test]
fn an_enter_that_waits_dropped_at_every_await() {
    at_every_await(|stage, danger, drops| async move {
        let [a, b, c] = clients(&stage).await;
        let barrier = step(&a, options(2));
        danger.begins();
        let later = stage.sim.sleep(&b.process, Duration::from_millis(31));
        let other = step(&b, options(2));
        let other = b.process.spawn(async move {
            later.await;
            other.enter().await
        });
        let entered = dropping(drops, &stage, &a, barrier.enter()).await;
        let ended = entered.is_some();
        if let Some(entered) = entered {
            drop(entered.expect("it is in"));
        }
        all_is_well(&stage, &a, drops).await;
        let third = step(&c, options(2)).enter().within(Duration::from_secs(10)).await;
        let other = other.await.expect("its process lives").expect("it is in, with a or with c");
        match third {
            Ok(third) => assert_eq!(third.roster(), other.roster(), "with c"),
            Err(e) => assert!(e.is_timed_out() && other.roster().len() == 2, "with a: {e}"),
        }
        ended
    });
}

#[test]
fn an_enter_that_opens_dropped_at_every_await() {
    at_every_await(|stage, danger, drops| async move {
        let [a, b, c] = clients(&stage).await;
        let waiting = enters(&b, options(2));
        // Until it is registered; to wait until all is quiet would end the time of faults.
        stage.pass(&a, Duration::from_millis(200)).await;
        danger.begins();
        let barrier = step(&a, options(2));
        let entered = dropping(drops, &stage, &a, barrier.enter()).await;
        let ended = entered.is_some();
        if let Some(entered) = entered {
            drop(entered.expect("it is in"));
        }
        all_is_well(&stage, &a, drops).await;
        // If it was not opened, two more are enough; if it was, they are a round of their own.
        let third = step(&c, options(2));
        let third = c.process.spawn(async move {
            match third.enter().within(Duration::from_secs(10)).await {
                Ok(inside) => inside.leave().await,
                Err(e) => Err(e),
            }
        });
        waiting.await.expect("it is in, with a or with c").leave().await.expect("it is out");
        let third = third.await.expect("its process lives");
        assert!(third.is_ok() || third.is_err_and(|e| e.is_timed_out()), "with b, or alone");
        ended
    });
}

#[test]
fn an_enter_with_a_limit_dropped_at_every_await() {
    for limit_ms in [0, 10, 13, 20, 33, 45] {
        at_every_await(|stage, danger, drops| async move {
            let [a, b] = clients(&stage).await;
            let barrier = step(&a, options(2));
            danger.begins();
            let later = stage.sim.sleep(&b.process, Duration::from_millis(18));
            let other = step(&b, options(2));
            let other = b.process.spawn(async move {
                later.await;
                other.enter().within(Duration::from_secs(20)).await
            });
            let limited = barrier.enter().within(Duration::from_millis(limit_ms));
            let ended = dropping(drops, &stage, &a, limited).await;
            let other = other.await.expect("its process lives");
            if let Some(limited) = &ended {
                match (limited, &other) {
                    (Ok(_), Ok(_)) => {}
                    (Err(e), Err(_)) => assert!(e.is_timed_out() || e.is_outcome_unknown(), "{e}"),
                    (Err(e), Ok(_)) => {
                        assert!(e.is_outcome_unknown(), "counted, and told that it was not: {e}")
                    }
                    (Ok(_), Err(f)) => panic!("b was counted: {f}"),
                }
            }
            let ended = ended.is_some();
            all_is_well(&stage, &a, drops).await;
            ended
        });
    }
}

#[test]
fn a_leave_dropped_at_every_await() {
    for how in WAYS {
        for (gone, when_ms) in [(0, 0), (2, 0), (1, 25), (2, 25)] {
            at_every_await(|stage, danger, drops| async move {
                let all: [Client; 3] = clients(&stage).await;
                let mut inside = all_inside(&stage, &all, how).await;
                let leaver = inside.remove(gone);
                danger.begins();
                let others: Vec<_> = all.iter().enumerate().filter(|(number, _)| *number != gone).collect();
                let mut leaving = Vec::new();
                for ((_, client), inside) in others.iter().zip(inside) {
                    let later = stage.sim.sleep(&client.process, Duration::from_millis(when_ms));
                    leaving.push(client.process.spawn(async move {
                        later.await;
                        inside.leave().await
                    }));
                }
                let ended = dropping(drops, &stage, &all[gone], leaver.leave()).await;
                if let Some(out) = &ended {
                    assert_eq!(out, &Ok(Released::Clean));
                }
                for out in leaving {
                    out.await.expect("its process lives").expect("it is out");
                }
                all_is_well(&stage, &all[gone], drops).await;
                ended.is_some()
            });
        }
    }
}

#[test]
fn every_request_and_every_reply_of_a_leave_may_be_lost() {
    for how in WAYS {
        for fault in [Fault::RequestLost, Fault::ReplyLost] {
            for nth in 0.. {
                let ((), struck) = play_struck(fault, nth, move |stage, danger| async move {
                    let all: [Client; 3] = clients(&stage).await;
                    let inside = all_inside(&stage, &all, how).await;
                    danger.begins();
                    let leaving: Vec<_> =
                        inside.into_iter().zip(&all).map(|(inside, client)| leaves(client, inside)).collect();
                    for out in join_all(leaving).await {
                        assert_eq!(out, Ok(Released::Clean), "{how:?} {fault:?} {nth}");
                    }
                    stage.settle().await;
                    for client in &all {
                        client.has_left_nothing(&stage, &format!("{how:?} {fault:?} {nth}"));
                    }
                });
                if !struck {
                    assert!(nth > 3, "it strikes where there is something to lose: {how:?} {fault:?} {nth}");
                    break;
                }
            }
        }
    }
}

#[test]
fn an_opening_whose_answer_was_lost_is_ours() {
    play(|stage| async move {
        let [a, b] = clients(&stage).await;
        let waiting = enters(&a, options(2));
        stage.settle().await;
        let barrier = step(&b, options(2));
        let mark = stage.mark();
        // The fourth request is the opening.
        let mut entering = Box::pin(barrier.enter());
        while b.sent(&stage, mark).len() < 4 {
            assert!(entering.as_mut().now_or_never().is_none());
            stage.pass(&b, Duration::from_millis(1)).await;
        }
        b.process.order(Fault::ReplyLost);
        let inside = entering.await.expect("it is in");
        let sent = b.sent(&stage, mark);
        let [.., Kind::Multi, Kind::Multi, Kind::Get] = sent[..] else { panic!("{sent:?}") };
        let other = waiting.await.expect("it is in");
        assert_eq!(b.znodes(&stage).len(), 2, "its own znode, and ready");
        let (one, other) = futures_util::join!(leaves(&b, inside), leaves(&a, other));
        one.and(other).expect("they are out");
        stage.settle().await;
        b.has_left_nothing(&stage, "after leaving");
    });
}
