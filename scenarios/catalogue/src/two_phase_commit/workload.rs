//! Sites that take part in one transaction after the other, in all forms.
//!
//! Every client speaks for a site: process `a` and those that follow when it dies for site 0, `b` for site 1, and so on. Each
//! round is a transaction of its own. One of the clients begins it and is its coordinator besides; if that one does not come,
//! another begins it. Each site votes, waits for the decision (with a time limit, or after it had given up, or following the
//! others' votes), now and then asks again, and finishes. Whoever dies or loses its session goes on where it was: it opens
//! again, its vote stands. What a site has learned it remembers for good, as from a log of its own.

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use sim_zk::fault::Fault;
use std::future::Future;
use std::ops::Range;
use std::pin::pin;
use std::time::Duration;
use zk_checker::RuleId;
use zk_checker::history::{Kind, Manner, Names, Object, ObjectId, OpId, Seen, Verb, What};
use zk_harness::client::Client;
use zk_harness::journal::Journal;
use zk_harness::operation::{Call, Ended, observed_operation, operation};
use zk_harness::pace::Pace;
use zk_harness::plan::Plan;
use zk_harness::rounds::{Round, SESSIONS, rounds};
use zk_harness::sometimes;
use zk_harness::target::{Done, Setting, Stated, Target};
use zk_real::RealTarget;
use zk_recipes::two_phase_commit::{
    Coordinator, Decision, Form, Site, Transaction, TwoPhaseCommit, Vote, Voted,
};
use zk_recipes::zk::{Error, ZooKeeper};

/// Two-phase commit under load.
pub static TARGET: Target = Target {
    name: "two-phase-commit",
    about: "sites vote on one transaction after the other, in all forms, and commit or abort together",
    caught_by: None,
    faults: &Fault::ALL,
    plan: |seed| Plan { rounds: FORMS.len() as u32, ..Plan::drawn(seed) },
    objects,
    sim: |c, setting, rounds, done| client::<_, Recipe<_>>(c, setting, rounds, done).boxed(),
    required: &[
        RuleId::Tc1,
        RuleId::Tc2,
        RuleId::Tc3,
        RuleId::Tc4,
        RuleId::Tc5,
        RuleId::Tc6,
        RuleId::Tc7,
        RuleId::Tc8,
        RuleId::Tc9,
        RuleId::Tc10,
        RuleId::Tc11,
        RuleId::Tc12,
        RuleId::Tc13,
    ],
    stated: &STATED,
    injected_bug: None,
    must_reach: &[],
};

/// The same on real servers.
pub static REAL: RealTarget = RealTarget {
    target: &TARGET,
    part: |c, setting, rounds, done| client::<_, Recipe<_>>(c, setting, rounds, done).boxed(),
    required: &[RuleId::Tc1, RuleId::Tc3, RuleId::Tc5],
    is_long: false,
};

/// What its runs owe.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(60),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a site finishes what it knows from before",
        "a site finds the vote of its former life",
        "a transaction is committed",
        "a transaction is aborted",
        "a site gives up waiting for the decision",
        "another coordinates in the place of one that is gone",
    ],
};

/// The forms, one a round.
const FORMS: [Form; 4] = [
    Form::Decentralised { follow_votes: false },
    Form::Coordinator,
    Form::SiteEphemerals,
    Form::Decentralised { follow_votes: true },
];

/// Which number a coordinator has where a site has its own.
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

/// One object a round.
pub fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    let object = |round| {
        let manner = Manner {
            coordinated: !matches!(form(round), Form::Decentralised { .. }),
            textbook: form(round) == (Form::Decentralised { follow_votes: true }),
            ..Manner::default()
        };
        let path = names.intern(&path(round));
        Object { size: setting.clients.into(), manner, ..Object::plain(Kind::TwoPhaseCommit, path) }
    };
    (0..setting.rounds).map(object).collect()
}

