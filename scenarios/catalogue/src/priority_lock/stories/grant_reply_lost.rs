//! The reply to a grant is lost on its way back, although it was applied.

use crate::prelude::*;
use crate::priority_lock::words as priority_lock;
use std::time::Duration;

pub(super) const STORY: Story = Story {
    title: "a grant whose reply was lost is found by the names of the znodes",
    about: "The transaction takes the client out of the line and among the holders. When it is back it settles what is \
            under way by a write, finds itself among the holders, and holds.",
    point: |told| {
        let ephemeral = |what: &What| matches!(what, What::Created { owner, .. } if owner.0 != 0);
        vec![
            ("a reply was lost", told.struck(FaultKind::ReplyLost)),
            ("each acquire made one place and one hold", told.count(ephemeral) == 4),
        ]
    },
    verdicts: &[(Mx5, Verdict::Pass)],
    ..Story::own("grant-reply-lost", priority_lock::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let a = w.client("a").await;

        w.step("somebody has used the lock before, so its directories are there");
        let held = a.asks_to_read_at(3).await.expect("it is free");
        a.releases(held).await;
        w.settle().await;

        w.step("a asks to write, stands in line, and the reply to its grant is lost");
        let asking = a.asks_to_write_at(3);
        a.waits(Duration::from_millis(9)).await;
        a.loses_its_next_reply();
        let held = asking.await.expect("it is free");
        a.releases(held).await;
    })
}
