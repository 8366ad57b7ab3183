//! A consumer's session ends while it holds an item.

use crate::prelude::*;
use crate::queue::words as queue;

pub(super) const STORY: Story = Story {
    title: "the item of an expired consumer is delivered to another one, and the late consumer cannot confirm it",
    about: "The claim goes with the session of the first consumer, and the second gets the item. It alone can say that it is \
            done with it.",
    point: |told| {
        let handed = told.count(|what| matches!(what, What::Observed { .. }));
        vec![
            ("a session expired", told.struck(FaultKind::SessionExpiry)),
            ("the item was handed out twice", handed == 2),
        ]
    },
    verdicts: &[(Qu1, Verdict::Pass), (Qu2, Verdict::Pass), (Qu6, Verdict::Pass)],
    ..Story::own("queue-consumer-expires", queue::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);
        a.producer(queue::CLAIMS).puts("one").await;

        w.step("b claims the item, and c waits for one");
        let (first, second) = (b.consumer(queue::CLAIMS), c.consumer(queue::CLAIMS));
        let late = first.claims().await;
        let waiting = second.asks();
        w.settle().await;

        w.step("b's session ends");
        b.session_expires();
        let claim = waiting.await.expect("the item is free again");
        assert_eq!(claim.attempts(), 2);
        assert_eq!(second.confirms(claim).await, Ok(()));

        w.step("b comes too late");
        assert!(first.confirms(late).await.is_err());
    })
}
