//! An election in which a client takes a candidate that is left of its former session for its own. That goes when the former session ends, and somebody else leads beside it (CURATOR-696, CURATOR-444).
//!
//! Caught by LE-3 (a grant is justified) within some hundred seeds in which clients open new sessions while their old ones
//! live on; the harm is LE-4 (acknowledgement).

use super::bend::Bent;
use crate::election::workload::{DIRECTORY, client_with};
use crate::former::TakesItsFormer;
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
    name: "election-former-session",
    about: "an election in which a candidate of one's former session is taken for one's own",
    caught_by: Some(
        Caught::by(RuleId::Le3)
            .or(&[(RuleId::Mx10, "what it deletes when it is done is the znode of another session")])
            .within(100)
            .harm(&[RuleId::Le4])
            .seen("CURATOR-696, CURATOR-444"),
    ),
    faults: FAULTS,
    plan: |_| Plan { rounds: 12, hostile_ms: 100_000, faults: 30, ..Plan::calm().with(FAULTS, 0.1) },
    sim: part,
    ..Target::mutant_of(&crate::election::workload::TARGET)
};

const FAULTS: &[Fault] = &[Fault::Disconnect, Fault::ClientPartition, Fault::Cancel];

fn part<C: Client>(c: C, setting: Setting, rounds: Range<u32>, done: Done) -> BoxFuture<'static, ()> {
    // The wrong step.
    let former = TakesItsFormer::default();
    let on =
        move |zk: &C::Zk| Bent::with(zk, DIRECTORY, former.clone()).expect("the directory is a good path");
    client_with(c, setting, rounds, done, on).boxed()
}
