//! An addition that finds another number in the data reads again.

use crate::counter::words::{self as counter, Own};
use crate::prelude::*;
use zk_checker::history::Code;

pub(super) const STORY: Story = Story {
    title: "an addition behind a set is not lost, and brings nothing back",
    about: "a has added, and b sets the count. What a knows is old: its next addition is refused, and made again on the new count.",
    point: |told| {
        let refused = |what: &What| matches!(what, What::Reply { code, .. } if *code == Code::BadVersion);
        vec![("an addition was refused, and a set", told.count(refused) == 2)]
    },
    verdicts: &[(Ct1, Verdict::Pass), (Ct3, Verdict::Pass)],
    ..Story::own("counter-set-between", counter::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);
        let (of_a, of_b) = (Own::default(), Own::default());

        w.step("a adds 1");
        assert_eq!(a.adds(&of_a, 1).await, Some(1));

        w.step("b sets 100, since the count is 1");
        assert!(b.replaces_the_count(&of_b, 1, 100).await);

        w.step("a adds 1 to what it knows");
        assert_eq!(a.adds(&of_a, 1).await, Some(101));

        w.step("b does not set it again, since it expects 100");
        assert!(!b.replaces_the_count(&of_b, 100, 7).await);
    })
}
