//! A site's part in one round: one transaction, from its begin to its end.

use super::recipe::TwoPhases;
use crate::prelude::*;
use futures_util::future::{Either, select};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use zk_recipes::two_phase_commit::{Decision, Form, Transaction, Vote};

/// The forms, one a round.
pub(super) const FORMS: [Form; 4] = [
    Form::Decentralised { follow_votes: false },
    Form::Coordinator,
    Form::SiteEphemerals,
    Form::Decentralised { follow_votes: true },
];

/// The coordinator's number, in place of a site's.
pub const COORDINATOR: u64 = 0xffff;

/// How the transaction of a round is decided.
pub fn form(round: u32) -> Form {
    FORMS[round as usize % FORMS.len()]
}

/// The path of the transaction of a round.
pub fn path(round: u32) -> String {
    format!("/tx/{round}")
}

/// The name of a site.
pub fn name(site: u64) -> String {
    format!("site-{site}")
}

/// A site's part in one round.
pub(super) struct SiteRound<'a, C: Client, T> {
    pub client: &'a C,
    pub zk: C::Zk,
    pub pace: Pace,
    pub site: u64,
    pub sites: u64,
    pub round: u32,
    /// The steps that it takes.
    pub participant: T,
}

/// Waits until a transaction exists, for that long at the most; or looks once. These requests are no part of the recipe.
pub(crate) async fn has_begun<C: Client>(
    client: &C,
    zk: &C::Zk,
    path: &str,
    limit: Option<Duration>,
) -> bool {
    let Some(limit) = limit else { return matches!(zk.exists(path).await, Ok(Some(_))) };
    let begun = async {
        match zk.exists_watch(path).await {
            Ok((Some(_), _)) => true,
            Ok((None, watch)) => watch.await.is_ok(),
            Err(_) => false,
        }
    };
    matches!(select(pin!(begun), pin!(client.sleep(limit))).await, Either::Left((true, _)))
}

/// A vote, as the journal has it.
pub(crate) fn vote_text(vote: Vote) -> &'static str {
    match vote {
        Vote::Commit => "commit",
        Vote::Abort => "abort",
    }
}

/// A decision, as the journal has it.
pub(crate) fn decision_text(decision: Decision) -> &'static str {
    match decision {
        Decision::Commit => "commit",
        Decision::Abort => "abort",
    }
}

