//! A lock is held for ten session timeouts, and no client sends a request meanwhile.

use crate::lock::words as lock;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "a lock is kept, and waited for, for ten session timeouts on pings alone",
    about: "Nothing goes wrong. The holder asks whether its znode is there when it begins to listen, and then for nothing; the \
            waiter has its watch. Pings keep both sessions alive, and what they were answered keeps the holder sure.",
    point: |told| {
        let released = |what: &What| matches!(what, What::Unbelieve { why: Why::Released });
        vec![
            ("nobody was told to stop", told.count(|what| matches!(what, What::Unbelieve { .. })) == 2),
            ("both gave it back themselves", told.count(released) == 2),
            // Each client creates its znode, lists the contenders, watches its znode, and deletes it; the waiter also
            // watches the holder's znode and lists again, and the first client creates the directories, which takes
            // four more requests.
            ("fourteen requests were enough", told.count(|what| matches!(what, What::Send { .. })) == 14),
        ]
    },
    verdicts: &[(Mx3, Verdict::Pass), (Mx16, Verdict::Pass)],
    ..Story::own("ten-idle-timeouts", lock::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);

        w.step("a takes the lock, and b stands in line behind it");
        let mut held = a.acquires().await;
        let waiting = b.asks();

        w.step("a holds for ten session timeouts");
        a.acts_for(&mut held, 10 * TIMEOUT).await;

        w.step("a releases: b holds for ten more");
        a.releases(held).await;
        let mut held = waiting.await.expect("b's turn comes");
        b.acts_for(&mut held, 10 * TIMEOUT).await;
        b.releases(held).await;
    })
}