/// Two-phase commit as the workload uses it: the recipe itself, or one that is broken on purpose.
pub trait TwoPhases<Z: ZooKeeper>: Send + Sync + 'static {
    /// A site that may vote.
    type Site: Send + Sync;
    /// A site that has voted.
    type Voted: Send + Sync;
    /// A coordinator.
    type Coordinator: Send + Sync;

    /// Step 1.
    fn begin(
        zk: &Z,
        path: &str,
        transaction: Transaction,
    ) -> impl Future<Output = Result<Self::Coordinator, Error>> + Send;

    /// Another coordinator takes the place of the first.
    fn resume(zk: &Z, path: &str) -> impl Future<Output = Result<Self::Coordinator, Error>> + Send;

    /// Step 2, and the vote that a former session of the site has cast.
    fn open(
        zk: &Z,
        path: &str,
        site: &str,
    ) -> impl Future<Output = Result<(Self::Site, Option<Vote>), Error>> + Send;

    /// Steps 3 and 4.
    fn vote(site: Self::Site, vote: Vote) -> impl Future<Output = Result<Self::Voted, Error>> + Send;

    /// Step 6 for a site.
    fn decision(voted: &Self::Voted) -> impl Future<Output = Result<Decision, Error>> + Send;

    /// Steps 6 and 7 for a site.
    fn decision_within(
        voted: &Self::Voted,
        limit: Duration,
    ) -> impl Future<Output = Result<Decision, Error>> + Send;

    /// The next vote of another site.
    fn next_vote(voted: &Self::Voted) -> impl Future<Output = Result<Option<(String, Vote)>, Error>> + Send;

    /// Steps 5 to 7 for a coordinator.
    fn coordinate_within(
        coordinator: &Self::Coordinator,
        limit: Duration,
    ) -> impl Future<Output = Result<Decision, Error>> + Send;

    /// Step 8.
    fn finish(voted: Self::Voted) -> impl Future<Output = Result<(), Error>> + Send;

    /// An operator takes everything away.
    fn forget(coordinator: Self::Coordinator) -> impl Future<Output = Result<(), Error>> + Send;
}

/// The recipe itself.
pub struct Recipe<Z>(std::marker::PhantomData<fn() -> Z>);

impl<Z: ZooKeeper> TwoPhases<Z> for Recipe<Z> {
    type Site = Site<Z>;
    type Voted = Voted<Z>;
    type Coordinator = Coordinator<Z>;

    async fn begin(zk: &Z, path: &str, transaction: Transaction) -> Result<Coordinator<Z>, Error> {
        TwoPhaseCommit::begin(zk, path, transaction).await
    }

    async fn resume(zk: &Z, path: &str) -> Result<Coordinator<Z>, Error> {
        TwoPhaseCommit::resume(zk, path).await
    }

    async fn open(zk: &Z, path: &str, site: &str) -> Result<(Site<Z>, Option<Vote>), Error> {
        let site = TwoPhaseCommit::open(zk, path, site).await?;
        let cast = site.cast();
        Ok((site, cast))
    }

    async fn vote(site: Site<Z>, vote: Vote) -> Result<Voted<Z>, Error> {
        site.vote(vote).await
    }

    async fn decision(voted: &Voted<Z>) -> Result<Decision, Error> {
        voted.decision().await
    }

    async fn decision_within(voted: &Voted<Z>, limit: Duration) -> Result<Decision, Error> {
        voted.decision_within(limit).await
    }

    async fn next_vote(voted: &Voted<Z>) -> Result<Option<(String, Vote)>, Error> {
        voted.next_vote().await
    }

    async fn coordinate_within(coordinator: &Coordinator<Z>, limit: Duration) -> Result<Decision, Error> {
        coordinator.decision_within(limit).await
    }

    async fn finish(voted: Voted<Z>) -> Result<(), Error> {
        voted.finish().await
    }

    async fn forget(coordinator: Coordinator<Z>) -> Result<(), Error> {
        coordinator.forget().await
    }
}

/// One client's part.
pub async fn client<C: Client, R: TwoPhases<C::Zk>>(
    client: C,
    setting: Setting,
    numbers: Range<u32>,
    done: Done,
) {
    let seat = seat(&client, setting.clients);
    let (client, pace) = (&client, setting.pace);
    let round = |zk: C::Zk, number: u32| {
        let part = Part { client, zk, pace, site: seat, sites: setting.clients.into(), round: number };
        async move { part.takes_part::<R>().await }
    };
    rounds(client, pace, numbers, done, round).await;
}

