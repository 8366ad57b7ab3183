//! Clients with wrong waits, or that take another participant's place for theirs.

use super::calls::{Calls, Pending};
use super::workload::{WORKLOAD, client};
use crate::prelude::*;
use crate::told::{BREAKS, early};
use std::sync::Arc;
use zk_harness::workload::TaskFn;
use zk_recipes::{Barrier, HoldState, Inside, LostReason, Stop, While};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &WAIT_PRETENDS,
    &WAIT_DOWN_PRETENDS,
    &WAITS_FOR_EVER,
    &STANDS_FOR_GOOD,
    &PATH_OF_ANOTHER,
    &ENTERS_WITH_ANY_NUMBER,
    &PLACE_ALWAYS_HELD,
    &PLACE_NEVER_HELD,
    &PLACE_NEVER_LOST,
    &PLACE_RESUMES_TOO_EARLY,
];

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, &[], |_| Plan { rounds: 8, ..Plan::calm() }, sim)
}

/// A client passes while the barrier stands.
static WAIT_PRETENDS: Workload = mutant(
    "unlimited-waits-wait-pretends",
    "a wait without a limit returns at once",
    Caught::by(Ba1),
    |task| client(task, Arc::new(WaitPretends)).boxed(),
);

struct WaitPretends;

impl<Z: ZooKeeper> Calls<Z> for WaitPretends {
    fn wait<'a>(&'a self, _: &'a Barrier<Z>) -> Pending<'a> {
        async { Ok(()) }.boxed()
    }
}

/// A client passes while a barrier stands.
static WAIT_DOWN_PRETENDS: Workload = mutant(
    "unlimited-waits-wait-down-pretends",
    "a wait without a limit until no barrier stands returns at once",
    Caught::by(Ba1),
    |task| client(task, Arc::new(WaitDownPretends)).boxed(),
);

struct WaitDownPretends;

impl<Z: ZooKeeper> Calls<Z> for WaitDownPretends {
    fn wait_until_down<'a>(&'a self, _: &'a Barrier<Z>) -> Pending<'a> {
        async { Ok(()) }.boxed()
    }
}

/// A client is not notified that the barrier is gone.
static WAITS_FOR_EVER: Workload = mutant(
    "unlimited-waits-waits-for-ever",
    "a wait without a limit looks once, and does not end when the barrier is lowered",
    Caught::by(Ba2),
    |task| client(task, Arc::new(WaitsForEver)).boxed(),
);

struct WaitsForEver;

impl<Z: ZooKeeper> Calls<Z> for WaitsForEver {
    fn wait<'a>(&'a self, barrier: &'a Barrier<Z>) -> Pending<'a> {
        async move {
            barrier.wait().await?;
            std::future::pending().await
        }
        .boxed()
    }
}

/// A barrier outlives the client that raised it: no client lowers it.
static STANDS_FOR_GOOD: Workload = mutant(
    "unlimited-waits-stands-for-good",
    "a barrier that was to stand as long as a session stands for good",
    Caught::by(An1),
    |task| client(task, Arc::new(StandsForGood)).boxed(),
);

struct StandsForGood;

impl<Z: ZooKeeper> Calls<Z> for StandsForGood {
    fn lives(&self, _: While) -> While {
        While::Permanent
    }
}

/// A participant takes another's znode for its own: clients that watch it watch the wrong znode.
static PATH_OF_ANOTHER: Workload = mutant(
    "unlimited-waits-path-of-another",
    "the path of a place inside is that of no znode of the participant",
    Caught::by(An1),
    |task| client(task, Arc::new(PathOfAnother)).boxed(),
);

struct PathOfAnother;

impl<Z: ZooKeeper> Calls<Z> for PathOfAnother {
    fn path(&self, place: &Inside<Z>) -> String {
        format!("{}0", place.path())
    }
}

/// Participants that disagree about their number begin together: one of them works with too few.
static ENTERS_WITH_ANY_NUMBER: Workload = mutant(
    "unlimited-waits-enters-with-any-number",
    "who enters for another number of participants is let in, or waits, as if it were for the right one",
    Caught::by(An2).or(&[(An1, "it gets in")]),
    |task| client(task, Arc::new(EntersWithAnyNumber)).boxed(),
);

struct EntersWithAnyNumber;

impl<Z: ZooKeeper> Calls<Z> for EntersWithAnyNumber {
    fn number(&self, _: usize, is_for: usize) -> usize {
        is_for
    }
}

const fn struck(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(
        name,
        about,
        caught,
        BREAKS,
        |_| Plan { rounds: 16, faults: 40, ..Plan::calm().with(BREAKS, 0.1) },
        sim,
    )
}

/// A participant whose session is over believes that it is inside, and the others leave without it.
static PLACE_ALWAYS_HELD: Workload = struck(
    "unlimited-waits-place-always-held",
    "the state of a place inside is held, whatever has become of it",
    // Few clients read the state between the deadline and the notification that the session is over.
    Caught::by(An1).within(100),
    |task| client(task, Arc::new(PlaceAlwaysHeld)).boxed(),
);

struct PlaceAlwaysHeld;

impl<Z: ZooKeeper> Calls<Z> for PlaceAlwaysHeld {
    fn state(&self, _: &Inside<Z>) -> HoldState {
        HoldState::Held
    }
}

/// A participant stops working although it still has its place.
static PLACE_NEVER_HELD: Workload = mutant(
    "unlimited-waits-place-never-held",
    "the state of a place inside is lost, although it stands",
    Caught::by(An1).or(&[(An2, "the place stands, whatever the reason")]),
    |task| client(task, Arc::new(PlaceNeverHeld)).boxed(),
);

struct PlaceNeverHeld;

impl<Z: ZooKeeper> Calls<Z> for PlaceNeverHeld {
    fn state(&self, _: &Inside<Z>) -> HoldState {
        HoldState::Lost(LostReason::Removed)
    }
}

/// A participant whose session is over continues to work, and is not notified.
static PLACE_NEVER_LOST: Workload = struck(
    "unlimited-waits-place-never-lost",
    "who waits to be told that its place is lost is told nothing",
    Caught::by(An1),
    |task| client(task, Arc::new(PlaceNeverLost)).boxed(),
);

struct PlaceNeverLost;

impl<Z: ZooKeeper> Calls<Z> for PlaceNeverLost {
    fn lost<'a>(&'a self, _: &'a Inside<Z>) -> BoxFuture<'a, Stop> {
        std::future::pending().boxed()
    }
}

/// A disconnected participant resumes work before it knows whether it still has its place.
static PLACE_RESUMES_TOO_EARLY: Workload = struck(
    "unlimited-waits-place-resumes-too-early",
    "a place inside is said to be confirmed while the connection is lost",
    Caught::by(An1),
    |task| client(task, Arc::new(PlaceResumesTooEarly)).boxed(),
);

struct PlaceResumesTooEarly;

impl<Z: ZooKeeper> Calls<Z> for PlaceResumesTooEarly {
    fn resumed<'a>(&'a self, zk: &'a Z, _: &'a Inside<Z>) -> BoxFuture<'a, Result<(), LostReason>> {
        early(zk).boxed()
    }
}
