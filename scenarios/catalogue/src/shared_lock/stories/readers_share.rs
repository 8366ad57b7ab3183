//! Two readers hold together, and a writer waits for both.

use crate::prelude::*;
use crate::shared_lock::words as shared_lock;

pub(super) const STORY: Story = Story {
    title: "readers hold together; a reader behind a waiting writer waits for it",
    about: "Nothing goes wrong. The writer watches the reader just ahead, and looks again when that one goes. The reader \
            behind it does not overtake it.",
    point: |told| vec![("four held", told.count(|what| matches!(what, What::Believe { .. })) == 4)],
    verdicts: &[
        (Rw1, Verdict::Pass),
        (Rw2, Verdict::Pass),
        (Rw3, Verdict::Pass),
        (Rw4, Verdict::Pass),
        (Rw5, Verdict::Pass),
    ],
    ..Story::own("readers-share", shared_lock::shared, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);
        let (c, d) = (w.client("c").await, w.client("d").await);

        w.step("a and b read together");
        let one = a.asks_to_read().await.expect("nobody is ahead");
        let other = b.asks_to_read().await.expect("only a reader is ahead");

        w.step("c wants to write, and d to read behind it");
        let writing = c.asks_to_write();
        w.settle().await;
        let reading = d.asks_to_read();
        w.settle().await;

        w.step("b goes: c looks again, and waits for a");
        b.releases(other).await;
        w.settle().await;

        w.step("a goes: c holds");
        a.releases(one).await;
        let written = writing.await.expect("its turn comes");

        w.step("c goes: d holds");
        c.releases(written).await;
        let read = reading.await.expect("its turn comes");
        d.releases(read).await;
    })
}
