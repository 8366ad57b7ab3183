//! How much goes into one transaction.

use super::*;

/// Puts so many items, as many together as fit.
async fn filled(a: &Client, delivery: Delivery, items: usize, bytes: usize) {
    let mut puts = producer(a, delivery);
    let all = vec![vec![7; bytes]; items];
    for some in all.chunks(((1 << 19) / (bytes + 100)).max(1)) {
        puts.put_all(some).await.expect("they are put");
    }
}

/// How many items each call returns that asks for all of them.
fn taken(items: usize, bytes: usize) -> Vec<usize> {
    play(move |stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        filled(&a, Delivery::AtMostOnce, items, bytes).await;
        let (mut takes, mut calls) = (taker(&b, 1), Vec::new());
        while calls.iter().sum::<usize>() < items {
            calls.push(takes.take_up_to(items).await.expect("there are some").len());
        }
        calls
    })
}

/// The same of claims, which are confirmed together.
fn claimed(items: usize, bytes: usize) -> Vec<usize> {
    play(move |stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        filled(&a, Delivery::AtLeastOnce, items, bytes).await;
        let (mut claims, mut calls) = (claimer(&b, 1), Vec::new());
        while calls.iter().sum::<usize>() < items {
            let some = claims.claim_up_to(items).await.expect("there are some");
            calls.push(some.len());
            Claimed::done_all(some, Vec::new()).await.expect("they are ours");
        }
        calls
    })
}

#[test]
fn a_transaction_takes_as_many_items_as_fit_into_a_request() {
    // A delete has its path, 19 bytes, and at most 64 more.
    assert_eq!(taken(14_000, 1), [12_620, 1_380]);
    assert_eq!(taken(30, 100_000), [30], "a delete does not repeat the data");
}

#[test]
fn a_transaction_claims_as_many_items_as_fit_into_a_request() {
    // A claim has two paths, and the data once more.
    assert_eq!(claimed(6_000, 1), [5_085, 915]);
    assert_eq!(claimed(30, 100_000), [10, 10, 10], "the data are written again");
    assert_eq!(claimed(5, 400_000), [2, 2, 1]);
}

#[test]
fn a_put_of_thousands_of_small_items_is_one_request() {
    play(|stage| async move {
        let a = stage.client("a").await;
        let items = vec![b"small".to_vec(); 5_000];
        let mut producer = producer(&a, Delivery::AtMostOnce);
        producer.put_all(&items[..1]).await.expect("it makes the queue");
        let mark = stage.mark();
        producer.put_all(&items).await.expect("they fit into a request");
        assert_eq!(a.sent(&stage, mark), [Kind::Multi]);
        assert_eq!(names_left(&a).await.len(), 5_001);
        // Each has its path, 25 bytes, its data, and at most 64 more.
        let most = vec![b"small".to_vec(); 11_144];
        producer.put_all(&most).await.expect("they fit just so");
        let mark = stage.mark();
        let one_more = [&most[..], &items[..1]].concat();
        assert!(producer.put_all(&one_more).await.is_err_and(|e| e.is_bad_input()));
        assert_eq!(a.sent(&stage, mark), []);
    });
}
