//! A foreign client deletes the leader's candidate, and the record is left.

use crate::election::words as election;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "no client obeys the record of a deposed leader, and the next leader replaces it",
    about: "The page's note asks for a znode that acknowledges, and says nothing of one that is there already. The deposed \
            leader is told at once; its record names a candidate that is not first, and its going later takes no other \
            record along.",
    point: |told| {
        let leader = |what: &What| matches!(what, What::Observed { seen: Seen::Leader, .. });
        vec![
            ("a candidate was deleted", told.struck(FaultKind::ForeignDelete)),
            ("whoever follows was told of the new leader alone", told.count(leader) == 1),
        ]
    },
    verdicts: &[(Le4, Verdict::Pass), (Le9, Verdict::Pass)],
    ..Story::own("relic", election::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a leads and has said so; b stands behind it");
        let leading = a.takes_office().await;
        let leading = a.acknowledges(leading, "a, port 1").await.expect("it leads");
        let standing = b.stands();
        w.settle().await;

        w.step("a foreign client deletes a's candidate: a is told, and b leads");
        let candidate = leading.guard.path().to_owned();
        let acting = a.acts_until_told_to_stop(leading);
        w.deletes(&candidate).await;
        let next = standing.await.expect("b is elected");
        let (deposed, _) = acting.await;

        w.step("c begins to follow: nobody has begun; then b replaces the record");
        let following = c.follows_until(1);
        w.settle().await;
        let next = b.acknowledges(next, "b, port 2").await.expect("it leads");
        following.await;

        w.step("a gives up what it held: b's record stays");
        a.releases(deposed).await;
        w.settle().await;
        b.releases(next).await;
    })
}
