//! Claims that are confirmed together: one that is lost takes all of the transaction along, and the others are given back.

use super::*;

/// How one of the claims is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loses {
    /// Another client deletes the claim.
    Claim,
    /// The same, and claims the item itself.
    ClaimToAnother,
    /// Another client deletes the item.
    Item,
    /// Another client writes to the item.
    Version,
    /// Another client deletes the consumer's receipt: no claim can be verified any more.
    Receipt,
}

const LOSSES_OF_A_CLAIM: [Loses; 5] =
    [Loses::Claim, Loses::ClaimToAnother, Loses::Item, Loses::Version, Loses::Receipt];

const ITEMS: [&str; 3] = ["1", "2", "3"];

/// The names of the items, in the order of their puts.
async fn items(by: &Client) -> Vec<String> {
    let mut names = names_left(by).await;
    names.sort();
    names
}

impl Loses {
    /// Does it to the claim at that place; gives what the other client has claimed meanwhile.
    async fn to(self, by: &Client, place: usize) -> Option<Claimed<SimClient>> {
        let name = items(by).await.remove(place);
        let (item, claim) = (format!("{QUEUE}/{name}"), format!("{QUEUE}/claims/{name}"));
        match self {
            Loses::Claim | Loses::ClaimToAnother => by.zk.delete(&claim, None).await.expect("it is there"),
            Loses::Item => by.zk.delete(&item, None).await.expect("it is there"),
            Loses::Version => drop(by.zk.set(&item, b"theirs", None).await.expect("it is there")),
            Loses::Receipt => {
                let receipts = format!("{QUEUE}/receipts");
                for name in by.zk.children(&receipts).await.expect("they are there").names {
                    by.zk.delete(&format!("{receipts}/{name}"), None).await.expect("it is there");
                }
            }
        }
        match self {
            Loses::ClaimToAnother => Some(claimer(by, 1).claim().await.expect("it is free")),
            _ => None,
        }
    }
}

/// Three items that one consumer has claimed.
async fn claimed(by: &Client) -> (Consumer<SimClient>, Vec<Claimed<SimClient>>) {
    producer(by, Delivery::AtLeastOnce).put_all(&bytes(&ITEMS)).await.expect("they are put");
    let mut consumer = claimer(by, 3);
    let claims = consumer.claim_up_to(3).await.expect("they are there");
    assert_eq!(claims.len(), 3);
    (consumer, claims)
}

fn writes() -> Vec<Op> {
    ["/a", "/b"]
        .map(|path| Op::Create { path: path.to_owned(), data: vec![], mode: CreateMode::Persistent })
        .to_vec()
}

/// Nothing was written, and what is not the other client's can be claimed by anybody, in the old order.
async fn nothing_is_done(stage: &Stage, other: &Client, theirs: Option<Claimed<SimClient>>, when: &str) {
    stage.settle().await;
    let written = ["/a", "/b"].map(|path| other.zk.exists(path));
    for answer in written {
        assert_eq!(answer.await, Ok(None), "{when}: nothing is written");
    }
    let left = items(other).await.len();
    let free = left - usize::from(theirs.is_some());
    let mut next = claimer(other, 1);
    let mut again = Vec::new();
    while let Some(claim) = next.try_claim().await.expect("it can be tried") {
        again.push(claim);
    }
    assert_eq!(again.len(), free, "{when}: every claim was given back");
    let czxids: Vec<i64> = again.iter().map(|claim| claim.item().czxid).collect();
    assert!(czxids.is_sorted(), "{when}: at their old places");
    for claim in again.into_iter().chain(theirs) {
        claim.done().await.unwrap_or_else(|e| panic!("{when}: it is ours: {e}"));
    }
    assert_eq!(names_left(other).await, [""; 0], "{when}");
}

