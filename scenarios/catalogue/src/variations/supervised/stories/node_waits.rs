//! A persistent node whose process has opened its next session before the former one has ended.

use super::super::node;
use super::{objects, supervises};
use crate::prelude::*;
use std::time::Duration;

pub(super) const STORY: Story = Story {
    title: "a persistent node waits for the znode of another process, and is there when that has gone",
    about: "It neither adopts nor deletes a znode that is not its own. When somebody deletes its znode, and the directory with it, it \
            is there again.",
    point: |told| {
        let is = |wanted| move |what: &What| matches!(what, What::Call { verb, .. } if *verb == wanted);
        let evicted = |what: &What| matches!(what, What::Deleted { .. });
        vec![
            ("two processes keep the node", told.count(is(Verb::Keep)) == 2),
            ("it was deleted", told.count(evicted) >= 2),
        ]
    },
    verdicts: &[(Pn1, Verdict::Pass), (Pn2, Verdict::Pass), (Pn4, Verdict::Pass)],
    ..Story::own("supervised-node-waits", objects, |stage| script(stage.into()))
};

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let (a, b, c) = (w.process("a"), w.process("b"), w.process("c"));
        let keeps = |client: &SimProcess, time: Duration| {
            let (client, supervisor) = (client.clone(), supervises(client));
            let process = client.process.clone();
            process.spawn(async move {
                node::keeps(&client, &supervisor, Pace::SIMULATED, 0, time).await;
                let _ = supervisor.shutdown(TIMEOUT).await;
            })
        };

        w.step("a keeps the node there");
        let of_a = keeps(&a, TIMEOUT);
        w.settle().await;

        w.step("b is to keep it, too, and waits");
        let of_b = keeps(&b, TIMEOUT * 3);
        w.settle().await;

        w.step("a ends, and b's node is there");
        let _ = of_a.await;
        w.settle().await;

        w.step("c deletes the node and its directory: b creates both again");
        node::evicts(&c, &supervises(&c)).await;
        w.settle().await;
        let _ = of_b.await;
    })
}
