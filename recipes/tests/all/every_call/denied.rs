//! Calls whose requests an access list denies, all of them or all from one on.

use super::{Ready, Row, Written, prepared, reads, trees, waits, writes, written};
use crate::common::{
    Danger, Drops, RECONNECT, Refusal, Stage, dropping, play_faults, play_refusing, play_storm,
};
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use std::iter::{once, repeat_n};
use std::time::Duration;
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
            let Written { ended, tree, .. } =
                play_storm(Fault::AccessDenied, nth, LASTING, |stage, danger| async move {
                    let a = stage.client("a").await;
                    written(row, &stage, &a, danger).await
                })
                .0;
            match ended.expect(row.name) {
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

/// The same where all that is refused are requests of one kind: a round of a priority lock is eight requests.
const MOST_THROTTLED_OF_A_KIND: usize = 1_000;

/// The kinds of request that recipes send.
pub const KINDS: [Kind; 9] = [
    Kind::Create,
    Kind::Delete,
    Kind::Set,
    Kind::Exists,
    Kind::Get,
    Kind::Children,
    Kind::Multi,
    Kind::MultiRead,
    Kind::Sync,
];

/// The operations of a transaction at which it is denied: the first ones, and the last.
const OPERATIONS: [u32; 5] = [0, 1, 2, 3, u32::MAX];

/// The ways in which an access list may deny what a call sends: all requests of one kind, and of transactions one operation.
pub fn denials() -> impl Iterator<Item = Refusal> {
    KINDS.into_iter().flat_map(|kind| {
        let operations = if kind == Kind::Multi { &OPERATIONS[..] } else { &OPERATIONS[..1] };
        operations.iter().map(move |at| Refusal { fault: Fault::AccessDenied, kind, at: *at })
    })
}

/// How a call went of which requests were refused.
pub struct Went {
    pub ended: Option<Result<(), Error>>,
    pub sent: usize,
    /// Whether its session has no znode when it ends.
    is_bare: bool,
    /// What is sent in the ten seconds after that.
    pub later: Vec<Kind>,
}

/// Makes a call in danger, and waits for its clean-up.
pub async fn goes(row: &'static Row, stage: Stage, danger: Danger, drops: Drops) -> Went {
    let a = stage.client("a").await;
    let Ready { call, keeps } = prepared(row, &stage, &a).await;
    let mark = stage.mark();
    danger.begins();
    let ended = dropping(drops, &stage, &a, call).await;
    let (sent, is_bare) = (a.sent(&stage, mark).len(), a.znodes(&stage).is_empty());
    let mark = stage.mark();
    stage.pass(&a, Duration::from_secs(10)).await;
    danger.ends();
    let later = a.sent(&stage, mark);
    drop(keeps);
    Went { ended, sent, is_bare, later }
}

impl Went {
    /// What is wrong with it, if so many requests may be sent at most. `is_clear`: no message was lost that might have to be looked for.
    fn wrong(&self, most: usize, refused: usize, is_clear: bool) -> Option<String> {
        let Went { ended, sent, is_bare, later } = self;
        if *sent > most {
            return Some(format!("{sent} requests, {ended:?}"));
        }
        let is_known = match ended {
            None => return None,
            Some(Ok(())) => true,
            Some(Err(e)) if e.is_outcome_unknown() => false,
            Some(Err(e)) if refused > 0 && (e.is_denied() || e.is_retryable_refusal()) => true,
            Some(Err(e)) => return Some(e.to_string()),
        };
        // Whoever knows that nothing was made, or that it is gone, has nothing to look for.
        (is_clear && is_known && *is_bare && !later.is_empty())
            .then(|| format!("sends {later:?} after {ended:?}"))
    }
}

/// All requests of one kind are refused, from the begin of a call on or once one of its messages was lost: an access list may permit
/// reads and no writes, or an overloaded server may answer what is cheap. The call ends, or waits and asks no more; and it asks an
/// overloaded server seldom. A call that a refusal ended has told the truth, or says that it does not know; and who knows that nothing
/// was made looks for nothing afterwards.
#[test]
fn every_call_of_which_one_kind_of_request_is_refused_ends() {
    let (mut wrong, mut operations) = (Vec::new(), 0);
    for row in writes::all().chain(reads::all()).chain(waits::ALL) {
        let losses = once(None).chain((0..).map(|nth| Some((Fault::ReplyLost, nth))));
        for lost in losses {
            let mut was_lost = lost.is_none();
            let throttled = KINDS.into_iter().map(|kind| Refusal { fault: Fault::Throttled, kind, at: 0 });
            for refusal in denials().chain(throttled) {
                let most =
                    if refusal.fault == Fault::Throttled { MOST_THROTTLED_OF_A_KIND } else { MOST_DENIED };
                let (went, refused) = play_refusing(lost, refusal, |stage, danger| {
                    goes(row, stage, danger, Drops::Later(20_000))
                });
                was_lost |= refused.is_lost;
                operations = operations.max(refused.operations);
                let is_clear = lost.is_none() && !row.name.starts_with(SHARED);
                let why = went.wrong(most, refused.requests, is_clear);
                wrong.extend(why.map(|why| {
                    format!("{}, {lost:?} lost, {refusal:?} {} times: {why}", row.name, refused.requests)
                }));
            }
            if !was_lost {
                break;
            }
        }
    }
    assert!(operations > 3, "transactions of {operations} operations were refused, and no larger ones");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
