//! A reply is lost, and an access list denies what would find out what became of the write: an error that says "denied" is
//! told only of a write that was not applied.

use super::*;
use std::future::Future;

/// Every reply lost, and after it each of the next requests denied. The call says what it came to, and `is_applied` what
/// the queue shows afterwards.
fn tells_no_lie(call: fn(Client, Producer<SimClient>) -> futures_util::future::BoxFuture<'static, Told>) {
    for nth in 0.. {
        let mut struck = false;
        for then in 0..8 {
            let faults = [(Fault::ReplyLost, nth), (Fault::AccessDenied, then)];
            let (told, any) = play_faults(faults, move |stage, danger| async move {
                let (a, b) = (stage.client("a").await, stage.client("b").await);
                let mut puts = producer(&a, Delivery::AtLeastOnce);
                puts.put(b"0").await.expect("it is put");
                danger.begins();
                let told = call(a.clone(), puts).await;
                danger.ends();
                stage.pass(&b, 3 * RECONNECT).await;
                (told, names_left(&b).await.len())
            });
            struck |= any;
            let (Told { result, applied, not_applied }, left) = told;
            match result {
                Ok(()) => assert_eq!(left, applied, "{faults:?}: done"),
                Err(e) if e.is_outcome_unknown() => {
                    assert!([applied, not_applied].contains(&left), "{faults:?}: {left} are left")
                }
                Err(e) => assert_eq!(left, not_applied, "{faults:?}: {e}"),
            }
        }
        if !struck {
            assert!(nth > 0, "something was sent");
            break;
        }
    }
}

/// What a call came to, and how many items are left if it was applied, and if it was not.
struct Told {
    result: Result<(), Error>,
    applied: usize,
    not_applied: usize,
}

#[test]
fn a_put_that_is_said_to_be_denied_put_nothing() {
    tells_no_lie(|_, mut puts| {
        async move { Told { result: puts.put(b"1").await, applied: 2, not_applied: 1 } }.boxed()
    });
}

#[test]
fn a_confirmation_that_is_said_to_be_denied_confirmed_nothing() {
    tells_no_lie(|a, _| {
        async move {
            let mut claims = claimer(&a, 1);
            let result = match claims.claim().await {
                Ok(claim) => claim.done().await,
                // Nothing was confirmed.
                Err(_) => return Told { result: Ok(()), applied: 1, not_applied: 1 },
            };
            Told { result, applied: 0, not_applied: 1 }
        }
        .boxed()
    });
}

/// Puts into a queue of which no level is there; the request that makes the highest level is refused.
async fn puts_far(stage: &Stage, refusal: Fault) -> (Client, impl Future<Output = Result<(), Error>>) {
    let a = stage.client("a").await;
    let queue = Queue::new(&a.zk, "/far/away/q", options(Delivery::AtMostOnce)).expect("the path is good");
    let mut producer = queue.producer();
    let puts = a.process.spawn(async move { producer.put(b"x").await });
    // The first answer says that there is no queue.
    stage.pass(&a, Duration::from_millis(8)).await;
    a.process.order(refusal);
    (a, async move { puts.await.expect("its process lives") })
}

#[test]
fn an_overloaded_server_that_refuses_a_level_above_is_not_asked_again_at_once() {
    play(|stage| async move {
        let (a, puts) = puts_far(&stage, Fault::Throttled).await;
        let mark = stage.mark();
        stage.pass(&a, Duration::from_millis(35)).await;
        let sent = a.sent(&stage, mark).len();
        assert!(puts.await.is_ok());
        assert_eq!(sent, 6, "each level and each directory once");
    });
}

#[test]
fn a_level_above_that_may_not_be_made_is_told() {
    play(|stage| async move {
        let (_, puts) = puts_far(&stage, Fault::AccessDenied).await;
        assert!(puts.await.is_err_and(|e| e.is_denied()));
    });
}

#[test]
fn an_overloaded_server_that_refuses_a_level_that_is_there_holds_nobody_up() {
    play(|stage| async move {
        let before = stage.client("before").await;
        before.makes("/far").await;
        before.makes("/far/away").await;
        let (_, puts) = puts_far(&stage, Fault::Throttled).await;
        assert_eq!(puts.await, Ok(()));
    });
}
