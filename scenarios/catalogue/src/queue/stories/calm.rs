//! Two consumers wait, and two items are put: the first item wakes one of them, which wakes the other.

use crate::prelude::*;
use crate::queue::words as queue;

pub(super) const STORY: Story = Story {
    title: "a put wakes one idle consumer, which wakes the next one",
    about: "Two consumers stand in line, and only the first watches the queue. Its place goes with the item that it takes, \
            and so the next moves up.",
    point: |told| {
        let fired = told.count(|what| matches!(what, What::Fire { .. }));
        vec![(
            "one was told of the first item, the other of the place ahead of it, then of the second",
            fired == 3,
        )]
    },
    verdicts: &[(Qu1, Verdict::Pass), (Qu6, Verdict::Pass), (Qu7, Verdict::Pass)],
    ..Story::own("queue-calm", queue::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);
        let puts = a.producer(queue::ONCE);
        puts.puts("zero").await;

        w.step("b takes what is there");
        let (first, second) = (b.consumer(queue::ONCE), c.consumer(queue::ONCE));
        first.takes().await;

        w.step("b and c wait");
        let one = first.waits();
        w.settle().await;
        let two = second.waits();
        w.settle().await;

        w.step("an item comes");
        puts.puts("one").await;
        assert_eq!(one.await.as_deref(), Some("one"));
        w.settle().await;

        w.step("and another");
        puts.puts("two").await;
        assert_eq!(two.await.as_deref(), Some("two"));
    })
}
