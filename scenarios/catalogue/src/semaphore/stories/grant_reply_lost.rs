//! The reply to a grant is lost on its way back, although it was applied.

use crate::prelude::*;
use crate::semaphore::words as semaphore;
use std::time::Duration;

pub(super) const STORY: Story = Story {
    title: "permits whose grant was not heard of are found by the name of the znode",
    about: "The transaction takes the client out of the line and among the holders. When it is back it settles what is \
            under way by a write, finds its znode among the holders, and holds.",
    point: |told| {
        let ephemeral = |what: &What| matches!(what, What::Created { owner, .. } if owner.0 != 0);
        vec![
            ("a reply was lost", told.struck(FaultKind::ReplyLost)),
            ("each acquire made one place in line and one hold", told.count(ephemeral) == 4),
        ]
    },
    verdicts: &[(Mx5, Verdict::Pass), (Mx9, Verdict::Pass), (Sm1, Verdict::Pass)],
    ..Story::own("semaphore-grant-reply-lost", semaphore::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let a = w.client("a").await;

        w.step("somebody has used the semaphore before, so its directories are there");
        let held = a.acquires_permits(1).await;
        a.releases(held).await;
        w.settle().await;

        w.step("a asks for two permits, stands in line, and the reply to its grant is lost");
        let asking = a.asks_for_permits(2);
        a.waits(Duration::from_millis(9)).await;
        a.loses_its_next_reply();
        let held = asking.await.expect("they are free");
        a.releases(held).await;
    })
}
