//! The words of names.

use super::workload::{self as names, DIRECTORY, NAMES};
use crate::prelude::*;
use sim_zk::SimClient;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use zk_checker::history::Names as Texts;
use zk_recipes::names::{IfTaken, Names, NamesOptions, Registration};

/// A directory of names.
pub fn objects(texts: &mut Texts) -> Vec<Object> {
    names::objects(texts, &Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED })
}

impl Actor {
    /// Begins to register a name, and waits for it if it is taken.
    pub fn asks_for_the_name(
        &self,
        name: &'static str,
    ) -> impl Future<Output = Ended<Registration<SimClient>>> + Send + use<> {
        let (actor, op) = (self.clone(), Arc::new(OnceLock::<OpId>::new()));
        let called = op.clone();
        self.does_and_then(
            Call::new(NAMES, Verb::Register),
            {
                let number = self.number();
                move |journal, at, id| {
                    journal.given(at, number, id, name, 0);
                    called.set(id).expect("it is called once");
                }
            },
            move |zk| async move {
                let options = NamesOptions::default().with_if_taken(IfTaken::Wait);
                let registered = Names::new(&zk, DIRECTORY, options)?.register(name, b"here").await?;
                let op = *op.get().ok_or(ErrorKind::TimedOut)?;
                let czxid = registered.token() as u64;
                let number = actor.number();
                actor.journal(|j, at| j.observed(at, number, op, NAMES, Seen::Name, name, czxid));
                Ok(registered)
            },
            |_, _, registered| registered,
        )
    }

    /// Registers a name.
    ///
    /// # Panics
    ///
    /// If the registration fails.
    pub async fn registers(&self, name: &'static str) -> Registration<SimClient> {
        self.asks_for_the_name(name).await.done().expect("the name is registered")
    }

    /// Releases a name.
    pub async fn unregisters(&self, name: &'static str, registered: Registration<SimClient>) {
        let number = self.number();
        let given =
            move |journal: &mut zk_harness::journal::Journal, at, op| journal.given(at, number, op, name, 0);
        let call = Call::new(NAMES, Verb::Unregister);
        let release = move |_| async move { registered.release().await.map(drop) };
        let _ = self.does_and_then(call, given, release, |_, _, ()| ()).await;
    }
}
