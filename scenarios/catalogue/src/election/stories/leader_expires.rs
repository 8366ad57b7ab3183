//! The leader is cut off until its session ends.

use crate::election::words as election;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "a partitioned leader stops before the next one begins, and its record is deleted",
    about: "The leader's session ends while it is away. It has stopped by then; candidate and record go in one transaction, \
            and the next leader has a larger epoch.",
    point: |told| {
        vec![
            ("the leader was cut off", told.struck(FaultKind::SessionExpiry)),
            ("its session ended", told.count(|what| matches!(what, What::Marked { .. })) == 1),
            ("two led", told.count(|what| matches!(what, What::Believe { .. })) == 2),
        ]
    },
    verdicts: &[(Le1, Verdict::Pass), (Le2, Verdict::Pass), (Le4, Verdict::Pass), (Le9, Verdict::Pass)],
    ..Story::own("leader-expires", election::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a leads and has said so; b stands behind it, c follows");
        let leading = a.takes_office().await;
        let leading = a.acknowledges(leading, "a, port 1").await.expect("it leads");
        let standing = b.stands();
        let following = c.follows_until(2);
        w.settle().await;

        w.step("a is cut off until its session has ended: it is told to stop long before");
        let acting = a.acts_until_told_to_stop(leading);
        a.session_expires();
        let (leading, _) = acting.await;

        w.step("b takes over, and says so");
        let next = standing.await.expect("b is elected");
        let next = b.acknowledges(next, "b, port 2").await.expect("it leads");
        following.await;
        a.releases(leading).await;
        b.releases(next).await;
    })
}
