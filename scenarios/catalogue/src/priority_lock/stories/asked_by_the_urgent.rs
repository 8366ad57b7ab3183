//! An urgent client asks a less urgent holder to go, and revokes another one that does not.

use crate::prelude::*;
use crate::priority_lock::words as priority_lock;
use crate::priority_lock::workload::GRACE;
use zk_recipes::Preempt;

pub(super) const STORY: Story = Story {
    title: "a revoked holder releases, and one that does not is removed after its grace period",
    about: "The urgent one asks those who are in its way, and nobody else: both readers get the word. One gives the lock \
            back, the other holds on, until its znode is deleted; it is told.",
    point: |told| {
        let word = |what: &What| matches!(what, What::Observed { seen: Seen::Word, .. });
        vec![("two were asked to go", told.count(word) == 2)]
    },
    verdicts: &[(Rv1, Verdict::Pass), (Rv2, Verdict::Pass)],
    ..Story::own("asked-by-the-urgent", priority_lock::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a and b read");
        let first = a.asks_to_read_at(9).await.expect("it is free");
        let second = b.asks_to_read_at(9).await.expect("readers share");
        w.settle().await;

        w.step("c is urgent: both are asked to go, and a does");
        let urgent = c.asks_urgently(Verb::Write, 1, Preempt::Force { grace: GRACE });
        a.is_asked_to_go(&first).await;
        b.is_asked_to_go(&second).await;
        a.releases(first).await;

        w.step("b does not: when the grace is over its znode is deleted, and it is told");
        let acting = b.acts_until_told_to_stop(second);
        let held = urgent.await.expect("c's turn comes");
        let (second, _) = acting.await;
        b.releases(second).await;
        c.releases(held).await;
    })
}
