//! Queues near the end of their sequence numbers, on servers whose new directories have had almost all of them.

use crate::common::{Client, Stage, play_with};
use sim_zk::choose::Calm;
use sim_zk::observer::Kind;
use sim_zk::{Config, Settings};
use std::future::Future;
use zk_recipes::zk::{Error, ErrorKind, ZooKeeper};
use zk_recipes::{
    ConsumerOptions, Delivery, Idle, Order, Priority, PriorityQueue, PriorityQueueOptions, Queue,
    QueueOptions,
};

/// The number of items of a directory.
const LAST: i32 = 2_130_706_431;

/// Plays a script in which the first sequential child of each znode has that number.
fn play_from<F: Future<Output = ()> + Send + 'static>(
    first_number: i32,
    script: impl FnOnce(Stage, Client) -> F + Send + 'static,
) {
    let settings = Settings { first_number, ..Settings::default() };
    let config = Config { settings, ..Config::default() };
    play_with(config, Calm, |stage| async move {
        let a = stage.client("a").await;
        script(stage, a).await;
    });
}

fn queue<Z: ZooKeeper>(zk: &Z, delivery: Delivery) -> Queue<Z> {
    let options = QueueOptions::new(delivery).with_idle(Idle::HerdFree);
    Queue::new(zk, "/q", options).expect("the path is good")
}

fn exhausted() -> Result<(), Error> {
    Err(ErrorKind::Exhausted("/q".to_owned()).into())
}

#[test]
fn no_item_is_put_near_the_end_of_the_numbers() {
    for delivery in [Delivery::AtMostOnce, Delivery::AtLeastOnce] {
        // Three directories are the first children of the queue, or two; so a few numbers are left.
        play_from(LAST - 8, move |_, a| async move {
            let queue = queue(&a.zk, delivery);
            let (mut puts, mut count) = (queue.producer(), 0);
            while puts.put(b"one more").await.is_ok() {
                count += 1;
            }
            assert!((4..=6).contains(&count), "{delivery:?}: {count}");
            assert_eq!(puts.put(b"one more").await, exhausted());
            assert_eq!(puts.put_all(&[b"one".to_vec(), b"two".to_vec()]).await, exhausted());
            let number = |name: &String| name.strip_prefix("queue-").and_then(|n| n.parse::<i32>().ok());
            let listed = a.zk.children("/q").await.expect("it is there").names;
            assert_eq!(listed.iter().filter_map(number).max(), Some(LAST - 1), "the last item");
            // What was put is taken, and that gives no number back.
            let mut takes =
                queue.consumer_with(ConsumerOptions::default().with_prefetch(4)).expect("it takes something");
            for _ in 0..count {
                match delivery {
                    Delivery::AtMostOnce => drop(takes.take().await.expect("it was put")),
                    Delivery::AtLeastOnce => {
                        takes.claim().await.expect("it was put").done().await.expect("it is done");
                    }
                }
            }
            assert_eq!(puts.put(b"one more").await, exhausted());
        });
    }
}

#[test]
fn items_that_are_put_together_are_refused_together() {
    play_from(LAST - 4, |_, a| async move {
        let queue = queue(&a.zk, Delivery::AtMostOnce);
        let mut puts = queue.producer();
        let many = vec![b"x".to_vec(); 3];
        assert_eq!(puts.put_all(&many).await, exhausted(), "two numbers are left");
        puts.put_all(&many[..2]).await.expect("they are enough for two");
        assert_eq!(puts.put(b"x").await, exhausted());
    });
}

#[test]
fn a_new_producer_knows_how_many_numbers_are_left() {
    for first in [LAST, i32::MAX - 1, i32::MAX] {
        play_from(first, move |stage, a| async move {
            let mut founds = queue(&a.zk, Delivery::AtMostOnce).producer();
            assert_eq!(founds.put(b"x").await, exhausted(), "{first}");
            let b = stage.client("b").await;
            let mark = stage.mark();
            let mut puts = queue(&b.zk, Delivery::AtMostOnce).producer();
            assert_eq!(puts.put(b"x").await, exhausted(), "{first}");
            let sent = b.sent(&stage, mark);
            assert!(!sent.contains(&Kind::Multi), "{first}: nothing is put: {sent:?}");
        });
    }
}

#[test]
fn a_put_asks_for_nothing_more_while_there_are_numbers() {
    play_from(LAST - 100, |stage, a| async move {
        let mut puts = queue(&a.zk, Delivery::AtMostOnce).producer();
        puts.put(b"x").await.expect("there are numbers");
        let mark = stage.mark();
        for _ in 0..10 {
            puts.put(b"x").await.expect("there are numbers");
        }
        assert_eq!(a.sent(&stage, mark), [Kind::Multi; 10]);
    });
}

#[test]
fn a_queue_that_is_made_anew_takes_items_again() {
    play_from(LAST - 3, |stage, a| async move {
        let queue = queue(&a.zk, Delivery::AtMostOnce);
        let mut puts = queue.producer();
        puts.put(b"x").await.expect("there is a number");
        assert_eq!(puts.put(b"x").await, exhausted());
        let b = stage.client("b").await;
        for directory in ["/q/receipts", "/q/takers"] {
            for child in b.zk.children(directory).await.expect("it is there").names {
                b.zk.delete(&format!("{directory}/{child}"), None).await.expect("it is there");
            }
        }
        for child in b.zk.children("/q").await.expect("it is there").names {
            b.zk.delete(&format!("/q/{child}"), None).await.expect("it is there");
        }
        b.zk.delete("/q", None).await.expect("it is empty");
        puts.put(b"x").await.expect("there is a number again");
    });
}

#[test]
fn a_priority_queue_puts_nothing_near_the_end_of_the_numbers() {
    for order in [Order::Fresh, Order::Strict] {
        play_from(LAST - 4, move |_, a| async move {
            let (delivery, idle) = (Delivery::AtMostOnce, Idle::HerdFree);
            let options = PriorityQueueOptions::new(order, delivery).with_idle(idle);
            let queue = PriorityQueue::new(&a.zk, "/q", options).expect("the path is good");
            let mut puts = queue.producer();
            for _ in 0..2 {
                puts.put(Priority(5), b"x").await.expect("there are numbers");
            }
            assert_eq!(puts.put(Priority(5), b"x").await, exhausted(), "{order:?}");
        });
    }
}
