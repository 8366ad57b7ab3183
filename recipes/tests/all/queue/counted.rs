//! What it costs, and what no schedule does.

use super::*;

#[test]
fn puts_and_takes_cost_what_they_are_said_to() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut puts = producer(&a, Delivery::AtMostOnce);
        let mut takes = taker(&b, 1);
        puts.put(b"0").await.expect("it is put");
        takes.take().await.expect("there is one");
        let mark = stage.mark();
        for item in ["1", "2", "3"] {
            puts.put(item.as_bytes()).await.expect("it is put");
        }
        assert_eq!(a.sent(&stage, mark), [Kind::Multi; 3]);
        for _ in 0..3 {
            takes.take().await.expect("there is one");
        }
        let first = [Kind::Children, Kind::MultiRead];
        assert_eq!(
            b.sent(&stage, mark),
            [&first[..], &[Kind::Multi; 3]].concat(),
            "one read for all of them"
        );
        assert_eq!(stage.fired(mark), 0);

        puts.put_all(&bytes(&["4", "5", "6"])).await.expect("they are put");
        let mark = stage.mark();
        assert_eq!(takes.take_up_to(100).await.expect("there are some").len(), 3);
        assert_eq!(b.sent(&stage, mark), [Kind::Children, Kind::MultiRead, Kind::Multi]);
    });
}

#[test]
fn claims_cost_what_they_are_said_to() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut puts = producer(&a, Delivery::AtLeastOnce);
        let mut claims = claimer(&b, 8);
        puts.put(b"0").await.expect("it is put");
        claims.claim().await.expect("there is one").done().await.expect("it is ours");
        puts.put_all(&bytes(&["1", "2", "3"])).await.expect("they are put");
        let mark = stage.mark();
        let all = claims.claim_up_to(8).await.expect("there are some");
        Claimed::done_all(all, vec![]).await.expect("they are ours");
        let lists = [Kind::Children, Kind::Children];
        assert_eq!(b.sent(&stage, mark), [&lists[..], &[Kind::MultiRead, Kind::Multi, Kind::Multi]].concat());
        stage.settle().await;
        b.has_left_nothing_but(&stage, 1);
    });
}

#[test]
fn an_idle_spell_costs_three_requests_and_one_watch() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let mut puts = producer(&a, Delivery::AtMostOnce);
        let mut takes = taker(&b, 1);
        puts.put(b"0").await.expect("it is put");
        takes.take().await.expect("there is one");
        let mark = stage.mark();
        let waiting = b.process.spawn(async move {
            takes.take().await.expect("there is one");
            takes
        });
        stage.settle().await;
        assert_eq!(b.watches(&stage), [QUEUE]);
        puts.put(b"1").await.expect("it is put");
        let takes = waiting.await.expect("its process lives");
        let idle = [Kind::Create, Kind::Children, Kind::Children];
        let take = [Kind::Children, Kind::MultiRead, Kind::Multi];
        assert_eq!(b.sent(&stage, mark), [&[Kind::Children][..], &idle, &take].concat());
        assert_eq!((b.noticed(&stage, mark), stage.fired(mark)), (1, 1));
        stage.settle().await;
        b.has_left_nothing_but(&stage, 1);
        drop(takes);
    });
}

#[test]
fn no_schedule_loses_or_doubles_an_item() {
    let mut got = 0;
    for seed in 0..150 {
        for delivery in [Delivery::AtMostOnce, Delivery::AtLeastOnce] {
            for servers in [1, 3] {
                got += any_schedule(seed, delivery, servers);
            }
        }
    }
    assert!(got > 1000, "the runs are hostile, and not too hostile: {got}");
}
