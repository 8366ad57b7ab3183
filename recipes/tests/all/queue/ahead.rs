//! Items that a consumer reads before it takes them.

use super::*;

/// A producer and a consumer that has taken one item, so that it knows how large items are.
async fn acquainted(
    stage: &Stage,
    data: &[u8],
) -> (Client, Producer<SimClient>, Client, Consumer<SimClient>) {
    let (a, b) = (stage.client("a").await, stage.client("b").await);
    let (mut puts, mut takes) = (producer(&a, Delivery::AtMostOnce), taker(&b, 1));
    puts.put(data).await.expect("it is put");
    takes.take().await.expect("there is one");
    (a, puts, b, takes)
}

#[test]
fn small_items_are_read_sixteen_ahead_and_large_ones_one_by_one() {
    for (bytes, reads) in [(1, 2), (4 << 10, 2), (16 << 10, 4), (40 << 10, 10), (200 << 10, 20)] {
        play(move |stage| async move {
            let data = vec![7; bytes];
            let (_a, mut puts, b, mut takes) = acquainted(&stage, &data).await;
            for _ in 0..20 {
                puts.put(&data).await.expect("it is put");
            }
            let mark = stage.mark();
            for _ in 0..20 {
                assert_eq!(takes.take().await.expect("there is one").data, data);
            }
            let sent = b.sent(&stage, mark);
            let count = |kind| sent.iter().filter(|sent| **sent == kind).count();
            assert_eq!((count(Kind::Children), count(Kind::Multi)), (1, 20), "{bytes}");
            assert_eq!(count(Kind::MultiRead), reads, "{bytes}");
        });
    }
}

#[test]
fn what_another_client_writes_into_an_item_after_the_read_is_delivered() {
    play(|stage| async move {
        let (a, mut puts, b, mut takes) = acquainted(&stage, b"0").await;
        puts.put_all(&bytes(&["1", "2", "3", "4"])).await.expect("they are put");
        assert_eq!(takes.take().await.expect("there is one").data, b"1");
        let mut names = names_left(&a).await;
        names.sort();
        a.zk.set(&format!("{QUEUE}/{}", names[0]), b"new", None).await.expect("it is there");
        a.zk.delete(&format!("{QUEUE}/{}", names[1]), None).await.expect("it is there");
        let mark = stage.mark();
        assert_eq!(takes.take().await.expect("there is one").data, b"new", "in its place, with the new data");
        assert_eq!(b.sent(&stage, mark), [Kind::Multi, Kind::MultiRead, Kind::Multi], "nobody was faster");
        assert_eq!(takes.take().await.expect("there is one").data, b"4");
        drop(puts);
    });
}

#[test]
fn what_was_read_is_not_delivered_from_a_queue_that_was_made_anew() {
    play(|stage| async move {
        let (a, mut puts, _b, mut takes) = acquainted(&stage, b"0").await;
        puts.put_all(&bytes(&["1", "2", "3"])).await.expect("they are put");
        assert_eq!(takes.take().await.expect("there is one").data, b"1");
        a.zk.sync(QUEUE).await.expect("the network is calm");
        for directory in ["receipts", "takers"] {
            let path = format!("{QUEUE}/{directory}");
            for name in a.zk.children(&path).await.expect("it is there").names {
                a.zk.delete(&format!("{path}/{name}"), None).await.expect("it is there");
            }
            a.zk.delete(&path, None).await.expect("it is empty");
        }
        for name in names_left(&a).await {
            a.zk.delete(&format!("{QUEUE}/{name}"), None).await.expect("it is there");
        }
        a.zk.delete(QUEUE, None).await.expect("it is empty");
        let mut anew = producer(&a, Delivery::AtMostOnce);
        anew.put_all(&bytes(&["a", "b", "c"])).await.expect("they are put");
        for expected in ["a", "b", "c"] {
            assert_eq!(takes.take().await.expect("there is one").data, expected.as_bytes());
        }
        drop(puts);
    });
}
