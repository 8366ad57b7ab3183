//! An urgent client comes last and is served first, but not before the holder goes.

use crate::prelude::*;
use crate::priority_lock::words as priority_lock;

pub(super) const STORY: Story = Story {
    title: "an urgent request overtakes waiters, and not the holder",
    about: "Nothing goes wrong. Whoever ranks first in line does not hold for that: the holder stands in a directory of its \
            own, and whoever comes looks there, too.",
    point: |told| vec![("two held", told.count(|what| matches!(what, What::Believe { .. })) == 2)],
    verdicts: &[(Mx4, Verdict::Pass), (Mx15, Verdict::Pass)],
    ..Story::own("urgent-first", priority_lock::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a writes, without any hurry; b waits in the same way");
        let held = a.asks_to_write_at(9).await.expect("it is free");
        let waiting = b.asks_to_write_at(9);
        w.settle().await;

        w.step("c is urgent, and waits for a all the same");
        let urgent = c.asks_to_write_at(1);
        w.settle().await;

        w.step("a releases: it is c's turn, not b's, who gives up");
        a.releases(held).await;
        let held = urgent.await.expect("c's turn comes");
        b.gives_up();
        assert!(waiting.await.is_none(), "b has not had its turn");
        c.releases(held).await;
    })
}
