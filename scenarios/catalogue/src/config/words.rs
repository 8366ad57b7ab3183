//! The words of configuration.

use super::workload::{self as config, VALUE, VALUE_PATH, follow};
use crate::prelude::*;
use sim_zk::SimClient;
use std::future::Future;
use std::time::Duration;
use zk_checker::history::Names as Texts;
use zk_recipes::Versioned;
use zk_recipes::config::ConfigSet;

/// A value, and a set of values.
pub fn objects(texts: &mut Texts) -> Vec<Object> {
    config::objects(texts, &Setting { clients: 0, rounds: 0, timeout: TIMEOUT, pace: Pace::SIMULATED })
}

fn value(zk: &SimClient) -> ConfigSet<SimClient> {
    config::new(zk, VALUE_PATH)
}

impl Actor {
    /// Begins to follow the value, for that long.
    pub fn follows_the_value(&self, time: Duration) -> impl Future<Output = Option<Round>> + Send + use<> {
        let (process, config) = (self.process().clone(), value(self.zk()));
        let following = self.process().process.spawn(async move { follow(&process, &config, time).await });
        async move { following.await.ok() }
    }

    /// Writes the value unconditionally.
    pub async fn writes_the_value(&self, text: &'static str) -> Versioned {
        let number = self.number();
        let written = self.does_and_then(
            Call::new(VALUE, Verb::Overwrite),
            move |journal, at, op| journal.given(at, number, op, text, 0),
            move |zk| async move { value(&zk).pointer().put(text.as_bytes()).await },
            |_, _, written| written,
        );
        written.await.done().expect("it is written")
    }

    /// Writes the value if it is still the one that was expected.
    pub fn replaces_the_value(
        &self,
        expected: Versioned,
        text: &'static str,
    ) -> impl Future<Output = Ended<Versioned>> + Send + use<> {
        let (number, mzxid) = (self.number(), expected.mzxid as u64);
        self.does_and_then(
            Call::new(VALUE, Verb::CompareAndSet),
            move |journal, at, op| journal.given(at, number, op, text, mzxid),
            move |zk| async move { value(&zk).pointer().compare_and_set(Some(&expected), text.as_bytes()).await },
            |_, _, written| written,
        )
    }
}
