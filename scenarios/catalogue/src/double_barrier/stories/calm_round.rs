//! Three participants begin together and end together.

use crate::double_barrier::words::step_of_three;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "three participants enter in the transaction of the third, and leave with the last",
    about: "Two register and wait for the next generation to begin. The third one counts three, and opens: roster, ready and \
            the next generation in one transaction. To leave, all but the opener delete their znodes and wait for ready.",
    point: |told| {
        let entered = |what: &What| matches!(what, What::Observed { seen: Seen::Opening, .. });
        vec![("three entered", told.count(entered) == 3)]
    },
    verdicts: &[(Db1, Verdict::Pass), (Db2, Verdict::Pass), (Db3, Verdict::Pass), (Db8, Verdict::Pass)],
    ..Story::own("double-barrier-calm", step_of_three, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a and b come, and wait");
        let a_enters = a.enters("a");
        w.settle().await;
        let b_enters = b.enters("b");
        w.settle().await;

        w.step("c comes, and all are in");
        let c_in = c.enters("c").await.expect("c is in");
        let (a_in, b_in) = (a_enters.await.expect("a is in"), b_enters.await.expect("b is in"));
        w.settle().await;

        w.step("a leaves, and waits for the others");
        let a_leaves = a.leaves_the_step(a_in);
        w.settle().await;

        w.step("b and c leave, and all are out");
        let (b_leaves, c_leaves) = (b.leaves_the_step(b_in), c.leaves_the_step(c_in));
        for out in [a_leaves.await, b_leaves.await, c_leaves.await] {
            out.done().expect("it is out");
        }
    })
}
