//! An addition whose reply is lost is applied once.

use crate::counter::words::{self as counter, Own};
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "an addition whose reply is lost is applied once",
    about: "a adds 5, and the reply is lost. The receipt says that it was added: a does not add again, and does not know the count.",
    point: |told| vec![("the reply was lost", told.struck(FaultKind::ReplyLost))],
    verdicts: &[(Ct1, Verdict::Pass)],
    ..Story::own("counter-lost-reply", counter::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);
        let (of_a, of_b) = (Own::default(), Own::default());

        w.step("a adds 1, with a receipt");
        assert_eq!(a.adds(&of_a, 1).await, Some(1));

        w.step("a adds 5, and the reply is lost");
        a.loses_its_next_reply();
        assert_eq!(a.adds(&of_a, 5).await, None);

        w.step("b reads the count");
        assert_eq!(b.reads_the_count(&of_b).await, 6);
    })
}
