//! A leader whose session expires while it works.

use super::{leads, objects, supervises};
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "a leader whose session expires stands again in the next one, and its work begins anew",
    about: "The work is dropped as soon as the connection is lost. Nobody opens a session or stands for election but the \
            supervisor.",
    point: |told| {
        let works = |what: &What| matches!(what, What::Call { verb: Verb::Work, .. });
        vec![
            ("a session expired", told.struck(FaultKind::SessionExpiry)),
            ("work began three times", told.count(works) == 3),
        ]
    },
    verdicts: &[(Le1, Verdict::Pass), (Le9, Verdict::Pass), (Sv1, Verdict::Pass), (Sv2, Verdict::Pass)],
    ..Story::own("supervised-in-two-sessions", objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.process("a"), w.process("b"));
        let (of_a, of_b) = (supervises(&a), supervises(&b));

        w.step("a leads, and b waits behind it");
        let a_leads = leads(&a, &of_a, TIMEOUT);
        w.settle().await;
        let b_leads = leads(&b, &of_b, TIMEOUT * 3);
        w.settle().await;

        w.step("a's session expires: its work is dropped when the connection is lost, and b leads when the session has ended");
        a.process.inflict(Fault::SessionExpiry, TIMEOUT * 3);
        a.sleep(TIMEOUT * 3).await;

        w.step("a is back in another session, stands behind b, and works from the beginning");
        b_leads.await;
        a_leads.await;
        let _ = of_a.shutdown(TIMEOUT).await;
        let _ = of_b.shutdown(TIMEOUT).await;
    })
}
