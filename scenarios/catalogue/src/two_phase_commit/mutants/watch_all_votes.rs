//! Two-phase commit in which every site watches the votes of all others, although it obeys the record alone: n(n - 1)
//! notifications where n are enough. ZooKeeper's recipes page names it as a drawback of its first variant.
//!
//! Caught by TC-12 (cost of a transaction) in the first run. It does no other harm.

use super::{Bend, Bent, Of, calm, target};
use crate::two_phase_commit::workload::name;
use futures_util::future::{Either, select};
use std::pin::pin;
use zk_checker::RuleId;
use zk_harness::caught::{Caught, Promise};
use zk_recipes::two_phase_commit::{Site, Vote, Voted};
use zk_recipes::zk::{Error, ZooKeeper};

target!(
    Bent<_, WatchesAll>,
    "two-phase-commit-watch-all-votes",
    "two-phase commit in which every site watches all votes, although nobody asked it to",
    Caught::by(RuleId::Tc12).within(1).breaks(Promise::NoHerd).seen("the recipes page"),
    &[],
    |_| calm(2)
);

/// The wrong step.
struct WatchesAll;

impl Bend for WatchesAll {
    async fn vote<Z: ZooKeeper>(site: Of<Z, Site<Z>>, vote: Vote) -> Result<Voted<Z>, Error> {
        let others = (0..site.inner.sites().len() as u64).map(name).filter(|other| *other != site.sites[0]);
        let armed: Vec<_> = others.map(|other| site.zk.get_watch(&site.site(&other))).collect();
        let mut watches = Vec::new();
        for watch in armed {
            watches.push(watch.await?.1);
        }
        let voted = site.inner.vote(vote).await?;
        for watch in watches {
            // Who has not voted when the decision falls need not vote any more.
            match select(watch, pin!(voted.decision())).await {
                Either::Left((event, _)) => drop(event?),
                Either::Right((decided, _)) => {
                    decided?;
                    break;
                }
            }
        }
        Ok(voted)
    }
}
