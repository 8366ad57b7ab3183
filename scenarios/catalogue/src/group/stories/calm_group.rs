//! Observers see members join and leave.

use crate::group::words as group;
use crate::prelude::*;
use std::time::Duration;

pub(super) const STORY: Story = Story {
    title: "observers see every join and every leave",
    about: "b follows the group; a joins and leaves.",
    point: |told| {
        let of =
            |wanted: Seen| told.count(|what| matches!(what, What::Observed { seen, .. } if *seen == wanted));
        vec![("three views", of(Seen::View) == 3)]
    },
    verdicts: &[(Gm1, Verdict::Pass), (Gm4, Verdict::Pass)],
    ..Story::own("group-calm", group::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);

        w.step("b follows a group that is not there yet");
        let follows = b.follows_the_group(Duration::from_secs(1));
        a.waits(Duration::from_millis(100)).await;

        w.step("a joins");
        let joined = a.joins_as("one").await;
        a.waits(Duration::from_millis(100)).await;

        w.step("a leaves");
        a.leaves_the_group(joined).await;
        follows.await;
    })
}
