//! Services that make one call wrong, over right recipes.

mod told;

use super::calls::{Calls, Pending};
use super::workload::{MEMBERS, WORKLOAD, client};
use crate::lies::LOSSES;
use crate::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use zk_harness::workload::TaskFn;
use zk_recipes::group::{Group, GroupView, Membership, Views};
use zk_recipes::names::{Names, PermanentName, Registration};
use zk_recipes::zk::Guid;
use zk_recipes::{HoldState, Update, Updates};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &SET_PRETENDS,
    &SET_DENIES,
    &SET_PERMANENT_WITHOUT_GUID,
    &MEMBER_SET_PRETENDS,
    &FORGETS_ITS_REGISTRATION,
    &FOLLOWS_ONCE,
    &FOLLOW_REPEATS,
    &JOINED_ALREADY,
    &CZXID_OF_ANOTHER,
    &NEVER_LOST,
    &told::REGISTRATION_ALWAYS_HELD,
    &told::REGISTRATION_NEVER_HELD,
    &told::REGISTRATION_RUN_GOES_ON,
    &told::REGISTRATION_RESUMES_TOO_EARLY,
    &told::MEMBER_RUN_GOES_ON,
    &told::MEMBER_RESUMES_TOO_EARLY,
    &SHOWS_OLD_DATA,
    &SHOWS_NO_DATA,
];

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    faults: &'static [Fault],
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, faults, |_| Plan { clients: 4, rounds: 6, ..Plan::calm() }, sim)
}

/// A registration's data are reported as replaced, but are not: clients still use the old address.
static SET_PRETENDS: Workload = mutant(
    "changing-data-set-pretends",
    "replacing the data of a registration returns done and writes nothing",
    Caught::by(An1),
    &[],
    |task| client(task, Arc::new(SetPretends)).boxed(),
);

struct SetPretends;

impl<Z: ZooKeeper> Calls<Z> for SetPretends {
    fn set<'a>(&'a self, _: &'a Z, _: &'a Registration<Z>, _: &'a [u8]) -> Pending<'a, ()> {
        async { Ok(()) }.boxed()
    }
}

/// A registration is reported as removed after its data were replaced: its owner registers again.
static SET_DENIES: Workload = mutant(
    "changing-data-set-denies",
    "replacing the data of a registration writes them, and says that the znode is removed",
    Caught::by(An2).or(&[(An3, "the data were written")]),
    &[],
    |task| client(task, Arc::new(SetDenies)).boxed(),
);

struct SetDenies;

impl<Z: ZooKeeper> Calls<Z> for SetDenies {
    fn set<'a>(&'a self, _: &'a Z, registered: &'a Registration<Z>, data: &'a [u8]) -> Pending<'a, ()> {
        async move {
            registered.set(data).await?;
            Err(ErrorKind::Removed(registered.path().to_owned()).into())
        }
        .boxed()
    }
}

/// A permanent name's value is written without the guid in front: its owner does not recognise it.
static SET_PERMANENT_WITHOUT_GUID: Workload = mutant(
    "changing-data-set-permanent-without-guid",
    "the value of a permanent name is written without the guid of its registration",
    Caught::by(An1),
    &[],
    |task| client(task, Arc::new(SetPermanentWithoutGuid)).boxed(),
);

struct SetPermanentWithoutGuid;

impl<Z: ZooKeeper> Calls<Z> for SetPermanentWithoutGuid {
    fn set_permanent<'a>(
        &'a self,
        zk: &'a Z,
        registered: &'a PermanentName<Z>,
        data: &'a [u8],
    ) -> Pending<'a, ()> {
        async move { zk.set(registered.path(), data, None).await.map(drop) }.boxed()
    }
}

/// A member's data are reported as replaced, but are not.
static MEMBER_SET_PRETENDS: Workload = mutant(
    "changing-data-member-set-pretends",
    "replacing the data of a member returns done and writes nothing",
    Caught::by(An1),
    &[],
    |task| client(task, Arc::new(MemberSetPretends)).boxed(),
);

struct MemberSetPretends;

impl<Z: ZooKeeper> Calls<Z> for MemberSetPretends {
    fn set_member<'a>(&'a self, _: &'a Z, _: &'a Membership<Z>, _: &'a [u8]) -> Pending<'a, ()> {
        async { Ok(()) }.boxed()
    }
}

/// A restarted owner learns, wrongly, that it has no registration: it never removes its name.
static FORGETS_ITS_REGISTRATION: Workload = mutant(
    "changing-data-forgets-its-registration",
    "a permanent registration is not found by its guid",
    Caught::by(An2),
    &[],
    |task| client(task, Arc::new(ForgetsItsRegistration)).boxed(),
);

struct ForgetsItsRegistration;

impl<Z: ZooKeeper> Calls<Z> for ForgetsItsRegistration {
    fn registered<'a>(
        &'a self,
        names: &'a Names<Z>,
        name: &'a str,
        guid: Guid,
    ) -> Pending<'a, Option<PermanentName<Z>>> {
        async move { names.registered(name, guid).await.map(|_| None) }.boxed()
    }
}