#[test]
fn with_one_claim_lost_nothing_is_written_and_the_others_are_given_back() {
    for loses in LOSSES_OF_A_CLAIM {
        for place in 0..ITEMS.len() {
            play(move |stage| async move {
                let (a, b) = (stage.client("a").await, stage.client("b").await);
                let (consumer, claims) = claimed(&a).await;
                let theirs = loses.to(&b, place).await;
                let when = format!("{loses:?} at {place}");
                assert_eq!(
                    Claimed::done_all(claims, writes()).await,
                    Err(ErrorKind::ClaimLost.into()),
                    "{when}"
                );
                nothing_is_done(&stage, &b, theirs, &when).await;
                drop(consumer);
                stage.settle().await;
                a.has_left_nothing(&stage, &when);
            });
        }
    }
}

#[test]
fn an_item_that_cannot_be_deleted_is_no_lost_claim() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let (_consumer, claims) = claimed(&a).await;
        let name = items(&b).await.remove(1);
        b.makes(&format!("{QUEUE}/{name}/note")).await;
        let refused = Claimed::done_all(claims, writes()).await.expect_err("one of them has a child");
        let is_told = refused.refused_operation().is_some_and(|(_, cause)| cause.is_not_empty());
        assert!(is_told, "{refused}");
    });
}

/// The same while a message is lost: the outcome is known all the same, or said to be unknown.
#[test]
fn a_lost_message_does_not_save_a_lost_claim() {
    for loses in LOSSES_OF_A_CLAIM {
        for fault in LOSSES {
            for nth in 0.. {
                let ((), struck) = play_struck(fault, nth, move |stage, danger| async move {
                    let (a, b) = (stage.client("a").await, stage.client("b").await);
                    let (consumer, claims) = claimed(&a).await;
                    let theirs = loses.to(&b, 1).await;
                    let when = format!("{loses:?}, {fault:?} at {nth}");
                    danger.begins();
                    let refused = Claimed::done_all(claims, writes()).await.expect_err("one is lost");
                    danger.ends();
                    assert!(
                        refused == ErrorKind::ClaimLost || refused.is_outcome_unknown(),
                        "{when}: {refused}"
                    );
                    stage.pass(&a, 3 * RECONNECT).await;
                    nothing_is_done(&stage, &b, theirs, &when).await;
                    drop(consumer);
                });
                if !struck {
                    break;
                }
            }
        }
    }
}

/// The second one reads the receipt of both to learn what became of the first, which is sent again behind that read.
#[test]
fn of_two_confirmations_at_once_a_lost_one_is_done_as_well() {
    for fault in LOSSES {
        let ((), struck) = play_struck(fault, 0, move |stage, danger| async move {
            let a = stage.client("a").await;
            let (_consumer, claims) = claimed(&a).await;
            let mut claims = claims.into_iter();
            let [one, other] = [(); 2].map(|()| claims.next().expect("there are three"));
            danger.begins();
            let mut one = Box::pin(one.done());
            assert_eq!((&mut one).now_or_never(), None);
            let done = futures_util::join!(other.done(), one);
            assert_eq!(done, (Ok(()), Ok(())), "{fault:?}");
        });
        assert!(struck, "{fault:?}");
    }
}

/// Dropped at any await: all is confirmed and written, or nothing.
#[test]
fn a_dropped_confirmation_of_several_claims_confirms_all_or_none() {
    at_every_await(|stage, danger, drops| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let (consumer, claims) = claimed(&a).await;
        danger.begins();
        let ended = dropping(drops, &stage, &a, Claimed::done_all(claims, writes())).await;
        danger.ends();
        assert!(ended.is_none() || ended == Some(Ok(())), "dropped {drops:?}: {ended:?}");
        stage.pass(&a, 3 * RECONNECT).await;
        stage.settle().await;
        let is_written = b.zk.exists("/a").await.expect("it is calm").is_some();
        match is_written {
            true => assert_eq!(names_left(&b).await, [""; 0], "dropped {drops:?}"),
            false => {
                assert!(ended.is_none(), "dropped {drops:?}");
                assert_eq!(names_left(&b).await.len(), 3, "dropped {drops:?}");
                nothing_is_done(&stage, &b, None, &format!("dropped {drops:?}")).await;
            }
        }
        drop(consumer);
        ended.is_some()
    });
}
