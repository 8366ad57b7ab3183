//! A client that was disconnected past its session's end does not release the next owner's name.

use crate::names::words as names;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "a disconnected former owner does not release the name of the next owner",
    about: "The session of a ends while it has the name, and b gets it. What a had is gone, and a says so instead of deleting what bears the name by then.",
    point: |told| {
        let deleted = |what: &What| matches!(what, What::Deleted { by, .. } if by.0 == 2);
        let of =
            |wanted: Seen| told.count(|what| matches!(what, What::Observed { seen, .. } if *seen == wanted));
        vec![
            ("a session expired", told.struck(FaultKind::SessionExpiry)),
            ("both had it", of(Seen::Name) == 2),
            ("only b has deleted what was b's", told.count(deleted) == 1),
        ]
    },
    verdicts: &[(Ns4, Verdict::Pass)],
    ..Story::own("names-next-owner", names::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);

        w.step("a registers a name, and b waits for it");
        let first = a.registers("db").await;
        let waits = b.asks_for_the_name("db");
        w.settle().await;

        w.step("the session of a ends");
        a.session_expires();
        let second = waits.await.done().expect("b has it");
        w.settle().await;

        w.step("a gives back what it had: nothing is left of it");
        a.unregisters("db", first).await;
        b.unregisters("db", second).await;
    })
}
