//! The names that workloads, words, stories and mutants use throughout.

pub(crate) use crate::recipe::{Make, Recipe, limited};
pub(crate) use crate::stage::{Actor, Stage};
pub(crate) use futures_util::FutureExt;
pub(crate) use futures_util::future::BoxFuture;
pub(crate) use sim_zk::fault::Fault;
pub(crate) use zk_checker::RuleId::*;
pub(crate) use zk_checker::Verdict;
pub(crate) use zk_checker::history::{
    FaultKind, Kind, Manner, Names, Object, ObjectId, OpId, Seen, Verb, What, Why,
};
pub(crate) use zk_harness::caught::{Caught, Promise};
pub(crate) use zk_harness::client::{Client, SimProcess};
pub(crate) use zk_harness::holding::{Belief, Held, drops, give_back, gives_back};
pub(crate) use zk_harness::journal::Journal;
pub(crate) use zk_harness::operation::{
    Call, Ended, attempt, give_up, nothing, observed_operation, operation,
};
pub(crate) use zk_harness::pace::Pace;
pub(crate) use zk_harness::plan::{Act, Plan};
pub(crate) use zk_harness::rounds::{OfSession, Round, SESSIONS, rounds};
pub(crate) use zk_harness::sometimes;
pub(crate) use zk_harness::stage::{Script, Story, TIMEOUT};
pub(crate) use zk_harness::workload::{Setting, Stated, Task, Workload};
pub(crate) use zk_real::RealWorkload;
pub(crate) use zk_recipes::zk::{Error, ErrorKind, ZooKeeper};
