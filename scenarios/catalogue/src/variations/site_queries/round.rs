//! A site's part in one round: one transaction, from its begin to its end.

use super::calls::Calls;
use crate::prelude::*;
use crate::two_phase_commit::round::{COORDINATOR, decision_text, has_begun, name, vote_text};
use zk_harness::operation::observed_operation_until;
use zk_recipes::two_phase_commit::{Coordinator, Decision, Form, Site, Transaction, Vote, Voted};
use zk_recipes::zk;

/// How the transaction of a round is decided.
pub(super) fn form(round: u32) -> Form {
    [
        Form::Decentralised { follow_votes: false },
        Form::Coordinator,
        Form::SiteEphemerals,
        Form::Decentralised { follow_votes: false },
    ][round as usize % 4]
}

/// The path of the transaction of a round.
pub(super) fn path(round: u32) -> String {
    format!("/ballots/{round}")
}

/// A site's part in one round.
pub(super) struct Ballot<'a, C: Client> {
    pub(super) client: &'a C,
    pub(super) calls: &'a dyn Calls<C::Zk>,
    pub(super) zk: C::Zk,
    pub(super) pace: Pace,
    pub(super) site: u64,
    pub(super) sites: u64,
    pub(super) round: u32,
}

fn other(vote: Vote) -> Vote {
    match vote {
        Vote::Commit => Vote::Abort,
        Vote::Abort => Vote::Commit,
    }
}

