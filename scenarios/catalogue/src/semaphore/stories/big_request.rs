//! A request for all permits stands in line before a request for one, and is not overtaken.

use crate::prelude::*;
use crate::semaphore::words as semaphore;

pub(super) const STORY: Story = Story {
    title: "a request for many permits is not overtaken by a request for one",
    about: "One of two permits is free, and the first in line wants both. Whoever comes behind waits for it, and not for the \
            permit: otherwise small requests could go first for ever. Each release wakes one waiter.",
    point: |told| {
        let notice = |what: &What| matches!(what, What::Notice { .. });
        vec![
            ("three held", told.count(|what| matches!(what, What::Believe { .. })) == 3),
            ("one notification for each waiter's turn, and one for each permit", told.count(notice) == 3),
        ]
    },
    verdicts: &[(Mx4, Verdict::Pass), (Mx15, Verdict::Pass), (Sm1, Verdict::Pass)],
    ..Story::own("semaphore-big-request", semaphore::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a holds one of two permits; b wants both, and then c wants one");
        let held = a.acquires_permits(1).await;
        let both = b.asks_for_permits(2);
        w.settle().await;
        let one = c.asks_for_permits(1);
        w.settle().await;

        w.step("a releases: b is granted both");
        a.releases(held).await;
        let held = both.await.expect("both are free");
        w.settle().await;

        w.step("b releases: c is granted one");
        b.releases(held).await;
        let held = one.await.expect("one is free");
        c.releases(held).await;
    })
}
