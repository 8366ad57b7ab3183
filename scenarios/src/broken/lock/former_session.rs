//! A lock that tries again under the same guid when its session has ended, and after a lost reply takes what bears that guid for
//! its own, whoever made it: the znode of the former session is granted, and goes with that session (CURATOR-604, CURATOR-498).
//!
//! Caught by MX-4 (granted without a right) within some hundred seeds in which replies are lost and clients open new sessions
//! while their old ones live on; the harm is MX-2 (mutual exclusion).

use super::bend::{Bend, Bent, Guard};
use crate::broken::session::{Twist, Twisted};
use crate::client::Client;
use crate::plan::Plan;
use crate::target::{Done, Setting, Target};
use crate::workloads::lock::{DIRECTORY, Exclusive, client_with, objects};
use crate::zoo::Caught;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sim_zk::fault::Fault;
use std::future::Future;
use std::ops::Range;
use std::time::Duration;
use zk_checker::RuleId;
use zk_recipes::zk::{Error, Guid, ZooKeeper};

pub(super) static TARGET: Target = Target {
    name: "lock-former-session",
    about: "a lock that takes the znode of its own former session for its own",
    caught_by: Some(
        Caught::by(RuleId::Mx4).within(100).harm(&[RuleId::Mx2]).seen("CURATOR-604, CURATOR-498"),
    ),
    faults: FAULTS,
    plan: |_| Plan { rounds: 4, faults: 12, ..Plan::calm().with(FAULTS, 0.1) },
    objects,
    sim: part,
    // Without faults nothing is left of a former session.
    real: None,
    required: &[],
    required_on_real: &[],
};

const FAULTS: &[Fault] = &[Fault::ReplyLost, Fault::Disconnect, Fault::ClientPartition];

fn part<C: Client>(c: C, setting: Setting, rounds: Range<u32>, done: Done) -> BoxFuture<'static, ()> {
    let name = Guid(u128::from(c.number()) + 1);
    let on = move |zk: &C::Zk| {
        let zk = Twisted::with(zk, KnowsItsName(name));
        FormerSession(Bent::on(&zk, DIRECTORY).expect("the directory is a good path"))
    };
    client_with(c, setting, rounds, done, on).boxed()
}

/// All attempts of a client under one guid.
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
}

/// The wrong step.
#[derive(Clone)]
struct Adopts;

impl Bend for Adopts {
    const OWNED: bool = false;
}

/// The broken lock.
#[derive(Clone)]
struct FormerSession<Z: ZooKeeper>(Bent<Twisted<Z, KnowsItsName>, Adopts>);

impl<Z: ZooKeeper> Exclusive<Z> for FormerSession<Z> {
    type Guard = Guard<Twisted<Z, KnowsItsName>>;

    fn on(zk: &Z, directory: &str) -> Result<Self, Error> {
        Bent::on(&Twisted::over(zk), directory).map(FormerSession)
    }

    fn acquire(&self) -> impl Future<Output = Result<Self::Guard, Error>> + Send {
        self.0.acquire()
    }

    fn acquire_within(&self, limit: Duration) -> impl Future<Output = Result<Self::Guard, Error>> + Send {
        self.0.acquire_within(limit)
    }

    fn try_acquire(&self) -> impl Future<Output = Result<Option<Self::Guard>, Error>> + Send {
        self.0.try_acquire()
    }
}
