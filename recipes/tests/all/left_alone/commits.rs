//! Two-phase commit: a coordinator, a site that may vote and one that has, of one session.

use crate::common::left_alone::{Call, Calling, Part, Scene, call, none_holds_up_another};
use crate::common::{Client, Stage};
use sim_zk::SimClient;
use std::time::Duration;
use zk_recipes::two_phase_commit::{Coordinator, Form, Site, Transaction, Vote, Voted};

const SHORT: Duration = Duration::from_secs(10);
const TX: &str = "/tx";

/// With the form of that number.
struct Begun<const FORM: usize> {
    a: Client,
    b: Client,
    coordinator: Part<Coordinator<SimClient>>,
    site: Part<Site<SimClient>>,
    voted: Part<Voted<SimClient>>,
}

const FORMS: [Form; 3] =
    [Form::Decentralised { follow_votes: true }, Form::Coordinator, Form::SiteEphemerals];

impl<const FORM: usize> Begun<FORM> {
    /// Somebody decides it, or finds it decided.
    fn decided(&self) -> Calling {
        let zk = self.b.zk.clone();
        Box::pin(async move { drop(Coordinator::resume(&zk, TX).await) })
    }
}

impl<const FORM: usize> Scene for Begun<FORM> {
    const CALLS: &'static [Call<Self>] = &[
        call!(share coordinator.decision(), while decided),
        call!(share coordinator.decision() within SHORT),
        call!(take coordinator.forget()),
        call!(take site.vote(Vote::Commit)),
        call!(take site.vote(Vote::Abort)),
        call!(share voted.decision(), while decided),
        call!(share voted.decision() within SHORT),
        call!(share voted.next_vote(), while decided),
        call!(take voted.finish()),
    ];

    async fn set(stage: Stage) -> Self {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let sites = vec!["x".to_owned(), "y".to_owned()];
        let transaction = Transaction { sites, payload: vec![], form: FORMS[FORM] };
        let coordinator = Coordinator::begin(&a.zk, TX, transaction).await.expect("it is the first");
        let site = Site::open(&a.zk, TX, "x").await.expect("it takes part");
        let voted = Site::open(&a.zk, TX, "y").await.expect("it takes part");
        let voted = voted.vote(Vote::Commit).await.expect("it has not voted");
        Begun { a, b, coordinator: Part::new(coordinator), site: Part::new(site), voted: Part::new(voted) }
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

#[test]
fn none_of_a_transaction_without_a_coordinator() {
    none_holds_up_another::<Begun<0>>();
}

#[test]
fn none_of_a_transaction_with_a_coordinator() {
    none_holds_up_another::<Begun<1>>();
}

#[test]
fn none_of_a_transaction_whose_sites_show_that_they_live() {
    none_holds_up_another::<Begun<2>>();
}
