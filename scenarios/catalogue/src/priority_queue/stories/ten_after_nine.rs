//! Priorities nine and ten, which would be in the wrong order as texts.

use crate::prelude::*;
use crate::priority_queue::words::{FRESH, urgent};

pub(super) const STORY: Story = Story {
    title: "an item of priority 9 is taken before one of priority 10",
    about: "ZooKeeper's recipes page sorts names as texts, and so puts `queue-10` before `queue-9`. Here the priority has a \
            fixed width, and is compared as a number.",
    point: |told| vec![("both came out", told.count(|what| matches!(what, What::Observed { .. })) == 2)],
    verdicts: &[(Qu5, Verdict::Pass), (Qu10, Verdict::Pass)],
    ..Story::own("priority-ten-after-nine", urgent, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);
        let puts = a.urgent_producer(FRESH);

        w.step("ten is put first, then nine");
        puts.puts_at(10, "ten").await;
        puts.puts_at(9, "nine").await;

        w.step("nine goes first");
        let gets = b.urgent_consumer(FRESH);
        assert_eq!(gets.takes().await, "nine");
        assert_eq!(gets.takes().await, "ten");
    })
}
