//! A writer downgrades to a reader, and the reply is lost.

use crate::prelude::*;
use crate::shared_lock::words as shared_lock;

pub(super) const STORY: Story = Story {
    title: "a downgrade is retried after a lost reply and applied once, and no writer is granted in between",
    about: "One transaction puts the reader's znode into the writer's place in line. The same transaction again tells that \
            it was applied: the znode is there. The writer behind waits for the reader that was a writer.",
    point: |told| {
        let in_line = |what: &What| matches!(what, What::Created { owner, .. } if owner.0 != 0);
        vec![
            ("a reply was lost", told.struck(FaultKind::ReplyLost)),
            ("four znodes stood in line", told.count(in_line) == 4),
            ("four held", told.count(|what| matches!(what, What::Believe { .. })) == 4),
        ]
    },
    verdicts: &[(Rw1, Verdict::Pass), (Mx9, Verdict::Pass), (Mx12, Verdict::Pass)],
    ..Story::own("downgrade-reply-lost", shared_lock::shared, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a writes; b wants to read, and c to write");
        let written = a.asks_to_write().await.expect("nobody is ahead");
        let reading = b.asks_to_read();
        w.settle().await;
        let writing = c.asks_to_write();
        w.settle().await;

        w.step("a goes on as a reader, and the reply is lost: b is let in");
        a.loses_its_next_reply();
        let read = a.begins_to_downgrade(written).await.expect("it goes on as a reader");
        let other = reading.await.expect("its turn comes");

        w.step("b goes, and a: c writes");
        b.releases(other).await;
        w.settle().await;
        a.releases(read).await;
        let written = writing.await.expect("its turn comes");
        c.releases(written).await;
    })
}