/// A follower of a name receives the first value, but no change.
static FOLLOWS_ONCE: Workload = mutant(
    "changing-data-follows-once",
    "a follower of a name is told of no change",
    Caught::by(Ns5),
    &[],
    |task| client(task, Arc::new(FollowsOnce)).boxed(),
);

struct FollowsOnce;

impl<Z: ZooKeeper> Calls<Z> for FollowsOnce {
    fn next_value<'a>(&'a self, updates: &'a mut Updates<Z>, told: u32) -> Pending<'a, Update> {
        match told {
            0 => updates.next().boxed(),
            _ => std::future::pending().boxed(),
        }
    }
}

/// A follower of a name acts on each change twice.
static FOLLOW_REPEATS: Workload = mutant(
    "changing-data-follow-repeats",
    "a follower of a name is told the same again",
    Caught::by(Ns5),
    &[],
    |task| client(task, Arc::new(FollowRepeats::default())).boxed(),
);

#[derive(Default)]
struct FollowRepeats {
    told: Mutex<Option<Update>>,
}

impl<Z: ZooKeeper> Calls<Z> for FollowRepeats {
    fn next_value<'a>(&'a self, updates: &'a mut Updates<Z>, told: u32) -> Pending<'a, Update> {
        let again = self.told.lock().unwrap().take().filter(|_| told > 0);
        async move {
            let Some(again) = again else {
                let news = updates.next().await?;
                return Ok(self.told.lock().unwrap().insert(news).clone());
            };
            Ok(again)
        }
        .boxed()
    }
}

/// A join is refused as a second one, but the client is no member.
static JOINED_ALREADY: Workload = mutant(
    "changing-data-joined-already",
    "a join is refused although the client is no member",
    Caught::by(An2),
    &[],
    |task| client(task, Arc::new(JoinedAlready)).boxed(),
);

struct JoinedAlready;

impl<Z: ZooKeeper> Calls<Z> for JoinedAlready {
    fn join<'a>(&'a self, _: &'a Group<Z>, id: Option<&'a str>, _: &'a [u8]) -> Pending<'a, Membership<Z>> {
        let path = format!("{MEMBERS}/{}", id.unwrap_or_default());
        async { Err(ErrorKind::AlreadyJoined(path).into()) }.boxed()
    }
}

/// The czxid of a membership is not that of its znode: a client that compares it takes the member for another one.
static CZXID_OF_ANOTHER: Workload = mutant(
    "changing-data-czxid-of-another",
    "the czxid of a membership is that of no znode of it",
    Caught::by(Gm4),
    &[],
    |task| client(task, Arc::new(CzxidOfAnother)).boxed(),
);

struct CzxidOfAnother;

impl<Z: ZooKeeper> Calls<Z> for CzxidOfAnother {
    fn czxid(&self, member: &Membership<Z>) -> i64 {
        member.token() - 1
    }
}

/// A member whose session is over is reported as held.
static NEVER_LOST: Workload = Workload {
    plan: |_| Plan { clients: 4, rounds: 6, ..Plan::calm() }.with(LOSSES, 0.05),
    ..mutant(
        "changing-data-never-lost",
        "the state of a membership is held, whatever has become of it",
        Caught::by(Gm6).or(&[(An1, "the state that it tells is not so")]),
        LOSSES,
        |task| client(task, Arc::new(NeverLost)).boxed(),
    )
};

struct NeverLost;

impl<Z: ZooKeeper> Calls<Z> for NeverLost {
    fn state(&self, _: &Membership<Z>) -> HoldState {
        HoldState::Held
    }
}

/// A view shows the data that a member had when it was first seen: clients still use the old address.
static SHOWS_OLD_DATA: Workload = mutant(
    "changing-data-shows-old-data",
    "a view shows the first data of a member that it has seen",
    Caught::by(Gm1),
    &[],
    |task| client(task, Arc::new(ShowsOldData::default())).boxed(),
);

#[derive(Default)]
struct ShowsOldData(Mutex<BTreeMap<String, Vec<u8>>>);

impl<Z: ZooKeeper> Calls<Z> for ShowsOldData {
    fn next_view<'a>(&'a self, views: &'a mut Views<Z>) -> Pending<'a, GroupView> {
        async move {
            let mut view = views.next().await?;
            let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            for member in &mut view.members {
                if let Some(data) = &mut member.data {
                    *data = seen.entry(member.id.clone()).or_insert_with(|| data.clone()).clone();
                }
            }
            Ok(view)
        }
        .boxed()
    }
}

/// A view has only the names of its members: clients do not know their addresses.
static SHOWS_NO_DATA: Workload = mutant(
    "changing-data-shows-no-data",
    "a view lacks the data of its members, which were asked for",
    Caught::by(Gm1),
    &[],
    |task| client(task, Arc::new(ShowsNoData)).boxed(),
);

struct ShowsNoData;

impl<Z: ZooKeeper> Calls<Z> for ShowsNoData {
    fn next_view<'a>(&'a self, views: &'a mut Views<Z>) -> Pending<'a, GroupView> {
        async move {
            let mut view = views.next().await?;
            view.members.iter_mut().for_each(|member| member.data = None);
            Ok(view)
        }
        .boxed()
    }
}
