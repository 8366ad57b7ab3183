//! A barrier is lowered and raised again at once.

use crate::barrier::words as barrier;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "a barrier that is raised again at once stops no released waiter",
    about: "The page asks again after the event, and would find the next barrier. Here the end of the one that was waited \
            for lets pass.",
    point: |told| {
        let raised = |what: &What| matches!(what, What::Created { .. });
        vec![("it was raised again", told.count(raised) == 3)]
    },
    verdicts: &[(Ba1, Verdict::Pass), (Ba2, Verdict::Pass)],
    ..Story::own("barrier-raised-again", barrier::gate, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);

        w.step("a raises the barrier; b waits at it");
        a.raises().await;
        let waiting = b.waits_at_the_gate();
        w.settle().await;

        w.step("a lowers it and raises it again, and b passes");
        a.lowers().await;
        a.raises().await;
        waiting.await.done().expect("b passes");
        a.lowers().await;
    })
}
