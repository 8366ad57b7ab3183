//! The words of counters.

use super::workload::{self as counter, COUNTER};
use crate::prelude::*;
use sim_zk::SimClient;
use std::future::Future;
use std::sync::{Arc, Mutex};
use zk_checker::history::Names as Texts;
use zk_recipes::{Counter, Freshness};

/// A counter.
pub fn objects(texts: &mut Texts) -> Vec<Object> {
    counter::objects(texts, &Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED })
}

/// The counter of a session, made once.
#[derive(Clone, Default)]
pub struct Own(Arc<Mutex<Option<Counter<SimClient>>>>);

impl Own {
    fn over(&self, zk: &SimClient) -> Counter<SimClient> {
        let mut own = self.0.lock().expect("no panic");
        own.get_or_insert_with(|| counter::new(zk)).clone()
    }
}

impl Actor {
    /// Begins to add a number.
    pub fn begins_to_add(
        &self,
        own: &Own,
        number: i64,
    ) -> impl Future<Output = Ended<Option<i64>>> + Send + use<> {
        let (client, own) = (self.number(), own.clone());
        self.does_and_then(
            Call::new(COUNTER, Verb::Add),
            move |journal, at, op| journal.given(at, client, op, &number.to_string(), 0),
            move |zk| async move { own.over(&zk).add(number).await },
            |_, _, count| count,
        )
    }

    /// Adds a number.
    pub async fn adds(&self, own: &Own, number: i64) -> Option<i64> {
        self.begins_to_add(own, number).await.done().expect("it is added")
    }

    /// Sets the count if it is the expected one, and says whether it was.
    pub async fn replaces_the_count(&self, own: &Own, expected: i64, new: i64) -> bool {
        let (client, own) = (self.number(), own.clone());
        let replaced = self.does_and_then(
            Call::new(COUNTER, Verb::CompareAndSet),
            move |journal, at, op| {
                journal.given(at, client, op, &new.to_string(), expected.cast_unsigned());
            },
            move |zk| async move { own.over(&zk).compare_and_set(expected, new).await },
            |_, _, ()| (),
        );
        replaced.await.done().is_some()
    }

    /// Reads the count behind everything that was written before.
    pub async fn reads_the_count(&self, own: &Own) -> i64 {
        let (client, own) = (self.number(), own.clone());
        let read = self.does_and_then(
            Call::new(COUNTER, Verb::Get),
            move |journal, at, op| journal.given(at, client, op, "latest", 0),
            move |zk| async move { own.over(&zk).get(Freshness::Latest).await },
            |_, _, count| count,
        );
        read.await.done().expect("it is read")
    }
}
