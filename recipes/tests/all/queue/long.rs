//! Long queues: nobody lists all of a queue again and again.

use super::*;
use sim_zk::observer::SimEvent;

const ITEMS: usize = 4_000;

/// Four consumers empty a long queue: the number of lists of it, and the number of requests.
fn emptied(delivery: Delivery, window: Option<usize>) -> (usize, usize) {
    play(move |stage| async move {
        let a = stage.client("a").await;
        let mut puts = producer(&a, delivery);
        for first in (0..ITEMS).step_by(500) {
            let some: Vec<Vec<u8>> = (first..first + 500).map(|number| number.to_string().into()).collect();
            puts.put_all(&some).await.expect("they are put");
        }
        let mark = stage.mark();
        let mut consumers = Vec::new();
        for name in ["b", "c", "d", "e"] {
            let client = stage.client(name).await;
            let queue = queue(&client, delivery);
            let mut consumer = match window {
                Some(window) => queue.consumer_with(ConsumerOptions::default().with_window(window)),
                None => queue.consumer_with(ConsumerOptions::default().with_prefetch(1)),
            }
            .expect("it takes something");
            consumers.push(client.process.spawn(async move {
                for _ in 0..ITEMS / 4 {
                    match delivery {
                        Delivery::AtMostOnce => drop(consumer.take().await.expect("there is one")),
                        Delivery::AtLeastOnce => {
                            consumer.claim().await.expect("there is one").done().await.expect("it is ours")
                        }
                    }
                }
            }));
        }
        for consumer in consumers {
            consumer.await.expect("its process lives");
        }
        assert_eq!(names_left(&a).await, Vec::<String>::new());
        let asked = |(_, happening): &(u64, SimEvent<'_>)| match happening {
            SimEvent::Sent { kind: Kind::Children, path, .. } => Some(*path),
            _ => None,
        };
        let asked: Vec<_> = stage.since(mark).iter().filter_map(asked).collect();
        let lists =
            stage.sim.look(|world| asked.iter().filter(|path| world.paths().text(**path) == QUEUE).count());
        (lists, stage.count(mark, |happening| matches!(happening, SimEvent::Sent { .. })))
    })
}

#[test]
fn four_consumers_list_a_long_queue_a_few_times() {
    // Requests for an item with lost races and lists: a little more than is measured.
    for (delivery, window, most) in [
        (Delivery::AtMostOnce, None, 2.5),
        (Delivery::AtMostOnce, Some(256), 1.5),
        (Delivery::AtLeastOnce, None, 5.5),
        (Delivery::AtLeastOnce, Some(256), 2.5),
    ] {
        let (lists, requests) = emptied(delivery, window);
        assert!(lists < 100, "{delivery:?}, {window:?}: {lists} lists for {ITEMS} items");
        let each = requests as f64 / ITEMS as f64;
        assert!(each < most, "{delivery:?}, {window:?}: {each} requests for each of {ITEMS} items");
    }
}
