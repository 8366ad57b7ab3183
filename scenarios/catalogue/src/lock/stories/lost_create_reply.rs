//! The reply to a create is lost on its way back, although the znode was created.

use crate::lock::words as lock;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "a create whose reply was lost is found, and not repeated",
    about: "The connection breaks after the server has applied the create. The client comes back, settles what is still \
            under way by a write, and finds its znode by the guid in the name.",
    point: |told| {
        let in_line = |what: &What| matches!(what, What::Created { owner, .. } if owner.0 != 0);
        vec![
            ("a reply was lost", told.struck(FaultKind::ReplyLost)),
            (
                "the client was told of a lost connection",
                told.count(|what| matches!(what, What::Lost { .. })) > 0,
            ),
            ("each acquire made one znode", told.count(in_line) == 2),
        ]
    },
    verdicts: &[(Mx9, Verdict::Pass)],
    ..Story::own("lost-create-reply", lock::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let a = w.client("a").await;

        w.step("somebody has used the lock before, so its directory is there");
        let held = a.acquires().await;
        a.releases(held).await;
        w.settle().await;

        w.step("a asks again, and the reply to its create is lost");
        a.loses_its_next_reply();
        let held = a.acquires().await;
        a.releases(held).await;
    })
}
