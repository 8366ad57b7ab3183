//! A member whose session ends is notified, and disappears from every view.

use crate::group::words as group;
use crate::prelude::*;
use std::time::Duration;

pub(super) const STORY: Story = Story {
    title: "a member whose session expires is notified, and leaves every view",
    about: "The session of a ends. It says that it is out, and b sees it go.",
    point: |told| {
        let of =
            |wanted: Seen| told.count(|what| matches!(what, What::Observed { seen, .. } if *seen == wanted));
        vec![
            ("a session expired", told.struck(FaultKind::SessionExpiry)),
            ("a has said so", of(Seen::Missing) == 1),
            ("b has seen it come and go", of(Seen::View) == 2),
        ]
    },
    verdicts: &[(Gm6, Verdict::Pass), (Gm3, Verdict::Pass)],
    ..Story::own("group-member-expires", group::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);
        let joined = a.joins_as("one").await;

        w.step("b follows the group, and the session of a ends");
        let follows = b.follows_the_group(Duration::from_secs(20));
        b.waits(Duration::from_millis(100)).await;
        a.session_expires();

        w.step("a is told that it is out");
        a.is_out(&joined).await;
        follows.await;
        a.leaves_the_group(joined).await;
    })
}
