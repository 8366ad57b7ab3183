//! a follower is told of every change at one request

use crate::config::words as config;
use crate::stage::Stage;
use std::time::Duration;
use zk_checker::history::{Seen, What};
use zk_checker::{RuleId, Verdict};
use zk_harness::stage::{Script, Story};

pub(super) const STORY: Story = Story {
    name: "config-calm-follow",
    title: "a follower is told of every change at one request",
    about: "b follows a value that is missing at first, and a writes it twice.",
    objects: config::objects,
    servers: 1,
    script: |stage| script(stage.into()),
    point: |told| {
        let of =
            |wanted: Seen| told.count(|what| matches!(what, What::Observed { seen, .. } if *seen == wanted));
        vec![
            ("two values were told", of(Seen::Value) == 2),
            ("and once that there is none", of(Seen::Missing) == 1),
        ]
    },
    verdicts: &[(RuleId::Cf1, Verdict::Pass), (RuleId::Cf5, Verdict::Pass)],
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
