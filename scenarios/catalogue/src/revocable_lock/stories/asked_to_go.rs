//! A client asks the holder and a waiter to go.

use crate::prelude::*;
use crate::revocable_lock::words;

pub(super) const STORY: Story = Story {
    title: "a revoked holder finishes and releases, a revoked waiter gives up, and no other contender is woken",
    about: "Nothing goes wrong. The word is written into one znode, and its owner alone is told. The waiter behind watches \
            for the deletion, and hears of nothing else.",
    point: |told| {
        let word = |what: &What| matches!(what, What::Observed { seen: Seen::Word, .. });
        vec![
            ("two heard the word", told.count(word) == 2),
            ("two held", told.count(|what| matches!(what, What::Believe { .. })) == 2),
        ]
    },
    verdicts: &[(Rv1, Verdict::Pass), (Rv2, Verdict::Pass), (Rv3, Verdict::Pass), (Rv4, Verdict::Pass)],
    ..Story::own("asked-to-go", words::revocable, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a holds, and b waits");
        let held = a.asks_revocably().await.expect("nobody is ahead");
        let first = held.guard.path().to_owned();
        let working = a.acts_until_asked_to_go(held);
        let waiting = b.asks_revocably();
        w.settle().await;

        w.step("c asks b to go: it leaves the line");
        let second = w.last_contender();
        c.asks_to_go(&second).await;
        assert!(waiting.await.is_none(), "it was asked to go");

        w.step("b asks again, and c asks a to go: a is told, finishes, and releases; b holds");
        let waiting = b.asks_revocably();
        w.settle().await;
        c.asks_to_go(&first).await;
        let held = working.await;
        a.releases(held).await;
        let held = waiting.await.expect("its turn comes");
        b.releases(held).await;
    })
}
