//! The words of two-phase commit.

use super::round::{COORDINATOR, decision_text, name, path};
use crate::prelude::*;
use sim_zk::SimClient;
use std::future::Future;
use std::time::Duration;
use zk_recipes::two_phase_commit::{Coordinator, Decision, Form, Site, Transaction, Vote, Voted};

/// The transaction of a story.
const TRANSACTION: ObjectId = ObjectId(0);

/// A transaction of two sites without a coordinator.
pub fn objects(names: &mut Names) -> Vec<Object> {
    let path = names.intern(&path(0));
    vec![Object { size: 2, ..Object::plain(Kind::TwoPhaseCommit, path) }]
}

/// A transaction of two sites with a coordinator.
pub fn coordinated_objects(names: &mut Names) -> Vec<Object> {
    let manner = Manner { coordinated: true, ..Manner::default() };
    objects(names).into_iter().map(|object| Object { manner, ..object }).collect()
}

/// The party of an operation, as a trace prints it.
const FOR_COORDINATOR: &str = "for the coordinator";

fn for_site(site: u64) -> &'static str {
    if site == 0 { "for site 0" } else { "for site 1" }
}

/// An operation's verb, arguments and party.
struct As {
    verb: Verb,
    limit: Duration,
    text: &'static str,
    party: u64,
}

impl Actor {
    /// An operation on the transaction, in the client's own process, which may return the decision.
    fn transacts<T, F>(
        &self,
        what: As,
        work: impl FnOnce(SimClient) -> F + Send + 'static,
    ) -> impl Future<Output = Ended<(T, Option<Decision>)>> + Send
    where
        T: Send + Sync + 'static,
        F: Future<Output = Result<(T, Option<Decision>), Error>> + Send + 'static,
    {
        let (zk, process, me) = (self.zk().clone(), self.process().clone(), self.number());
        let As { verb, limit, text, party } = what;
        let doing = self.process().process.spawn(async move {
            let (_, ended) = observed_operation::<SimProcess, _, _>(
                &process,
                Call::new(TRANSACTION, verb).within(limit),
                |journal, at, op| journal.given(at, me, op, text, party),
                || work(zk),
                |journal, at, op, (_, decision)| {
                    if let Some(decision) = decision {
                        let text = decision_text(*decision);
                        journal.observed(at, me, op, TRANSACTION, Seen::Decision, text, party);
                    }
                },
            )
            .await;
            ended
        });
        async move { doing.await.unwrap_or(Ended::Cancelled) }
    }

    /// Begins a transaction of two sites.
    ///
    /// # Panics
    ///
    /// If the begin fails.
    pub async fn begins_a_transaction(&self, form: Form) -> Coordinator<SimClient> {
        let transaction = Transaction { sites: vec![name(0), name(1)], payload: Vec::new(), form };
        let what = As { verb: Verb::Begin, limit: Duration::ZERO, text: FOR_COORDINATOR, party: COORDINATOR };
        let begin = |zk| async move { Ok((Coordinator::begin(&zk, &path(0), transaction).await?, None)) };
        self.transacts(what, begin).await.done().expect("it begins").0
    }

    /// Opens the transaction for a site, and votes.
    ///
    /// # Panics
    ///
    /// If the vote fails.
    pub async fn votes(&self, site: u64, vote: Vote) -> Voted<SimClient> {
        let text = if vote == Vote::Commit { "commit" } else { "abort" };
        let what = As { verb: Verb::Vote, limit: Duration::ZERO, text, party: site };
        let voting = move |zk| async move {
            let opened = Site::open(&zk, &path(0), &name(site)).await?;
            Ok((opened.vote(vote).await?, None))
        };
        self.transacts(what, voting).await.done().expect("it votes").0
    }

    /// Waits for the decision, and with a limit forces one; returns the vote that finishing needs.
    pub fn learns(
        &self,
        site: u64,
        voted: Voted<SimClient>,
        limit: Option<Duration>,
    ) -> impl Future<Output = Option<(Voted<SimClient>, Decision)>> + Send {
        let what =
            As { verb: Verb::Decide, limit: limit.unwrap_or_default(), text: for_site(site), party: site };
        let learning = self.transacts(what, move |_| async move {
            let decision = match limit {
                Some(limit) => voted.decision().within(limit).await?,
                None => voted.decision().await?,
            };
            Ok((voted, Some(decision)))
        });
        async move {
            let (voted, decision) = learning.await.done()?;
            Some((voted, decision?))
        }
    }

    /// A coordinator follows the votes and decides.
    pub fn coordinates(
        &self,
        coordinator: Coordinator<SimClient>,
    ) -> impl Future<Output = Option<Decision>> + Send {
        let what =
            As { verb: Verb::Decide, limit: Duration::ZERO, text: FOR_COORDINATOR, party: COORDINATOR };
        let deciding = self.transacts(what, |_| async move {
            let decision = coordinator.decision().await?;
            Ok((coordinator, Some(decision)))
        });
        async move { deciding.await.done()?.1 }
    }

    /// The site has acted on the decision.
    pub async fn finishes(&self, site: u64, voted: Voted<SimClient>) {
        let what = As { verb: Verb::Finish, limit: Duration::ZERO, text: for_site(site), party: site };
        let _ = self.transacts(what, |_| async move { Ok((voted.finish().await?, None)) }).await;
    }
}
