//! Two writers have read the same value; one writes, and the other gets a conflict.

use crate::config::words as config;
use crate::prelude::*;
use zk_checker::history::Outcome;

pub(super) const STORY: Story = Story {
    title: "two clients read the same value: one writes, and the write of the other is refused",
    about: "Both write on the condition that nobody has written in between. One reply is lost: the writer finds out that it was written.",
    point: |told| {
        vec![
            ("a reply was lost", told.struck(FaultKind::ReplyLost)),
            (
                "somebody was refused",
                told.count(|what| matches!(what, What::Return { outcome: Outcome::Refused, .. })) == 1,
            ),
        ]
    },
    verdicts: &[(Cf7, Verdict::Pass)],
    ..Story::own("config-two-writers", config::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);
        let first = a.writes_the_value("1").await;

        w.step("a writes, and the reply is lost");
        a.loses_its_next_reply();
        let writes = a.replaces_the_value(first.clone(), "2");
        let written = writes.await.done().expect("it was written");

        w.step("b has read what a had read, and is refused");
        let refused = b.replaces_the_value(first, "3").await.done();
        assert_eq!(refused, None);

        w.step("b reads again, and writes");
        b.replaces_the_value(written, "4").await.done().expect("it is written");
    })
}
