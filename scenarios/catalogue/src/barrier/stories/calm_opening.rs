//! Two clients wait at a barrier, and it is lowered.

use crate::barrier::words as barrier;
use crate::prelude::*;
use zk_checker::history::Notify;

pub(super) const STORY: Story = Story {
    title: "a waiter passes on the notification of the removal, without another read",
    about: "Two clients come while the barrier stands, and one of them again when it is down. One request each, one \
            notification for each who waited, and no watch is left.",
    point: |told| {
        let told_of_its_end = |what: &What| matches!(what, What::Notice { kind: Notify::Deleted, .. });
        vec![("two were told", told.count(told_of_its_end) == 2)]
    },
    verdicts: &[(Ba1, Verdict::Pass), (Ba2, Verdict::Pass), (Ba3, Verdict::Pass), (Ba4, Verdict::Pass)],
    ..Story::own("barrier-opens", barrier::gate, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a raises the barrier; b and c wait at it");
        a.raises().await;
        let (b_waits, c_waits) = (b.waits_at_the_gate(), c.waits_at_the_gate());
        w.settle().await;

        w.step("a lowers it, and both pass");
        a.lowers().await;
        b_waits.await.done().expect("b passes");
        c_waits.await.done().expect("c passes");

        w.step("who comes now does not wait");
        b.waits_at_the_gate().await.done().expect("b passes");
    })
}
