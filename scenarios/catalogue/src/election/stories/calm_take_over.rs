//! A leader begins, resigns, and the next candidate takes over, while a follower observes.

use crate::election::words as election;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "a leader that resigns wakes one candidate, and observers are notified",
    about: "Nothing goes wrong. Two candidates wait, each for the one just ahead; the record goes with the leader in one \
            transaction, and the next leader makes another.",
    point: |told| {
        let leader = |what: &What| matches!(what, What::Observed { seen: Seen::Leader, .. });
        vec![
            ("two led", told.count(|what| matches!(what, What::Believe { .. })) == 2),
            ("both were told to whoever followed", told.count(leader) == 2),
        ]
    },
    verdicts: &[(Le1, Verdict::Pass), (Le4, Verdict::Pass), (Le7, Verdict::Pass)],
    ..Story::own("calm-take-over", election::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a is elected, and b stands behind it; c follows");
        let leading = a.takes_office().await;
        let standing = b.stands();
        let following = c.follows_until(2);
        w.settle().await;

        w.step("a has begun, and says so: c is told");
        let leading = a.acknowledges(leading, "a, port 1").await.expect("it leads");
        w.settle().await;

        w.step("a resigns: b takes over, and begins");
        a.releases(leading).await;
        let leading = standing.await.expect("b is elected");
        let leading = b.acknowledges(leading, "b, port 2").await.expect("it leads");
        following.await;
        b.releases(leading).await;
    })
}
