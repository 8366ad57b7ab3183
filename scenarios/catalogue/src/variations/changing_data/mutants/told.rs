//! False states of registrations and memberships.

use super::{Calls, client, mutant};
use crate::lies::LOSSES;
use crate::prelude::*;
use crate::told::{BREAKS, early};
use std::sync::Arc;
use zk_harness::workload::TaskFn;
use zk_recipes::group::Membership;
use zk_recipes::names::Registration;
use zk_recipes::{HoldState, LostReason, Stop};

const fn struck(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    Workload {
        plan: |_| Plan { clients: 5, rounds: 24, faults: 80, ..Plan::calm().with(BREAKS, 0.15) },
        ..mutant(name, about, caught, BREAKS, sim)
    }
}

/// An owner that checks its state before it serves continues beside the next one.
pub(super) static REGISTRATION_ALWAYS_HELD: Workload = Workload {
    plan: |_| Plan { clients: 4, rounds: 6, ..Plan::calm() }.with(LOSSES, 0.05),
    ..mutant(
        "changing-data-registration-always-held",
        "the state of a registration is held, whatever has become of it",
        Caught::by(An1),
        LOSSES,
        |task| client(task, Arc::new(RegistrationAlwaysHeld)).boxed(),
    )
};

struct RegistrationAlwaysHeld;

impl<Z: ZooKeeper> Calls<Z> for RegistrationAlwaysHeld {
    fn registration_state(&self, _: &Registration<Z>) -> HoldState {
        HoldState::Held
    }
}

/// An owner stops serving under its own name.
pub(super) static REGISTRATION_NEVER_HELD: Workload = mutant(
    "changing-data-registration-never-held",
    "the state of a registration is lost, although it stands",
    Caught::by(An2),
    &[],
    |task| client(task, Arc::new(RegistrationNeverHeld)).boxed(),
);

struct RegistrationNeverHeld;

impl<Z: ZooKeeper> Calls<Z> for RegistrationNeverHeld {
    fn registration_state(&self, _: &Registration<Z>) -> HoldState {
        HoldState::Lost(LostReason::DeadlinePassed)
    }
}

/// An owner continues to serve while another one may have the name.
pub(super) static REGISTRATION_RUN_GOES_ON: Workload = struck(
    "changing-data-registration-run-goes-on",
    "the run of a registration drives the work to its end, whatever becomes of the name",
    Caught::by(An1),
    |task| client(task, Arc::new(RegistrationRunGoesOn)).boxed(),
);

struct RegistrationRunGoesOn;

impl<Z: ZooKeeper> Calls<Z> for RegistrationRunGoesOn {
    fn run_registered<'a>(
        &'a self,
        _: &'a Registration<Z>,
        work: BoxFuture<'a, ()>,
    ) -> BoxFuture<'a, Result<(), Stop>> {
        work.map(Ok).boxed()
    }
}

/// A disconnected owner resumes before it knows whether the name is still its own.
pub(super) static REGISTRATION_RESUMES_TOO_EARLY: Workload = struck(
    "changing-data-registration-resumes-too-early",
    "a registration is said to be confirmed while the connection is lost",
    Caught::by(An1),
    |task| client(task, Arc::new(RegistrationResumesTooEarly)).boxed(),
);

struct RegistrationResumesTooEarly;

impl<Z: ZooKeeper> Calls<Z> for RegistrationResumesTooEarly {
    fn resumed_registration<'a>(
        &'a self,
        zk: &'a Z,
        _: &'a Registration<Z>,
    ) -> BoxFuture<'a, Result<(), LostReason>> {
        early(zk).boxed()
    }
}

/// A member continues to work while others consider it gone.
pub(super) static MEMBER_RUN_GOES_ON: Workload = struck(
    "changing-data-member-run-goes-on",
    "the run of a membership drives the work to its end, whatever becomes of the member",
    Caught::by(An1).or(&[(Gm6, "the member was never told that it is out")]),
    |task| client(task, Arc::new(MemberRunGoesOn)).boxed(),
);

struct MemberRunGoesOn;

impl<Z: ZooKeeper> Calls<Z> for MemberRunGoesOn {
    fn run<'a>(&'a self, _: &'a Membership<Z>, work: BoxFuture<'a, ()>) -> BoxFuture<'a, Result<(), Stop>> {
        work.map(Ok).boxed()
    }
}

/// A disconnected member resumes before it knows whether it is still one.
pub(super) static MEMBER_RESUMES_TOO_EARLY: Workload = struck(
    "changing-data-member-resumes-too-early",
    "a membership is said to be confirmed while the connection is lost",
    Caught::by(An1),
    |task| client(task, Arc::new(MemberResumesTooEarly)).boxed(),
);

struct MemberResumesTooEarly;

impl<Z: ZooKeeper> Calls<Z> for MemberResumesTooEarly {
    fn resumed<'a>(&'a self, zk: &'a Z, _: &'a Membership<Z>) -> BoxFuture<'a, Result<(), LostReason>> {
        early(zk).boxed()
    }
}
