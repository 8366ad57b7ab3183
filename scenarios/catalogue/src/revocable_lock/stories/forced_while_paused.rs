//! A paused holder is revoked by force.

use crate::prelude::*;
use crate::revocable_lock::words;
use std::time::Duration;

pub(super) const STORY: Story = Story {
    title: "a paused holder is removed after the grace period, and its late write is refused",
    about: "ZooKeeper's page has the revoker remove a lock's znode at once. Here it asks first and waits for the grace; the \
            one removed cannot know of it while it stands still, but its token is refused, and it is told when it goes on.",
    point: |told| {
        let refused = |what: &What| matches!(what, What::Resource { accepted: false, .. });
        let fate = |what: &What| matches!(what, What::Observed { seen: Seen::Fate, .. });
        vec![
            ("the holder stood still", told.struck(FaultKind::ClientPause)),
            ("somebody was made to go", told.count(fate) == 1),
            ("its late write was refused", told.count(refused) == 1),
        ]
    },
    verdicts: &[(Mx1, Verdict::Pass), (Rw1, Verdict::Unavoidable), (Rv2, Verdict::Pass)],
    ..Story::own("forced-while-paused", words::revocable, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a holds and writes under its token; b waits");
        let held = a.asks_revocably().await.expect("nobody is ahead");
        let path = held.guard.path().to_owned();
        a.writes(&held);
        let acting = a.acts_until_told_to_stop(held);
        let waiting = b.asks_revocably();
        w.settle().await;

        w.step("a stands still, and c makes it go: b holds");
        a.stands_still_for(Duration::from_secs(1));
        c.makes_go(&path).await;
        let next = waiting.await.expect("its turn comes");
        b.writes(&next);

        w.step("a goes on: it is told to stop, and a write of its that is late is refused");
        let (held, _) = acting.await;
        a.writes(&held);
        a.releases(held).await;
        b.releases(next).await;
    })
}
