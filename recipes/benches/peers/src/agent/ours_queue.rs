//! The queue of this workspace: items one by one or in batches, taken, or claimed and done.

use super::ours_sessions::{session, sessions};
use super::{Measured, Orders, Task};
use crate::clock::now;
use std::collections::BTreeSet;
use tokio::sync::mpsc;
use tokio::task::{JoinSet, block_in_place};
use zk_client::Client;
use zk_recipes::{
    Claimed, Consumer, ConsumerOptions, Delivery, Idle, Parents, Producer, Queue, QueueOptions,
};

/// The number of items that are put at a time into a queue that is filled.
const FILL: usize = 500;

/// The window of a relaxed consumer, for each consumer of the queue.
const WINDOW: usize = 64;

/// The length of an item, in bytes.
const ITEM_BYTES: usize = 20;

/// How a run uses its queue.
struct Use<'a> {
    task: &'a Task,
    delivery: Delivery,
    batch: usize,
    consumers: usize,
    is_relaxed: bool,
}

impl<'a> Use<'a> {
    fn of(task: &'a Task) -> anyhow::Result<Self> {
        let recipe = task.text("recipe")?;
        let delivery = match recipe.contains("claim") {
            true => Delivery::AtLeastOnce,
            false => Delivery::AtMostOnce,
        };
        let (batch, consumers) = (task.number("batch")?, task.number("consumers")?);
        Ok(Use { task, delivery, batch, consumers, is_relaxed: recipe.ends_with("relaxed") })
    }

    fn queue(&self, zk: &Client) -> anyhow::Result<Queue<Client>> {
        let (delivery, idle, parents) = (self.delivery, Idle::HerdFree, Parents::Persistent);
        Ok(Queue::new(
            zk,
            self.task.text("root")?,
            QueueOptions::new(delivery).with_idle(idle).with_parents(parents),
        )?)
    }

    /// Begins to consume, until the tasks are dropped.
    async fn consume(&self, tell: &mpsc::UnboundedSender<Got>) -> anyhow::Result<JoinSet<()>> {
        let mut tasks = JoinSet::new();
        for zk in sessions(self.task, self.consumers).await? {
            let (queue, tell) = (self.queue(&zk)?, tell.clone());
            let consumer = match self.is_relaxed {
                true => queue.consumer_with(
                    ConsumerOptions::default().with_prefetch(self.batch).with_window(WINDOW * self.consumers),
                )?,
                false => queue.consumer_with(ConsumerOptions::default().with_prefetch(self.batch))?,
            };
            let (delivery, batch) = (self.delivery, self.batch);
            tasks.spawn(async move {
                let failed = match delivery {
                    Delivery::AtMostOnce => take(consumer, &tell).await,
                    Delivery::AtLeastOnce => claim(consumer, batch, &tell).await,
                };
                let _ = tell.send(failed);
            });
        }
        Ok(tasks)
    }
}

/// Consumers empty a queue that was filled before they came.
pub async fn backlog(task: &Task) -> anyhow::Result<()> {
    let used = Use::of(task)?;
    let filling = session(task.text("direct")?).await?;
    let mut producer = used.queue(&filling)?.producer();
    let mut orders = Orders;
    let mut next = 0;
    while let Some(ops) = block_in_place(|| orders.next()) {
        put(&mut producer, next, ops, FILL).await?;
        next += ops;
        let (tell, mut told) = mpsc::unbounded_channel();
        let begun = now();
        let _consuming = used.consume(&tell).await?;
        let twice = taken_twice(&mut told, ops).await?;
        orders.report(Measured::between(ops, begun, now()).violations(twice));
    }
    Ok(())
}

/// Producers put a run's items as fast as they can, and consumers take whatever comes, also between runs.
pub async fn queue(task: &Task) -> anyhow::Result<()> {
    let used = Use::of(task)?;
    let batch = used.batch;
    let mut producers = Vec::new();
    for zk in sessions(task, task.number("producers")?).await? {
        producers.push(used.queue(&zk)?.producer());
    }
    let (tell, mut told) = mpsc::unbounded_channel();
    let _consuming = used.consume(&tell).await?;
    let mut orders = Orders;
    let mut next = 0;
    let warm = task.number("warm")?;
    let mut is_warm = warm == 0;
    loop {
        let ops = match is_warm {
            true => block_in_place(|| orders.next()),
            false => Some(warm),
        };
        let Some(ops) = ops else { return Ok(()) };
        let begun = now();
        let each = ops.div_ceil(producers.len());
        let mut putting = JoinSet::new();
        for mut producer in producers.drain(..) {
            let first = next;
            next += each;
            putting.spawn(async move {
                put(&mut producer, first, each, batch).await?;
                anyhow::Ok(producer)
            });
        }
        let ops = each * putting.len();
        let twice = taken_twice(&mut told, ops).await?;
        let measured = Measured::between(ops, begun, now()).violations(twice);
        while let Some(producer) = putting.join_next().await {
            producers.push(producer??);
        }
        if is_warm {
            orders.report(measured);
        }
        is_warm = true;
    }
}

/// Waits until so many items have come, and returns how many of them had come before.
async fn taken_twice(told: &mut mpsc::UnboundedReceiver<Got>, ops: usize) -> anyhow::Result<usize> {
    let (mut got, mut distinct) = (0, BTreeSet::new());
    while got < ops {
        for item in told.recv().await.unwrap_or_else(|| Ok(Vec::new()))? {
            got += 1;
            distinct.insert(item);
        }
    }
    Ok(ops - distinct.len())
}

fn item(number: usize) -> Vec<u8> {
    format!("{number:<ITEM_BYTES$}").into_bytes()
}

async fn put(
    producer: &mut Producer<Client>,
    first: usize,
    count: usize,
    batch: usize,
) -> anyhow::Result<()> {
    let mut numbers = (first..first + count).peekable();
    while numbers.peek().is_some() {
        if batch == 1 {
            let number = numbers.next().unwrap_or(first);
            producer.put(&item(number)).await?;
        } else {
            let items: Vec<_> = numbers.by_ref().take(batch).map(item).collect();
            producer.put_all(&items).await?;
        }
    }
    Ok(())
}

type Got = anyhow::Result<Vec<Vec<u8>>>;

/// Takes until the program ends.
async fn take(mut consumer: Consumer<Client>, tell: &mpsc::UnboundedSender<Got>) -> Got {
    loop {
        let item = consumer.take().await?;
        let _ = tell.send(Ok(vec![item.data]));
    }
}

/// Claims and does until the program ends.
async fn claim(mut consumer: Consumer<Client>, batch: usize, tell: &mpsc::UnboundedSender<Got>) -> Got {
    loop {
        let claims = match batch {
            1 => vec![consumer.claim().await?],
            _ => consumer.claim_up_to(batch).await?,
        };
        let items = claims.iter().map(|claim| claim.item().data.clone()).collect();
        Claimed::done_all(claims, Vec::new()).await?;
        let _ = tell.send(Ok(items));
    }
}
