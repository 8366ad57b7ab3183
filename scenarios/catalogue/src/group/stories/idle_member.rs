//! A member is in the group for ten session timeouts, and sends no request.

use crate::group::words as group;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "a member is in the group, and an observer follows it, for ten session timeouts on pings alone",
    about: "Nothing goes wrong. a is a member and is never told that it is out; b sees it come and go.",
    point: |told| {
        let of =
            |wanted: Seen| told.count(|what| matches!(what, What::Observed { seen, .. } if *seen == wanted));
        vec![("nobody was out", of(Seen::Missing) == 0), ("three views", of(Seen::View) == 3)]
    },
    verdicts: &[(Gm3, Verdict::Pass), (Gm4, Verdict::Pass), (Gm8, Verdict::Pass)],
    ..Story::own("idle-member", group::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);

        w.step("b follows a group that is not there yet");
        let follows = b.follows_the_group(11 * TIMEOUT);
        w.settle().await;

        w.step("a joins, and stays for ten session timeouts");
        let joined = a.joins_as("one").await;
        a.stays(&joined, 10 * TIMEOUT).await;

        w.step("a leaves");
        a.leaves_the_group(joined).await;
        follows.await;
    })
}
