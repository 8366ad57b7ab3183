//! The znode of a former session is no membership: the client waits for its deletion.

use crate::group::words as group;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "the znode of a former session is no membership: the join waits until it is deleted",
    about: "a dies and its place is taken by b, under the same id. The znode of a is still there, and b waits until it has gone.",
    point: |told| {
        let created = |what: &What| matches!(what, What::Created { owner, .. } if owner.0 != 0);
        vec![
            ("a died", told.struck(FaultKind::ClientCrash)),
            ("each had a znode of its own", told.count(created) == 2),
            (
                "nothing was seen of it",
                told.count(|what| matches!(what, What::Observed { seen: Seen::View, .. })) == 0,
            ),
        ]
    },
    verdicts: &[(Gm4, Verdict::Pass)],
    ..Story::own("group-former-session", group::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);
        let _joined = a.joins_as("one").await;

        w.step("a dies, and b begins in its place");
        a.dies();
        let joins = b.asks_to_join("one");
        w.settle().await;

        w.step("the session of a has ended, and b is a member");
        let joined = joins.await.expect("b has joined");
        b.leaves_the_group(joined).await;
    })
}
