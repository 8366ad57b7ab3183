//! One client holds, another waits, and the lock is handed over.

use crate::lock::words as lock;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "the lock passes from one holder to the next with one notification",
    about: "Nothing goes wrong. The waiter watches the znode just ahead, is told once, looks once, and holds.",
    point: |told| {
        vec![
            ("two clients held", told.count(|what| matches!(what, What::Believe { .. })) == 2),
            ("one notification was sent", told.count(|what| matches!(what, What::Fire { .. })) == 1),
        ]
    },
    verdicts: &[(Mx3, Verdict::Pass), (Mx13, Verdict::Pass)],
    ..Story::own("calm-hand-over", lock::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);

        w.step("a takes the lock");
        let held = a.acquires().await;

        w.step("b stands in line behind it");
        let waiting = b.asks();
        w.settle().await;

        w.step("a releases: b is told, looks, and holds");
        a.releases(held).await;
        let held = waiting.await.expect("b's turn comes");
        b.releases(held).await;
    })
}
