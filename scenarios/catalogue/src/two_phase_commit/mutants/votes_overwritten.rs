//! Two-phase commit in which votes are written under no version, and written again when the reply was lost.
//!
//! A vote that can be written over is none: what another site has read of it may not be what stands there in the end.
//!
//! Caught by TC-6 (one vote a site) within 20 seeds with lost replies.

use super::{Bend, Bent, Of, connected, target, with};
use sim_zk::fault::Fault;
use zk_checker::RuleId;
use zk_harness::caught::Caught;
use zk_recipes::two_phase_commit::{Site, TwoPhaseCommit, Vote, Voted};
use zk_recipes::zk::{Error, Op, ZooKeeper, path};

const FAULTS: &[Fault] = &[Fault::ReplyLost];

target!(
    Bent<_, WritesAgain>,
    "two-phase-commit-votes-overwritten",
    "two-phase commit in which votes are written under no version, and again after a lost reply",
    Caught::by(RuleId::Tc6),
    FAULTS,
    |_| with(2, FAULTS, 0.05)
);

/// The wrong step.
struct WritesAgain;

impl Bend for WritesAgain {
    async fn vote<Z: ZooKeeper>(site: Of<Z, Site<Z>>, vote: Vote) -> Result<Voted<Z>, Error> {
        if site.inner.cast().is_some() || vote == Vote::Abort {
            return site.inner.vote(vote).await;
        }
        let name = &site.sites[0];
        let write = |path: String, data: &[u8]| Op::Set { path, data: data.to_vec(), version: None };
        let tally = path::join(&site.path, "tally");
        loop {
            connected(&site.zk).await?;
            let ops = vec![write(site.site(name), b"commit"), write(tally.clone(), b"")];
            match site.zk.multi(ops).await {
                Err(Error::ConnectionLoss) => {}
                Ok(_) | Err(Error::Multi { .. }) => break,
                Err(e) => return Err(e),
            }
        }
        // It stands: the recipe takes it up.
        let opened = TwoPhaseCommit::open(&site.zk, &site.path, name).await?;
        opened.vote(vote).await
    }
}
