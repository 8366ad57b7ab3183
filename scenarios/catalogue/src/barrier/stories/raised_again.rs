//! A barrier is lowered and raised again at once.

use crate::barrier::words as barrier;
use crate::stage::Stage;
use zk_checker::history::What;
use zk_checker::{RuleId, Verdict};
use zk_harness::stage::{Script, Story};

pub(super) const STORY: Story = Story {
    name: "barrier-raised-again",
    title: "a barrier that is raised again at once holds nobody who was let go",
    about: "The page asks again after the event, and would find the next barrier. Here the end of the one that was waited \
            for lets pass.",
    objects: barrier::gate,
    servers: 1,
    script: |stage| script(stage.into()),
    point: |told| {
        let raised = |what: &What| matches!(what, What::Created { .. });
        vec![("it was raised again", told.count(raised) == 3)]
    },
    verdicts: &[(RuleId::Ba1, Verdict::Pass), (RuleId::Ba2, Verdict::Pass)],
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
