//! The request to go is written before the znode's owner watches it.

use crate::prelude::*;
use crate::revocable_lock::words;
use std::time::Duration;
use zk_checker::history::Notify;

pub(super) const STORY: Story = Story {
    title: "a revocation that is written before its owner watches is seen by the read that arms the watch",
    about: "The owner's znode exists, and the owner does not know its name yet. No notification will ever tell of a word \
            that is written now; the answer of the read does, and counts like any other.",
    point: |told| {
        let told_of_it = |what: &What| matches!(what, What::Notice { kind: Notify::DataChanged, .. });
        let word = |what: &What| matches!(what, What::Observed { seen: Seen::Word, .. });
        vec![
            ("no notification told of it", told.count(told_of_it) == 0),
            ("the owner heard the word", told.count(word) == 1),
        ]
    },
    verdicts: &[(Rv1, Verdict::Pass)],
    ..Story::own("word-before-watch", words::revocable, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);

        w.step("somebody has used the lock before, so its directory is there");
        let held = a.asks_revocably().await.expect("nobody is ahead");
        a.releases(held).await;
        w.settle().await;

        w.step("a's znode is made, and while the answer is on its way b asks its owner to go");
        let asking = a.asks_revocably();
        b.waits(Duration::from_millis(6)).await;
        let path = w.last_contender();
        let asked = b.asks_to_go(&path);
        let held = asking.await.expect("nobody is ahead");
        let working = a.acts_until_asked_to_go(held);
        asked.await;

        w.step("a has heard it, and goes");
        let held = working.await;
        a.releases(held).await;
    })
}
