//! An election in which a client knows its candidate by its own name alone, and takes one that is left of its former session
//! for its own. That goes when the former session ends, and somebody else leads beside it (CURATOR-696, CURATOR-444).
//!
//! Caught by LE-3 (a grant is justified) within some hundred seeds in which clients open new sessions while their old ones
//! live on; the harm is LE-1.

use super::bend::Bent;
use crate::broken::session::Twist;
use crate::client::Client;
use crate::plan::Plan;
use crate::target::{Done, Setting, Target};
use crate::workloads::election::{DIRECTORY, client_with, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sim_zk::fault::Fault;
use std::future::Future;
use std::ops::Range;
use zk_checker::RuleId;
use zk_recipes::zk::{CreateMode, Created, Error, Guid, ZooKeeper, path};

pub(super) static TARGET: Target = Target {
    name: "election-former-session",
    about: "an election in which a candidate of one's former session is taken for one's own",
    caught_by: Some(
        Caught::by(RuleId::Le3).within(100).harm(&[RuleId::Le1]).seen("CURATOR-696, CURATOR-444"),
    ),
    faults: FAULTS,
    plan: |_| Plan { faults: 6, ..Plan::calm().with(FAULTS, 0.05) },
    objects,
    sim: part,
    // Without faults nothing is left of a former session.
    real: None,
    required: &[],
    required_on_real: &[],
};

const FAULTS: &[Fault] = &[Fault::Disconnect, Fault::ClientPartition, Fault::Cancel];

fn part<C: Client>(c: C, setting: Setting, rounds: Range<u32>, done: Done) -> BoxFuture<'static, ()> {
    let name = Guid(u128::from(c.number()) + 1);
    let on = move |zk: &C::Zk| {
        Bent::with(zk, DIRECTORY, KnowsItsName(name)).expect("the directory is a good path")
    };
    client_with(c, setting, rounds, done, on).boxed()
}

/// The wrong step.
#[derive(Clone)]
struct KnowsItsName(Guid);

impl Default for KnowsItsName {
    fn default() -> Self {
        KnowsItsName(Guid(0))
    }
}

impl<Z: ZooKeeper> Twist<Z> for KnowsItsName {
    fn guid(&self, _: Guid) -> Guid {
        self.0
    }

    fn create(
        &self,
        zk: &Z,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<Created, Error>> + Send + use<Z> {
        let (zk, path, data, name) = (zk.clone(), path.to_owned(), data.to_vec(), self.0.to_string());
        async move {
            let directory = path::split(&path).0;
            if mode == CreateMode::EphemeralSequential
                && let Ok(list) = zk.children(directory).await
                && let Some(own) = list.names.iter().find(|other| other.starts_with(&name))
            {
                let path = path::join(directory, own);
                if let Some(stat) = zk.exists(&path).await? {
                    return Ok(Created { path, stat });
                }
            }
            zk.create(&path, &data, mode).await
        }
    }
}
