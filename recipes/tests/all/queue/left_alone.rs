//! Claims that are left unpolled, and queues that are made again in the middle of a call.

use super::*;
use crate::common::Drops;
use crate::common::every_await::FAULTS;

/// A claim that is left unpolled in the middle, whatever is lost: an item before it can be done with, and the claim goes on.
#[test]
fn a_claim_that_is_left_alone_holds_nobody_up_and_goes_on() {
    for fault in FAULTS.into_iter().flatten() {
        for polls in 0..8 {
            for nth in 0.. {
                let (_, struck) = play_struck(fault, nth, |stage, danger| async move {
                    let a = stage.client("a").await;
                    let mut puts = producer(&a, Delivery::AtLeastOnce);
                    puts.put_all(&bytes(&["1", "2"])).await.expect("they are put");
                    let mut consumer = claimer(&a, 1);
                    let one = consumer.claim().await.expect("there is one");
                    danger.begins();
                    let mut left = Box::pin(consumer.claim());
                    let mut early = None;
                    for _ in 0..polls {
                        early = early.or_else(|| (&mut left).now_or_never());
                        stage.pass(&a, Duration::from_millis(20)).await;
                        if early.is_some() {
                            break;
                        }
                    }
                    let when = format!("{fault:?} at {nth}, polled {polls} times");
                    let done = dropping(Drops::Later(60_000), &stage, &a, one.done()).await;
                    assert_eq!(done, Some(Ok(())), "{when}");
                    let two = match early {
                        Some(two) => two,
                        None => left.await,
                    };
                    let two = two.expect("there is one");
                    assert_eq!(two.item().data, b"2", "{when}");
                    two.done().await.expect("it is ours");
                    let left =
                        stage.names(QUEUE).into_iter().filter(|name| name.starts_with("queue-")).count();
                    assert_eq!(left, 0, "{when}");
                });
                if !struck {
                    break;
                }
            }
        }
    }
}

/// A queue that somebody made without a word, and somebody else makes again for another mode, at the same version.
#[test]
fn a_queue_that_is_made_again_while_its_mode_is_written_is_a_mismatch() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        b.makes(QUEUE).await;
        let mut puts = producer(&a, Delivery::AtMostOnce);
        let mut put = Box::pin(puts.put(b"1"));
        assert!((&mut put).now_or_never().is_none(), "it has read the mode");
        stage.settle().await;
        b.zk.delete(QUEUE, None).await.expect("it is empty");
        b.zk.create(QUEUE, b"queue at-least-once", CreateMode::Persistent).await.expect("it is gone");
        assert!(put.await.is_err_and(|e| e.is_mismatch()));
    });
}
