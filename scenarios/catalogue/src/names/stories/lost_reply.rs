//! The reply to a registration is lost: the client reads the znode and checks its owner.

use crate::names::words as names;
use crate::prelude::*;
use zk_recipes::zk::CreateMode;

pub(super) const STORY: Story = Story {
    title: "after a lost reply the client looks for the znode and reads its owner",
    about: "The connection breaks after the server has applied the create. The client settles what is under way by a write, finds the znode, and its own session as the owner.",
    point: |told| {
        let created = |what: &What| matches!(what, What::Created { owner, .. } if owner.0 != 0);
        let of =
            |wanted: Seen| told.count(|what| matches!(what, What::Observed { seen, .. } if *seen == wanted));
        vec![
            ("a reply was lost", told.struck(FaultKind::ReplyLost)),
            ("one znode bears the name", told.count(created) == 1),
            ("a has it", of(Seen::Name) == 1),
        ]
    },
    verdicts: &[(Ns3, Verdict::Pass)],
    ..Story::own("names-lost-reply", names::objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let a = w.client("a").await;
        a.zk().create("/names", &[], CreateMode::Persistent).await.expect("made");

        w.step("a registers a name, and the reply is lost");
        a.loses_its_next_reply();
        let first = a.registers("db").await;

        w.step("it is its own, and a gives it back");
        a.unregisters("db", first).await;
    })
}
