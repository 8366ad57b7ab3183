//! A site's session ends after it has voted.

use crate::prelude::*;
use crate::two_phase_commit::words as two_phase_commit;
use zk_checker::history::Outcome;
use zk_recipes::two_phase_commit::{Form, Vote};

pub(super) const STORY: Story = Story {
    title: "a vote outlives its session, and the site learns the decision",
    about: "The recipes page has votes in ephemeral znodes: then the vote would have gone, after others had read it. Here \
            it stays, the other site's vote completes the set, and the first one opens again and is told the same.",
    point: |told| {
        let commits = |what: &What| matches!(what, What::Observed { seen: Seen::Decision, .. });
        vec![
            ("a session ended", told.struck(FaultKind::SessionExpiry)),
            (
                "who waited was told that its session is over",
                told.count(|what| matches!(what, What::Return { outcome: Outcome::Unknown, .. })) == 1,
            ),
            ("both sites were told", told.count(commits) == 2),
        ]
    },
    verdicts: &[(Tc1, Verdict::Pass), (Tc6, Verdict::Pass), (Tc10, Verdict::Pass)],
    ..Story::own("vote-outlives-its-session", two_phase_commit::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.client("a").await, w.client("b").await);
        b.begins_a_transaction(Form::Decentralised { follow_votes: false }).await;

        w.step("a votes for commit and waits; then its session ends");
        let voted = a.votes(0, Vote::Commit).await;
        let waiting = a.learns(0, voted, None);
        a.session_expires();

        w.step("b votes for commit, and so decides");
        let voted = b.votes(1, Vote::Commit).await;
        let (b_knows, decided) = b.learns(1, voted, None).await.expect("it is decided");
        assert!(waiting.await.is_none(), "a's session is over");

        w.step("a opens again with another session: its vote stands, and it is told the same");
        let a2 = w.client("a2").await;
        let voted = a2.votes(0, Vote::Commit).await;
        let (a_knows, told) = a2.learns(0, voted, None).await.expect("it is decided");
        assert_eq!(decided, told, "both obey the record");
        a2.finishes(0, a_knows).await;
        b.finishes(1, b_knows).await;
    })
}
