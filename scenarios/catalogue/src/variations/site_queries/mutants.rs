//! Sites and coordinators that make one call in a wrong way, over the right recipe.

use super::calls::{Calls, Pending};
use super::workload::{WORKLOAD, client};
use crate::prelude::*;
use std::sync::Arc;
use zk_harness::workload::TaskFn;
use zk_recipes::two_phase_commit::{Coordinator, Site, Vote, Voted};

/// All mutants.
pub(super) static ALL: &[&Workload] = &[
    &PAYLOAD_OF_ANOTHER,
    &SITES_IN_PART,
    &COORDINATES_IN_PART,
    &PATH_OF_ANOTHER,
    &VOTED_ALREADY,
    &TAKES_THE_FIRST_VOTE,
    &NOT_NAMED,
];

const fn mutant(
    name: &'static str,
    about: &'static str,
    caught: Caught,
    sim: TaskFn<SimProcess>,
) -> Workload {
    WORKLOAD.mutant(name, about, caught, &[], |_| Plan { rounds: 4, ..Plan::calm() }, sim)
}

/// A site does not do what it was asked to do.
static PAYLOAD_OF_ANOTHER: Workload =
    mutant("site-queries-payload-of-another", "a site is told another payload", Caught::by(An1), |task| {
        client(task, Arc::new(PayloadOfAnother)).boxed()
    });

struct PayloadOfAnother;

impl<Z: ZooKeeper> Calls<Z> for PayloadOfAnother {
    fn payload(&self, _: &Site<Z>) -> Vec<u8> {
        b"do nothing".to_vec()
    }
}

/// A site knows only some of the other sites: after a failure it asks only those.
static SITES_IN_PART: Workload =
    mutant("site-queries-sites-in-part", "a site is told a part of the sites", Caught::by(An1), |task| {
        client(task, Arc::new(SitesInPart)).boxed()
    });

struct SitesInPart;

impl<Z: ZooKeeper> Calls<Z> for SitesInPart {
    fn sites(&self, site: &Site<Z>) -> Vec<String> {
        site.sites()[1..].to_vec()
    }
}

/// A coordinator knows only some of the sites.
static COORDINATES_IN_PART: Workload = mutant(
    "site-queries-coordinates-in-part",
    "a coordinator is told a part of the sites",
    Caught::by(An1),
    |task| client(task, Arc::new(CoordinatesInPart)).boxed(),
);

struct CoordinatesInPart;

impl<Z: ZooKeeper> Calls<Z> for CoordinatesInPart {
    fn sites_of(&self, coordinator: &Coordinator<Z>) -> Vec<String> {
        coordinator.sites()[1..].to_vec()
    }
}

/// A coordinator passes a wrong path to its sites: they find no transaction.
static PATH_OF_ANOTHER: Workload =
    mutant("site-queries-path-of-another", "a coordinator is told another path", Caught::by(An1), |task| {
        client(task, Arc::new(PathOfAnother)).boxed()
    });

struct PathOfAnother;

impl<Z: ZooKeeper> Calls<Z> for PathOfAnother {
    fn path(&self, coordinator: &Coordinator<Z>) -> String {
        format!("{}0", coordinator.path())
    }
}

/// A first vote is refused as a second one: the site believes in a vote that it has not cast.
static VOTED_ALREADY: Workload = mutant(
    "site-queries-voted-already",
    "a vote for abort is refused as a second vote",
    Caught::by(An2),
    |task| client(task, Arc::new(VotedAlready)).boxed(),
);

struct VotedAlready;

impl<Z: ZooKeeper> Calls<Z> for VotedAlready {
    fn vote<'a>(
        &'a self,
        _: &'a Z,
        _: (&'a str, &'a str),
        site: Site<Z>,
        vote: Vote,
    ) -> Pending<'a, Voted<Z>> {
        match vote {
            Vote::Commit => site.vote(vote).boxed(),
            Vote::Abort => async { Err(ErrorKind::AlreadyVoted.into()) }.boxed(),
        }
    }
}

/// A second vote is reported as cast, but the first one counts.
static TAKES_THE_FIRST_VOTE: Workload = mutant(
    "site-queries-takes-the-first-vote",
    "a second vote returns done, and the first one stands",
    Caught::by(An1),
    |task| client(task, Arc::new(TakesTheFirstVote)).boxed(),
);

struct TakesTheFirstVote;

impl<Z: ZooKeeper> Calls<Z> for TakesTheFirstVote {
    fn vote<'a>(
        &'a self,
        zk: &'a Z,
        (path, name): (&'a str, &'a str),
        site: Site<Z>,
        vote: Vote,
    ) -> Pending<'a, Voted<Z>> {
        async move {
            match site.vote(vote).await {
                Err(e) if e.is_already_voted() => {
                    let again = self.open(zk, path, name).await?;
                    let cast = again.cast().unwrap_or(vote);
                    again.vote(cast).await
                }
                voted => voted,
            }
        }
        .boxed()
    }
}

/// A site learns, wrongly, that the transaction does not name it: the others wait for its vote.
static NOT_NAMED: Workload = mutant(
    "site-queries-not-named",
    "a site that opens a transaction again is told that the transaction does not name it",
    Caught::by(An2),
    |task| client(task, Arc::new(NotNamed)).boxed(),
);

struct NotNamed;

impl<Z: ZooKeeper> Calls<Z> for NotNamed {
    fn open<'a>(&'a self, zk: &'a Z, path: &'a str, site: &'a str) -> Pending<'a, Site<Z>> {
        async move {
            let opened = zk_recipes::two_phase_commit::Site::open(zk, path, site).await?;
            match opened.cast() {
                Some(_) => Err(ErrorKind::NotAParticipant(site.to_owned()).into()),
                None => Ok(opened),
            }
        }
        .boxed()
    }
}
