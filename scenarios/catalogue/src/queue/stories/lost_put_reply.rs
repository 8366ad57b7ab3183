//! The reply to a put is lost on its way back, although the item is in the queue.

use crate::prelude::*;
use crate::queue::words as queue;

pub(super) const STORY: Story = Story {
    title: "a put is retried after a lost reply, and its receipt refuses the duplicate",
    about: "The connection breaks after the server has put the item. The producer sends the same transaction again; its \
            receipt has moved on, so that it is refused, and the producer knows that the item is there.",
    point: |told| {
        let items = told.count(|what| matches!(what, What::Observed { .. }));
        vec![("a reply was lost", told.struck(FaultKind::ReplyLost)), ("two items came out", items == 2)]
    },
    verdicts: &[(Qu3, Verdict::Pass), (Qu2, Verdict::Pass)],
    ..Story::own("queue-lost-put-reply", queue::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);
        let (puts, gets) = (a.producer(queue::ONCE), b.consumer(queue::ONCE));
        puts.puts("one").await;
        w.settle().await;

        w.step("the reply to the next put is lost");
        a.loses_its_next_reply();
        puts.puts("two").await;

        w.step("both items are there once");
        assert_eq!(gets.takes().await, "one");
        assert_eq!(gets.takes().await, "two");
    })
}
