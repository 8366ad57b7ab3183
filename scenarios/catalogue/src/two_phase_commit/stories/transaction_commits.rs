//! Two sites vote for commit, and the second vote decides.

use crate::prelude::*;
use crate::two_phase_commit::words as two_phase_commit;
use zk_recipes::two_phase_commit::{Form, Vote};

pub(super) const STORY: Story = Story {
    title: "the last vote decides in its own transaction",
    about: "Nothing goes wrong. Each site is told once, and the last to finish takes everything away.",
    point: |told| {
        vec![
            ("two sites were told", told.count(|what| matches!(what, What::Observed { .. })) == 2),
            ("one notification a site", told.count(|what| matches!(what, What::Fire { .. })) == 2),
        ]
    },
    verdicts: &[(Tc1, Verdict::Pass), (Tc4, Verdict::Pass), (Tc11, Verdict::Pass), (Tc12, Verdict::Pass)],
    ..Story::own("transaction-commits", two_phase_commit::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);

        w.step("a begins a transaction of two sites");
        a.begins_a_transaction(Form::Decentralised { follow_votes: false }).await;

        w.step("a votes for commit, and waits");
        let voted = a.votes(0, Vote::Commit).await;
        let learning = a.learns(0, voted, None);
        w.settle().await;

        w.step("b votes for commit: its vote is the last, and decides");
        let voted = b.votes(1, Vote::Commit).await;
        let (b_knows, _) = b.learns(1, voted, None).await.expect("it is decided");
        let (a_knows, _) = learning.await.expect("a is told");

        w.step("a finishes, then b, who takes the record away");
        a.finishes(0, a_knows).await;
        b.finishes(1, b_knows).await;
    })
}
