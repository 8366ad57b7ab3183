//! The words of the election.

use super::workload::{self as election, DIRECTORY, ELECTION, tell};
use crate::prelude::*;
use sim_zk::SimClient;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use zk_harness::stage::hold::Holding;
use zk_recipes::{Election, ElectionOptions, Leader, Term};

/// A leader's term in a story.
pub type Leading = Holding<Term<SimClient>>;

/// One election.
pub fn objects(names: &mut Names) -> Vec<Object> {
    election::objects(names, &Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED })
}

impl Actor {
    /// Begins to stand for election, in the client's own process.
    pub fn stands(&self) -> impl Future<Output = Option<Leading>> + Send + use<> {
        let stand =
            |zk| async move { Election::new(&zk, DIRECTORY, ElectionOptions::default())?.stand().await };
        let call = Call::new(ELECTION, Verb::Stand);
        let standing =
            self.does_and_then(call, nothing, stand, |actor, op, term| actor.believes(ELECTION, op, term));
        async move { standing.await.done() }
    }

    /// Stands for election and is elected.
    ///
    /// # Panics
    ///
    /// If it is not elected.
    pub async fn takes_office(&self) -> Leading {
        self.stands().await.expect("it is elected")
    }

    /// Writes the acknowledgement. `None` if the server refuses it.
    pub async fn acknowledges(&self, leading: Leading, says: &'static str) -> Option<Leading> {
        let (me, token) = (self.number(), leading.guard.token() as u64);
        let call = Call::new(ELECTION, Verb::Acknowledge);
        let given = move |journal: &mut Journal, at, op| {
            journal.given(at, me, op, says, token);
        };
        let acknowledge = move |_| async move {
            leading.guard.acknowledge(says.as_bytes()).await?;
            Ok(leading)
        };
        self.does_and_then(call, given, acknowledge, |_, _, leading| leading).await.done()
    }

    /// Begins to follow the leader, until so many acknowledgements were reported.
    pub fn follows_until(&self, acknowledgements: usize) -> impl Future<Output = ()> + Send + use<> {
        let own = Arc::new(AtomicU32::new(0));
        let given = {
            let own = own.clone();
            move |_: &mut Journal, _, op: OpId| own.store(op.0, Ordering::Relaxed)
        };
        let process = self.process().clone();
        let follow = move |zk| async move {
            let mut leadership = Election::new(&zk, DIRECTORY, ElectionOptions::default())?.follow();
            let mut told = 0;
            while told < acknowledgements {
                let news = leadership.next().await?;
                told += usize::from(matches!(news, Leader::Acknowledged { .. }));
                tell(&process, OpId(own.load(Ordering::Relaxed)), &news);
            }
            Ok(())
        };
        let call = Call::new(ELECTION, Verb::Observe);
        let following = self.does_and_then(call, given, follow, |_, _, ()| ());
        async move { drop(following.await) }
    }
}
