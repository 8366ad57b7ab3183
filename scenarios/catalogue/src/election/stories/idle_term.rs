//! A leader leads for ten session timeouts, and no client sends a request meanwhile.

use crate::election::words as election;
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "a leader leads, a candidate waits and a follower follows for ten session timeouts on pings alone",
    about: "Nothing goes wrong. Three sessions live on pings; all that each of them has is a watch.",
    point: |told| {
        let leader = |what: &What| matches!(what, What::Observed { seen: Seen::Leader, .. });
        let released = |what: &What| matches!(what, What::Unbelieve { why: Why::Released });
        vec![
            ("nobody was told to stop", told.count(|what| matches!(what, What::Unbelieve { .. })) == 2),
            ("both resigned", told.count(released) == 2),
            ("both were told to whoever followed", told.count(leader) == 2),
        ]
    },
    verdicts: &[(Le1, Verdict::Pass), (Le6, Verdict::Pass), (Le10, Verdict::Pass)],
    ..Story::own("idle-term", election::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.client("a").await, w.client("b").await, w.client("c").await);

        w.step("a is elected, and begins; b stands behind it; c follows");
        let leading = a.takes_office().await;
        let standing = b.stands();
        let following = c.follows_until(2);
        let mut leading = a.acknowledges(leading, "a, port 1").await.expect("it leads");

        w.step("a leads for ten session timeouts");
        a.acts_for(&mut leading, 10 * TIMEOUT).await;

        w.step("a resigns: b takes over, and c is told");
        a.releases(leading).await;
        let leading = standing.await.expect("b is elected");
        let leading = b.acknowledges(leading, "b, port 2").await.expect("it leads");
        following.await;
        b.releases(leading).await;
    })
}
