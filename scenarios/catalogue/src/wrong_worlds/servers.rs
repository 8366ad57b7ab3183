//! Servers that fire watches wrongly, or not at all.
//!
//! A waiter on such a watch waits too long, or wakes for no reason. ZOOKEEPER-3145 is about the watches of a directory
//! whose ephemerals are deleted with their session.

use super::{CALM, ENDS, LOSSES, STALLS, fewer, wrong};
use crate::config::workload as config;
use crate::group::workload as group;
use crate::variations::raw;
use sim_zk::injected_bug::InjectedBug;
use zk_checker::RuleId::{Cf4, Gm3, Zk6, Zk14};
use zk_harness::caught::Caught;
use zk_harness::plan::Plan;
use zk_harness::workload::Workload;

pub(super) static ALL: &[Workload] = &[
    wrong("raw-fires-twice", InjectedBug::FiresTwice, &raw::WORKLOAD, Some(Zk6), CALM),
    Workload {
        // A view shows a member that is gone.
        caught_by: Some(Caught::by(Zk6).harm(&[Gm3])),
        ..wrong(
            "group-silent-end",
            InjectedBug::SilentEnd,
            &group::WORKLOAD,
            Some(Zk6),
            fewer(ENDS, |seed| Plan { rounds: 2, ..(ENDS.plan)(seed) }),
        )
    },
    wrong("raw-children-for-data", InjectedBug::ChildrenForData, &raw::WORKLOAD, Some(Zk6), CALM),
    wrong("raw-wrong-event", InjectedBug::WrongEvent, &raw::WORKLOAD, Some(Zk6), CALM),
    wrong("raw-late-notices", InjectedBug::LateNotices, &raw::WORKLOAD, Some(Zk6), CALM),
    Workload {
        caught_by: Some(Caught::by(Zk6).harm(&[Cf4])),
        ..wrong("config-fires-early", InjectedBug::FiresEarly, &config::WORKLOAD, Some(Zk6), STALLS)
    },
    wrong("raw-arms-blindly", InjectedBug::ArmsBlindly, &raw::WORKLOAD, Some(Zk6), LOSSES),
    wrong("raw-spends-persistent", InjectedBug::SpendsPersistent, &raw::WORKLOAD, Some(Zk14), CALM),
];