impl<C: Client, T: TwoPhases> SiteRound<'_, C, T> {
    fn object(&self) -> ObjectId {
        ObjectId(self.round as u16)
    }

    fn call(&self, verb: Verb) -> Call {
        Call::new(self.object(), verb)
    }

    /// Records the party that calls an operation.
    fn gives(&self, text: &'static str, party: u64) -> impl FnOnce(&mut Journal, u64, OpId) + use<C, T> {
        let me = self.client.number();
        move |journal, at, op| journal.given(at, me, op, text, party)
    }

    fn limit(&self) -> Duration {
        self.pace.limit * (1 + self.client.choose(3))
    }

    pub(super) async fn takes_part(self) -> Round {
        if self.knows(self.site) {
            sometimes!(self.client, "a restarted site finishes a decided transaction", true);
            return self.finishes_again().await;
        }
        let mut coordinator = None;
        let voted = match self.begins_and_votes(&mut coordinator).await {
            Ok(voted) => voted,
            Err(round) => return round,
        };
        let coordinates = u64::from(self.round) % self.sites == self.site;
        if coordinates && !self.knows(COORDINATOR) {
            coordinator = self.coordinates(coordinator).await;
        }
        if let Some(round) = self.insists(&voted).await {
            return round;
        }
        if self.client.choose(4) == 3 {
            let _ = self.decides(&voted).await;
        }
        if self.finishes(self.site, || self.participant.finish(voted)).await.is_session_over() {
            return Round::Again;
        }
        if let Some(coordinator) = coordinator
            && self.client.choose(8) == 7
            && (0..self.sites).all(|site| self.knows(site))
        {
            let _ = self.finishes(COORDINATOR, || self.participant.forget(coordinator)).await;
        }
        Round::Over
    }

    /// Begins the transaction if it is missing, and votes; `Err` if the round ends.
    async fn begins_and_votes(&self, coordinator: &mut Option<T::Coordinator>) -> Result<T::Voted, Round> {
        let vote = if self.client.choose(4) == 3 { Vote::Abort } else { Vote::Commit };
        loop {
            if !self.has_begun().await {
                // A site that knew the decision would not begin it again.
                *coordinator = self.begins().await.or(coordinator.take());
            }
            match self.votes(vote).await {
                Ended::Done(voted) => return Ok(voted),
                ended if ended.is_session_over() => return Err(Round::Again),
                // Another client has modified the transaction: no decision is possible.
                Ended::Failed(error) if error.is_mismatch() => return Err(Round::Over),
                // The transaction was deleted meanwhile.
                Ended::Failed(e) if e.is_no_transaction() && self.knows(self.site) => {
                    return Err(Round::Over);
                }
                _ => {}
            }
        }
    }

    /// Asks for the decision until it is known. `Some` if the round ends.
    async fn insists(&self, voted: &T::Voted) -> Option<Round> {
        // The recipe fails only at the end of its session; a mutant gets a limited number of attempts.
        for _ in 0..20 {
            match self.decides(voted).await {
                Ended::Done(decision) => {
                    let is_commit = decision == Decision::Commit;
                    sometimes!(self.client, "a transaction is committed", is_commit);
                    sometimes!(self.client, "a transaction is aborted", !is_commit);
                    return None;
                }
                ended if ended.is_session_over() => return Some(Round::Again),
                Ended::Failed(error) if error.is_mismatch() => return Some(Round::Over),
                Ended::Failed(_) if self.knows(self.site) => return Some(Round::Over),
                _ => {}
            }
        }
        // A site that does not know the decision cannot finish, even if its last attempt was cut short.
        Some(Round::Over)
    }

    /// The site knows the decision from an earlier life or session: it only has to finish. A dead process's begin may
    /// arrive after all have finished: in that transaction the site has cast no vote, and does not vote again.
    async fn finishes_again(&self) -> Round {
        let finishing = || async {
            match self.participant.open().await? {
                (site, Some(cast)) => {
                    let voted = self.participant.vote(site, cast).await?;
                    self.participant.decision(&voted, self.pace.limit).await?;
                    self.participant.finish(voted).await
                }
                (_, None) => Ok(()),
            }
        };
        let ended = self.finishes(self.site, finishing).await;
        if ended.is_session_over() { Round::Again } else { Round::Over }
    }

    async fn finishes<F: Future<Output = Result<(), Error>> + Send>(
        &self,
        party: u64,
        work: impl FnOnce() -> F + Send,
    ) -> Ended<()> {
        operation(self.client, self.call(Verb::Finish), self.gives("", party), work).await.1
    }

    /// Whether the transaction of the round exists. Only the site that is to begin it does not wait for it.
    async fn has_begun(&self) -> bool {
        let begins = u64::from(self.round) % self.sites == self.site;
        let patience = (!begins).then_some(self.pace.limit * 4);
        has_begun(self.client, &self.zk, &path(self.round), patience).await
    }

    async fn begins(&self) -> Option<T::Coordinator> {
        let transaction = Transaction {
            sites: (0..self.sites).map(name).collect(),
            payload: b"do it".to_vec(),
            form: form(self.round),
        };
        let begin = || self.participant.begin(transaction);
        operation(self.client, self.call(Verb::Begin), self.gives("", COORDINATOR), begin).await.1.done()
    }

    async fn votes(&self, given: Vote) -> Ended<T::Voted> {
        let voting = || async {
            let (site, cast) = self.participant.open().await?;
            let voted = self.participant.vote(site, cast.unwrap_or(given)).await?;
            Ok((voted, cast))
        };
        let (me, object, site) = (self.client.number(), self.object(), self.site);
        let observed = move |journal: &mut Journal, at, op, done: &(T::Voted, Option<Vote>)| {
            if let Some(cast) = done.1 {
                journal.observed(at, me, op, object, Seen::Vote, vote_text(cast), site);
            }
        };
        let gives = self.gives(vote_text(given), self.site);
        let voted = observed_operation(self.client, self.call(Verb::Vote), gives, voting, observed).await.1;
        voted.map(|(voted, cast)| {
            sometimes!(self.client, "a restarted site finds its vote", cast.is_some());
            voted
        })
    }

    /// The coordinator's part: for the transaction that it has begun, or as the successor of a dead coordinator.
    async fn coordinates(&self, begun: Option<T::Coordinator>) -> Option<T::Coordinator> {
        let (limit, participant) = (self.limit(), &self.participant);
        match begun {
            Some(begun) => {
                let deciding = || participant.coordinate(&begun, limit);
                let _ = self.learns(limit, "", COORDINATOR, deciding).await;
                Some(begun)
            }
            None => {
                let deciding = || async {
                    let heir = participant.resume().await?;
                    // The successor has decided: the decision is on record.
                    self.tells(Seen::Name, &path(self.round), COORDINATOR);
                    participant.coordinate(&heir, limit).await
                };
                let ended = self.learns(limit, "resume", COORDINATOR, deciding).await;
                let does = matches!(ended, Ended::Done(_));
                sometimes!(self.client, "another coordinator takes over", does);
                None
            }
        }
    }

    /// An operation that returns the decision to a party. Zero means no time limit.
    async fn learns<F: Future<Output = Result<Decision, Error>> + Send>(
        &self,
        limit: Duration,
        given: &'static str,
        party: u64,
        work: impl FnOnce() -> F + Send,
    ) -> Ended<Decision> {
        let (me, object) = (self.client.number(), self.object());
        let observed = move |journal: &mut Journal, at, op, decision: &Decision| {
            journal.observed(at, me, op, object, Seen::Decision, decision_text(*decision), party);
        };
        let call = self.call(Verb::Decide).within(limit);
        observed_operation(self.client, call, self.gives(given, party), work, observed).await.1
    }

    async fn decides(&self, voted: &T::Voted) -> Ended<Decision> {
        let limit = self.limit();
        match self.client.choose(4) {
            // Without a coordinator the other sites make the decision, even for a site that waits without a limit.
            1 if form(self.round) == FORMS[0] && self.is_joined_by_all() => {
                self.learns_decision(voted, Duration::ZERO).await
            }
            2 => {
                // It gives up, and asks again with a limit.
                let giving_up = || async {
                    let patience = self.client.sleep(limit / 8);
                    match select(pin!(self.participant.decision(voted, Duration::ZERO)), pin!(patience)).await
                    {
                        Either::Left((decision, _)) => decision,
                        Either::Right(_) => Err(ErrorKind::TimedOut.into()),
                    }
                };
                let ended = self.learns(limit / 8, "", self.site, giving_up).await;
                if !ended.is_timed_out() {
                    return ended;
                }
                sometimes!(self.client, "a site gives up waiting for the decision", true);
                self.learns_decision(voted, limit).await
            }
            3 if form(self.round) == FORMS[3] && self.is_joined_by_all() => self.follows(voted).await,
            _ => self.learns_decision(voted, limit).await,
        }
    }

    async fn learns_decision(&self, voted: &T::Voted, limit: Duration) -> Ended<Decision> {
        self.learns(limit, "", self.site, || self.participant.decision(voted, limit)).await
    }

    /// Follows the votes of the others, until all are cast or the decision is made.
    async fn follows(&self, voted: &T::Voted) -> Ended<Decision> {
        let (me, object, site) = (self.client.number(), self.object(), self.site);
        let following = || async {
            while let Some((other, vote)) = self.participant.next_vote(voted).await? {
                let other = other.rsplit('-').next().and_then(|number| number.parse().ok());
                let other = other.expect("sites are named by their numbers");
                self.tells(Seen::Vote, vote_text(vote), other);
            }
            self.tells(Seen::Missing, "", site);
            self.participant.decision(voted, Duration::ZERO).await
        };
        let observed = move |journal: &mut Journal, at, op, decision: &Decision| {
            journal.observed(at, me, op, object, Seen::Decision, decision_text(*decision), site);
        };
        let (call, gives) = (self.call(Verb::Decide), self.gives("", self.site));
        observed_operation(self.client, call, gives, following, observed).await.1
    }

    /// Records an observation of the current operation.
    fn tells(&self, seen: Seen, text: &str, number: u64) {
        let (op, me, object) = (OpId(self.client.op()), self.client.number(), self.object());
        self.client.journal(|journal, at| journal.observed(at, me, op, object, seen, text, number));
    }

    /// Whether every site takes part until the decision. If the transaction was deleted, its sites give the round up
    /// after some attempts, and a site that begins it again is alone.
    fn is_joined_by_all(&self) -> bool {
        !self.has_happened(|what| matches!(what, What::Fault { kind: FaultKind::ForeignDelete, .. }))
    }

    /// Whether a party has learned the decision of this round, in any life.
    fn knows(&self, party: u64) -> bool {
        let object = self.object();
        self.has_happened(|what| match *what {
            What::Observed { object: of, seen: Seen::Decision, number, .. } => {
                of == object && number == party
            }
            _ => false,
        })
    }

    fn has_happened(&self, is_it: impl Fn(&What) -> bool) -> bool {
        self.client.journal(|journal, _| journal.history().events.iter().any(|event| is_it(&event.what)))
    }
}
