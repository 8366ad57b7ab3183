//! A lock that tries again when its session has ended, and takes what an earlier attempt has left for its own, whoever made it:
//! the znode of the former session is granted, and goes with that session (CURATOR-604, CURATOR-498).
//!
//! Caught by MX-4 (granted without a right) within some hundred seeds in which clients open new sessions while their old ones
//! live on; the harm is MX-10 (who deletes).

use super::over::LockOver;
use crate::former::TakesItsFormer;
use crate::lock::workload::{DIRECTORY, client_with};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sim_zk::fault::Fault;
use std::ops::Range;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_harness::client::Client;
use zk_harness::plan::Plan;
use zk_harness::target::{Done, Setting, Target};

pub(super) static TARGET: Target = Target {
    name: "lock-former-session",
    about: "a lock that takes the znode of its own former session for its own",
    caught_by: Some(
        Caught::by(RuleId::Mx4)
            .or(&[
                (
                    RuleId::Mx13,
                    "who looks for what it has left asks once more than a lock that is free may cost",
                ),
                (RuleId::Mx10, "what it deletes when it is done is the znode of another session"),
            ])
            .within(100)
            .harm(&[RuleId::Mx10])
            .seen("CURATOR-604, CURATOR-498"),
    ),
    faults: FAULTS,
    plan: |_| Plan { rounds: 12, hostile_ms: 100_000, faults: 30, ..Plan::calm().with(FAULTS, 0.1) },
    sim: part,
    ..Target::mutant_of(&crate::lock::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::Disconnect, Fault::ClientPartition, Fault::Cancel];

fn part<C: Client>(c: C, setting: Setting, rounds: Range<u32>, done: Done) -> BoxFuture<'static, ()> {
    // The wrong step.
    let former = TakesItsFormer::default();
    let on = move |zk: &C::Zk| {
        LockOver::with(zk, DIRECTORY, former.clone()).expect("the directory is a good path")
    };
    client_with(c, setting, rounds, done, on).boxed()
}
