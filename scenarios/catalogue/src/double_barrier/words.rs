//! The words of the double barrier.

use super::workload::{Setup, object, roster_text};
use crate::prelude::*;
use sim_zk::SimClient;
use std::future::Future;
use zk_recipes::{DoubleBarrier, DoubleBarrierOptions, Inside, Leave, Released, Reuse};

fn setup() -> Setup {
    let (object, reuse, leave) = (ObjectId(0), Reuse::Generations, Leave::Keeper);
    Setup { path: "/steps/all", object, participants: 3, reuse, leave }
}

/// One double barrier, for three.
pub fn step_of_three(names: &mut Names) -> Vec<Object> {
    vec![object(names, &setup())]
}

impl Actor {
    /// Begins to enter the double barrier.
    pub fn enters(&self, id: &str) -> impl Future<Output = Option<Inside<SimClient>>> + Send + use<> {
        let Setup { path, object, participants, reuse, leave } = setup();
        let options = DoubleBarrierOptions::new(participants, reuse, leave).with_id(id);
        let (actor, id) = (self.clone(), id.to_owned());
        let entering = self.process().process.spawn(async move {
            let me = actor.number();
            let given = |journal: &mut Journal, at, op| journal.given(at, me, op, &id, 0);
            let observed = |journal: &mut Journal, at, op, inside: &Inside<SimClient>| {
                let (roster, generation) = (roster_text(&inside.roster()), inside.generation() as u64);
                journal.observed(at, me, op, object, Seen::Opening, &roster, generation);
            };
            let entering = || async {
                let step = DoubleBarrier::new(actor.zk(), path, options)?;
                step.enter().await
            };
            let call = Call::new(object, Verb::Enter);
            observed_operation(actor.process(), call, given, entering, observed).await.1.done()
        });
        async move { entering.await.ok().flatten() }
    }

    /// Begins to leave it.
    pub fn leaves_the_step(
        &self,
        inside: Inside<SimClient>,
    ) -> impl Future<Output = Ended<Released>> + Send + use<> {
        self.does(Call::new(ObjectId(0), Verb::Leave), |_| inside.leave())
    }
}
