//! A name has one owner, and after its release the next one.

use crate::names::words as names;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "a name has one owner, and the next one after its release",
    about: "b asks for a name that a has, and waits. It is told when a gives it back.",
    point: |told| {
        let of =
            |wanted: Seen| told.count(|what| matches!(what, What::Observed { seen, .. } if *seen == wanted));
        vec![("both had it", of(Seen::Name) == 2)]
    },
    verdicts: &[(Ns1, Verdict::Pass), (Ns4, Verdict::Pass)],
    ..Story::own("names-handed-over", names::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);

        w.step("a registers a name, and b waits for it");
        let first = a.registers("db").await;
        let waits = b.asks_for_the_name("db");
        w.settle().await;

        w.step("a gives it back");
        a.unregisters("db", first).await;
        let second = waits.await.done().expect("b has it");
        b.unregisters("db", second).await;
    })
}