impl<C: Client> Ballot<'_, C> {
    fn object(&self) -> ObjectId {
        ObjectId(self.round as u16)
    }

    fn call(&self, verb: Verb) -> Call {
        Call::new(self.object(), verb)
    }

    /// Records the arguments of an operation, and the party that calls it.
    fn gives(&self, texts: Vec<String>, party: u64) -> impl FnOnce(&mut Journal, u64, OpId) + use<C> {
        let me = self.client.number();
        move |journal, at, op| texts.iter().for_each(|text| journal.given(at, me, op, text, party))
    }

    fn names(&self) -> Vec<String> {
        (0..self.sites).map(name).collect()
    }

    fn payload(&self) -> String {
        format!("do {}", self.round)
    }

    pub(super) async fn takes_part(&self) -> Round {
        let mut coordinator = None;
        if self.client.choose(8) == 7 {
            self.makes_a_mistake().await;
        }
        if self.knows_decision() {
            return self.finishes_again().await;
        }
        let (site, voted) = loop {
            if !self.has_begun().await {
                coordinator = self.begins().await.or(coordinator.take());
            }
            let site = match self.opens(&path(self.round), &name(self.site)).await {
                Ended::Done(site) => site,
                ended if ended.is_session_over() => return Round::Again,
                // Another client has modified the transaction: no decision is possible.
                Ended::Failed(error) if error.is_mismatch() => return Round::Over,
                _ => continue,
            };
            let vote =
                site.cast().unwrap_or(if self.client.choose(4) == 3 { Vote::Abort } else { Vote::Commit });
            match self.votes(site, vote).await {
                Ended::Done(voted) => break (vote, voted),
                ended if ended.is_session_over() => return Round::Again,
                Ended::Failed(error) if error.is_mismatch() => return Round::Over,
                _ => {}
            }
        };
        self.asks_too_much(site).await;
        if let Some(coordinator) = &coordinator {
            self.coordinates(coordinator).await;
        }
        self.ends(voted).await
    }

    /// Waits for the decision, occasionally asks for it again, and finishes.
    async fn ends(&self, voted: Voted<C::Zk>) -> Round {
        let mut asks = 1 + self.client.choose(2);
        for _ in 0..20 {
            let limit = self.pace.limit * (1 + self.client.choose(3));
            let call = self.call(Verb::Decide).within(limit);
            match self.learns(self.site, call, || voted.decision().within(limit)).await {
                Ended::Done(_) => asks -= 1,
                ended if ended.is_session_over() => return Round::Again,
                Ended::Failed(error) if error.is_mismatch() => return Round::Over,
                _ => {}
            }
            if asks == 0 {
                break;
            }
        }
        if !self.knows_decision() {
            return Round::Over;
        }
        let gives = self.gives(vec![String::new()], self.site);
        let ended = operation(self.client, self.call(Verb::Finish), gives, || voted.finish()).await.1;
        if ended.is_session_over() { Round::Again } else { Round::Over }
    }

    /// The site knows the decision from an earlier life or session: it only has to finish.
    async fn finishes_again(&self) -> Round {
        let path = path(self.round);
        let finishing = || async {
            let site = Site::open(&self.zk, &path, &name(self.site)).await?;
            let Some(cast) = site.cast() else { return Ok(()) };
            let voted = site.vote(cast).await?;
            voted.decision().within(self.pace.limit).await?;
            voted.finish().await
        };
        let gives = self.gives(vec![String::new()], self.site);
        let ended = operation(self.client, self.call(Verb::Finish), gives, finishing).await.1;
        if ended.is_session_over() { Round::Again } else { Round::Over }
    }

    /// Whether the transaction of the round exists. Only the site that is to begin it does not wait for it.
    async fn has_begun(&self) -> bool {
        let begins = u64::from(self.round) % self.sites == self.site;
        let patience = (!begins).then_some(self.pace.limit * 4);
        has_begun(self.client, &self.zk, &path(self.round), patience).await
    }

    /// Begins the transaction, occasionally twice.
    async fn begins(&self) -> Option<Coordinator<C::Zk>> {
        let path = path(self.round);
        let mut begun = None;
        for _ in 0..1 + self.client.choose(2) {
            let transaction = Transaction {
                sites: self.names(),
                payload: self.payload().into_bytes(),
                form: form(self.round),
            };
            let begin = || Coordinator::begin(&self.zk, &path, transaction);
            let (me, object) = (self.client.number(), self.object());
            let observed = |journal: &mut Journal, at, op, coordinator: &Coordinator<C::Zk>| {
                let sites = self.calls.sites_of(coordinator).join(",");
                journal.observed(at, me, op, object, Seen::View, &sites, 0);
                let path = self.calls.path(coordinator);
                journal.observed(at, me, op, object, Seen::Name, &path, 0);
            };
            let gives = self.gives(vec![self.payload(), self.names().join(",")], COORDINATOR);
            let call = self.call(Verb::Begin);
            let ended = observed_operation(self.client, call, gives, begin, observed).await.1;
            let is_taken = matches!(&ended, Ended::Failed(e) if e.is_taken());
            sometimes!(self.client, "a transaction is begun a second time", is_taken);
            begun = ended.done().or(begun);
        }
        begun
    }

    /// Opens a transaction, and learns its payload and sites.
    async fn opens(&self, path: &str, site: &str) -> Ended<Site<C::Zk>> {
        let (me, object) = (self.client.number(), self.object());
        let observed = |journal: &mut Journal, at, op, site: &Site<C::Zk>| {
            let payload = self.calls.payload(site);
            let payload = String::from_utf8_lossy(&payload);
            journal.observed(at, me, op, object, Seen::Value, &payload, 0);
            let sites = self.calls.sites(site).join(",");
            journal.observed(at, me, op, object, Seen::View, &sites, 0);
        };
        let (gives, call) = (self.gives(vec![site.to_owned()], self.site), self.call(Verb::Open));
        let opening = || self.calls.open(&self.zk, path, site);
        observed_operation(self.client, call, gives, opening, observed).await.1
    }

    async fn votes(&self, site: Site<C::Zk>, vote: Vote) -> Ended<Voted<C::Zk>> {
        let (path, name) = (path(self.round), name(self.site));
        let gives = self.gives(vec![vote_text(vote).to_owned()], self.site);
        let voting = || self.calls.vote(&self.zk, (&path, &name), site, vote);
        operation(self.client, self.call(Verb::Vote), gives, voting).await.1
    }

    /// Casts the opposite vote through another handle; opens transactions that do not name it or do not exist.
    async fn asks_too_much(&self, cast: Vote) {
        match self.client.choose(6) {
            3 => {
                if let Ended::Done(again) = self.opens(&path(self.round), &name(self.site)).await {
                    let ended = self.votes(again, other(cast)).await;
                    let is_refused = matches!(&ended, Ended::Failed(e) if e.is_already_voted());
                    sometimes!(self.client, "a site votes the other way and is refused", is_refused);
                }
            }
            4 => {
                let ended = self.opens(&path(self.round), &name(self.sites)).await;
                let is_refused = matches!(&ended, Ended::Failed(e) if e.is_not_a_participant());
                sometimes!(self.client, "a client opens a transaction that does not name it", is_refused);
            }
            5 => {
                let ended = self.opens("/ballots/none", &name(self.site)).await;
                let is_missing = matches!(&ended, Ended::Failed(e) if e.is_no_transaction());
                sometimes!(self.client, "a client opens a transaction that does not exist", is_missing);
            }
            _ => {}
        }
    }

    /// The coordinator waits without a time limit, until its patience is over.
    async fn coordinates(&self, coordinator: &Coordinator<C::Zk>) {
        let patience = self.pace.limit * [1, 4, 16][self.client.choose(3) as usize];
        let (me, object) = (self.client.number(), self.object());
        let observed = |journal: &mut Journal, at, op, decision: &Decision| {
            journal.observed(at, me, op, object, Seen::Decision, decision_text(*decision), COORDINATOR);
        };
        let (enough, call) = (self.client.sleep(patience), self.call(Verb::Decide));
        let gives = self.gives(vec![String::new()], COORDINATOR);
        let deciding = || coordinator.decision();
        let (_, ended) = observed_operation_until(self.client, call, gives, enough, deciding, observed).await;
        let is_done = matches!(ended, Ended::Done(_));
        sometimes!(self.client, "a coordinator waits without a limit and learns the decision", is_done);
        sometimes!(self.client, "a coordinator drops its wait", matches!(ended, Ended::Cancelled));
    }

    /// An operation that returns the decision to a party.
    async fn learns<F: Future<Output = Result<Decision, Error>> + Send>(
        &self,
        party: u64,
        call: Call,
        work: impl FnOnce() -> F + Send,
    ) -> Ended<Decision> {
        let (me, object) = (self.client.number(), self.object());
        let observed = move |journal: &mut Journal, at, op, decision: &Decision| {
            journal.observed(at, me, op, object, Seen::Decision, decision_text(*decision), party);
        };
        let gives = self.gives(vec![String::new()], party);
        observed_operation(self.client, call, gives, work, observed).await.1
    }

    /// Begins a transaction without a site, with one named twice, or with a payload that exceeds the servers' limit.
    async fn makes_a_mistake(&self) {
        let (sites, size) =
            [(Vec::new(), 1), (vec![name(0), name(0)], 1), (vec![name(0)], zk::path::MAX_REQUEST_BYTES)]
                [self.client.choose(3) as usize]
                .clone();
        let transaction = Transaction { sites, payload: vec![b'x'; size], form: form(self.round) };
        let path = path(self.round);
        let gives = self.gives(vec![String::new()], COORDINATOR);
        let begin = || Coordinator::begin(&self.zk, &path, transaction);
        let ended = operation(self.client, self.call(Verb::Begin).by_mistake(), gives, begin).await.1;
        let is_bad_input = matches!(&ended, Ended::Failed(error) if error.is_bad_input());
        sometimes!(self.client, "bad input is refused", is_bad_input);
    }

    /// Whether this site has learned the decision of this round, in any life.
    fn knows_decision(&self) -> bool {
        let (object, site) = (self.object(), self.site);
        self.client.journal(|journal, _| {
            journal.history().events.iter().any(|event| match event.what {
                What::Observed { object: of, seen: Seen::Decision, number, .. } => {
                    of == object && number == site
                }
                _ => false,
            })
        })
    }
}
