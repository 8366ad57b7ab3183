//! Sites that take part in one transaction after the other, in all forms.
//!
//! Every client speaks for a site: process `a` and its successors for site 0, `b` for site 1, and so on. Each round is
//! a transaction of its own. One of the clients begins it and is also its coordinator; if that client does not come,
//! another begins it. Each site votes, waits for the decision (with a time limit, or after it had given up, or
//! following the others' votes), occasionally asks again, and finishes. A client that dies or loses its session
//! continues where it was: it opens again, its vote counts. A site remembers what it has learned for ever, as from its
//! own log.

use super::recipe::{Participant, TwoPhases};
use super::round::{FORMS, SiteRound, form, name, path};
use crate::prelude::*;
use std::time::Duration;
use zk_recipes::two_phase_commit::Form;

/// Two-phase commit under load.
pub static WORKLOAD: Workload = Workload {
    about: "sites vote on a sequence of transactions, in all forms, and commit or abort together",
    plan: |seed| Plan { rounds: FORMS.len() as u32, ..Plan::drawn(seed) },
    required: &[Tc1, Tc2, Tc3, Tc4, Tc5, Tc6, Tc7, Tc8, Tc9, Tc10, Tc11, Tc12, Tc13],
    ..Workload::own("two-phase-commit", objects, |task| client(task, Box::new(Clone::clone)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload =
    RealWorkload::new(&WORKLOAD, |task| client(task, Box::new(Clone::clone)).boxed(), &[Tc1, Tc3, Tc5]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(60),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a restarted site finishes a decided transaction",
        "a restarted site finds its vote",
        "a transaction is committed",
        "a transaction is aborted",
        "a site gives up waiting for the decision",
        "another coordinator takes over",
    ],
};

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

/// One client's part.
pub async fn client<C: Client, T: TwoPhases>(task: Task<C>, make: Make<Participant<C::Zk>, T>) {
    let (client, Setting { clients, pace, .. }) = (&task.client, task.setting);
    let (site, sites) = (seat(client, clients), clients.into());
    let round = |zk: C::Zk, round: u32| {
        let participant = make(&Participant { zk: zk.clone(), path: path(round), name: name(site) });
        SiteRound { client, zk, pace, site, sites, round, participant }.takes_part()
    };
    rounds(&task, round).await;
}

/// The site of a process: the first letter of its name, which its successors inherit.
pub(crate) fn seat<C: Client>(client: &C, clients: u8) -> u64 {
    let number = client.number();
    let name = client.journal(|journal, _| {
        journal.history().header.clients.get(usize::from(number)).and_then(|name| name.bytes().next())
    });
    let letter = name.filter(u8::is_ascii_lowercase).map_or(number, |letter| u16::from(letter - b'a'));
    u64::from(letter % u16::from(clients))
}
