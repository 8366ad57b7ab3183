//! The holder's process is paused for longer than its session lives.

use crate::lock::words as lock;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "a holder that was paused is told at once, and its late write is refused",
    about: "The holder's process stops past its session, the session ends, the next in line holds. Nobody can keep a \
            stopped process from believing; when it goes on it learns by its own clock, and the resource refuses its \
            token.",
    point: |told| {
        let refused = |what: &What| matches!(what, What::Resource { accepted: false, .. });
        vec![
            ("the holder stood still", told.struck(FaultKind::ClientPause)),
            ("its session ended", told.count(|what| matches!(what, What::Marked { .. })) == 1),
            ("its late write was refused", told.count(refused) == 1),
        ]
    },
    verdicts: &[(Mx1, Verdict::Pass), (Mx2, Verdict::Unavoidable)],
    ..Story::own("holder-paused", lock::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);

        w.step("a holds and writes under its token; b waits");
        let held = a.acquires().await;
        a.writes(&held);
        let acting = a.acts_until_told_to_stop(held);
        let waiting = b.asks();
        w.settle().await;

        w.step("a stands still for three session timeouts; its session ends and b holds");
        a.stands_still(3);
        let next = waiting.await.expect("b's turn comes");
        b.writes(&next);

        w.step("a goes on: it is told to stop, and a write of its that is late is refused");
        let (held, _) = acting.await;
        a.writes(&held);
        a.releases(held).await;
        b.releases(next).await;
    })
}
