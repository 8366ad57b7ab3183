//! A shutdown in the middle of the work.

use super::{leads, objects, supervises};
use crate::prelude::*;

pub(super) const STORY: Story = Story {
    title: "a shutdown drops the work, then closes the session, and the next one leads at once",
    about: "The close deletes the candidate. Nobody waits for an expiry, and nothing is done under a hold that is given away.",
    point: |told| {
        let works = |what: &What| matches!(what, What::Call { verb: Verb::Work, .. });
        let expired = |what: &What| matches!(what, What::Marked { .. });
        vec![("both have worked", told.count(works) == 2), ("no session expired", told.count(expired) == 0)]
    },
    verdicts: &[(Le1, Verdict::Pass), (Sv1, Verdict::Pass)],
    ..Story::own("supervised-closes-last", objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b) = (w.process("a"), w.process("b"));
        let (of_a, of_b) = (supervises(&a), supervises(&b));

        w.step("a leads, and b waits behind it");
        let a_leads = leads(&a, &of_a, TIMEOUT);
        w.settle().await;
        let b_leads = leads(&b, &of_b, Pace::SIMULATED.work);
        w.settle().await;

        w.step("a is told to shut down: its work is dropped, and then its session is closed");
        let closed = of_a.shutdown(TIMEOUT).await;
        a_leads.await;
        assert!(closed.is_ok(), "the calls of a end with their work");

        w.step("b leads");
        b_leads.await;
        let _ = of_b.shutdown(TIMEOUT).await;
    })
}