/// For which site a process speaks: it is named after the one that it follows.
fn seat<C: Client>(client: &C, clients: u8) -> u64 {
    let number = client.number();
    let name = client.journal(|journal, _| {
        journal.history().header.clients.get(usize::from(number)).and_then(|name| name.bytes().next())
    });
    let letter = name.filter(u8::is_ascii_lowercase).map_or(number, |letter| u16::from(letter - b'a'));
    u64::from(letter % u16::from(clients))
}

/// A site's part in one round.
struct Part<'a, C: Client> {
    client: &'a C,
    zk: C::Zk,
    pace: Pace,
    site: u64,
    sites: u64,
    round: u32,
}

/// What the journal is given of a vote.
fn vote_text(vote: Vote) -> &'static str {
    match vote {
        Vote::Commit => "commit",
        Vote::Abort => "abort",
    }
}

/// What the journal is told of a decision.
pub fn decision_text(decision: Decision) -> &'static str {
    match decision {
        Decision::Commit => "commit",
        Decision::Abort => "abort",
    }
}

impl<C: Client> Part<'_, C> {
    fn object(&self) -> ObjectId {
        ObjectId(self.round as u16)
    }

    fn call(&self, verb: Verb) -> Call {
        Call::new(self.object(), verb)
    }

    /// Writes down for whom an operation speaks.
    fn gives(&self, text: &'static str, number: u64) -> impl FnOnce(&mut Journal, u64, OpId) + use<C> {
        let me = self.client.number();
        move |journal, at, op| journal.given(at, me, op, text, number)
    }

    /// Writes down a decision.
    fn learns(&self, number: u64) -> impl FnOnce(&mut Journal, u64, OpId, &Decision) + use<C> {
        let (me, object) = (self.client.number(), self.object());
        move |journal, at, op, decision: &Decision| {
            journal.observed(at, me, op, object, Seen::Decision, decision_text(*decision), number);
        }
    }

    fn limit(&self) -> Duration {
        self.pace.limit * (1 + self.client.choose(3))
    }

    async fn takes_part<R: TwoPhases<C::Zk>>(self) -> Round {
        if self.knows(self.site) {
            sometimes!(self.client, "a site finishes what it knows from before", true);
            return self.finishes_again::<R>().await;
        }
        let mut coordinator = None;
        let mut vote = if self.client.choose(4) == 3 { Vote::Abort } else { Vote::Commit };
        let voted = loop {
            if !self.has_begun().await {
                // Who knew the decision would not begin it again.
                coordinator = self.begins::<R>().await.or(coordinator);
            }
            match self.votes::<R>(&mut vote).await {
                Ended::Done(voted) => break voted,
                ended if ended.is_session_over() => return Round::Again,
                // Somebody who has no part in it has had his hands on it: nothing can be decided on it.
                Ended::Failed(error) if error.is_mismatch() => return Round::Over,
                // It has been forgotten meanwhile.
                Ended::Failed(Error::NoTransaction(_)) if self.knows(self.site) => return Round::Over,
                _ => {}
            }
        };
        let coordinates = u64::from(self.round) % self.sites == self.site;
        if coordinates && !self.knows(COORDINATOR) {
            coordinator = self.coordinates::<R>(coordinator).await;
        }
        // The recipe fails for nothing but the end of its session; one that is broken is not asked for ever.
        for patience in (0..20).rev() {
            match self.decides::<R>(&voted).await {
                Ended::Done(decision) => {
                    let is_commit = decision == Decision::Commit;
                    sometimes!(self.client, "a transaction is committed", is_commit);
                    sometimes!(self.client, "a transaction is aborted", !is_commit);
                    break;
                }
                ended if ended.is_session_over() => return Round::Again,
                Ended::Failed(error) if error.is_mismatch() => return Round::Over,
                Ended::Failed(_) if patience == 0 || self.knows(self.site) => return Round::Over,
                _ => {}
            }
        }
        if self.client.choose(4) == 3 {
            let _ = self.decides::<R>(&voted).await;
        }
        let finishing = || R::finish(voted);
        let (_, ended) =
            operation(self.client, self.call(Verb::Finish), self.gives("", self.site), finishing).await;
        if ended.is_session_over() {
            return Round::Again;
        }
        if let Some(coordinator) = coordinator
            && self.client.choose(8) == 7
            && (0..self.sites).all(|site| self.knows(site))
        {
            let forgetting = || R::forget(coordinator);
            let gives = self.gives("", COORDINATOR);
            let _ = operation(self.client, self.call(Verb::Finish), gives, forgetting).await;
        }
        Round::Over
    }

    /// It knows the decision from a life or a session before: all that is left to do is to finish. A begin of a process that
    /// has died may arrive when everybody has finished: there it has no vote to stand by, and does not vote a second time.
    async fn finishes_again<R: TwoPhases<C::Zk>>(&self) -> Round {
        let (path, name) = (path(self.round), name(self.site));
        let finishing = || async {
            match R::open(&self.zk, &path, &name).await? {
                (site, Some(cast)) => {
                    let voted = R::vote(site, cast).await?;
                    R::decision_within(&voted, self.pace.limit).await?;
                    R::finish(voted).await
                }
                (_, None) => Ok(()),
            }
        };
        let (_, ended) =
            operation(self.client, self.call(Verb::Finish), self.gives("", self.site), finishing).await;
        if ended.is_session_over() { Round::Again } else { Round::Over }
    }

    /// Waits until the transaction of the round is there, though not for ever. What it does for that is no part of the
    /// recipe.
    async fn has_begun(&self) -> bool {
        if u64::from(self.round) % self.sites == self.site {
            return matches!(self.zk.exists(&path(self.round)).await, Ok(Some(_)));
        }
        let begun = async {
            match self.zk.exists_watch(&path(self.round)).await {
                Ok((Some(_), _)) => true,
                Ok((None, watch)) => watch.await.is_ok(),
                Err(_) => false,
            }
        };
        let patience = self.client.sleep(self.pace.limit * 4);
        matches!(select(pin!(begun), pin!(patience)).await, Either::Left((true, _)))
    }

    async fn begins<R: TwoPhases<C::Zk>>(&self) -> Option<R::Coordinator> {
        let transaction = Transaction {
            sites: (0..self.sites).map(name).collect(),
            payload: b"do it".to_vec(),
            form: form(self.round),
        };
        let path = path(self.round);
        let begin = || R::begin(&self.zk, &path, transaction);
        let (_, ended) =
            operation(self.client, self.call(Verb::Begin), self.gives("", COORDINATOR), begin).await;
        ended.done()
    }

    async fn votes<R: TwoPhases<C::Zk>>(&self, vote: &mut Vote) -> Ended<R::Voted> {
        let (path, name) = (path(self.round), name(self.site));
        let given = *vote;
        let voting = || async {
            let (site, cast) = R::open(&self.zk, &path, &name).await?;
            let voted = R::vote(site, cast.unwrap_or(given)).await?;
            Ok((voted, cast))
        };
        let (me, object, site) = (self.client.number(), self.object(), self.site);
        let observed = move |journal: &mut Journal, at, op, done: &(R::Voted, Option<Vote>)| {
            if let Some(cast) = done.1 {
                journal.observed(at, me, op, object, Seen::Vote, vote_text(cast), site);
            }
        };
        let gives = self.gives(vote_text(given), self.site);
        let (_, ended) =
            observed_operation(self.client, self.call(Verb::Vote), gives, voting, observed).await;
        match ended {
            Ended::Done((voted, cast)) => {
                sometimes!(self.client, "a site finds the vote of its former life", cast.is_some());
                Ended::Done(voted)
            }
            Ended::Failed(error) => Ended::Failed(error),
            Ended::Cancelled => Ended::Cancelled,
        }
    }

    /// The coordinator's part: of the transaction that it has begun, or in the place of one that has died.
    async fn coordinates<R: TwoPhases<C::Zk>>(
        &self,
        begun: Option<R::Coordinator>,
    ) -> Option<R::Coordinator> {
        let limit = self.limit();
        let call = self.call(Verb::Decide).within(limit);
        let observed = self.learns(COORDINATOR);
        let path = path(self.round);
        match begun {
            Some(begun) => {
                let deciding = || R::coordinate_within(&begun, limit);
                let gives = self.gives("", COORDINATOR);
                let _ = observed_operation(self.client, call, gives, deciding, observed).await;
                Some(begun)
            }
            None => {
                let deciding = || async {
                    let heir = R::resume(&self.zk, &path).await?;
                    R::coordinate_within(&heir, limit).await
                };
                let gives = self.gives("resume", COORDINATOR);
                let ended = observed_operation(self.client, call, gives, deciding, observed).await.1;
                let does = matches!(ended, Ended::Done(_));
                sometimes!(self.client, "another coordinates in the place of one that is gone", does);
                None
            }
        }
    }

    async fn decides<R: TwoPhases<C::Zk>>(&self, voted: &R::Voted) -> Ended<Decision> {
        let limit = self.limit();
        let call = self.call(Verb::Decide);
        let gives = self.gives("", self.site);
        let learns = self.learns(self.site);
        match self.client.choose(4) {
            // Nobody brings a decision about for a site that waits without a limit, but the other sites.
            1 if form(self.round) == FORMS[0] => {
                let waiting = || R::decision(voted);
                observed_operation(self.client, call, gives, waiting, learns).await.1
            }
            2 => {
                // It gives up, and asks again with a limit.
                let giving_up = || async {
                    let patience = self.client.sleep(limit / 8);
                    match select(pin!(R::decision(voted)), pin!(patience)).await {
                        Either::Left((decision, _)) => decision,
                        Either::Right(_) => Err(Error::TimedOut),
                    }
                };
                let call = call.within(limit / 8);
                let ended = observed_operation(self.client, call, gives, giving_up, learns).await.1;
                match ended {
                    Ended::Failed(Error::TimedOut) => {
                        sometimes!(self.client, "a site gives up waiting for the decision", true);
                        self.decides_within::<R>(voted, limit).await
                    }
                    ended => ended,
                }
            }
            3 if form(self.round) == FORMS[3] => self.follows::<R>(voted).await,
            _ => self.decides_within::<R>(voted, limit).await,
        }
    }

    async fn decides_within<R: TwoPhases<C::Zk>>(
        &self,
        voted: &R::Voted,
        limit: Duration,
    ) -> Ended<Decision> {
        let call = self.call(Verb::Decide).within(limit);
        let (gives, learns) = (self.gives("", self.site), self.learns(self.site));
        let deciding = || R::decision_within(voted, limit);
        observed_operation(self.client, call, gives, deciding, learns).await.1
    }

    /// Follows the votes of the others, until they are all there or it is decided.
    async fn follows<R: TwoPhases<C::Zk>>(&self, voted: &R::Voted) -> Ended<Decision> {
        let (me, object, site) = (self.client.number(), self.object(), self.site);
        let following = || async {
            let mut seen = Vec::new();
            while let Some(vote) = R::next_vote(voted).await? {
                seen.push(vote);
            }
            Ok((R::decision(voted).await?, seen))
        };
        let observed = move |journal: &mut Journal, at, op, done: &(Decision, Vec<(String, Vote)>)| {
            for (other, vote) in &done.1 {
                let other = other.rsplit('-').next().and_then(|number| number.parse().ok());
                let other = other.expect("sites are named by their numbers");
                journal.observed(at, me, op, object, Seen::Vote, vote_text(*vote), other);
            }
            journal.observed(at, me, op, object, Seen::Decision, decision_text(done.0), site);
        };
        let (call, gives) = (self.call(Verb::Decide), self.gives("", self.site));
        match observed_operation(self.client, call, gives, following, observed).await.1 {
            Ended::Done((decision, _)) => Ended::Done(decision),
            Ended::Failed(error) => Ended::Failed(error),
            Ended::Cancelled => Ended::Cancelled,
        }
    }

    /// Whether a party has been told the decision of this round, in whatever life.
    fn knows(&self, party: u64) -> bool {
        let object = self.object();
        self.client.journal(|journal, _| {
            journal.history().events.iter().any(|event| match event.what {
                What::Observed { object: of, seen: Seen::Decision, number, .. } => {
                    of == object && number == party
                }
                _ => false,
            })
        })
    }
}
