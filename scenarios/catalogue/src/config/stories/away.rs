//! A follower receives, after a reconnect, the value that was written while it was disconnected.

use crate::config::words as config;
use crate::prelude::*;
use std::time::Duration;

pub(super) const STORY: Story = Story {
    title: "a follower that reconnects receives the value that was written meanwhile",
    about: "b loses its connection, and a writes the value twice in the meantime. b is told of the last one, and of nothing older.",
    point: |told| {
        let of =
            |wanted: Seen| told.count(|what| matches!(what, What::Observed { seen, .. } if *seen == wanted));
        vec![
            ("the connection broke", told.struck(FaultKind::Disconnect)),
            ("the first and the last were told", of(Seen::Value) == 2),
        ]
    },
    verdicts: &[(Cf1, Verdict::Pass), (Cf3, Verdict::Pass)],
    ..Story::own("config-away", config::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);
        a.writes_the_value("1").await;

        w.step("b follows the value, and loses its connection");
        let follows = b.follows_the_value(Duration::from_secs(4));
        a.waits(Duration::from_millis(100)).await;
        b.disconnects();
        a.writes_the_value("2").await;
        a.writes_the_value("3").await;

        w.step("b is back");
        follows.await;
    })
}
