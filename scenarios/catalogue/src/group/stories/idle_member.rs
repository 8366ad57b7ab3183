//! a member is in the group for ten session timeouts, and asks for nothing

use crate::group::words as group;
use crate::stage::Stage;
use zk_checker::history::{Seen, What};
use zk_checker::{RuleId, Verdict};
use zk_harness::stage::{Script, Story, TIMEOUT};

pub(super) const STORY: Story = Story {
    name: "idle-member",
    title: "a member is in the group, and an observer follows it, for ten session timeouts on pings alone",
    about: "Nothing goes wrong. a is a member and is never told that it is out; b sees it come and go.",
    objects: group::objects,
    servers: 1,
    script: |stage| script(stage.into()),
    point: |told| {
        let of =
            |wanted: Seen| told.count(|what| matches!(what, What::Observed { seen, .. } if *seen == wanted));
        vec![("nobody was out", of(Seen::Missing) == 0), ("three views", of(Seen::View) == 3)]
    },
    verdicts: &[(RuleId::Gm3, Verdict::Pass), (RuleId::Gm4, Verdict::Pass), (RuleId::Gm8, Verdict::Pass)],
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
