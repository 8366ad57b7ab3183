//! The number of permits is changed while clients hold and wait.

use crate::prelude::*;
use crate::semaphore::words as semaphore;

pub(super) const STORY: Story = Story {
    title: "more permits are granted at once, and fewer take nothing from a holder",
    about: "The number of permits is in the name of a znode among the holders, so the watch of the first in line also tells of a \
            change, and the grant checks it. Whoever holds keeps its permit when there are fewer.",
    point: |told| vec![("three held", told.count(|what| matches!(what, What::Believe { .. })) == 3)],
    verdicts: &[(Mx4, Verdict::Pass), (Mx7, Verdict::Pass), (Sm1, Verdict::Pass)],
    ..Story::own("semaphore-more-permits", semaphore::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a holds both permits, and b waits for one");
        let of_a = a.acquires_permits(2).await;
        let asking = b.asks_for_permits(1);
        w.settle().await;

        w.step("there are three: b is granted the third");
        a.sets_permits(3).await;
        let of_b = asking.await.expect("one is free");

        w.step("there is one: both keep what they have, and c waits until it is free");
        a.sets_permits(1).await;
        let asking = c.asks_for_permits(1);
        w.settle().await;
        b.releases(of_b).await;
        w.settle().await;
        a.releases(of_a).await;
        let of_c = asking.await.expect("one is free");
        c.releases(of_c).await;
    })
}
