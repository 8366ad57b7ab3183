//! A waiter in the middle of the queue dies.

use crate::lock::words as lock;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "when a waiter in the middle dies, the waiter behind it lists again and keeps waiting",
    about: "Three stand in line and the second dies. Its znode goes with its session, the third is told, sees that the \
            first still holds, and watches it instead: an event alone grants nothing.",
    point: |told| {
        vec![
            ("a waiter died", told.struck(FaultKind::ClientCrash)),
            ("two clients held", told.count(|what| matches!(what, What::Believe { .. })) == 2),
        ]
    },
    verdicts: &[(Mx2, Verdict::Pass), (Mx13, Verdict::Pass)],
    ..Story::own("waiter-dies", lock::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a holds; b and c stand in line");
        let held = a.acquires().await;
        let _b_waits = b.asks();
        w.settle().await;
        let waiting = c.asks();
        w.settle().await;

        w.step("b dies; its session ends, and c takes a for the one just ahead");
        b.dies();
        w.settle().await;

        w.step("a releases, and c holds");
        a.releases(held).await;
        let held = waiting.await.expect("c's turn comes");
        c.releases(held).await;
    })
}
