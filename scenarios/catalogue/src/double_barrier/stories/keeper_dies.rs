//! The participant that opened a double barrier, and so keeps its end, dies inside.

use crate::double_barrier::words::step_of_three;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "when the keeper dies, ready is deleted, and the other participants still wait for each other",
    about: "Who leaves deletes its znode and waits for the end of ready, which goes with the session of whoever opened. \
            That is no reason to be out: one is still inside, so it is waited for.",
    point: |told| {
        let ended = |what: &What| matches!(what, What::Ended { .. });
        vec![
            ("the keeper died", told.struck(FaultKind::ClientCrash)),
            ("its session ended", told.count(ended) == 1),
        ]
    },
    verdicts: &[(Db2, Verdict::Pass), (Db6, Verdict::Pass), (Db9, Verdict::Pass)],
    ..Story::own("double-barrier-keeper-dies", step_of_three, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("all three are in; c has opened it");
        let a_enters = a.enters("a");
        w.settle().await;
        let b_enters = b.enters("b");
        w.settle().await;
        let c_in = c.enters("c").await.expect("c is in");
        let (a_in, b_in) = (a_enters.await.expect("a is in"), b_enters.await.expect("b is in"));
        w.settle().await;

        w.step("a leaves, and waits");
        let a_leaves = a.leaves_the_step(a_in);
        w.settle().await;

        w.step("c dies; its session ends, and ready goes with it; a waits for b");
        c.dies();
        drop(c_in);
        w.settle().await;

        w.step("b leaves, and both are out");
        b.leaves_the_step(b_in).await.done().expect("b is out");
        a_leaves.await.done().expect("a is out");
    })
}
