//! Sites that vote on one transaction after the other, and ask for more than they need.
//!
//! Every client speaks for a site, as in the [workload of two-phase commit](crate::two_phase_commit::workload); the
//! forms alternate. One of them begins the transaction of a round, occasionally twice or with invalid input, and waits
//! for the decision without a time limit until its patience is over. A site opens the transaction, occasionally as a
//! site that it does not name, or one that does not exist; it learns what it votes on and with whom, votes,
//! occasionally the opposite through another handle, waits for the decision and finishes. A site that dies or loses its
//! session continues where it was.

use super::calls::{Calls, Right};
use super::round::{Ballot, form, path};
use crate::prelude::*;
use crate::two_phase_commit::workload::seat;
use std::sync::Arc;
use std::time::Duration;
use zk_recipes::two_phase_commit::Form;

/// Two-phase commit under load, by sites that ask too much.
pub static WORKLOAD: Workload = Workload {
    about: "sites learn what they vote on and with whom, vote twice, and open what is not theirs",
    plan: |seed| Plan { rounds: 4, ..Plan::drawn(seed) },
    required: &[Tc1, Tc2, Tc3, Tc5, Tc6, Tc7, Tc9, Tc10, Tc11, An1, An2, An3],
    ..Workload::own("site-queries", objects, |task| client(task, Arc::new(Right)).boxed(), &STATED)
};

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(90),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a site votes the other way and is refused",
        "a client opens a transaction that does not name it",
        "a client opens a transaction that does not exist",
        "a transaction is begun a second time",
        "a coordinator waits without a limit and learns the decision",
        "a coordinator drops its wait",
        "bad input is refused",
    ],
};

/// One object a round.
pub fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    let object = |round| {
        let coordinated = !matches!(form(round), Form::Decentralised { .. });
        let manner = Manner { coordinated, ..Manner::default() };
        let path = names.intern(&path(round));
        Object { size: setting.clients.into(), manner, ..Object::plain(Kind::TwoPhaseCommit, path) }
    };
    (0..setting.rounds).map(object).collect()
}

/// The calls of a site: the right ones, or those of a mutant.
pub(super) type Make<C> = Arc<dyn Calls<<C as Client>::Zk>>;

/// One client's part.
pub(super) async fn client<C: Client>(task: Task<C>, calls: Make<C>) {
    let (client, Setting { clients, pace, .. }, calls) = (&task.client, task.setting, &*calls);
    let (site, sites) = (seat(client, clients), u64::from(clients));
    let round = |zk: C::Zk, round: u32| {
        let ballot = Ballot { client, calls, zk, pace, site, sites, round };
        async move { ballot.takes_part().await }
    };
    rounds(&task, round).await;
}
