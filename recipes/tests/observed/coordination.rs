//! Barriers, queues and transactions.

use super::told;
use insta::assert_snapshot;
use zk_recipes::{
    Barrier, BarrierOptions, Coordinator, Delivery, DoubleBarrier, DoubleBarrierOptions, Form, Idle, Leave,
    Order, Priority, PriorityQueue, PriorityQueueOptions, Queue, QueueOptions, Reuse, Site, Transaction,
    Vote,
};

#[test]
fn a_barrier_is_raised_waited_at_and_lowered() {
    assert_snapshot!(told(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let on = |zk| Barrier::new(zk, "/barrier", BarrierOptions::default()).expect("a good path");
        on(&a.zk).raise().await.expect("it is raised");
        let waiting = on(&b.zk);
        let waiting = b.process.spawn(async move { waiting.wait().await });
        stage.settle().await;
        on(&a.zk).lower().await.expect("it is lowered");
        waiting.await.expect("its process lives").expect("it passes");
    }));
}

#[test]
fn two_enter_and_leave() {
    assert_snapshot!(told(|stage| async move {
        let options = DoubleBarrierOptions::new(2, Reuse::Once, Leave::Keeper);
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let [first, second] = [&a, &b]
            .map(|client| DoubleBarrier::new(&client.zk, "/double", options.clone()).expect("a good path"));
        let entering = a.process.spawn(async move { first.enter().await?.leave().await });
        stage.settle().await;
        second.enter().await.expect("it opens").leave().await.expect("it leaves");
        entering.await.expect("its process lives").expect("it leaves");
    }));
}

#[test]
fn items_are_put_taken_claimed_and_done() {
    assert_snapshot!(told(|stage| async move {
        let a = stage.client("a").await;
        let options = QueueOptions::new(Delivery::AtMostOnce).with_idle(Idle::HerdFree);
        let queue = Queue::new(&a.zk, "/queue", options).expect("a good path");
        queue.producer().put(b"x").await.expect("it is put");
        let mut consumer = queue.consumer();
        consumer.take().await.expect("there is one");
        assert_eq!(consumer.try_take().await, Ok(None));
        let options =
            PriorityQueueOptions::new(Order::Fresh, Delivery::AtLeastOnce).with_idle(Idle::HerdFree);
        let urgent = PriorityQueue::new(&a.zk, "/urgent", options).expect("a good path");
        urgent.producer().put(Priority(1), b"y").await.expect("it is put");
        let mut consumer = urgent.consumer();
        consumer.claim().await.expect("there is one").give_back().await.expect("it is given back");
        consumer.claim().await.expect("there is one").done().await.expect("it is done");
    }));
}

#[test]
fn sites_vote_and_learn() {
    assert_snapshot!(told(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let transaction =
            Transaction { sites: vec!["s".to_owned()], form: Form::Coordinator, payload: b"pay".to_vec() };
        let coordinator = Coordinator::begin(&a.zk, "/tx", transaction).await.expect("it begins");
        let site = Site::open(&b.zk, "/tx", "s").await.expect("it is there");
        let voted = site.vote(Vote::Commit).await.expect("it votes");
        coordinator.decision().await.expect("it is decided");
        voted.decision().await.expect("it is decided");
        voted.finish().await.expect("it finishes");
        coordinator.forget().await.expect("it is forgotten");
    }));
}
