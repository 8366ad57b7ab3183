//! Calls whose requests an access list denies, all of them or all from one on.

use super::{Ready, Row, prepared, reads, tree, trees, waits, writes};
use crate::common::{Danger, Drops, RECONNECT, Stage, dropping, play_faults, play_storm};
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use std::iter::{once, repeat_n};
use zk_recipes::zk::Error;

/// More than any call sends.
const LASTING: u32 = 100_000;

/// Makes a call in danger, for at most 20 s: how it ended, and what was sent.
async fn for_20_s(row: &'static Row, stage: Stage, danger: Danger) -> (Option<Result<(), Error>>, Vec<Kind>) {
    let a = stage.client("a").await;
    let Ready { call, keeps } = prepared(row, &stage, &a).await;
    let mark = stage.mark();
    danger.begins();
    let ended = dropping(Drops::Later(20_000), &stage, &a, call).await;
    danger.ends();
    drop(keeps);
    (ended, a.sent(&stage, mark))
}

/// Every call says that it was denied, if its first requests are, and does not go on for ever. A call that has its watch from an
/// earlier one sends nothing, and waits.
#[test]
fn every_call_that_is_denied_says_so() {
    for row in writes::all().chain(reads::all()).chain(waits::ALL) {
        let (ended, sent) =
            play_storm(Fault::AccessDenied, 0, LASTING, |stage, danger| for_20_s(row, stage, danger)).0;
        match ended {
            Some(ended) => {
                let denied = ended.expect_err(row.name);
                assert!(denied.is_denied(), "{}: {denied}", row.name);
            }
            None => assert_eq!(sent, [], "{} goes on", row.name),
        }
    }
}

/// A write that was denied at one of its requests, and at all later ones, was not applied; another outcome is told otherwise.
#[test]
fn a_write_that_is_denied_is_not_applied() {
    for row in writes::all() {
        let (none, whole) = trees(row);
        for nth in 0.. {
            let ((ended, tree), _) =
                play_storm(Fault::AccessDenied, nth, LASTING, |stage, danger| async move {
                    let (looks, a) = (stage.client("looks").await, stage.client("a").await);
                    let Ready { call, keeps } = prepared(row, &stage, &a).await;
                    danger.begins();
                    let ended = call.await;
                    danger.ends();
                    stage.pass(&a, 3 * RECONNECT).await;
                    stage.settle().await;
                    let tree = tree(&stage, &looks).await;
                    drop(keeps);
                    (ended, tree)
                });
            match ended {
                Ok(()) => {
                    assert_eq!(tree, whole, "{}", row.name);
                    break;
                }
                Err(e) if e.is_outcome_unknown() => {
                    assert!([&none, &whole].contains(&&tree), "{}: {e}", row.name)
                }
                Err(e) => assert_eq!((tree, e.is_denied()), (none.clone(), true), "{}: {e}", row.name),
            }
            assert!(nth < 20, "{} ends one day", row.name);
        }
    }
}

/// The last site deletes what all have shared, so that every site tries.
const SHARED: &str = "Voted::finish";

/// A call that was denied at its first request has made nothing, so that nothing is sent for it afterwards.
#[test]
fn a_call_that_was_denied_at_once_needs_no_clean_up() {
    for row in writes::all().chain(reads::all()) {
        let ((is_judged, sent), _) =
            play_storm(Fault::AccessDenied, 0, LASTING, |stage, danger| async move {
                let a = stage.client("a").await;
                let Ready { call, keeps } = prepared(row, &stage, &a).await;
                // A guard that ends with the call is given back.
                let has_nothing = a.znodes(&stage).is_empty();
                danger.begins();
                let ended = call.await;
                danger.ends();
                let mark = stage.mark();
                stage.pass(&a, 10 * RECONNECT).await;
                let sent = a.sent(&stage, mark);
                drop(keeps);
                (ended.is_err() && has_nothing, sent)
            });
        if is_judged && !row.name.starts_with(SHARED) {
            assert_eq!(sent, [], "{}", row.name);
        }
    }
}

/// How many requests a call makes at most that is denied.
const MOST_DENIED: usize = 40;

/// How many requests a call makes at most in 20 s to a server that is overloaded: ten a second, and as many again for calls that
/// send two at once.
const MOST_THROTTLED: usize = 400;

/// A message of a call is lost, and from then on every request is refused: by an access list, or by a server that has no time. The
/// call ends, or waits and asks no more; and it asks an overloaded server seldom.
#[test]
fn every_call_that_is_refused_behind_a_loss_ends() {
    for row in writes::all().chain(reads::all()).chain(waits::ALL) {
        for lost in [Fault::RequestLost, Fault::ReplyLost] {
            for (refusal, most) in [(Fault::AccessDenied, MOST_DENIED), (Fault::Throttled, MOST_THROTTLED)] {
                for nth in 0.. {
                    let faults = once((lost, nth)).chain(repeat_n((refusal, 0), 2_000));
                    let ((ended, sent), is_struck) =
                        play_faults(faults, |stage, danger| for_20_s(row, stage, danger));
                    if !is_struck {
                        break;
                    }
                    let when = format!("{}, {lost:?} {nth}, {refusal:?}", row.name);
                    assert!(sent.len() <= most, "{when}: {} requests, {ended:?}", sent.len());
                    if let Some(Err(e)) = ended {
                        let is_told = e.is_outcome_unknown() || e.is_denied() || e.is_retryable_refusal();
                        assert!(is_told, "{when}: {e}");
                    }
                }
            }
        }
    }
}
