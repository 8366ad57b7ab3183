//! A barrier is lowered, and another one raised, while a waiter is cut off.

use crate::barrier::words as barrier;
use crate::prelude::*;
use zk_checker::history::Notify;

pub(super) const STORY: Story = Story {
    title: "a waiter that reconnects passes when it finds a newer barrier than the one that it waited for",
    about: "While it is cut off its barrier goes and another one is raised in the same place. No deletion is told to it \
            when it comes back, only that something has changed; the czxid says that this is another one.",
    point: |told| {
        let changed = |what: &What| matches!(what, What::Notice { kind: Notify::ChildrenChanged, .. });
        vec![
            ("it was cut off", told.struck(FaultKind::ClientPartition)),
            ("it was told of a change, and not of a deletion", told.count(changed) == 1),
        ]
    },
    verdicts: &[(Ba1, Verdict::Pass), (Ba5, Verdict::Pass)],
    ..Story::own("barrier-opened-while-away", barrier::gate, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);

        w.step("a raises the barrier; b waits at it");
        a.raises().await;
        let waiting = b.waits_at_the_gate();
        w.settle().await;

        w.step("b is cut off for a while, and loses its connection");
        b.is_cut_off(0.75);
        b.waits(zk_harness::stage::TIMEOUT.mul_f64(0.72)).await;

        w.step("a lowers the barrier and raises another one");
        a.lowers().await;
        a.raises().await;

        w.step("b comes back, and passes");
        waiting.await.done().expect("b passes");
        a.lowers().await;
    })
}
