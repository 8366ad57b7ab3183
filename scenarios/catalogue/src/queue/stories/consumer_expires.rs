//! A consumer's session ends while it has an item in its hands.

use crate::queue::words as queue;
use crate::stage::Stage;
use zk_checker::history::{FaultKind, What};
use zk_checker::{RuleId, Verdict};
use zk_harness::stage::{Script, Story};

pub(super) const STORY: Story = Story {
    name: "queue-consumer-expires",
    title: "an item whose consumer is gone is handed to another, and the late one cannot confirm it",
    about: "The claim goes with the session of the first consumer, and the second gets the item. It alone can say that it is \
            done with it.",
    objects: queue::objects,
    servers: 1,
    script: |stage| script(stage.into()),
    point: |told| {
        let handed = told.count(|what| matches!(what, What::Observed { .. }));
        vec![
            ("a session expired", told.struck(FaultKind::SessionExpiry)),
            ("the item was handed out twice", handed == 2),
        ]
    },
    verdicts: &[(RuleId::Qu1, Verdict::Pass), (RuleId::Qu2, Verdict::Pass), (RuleId::Qu6, Verdict::Pass)],
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
