//! Clients that add at the same time refuse each other nothing.

use crate::counter::words::{self as counter, Own};
use crate::prelude::*;
use futures_util::future::join3;
use zk_checker::history::Code;

pub(super) const STORY: Story = Story {
    title: "clients that add at the same time cost one request each",
    about: "a, b and c add at the same time. Each sends one request, and is told its own count.",
    point: |told| {
        let refused = |what: &What| matches!(what, What::Reply { code, .. } if *code == Code::BadVersion);
        vec![("no request was refused", told.count(refused) == 0)]
    },
    verdicts: &[(Ct1, Verdict::Pass)],
    ..Story::own("counter-no-retries", counter::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);
        let (of_a, of_b, of_c) = (Own::default(), Own::default(), Own::default());

        w.step("each adds for the first time, one after the other");
        assert_eq!(a.adds(&of_a, 1).await, Some(1));
        assert_eq!(b.adds(&of_b, 1).await, Some(2));
        assert_eq!(c.adds(&of_c, 1).await, Some(3));

        w.step("all add at the same time");
        let adds = join3(a.begins_to_add(&of_a, 1), b.begins_to_add(&of_b, 2), c.begins_to_add(&of_c, 3));
        let (one, two, three) = adds.await;
        assert!([one, two, three].into_iter().all(|ended| ended.done().flatten().is_some()));
        assert_eq!(a.reads_the_count(&of_a).await, 9);
    })
}
