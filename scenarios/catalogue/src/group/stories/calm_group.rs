//! observers see who comes and who goes

use crate::group::words as group;
use crate::stage::Stage;
use std::time::Duration;
use zk_checker::history::{Seen, What};
use zk_checker::{RuleId, Verdict};
use zk_harness::stage::{Script, Story};

pub(super) const STORY: Story = Story {
    name: "group-calm",
    title: "observers see who comes and who goes",
    about: "b follows the group; a joins and leaves.",
    objects: group::objects,
    servers: 1,
    script: |stage| script(stage.into()),
    point: |told| {
        let of =
            |wanted: Seen| told.count(|what| matches!(what, What::Observed { seen, .. } if *seen == wanted));
        vec![("three views", of(Seen::View) == 3)]
    },
    verdicts: &[(RuleId::Gm1, Verdict::Pass), (RuleId::Gm4, Verdict::Pass)],
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
