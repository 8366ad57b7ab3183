//! A follower receives every change at the cost of one request.

use crate::config::words as config;
use crate::prelude::*;
use std::time::Duration;

pub(super) const STORY: Story = Story {
    title: "a follower receives every change at the cost of one request",
    about: "b follows a value that is missing at first, and a writes it twice.",
    point: |told| {
        let of =
            |wanted: Seen| told.count(|what| matches!(what, What::Observed { seen, .. } if *seen == wanted));
        vec![
            ("two values were told", of(Seen::Value) == 2),
            ("and once that there is none", of(Seen::Missing) == 1),
        ]
    },
    verdicts: &[(Cf1, Verdict::Pass), (Cf5, Verdict::Pass)],
    ..Story::own("config-calm-follow", config::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);

        w.step("b follows a value that is not there");
        let follows = b.follows_the_value(Duration::from_secs(1));
        a.waits(Duration::from_millis(100)).await;

        w.step("a writes it, and writes it again");
        a.writes_the_value("1").await;
        a.waits(Duration::from_millis(100)).await;
        a.writes_the_value("2").await;
        follows.await;
    })
}
