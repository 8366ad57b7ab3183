//! A participant registers and dies before the others have arrived.

use crate::double_barrier::words::step_of_three;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "a participant that dies before the opening is not counted, and the next one takes its place",
    about: "Three are wanted. One of the first two dies; when the third one comes there are two. A fourth one opens it, for \
            the three that live.",
    point: |told| {
        let entered = |what: &What| matches!(what, What::Observed { seen: Seen::Opening, .. });
        vec![("one died", told.struck(FaultKind::ClientCrash)), ("three entered", told.count(entered) == 3)]
    },
    verdicts: &[(Db1, Verdict::Pass), (Db3, Verdict::Pass), (Db6, Verdict::Pass)],
    ..Story::own("double-barrier-dies-early", step_of_three, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c, d) =
            (w.client("a").await, w.client("b").await, w.client("c").await, w.client("d").await);

        w.step("a and b come, and b dies; its session ends");
        let a_enters = a.enters("a");
        let _b_enters = b.enters("b");
        w.settle().await;
        b.dies();
        w.settle().await;

        w.step("c comes: they are two");
        let c_enters = c.enters("c");
        w.settle().await;

        w.step("d comes, and a, c and d are in");
        let d_in = d.enters("d").await.expect("d is in");
        let (a_in, c_in) = (a_enters.await.expect("a is in"), c_enters.await.expect("c is in"));

        w.step("all leave");
        let out = (a.leaves_the_step(a_in), c.leaves_the_step(c_in), d.leaves_the_step(d_in));
        for out in [out.0.await, out.1.await, out.2.await] {
            out.done().expect("it is out");
        }
    })
}
