//! A reader waits behind two writers.

use crate::prelude::*;
use crate::shared_lock::words as shared_lock;

pub(super) const STORY: Story = Story {
    title: "a reader behind two writers is woken once, by the nearer one",
    about: "ZooKeeper's page has a reader watch the writer \"with the next lowest sequence number\". Whoever takes the \
            lowest is woken by every writer, whoever takes a later one waits for ever; the nearest ahead is enough.",
    point: |told| {
        vec![
            ("three held", told.count(|what| matches!(what, What::Believe { .. })) == 3),
            ("two notifications were sent", told.count(|what| matches!(what, What::Fire { .. })) == 2),
        ]
    },
    verdicts: &[(Rw3, Verdict::Pass), (Rw5, Verdict::Pass)],
    ..Story::own("nearest-writer", shared_lock::shared, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a writes, b wants to write, c to read");
        let first = a.asks_to_write().await.expect("nobody is ahead");
        let second = b.asks_to_write();
        w.settle().await;
        let reading = c.asks_to_read();
        w.settle().await;

        w.step("a goes: only b is told");
        a.releases(first).await;
        let second = second.await.expect("its turn comes");

        w.step("b goes: c is told, and holds");
        b.releases(second).await;
        let read = reading.await.expect("its turn comes");
        c.releases(read).await;
    })
}
