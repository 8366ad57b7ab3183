//! A coordinator dies before it has decided.

use crate::prelude::*;
use crate::two_phase_commit::words as two_phase_commit;
use std::time::Duration;
use zk_recipes::two_phase_commit::{Form, Vote};

pub(super) const STORY: Story = Story {
    title: "when the coordinator dies, a site proposes the decision after its time limit",
    about: "Both sites have voted for commit, and nobody is there to decide. The first whose limit is over finds no vote \
            missing, so that abort cannot be proposed any more, and commits.",
    point: |told| {
        vec![
            ("the coordinator died", told.struck(FaultKind::ClientCrash)),
            ("two sites were told", told.count(|what| matches!(what, What::Observed { .. })) == 2),
        ]
    },
    verdicts: &[(Tc1, Verdict::Pass), (Tc3, Verdict::Pass), (Tc9, Verdict::Pass)],
    ..Story::own("coordinator-dies", two_phase_commit::coordinated_objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (c, a, b) = (w.client("c").await, w.client("a").await, w.client("b").await);

        w.step("c begins, and dies");
        let _gone = c.begins_a_transaction(Form::Coordinator).await;
        c.dies();
        w.settle().await;

        w.step("a and b vote for commit, and wait");
        let voted = b.votes(1, Vote::Commit).await;
        let patient = b.learns(1, voted, None);
        let voted = a.votes(0, Vote::Commit).await;

        w.step("a's time is over: it finds all votes, and puts commit on record");
        let (_, decided) = a.learns(0, voted, Some(Duration::from_secs(1))).await.expect("it decides");
        let (_, told) = patient.await.expect("b is told");
        assert_eq!(decided, told, "both obey the record");
    })
}
