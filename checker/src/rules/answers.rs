//! Answers: AN-1 to AN-4. The result of a call is checked against the replies to its client and the servers' commits.
//!
//! The rules are the same for every verb of every recipe. The description of each recipe in `kinds` says what it means
//! that an operation is done ([`done`]), which answers a value needs before it is handed out ([`seen`]), what justifies a
//! reason of failure ([`failed`]), and what an undisturbed call costs ([`cost`]). [`nothing`]: the effects that an
//! operation may leave after it reports that nothing was done.
//!
//! AN-2 and AN-4 need only the client's side, and judge captures, too. AN-1 and AN-3 need the committed transactions.

mod cost;
mod done;
mod ending;
mod failed;
mod later;
mod nothing;
mod seen;

use crate::evidence::{Act, Doing, Effect, Evidence, Znodes, is_path};
use crate::rule::prelude::*;
use crate::scene::{Place, is_above};
use crate::view::Part;
use std::collections::BTreeSet;

/// AN-1 to AN-4.
#[derive(Clone, Default)]
pub(crate) struct Answers {
    /// Operations that have not returned.
    open: Vec<Doing>,
    /// Operations that reported that nothing was done while their requests were in flight.
    refused: Vec<Doing>,
    znodes: Znodes,
    /// The clients that have got a reply: the history may lack the reads of the others.
    heard: BTreeSet<u16>,
    /// The effect whose data are the next event: the operation, and the number of the effect.
    written: Option<(OpId, usize)>,
    costly: cost::Costly,
    later: later::Later,
}

impl Answers {
    fn at(&self, op: OpId) -> Option<usize> {
        match op {
            OpId(0) => None,
            op => self.open.iter().rposition(|doing| doing.id == op),
        }
    }

    fn doing(&mut self, op: OpId) -> Option<&mut Doing> {
        self.at(op).map(|at| &mut self.open[at])
    }

    /// Marks a client's operations as disturbed by a connection loss.
    fn disturbed(&mut self, client: u16) {
        self.costly.disturbed(client);
        for doing in self.open.iter_mut().filter(|doing| doing.client == client) {
            doing.is_disturbed = true;
        }
    }

    /// The role of a znode for the operation that changes it: a write under a hold to a znode outside the lock is
    /// guarded by the hold.
    fn place(&mut self, scene: &Scene<'_>, op: OpId, path: Sym) -> Option<Place> {
        let place = self.znodes.place(scene, path);
        let fenced = self.doing(op).filter(|doing| doing.verb.is_fenced()).map(|doing| doing.object);
        match fenced {
            Some(object) if place.is_none_or(|place| place.object != object) => {
                Some(Place { object, part: Part::Guarded })
            }
            _ => place,
        }
    }

    fn acts(&mut self, scene: &Scene<'_>, op: OpId, (act, path, zxid): (Act, Sym, u64), out: &mut Findings) {
        self.written = None;
        let Some(place) = self.place(scene, op, path) else { return };
        let data = self.znodes.at(path).data.filter(|_| act == Act::Deletes);
        let effect = Effect { act, path, place, at: scene.now(), zxid, data };
        let is_last =
            act == Act::Deletes && place.part == Part::Site && self.znodes.has_no_site(place.object);
        if let Some(doing) = self.doing(op) {
            doing.is_last |= is_last;
            doing.effects.push(effect);
            let number = doing.effects.len() - 1;
            self.written = (act != Act::Deletes).then_some((op, number));
        } else if let Some(at) = self.refused.iter().position(|doing| doing.id == op) {
            self.refused[at].effects.push(effect);
            let doing = &self.refused[at];
            if nothing::judge(&Evidence { scene, doing, znodes: &self.znodes }, out) {
                self.refused.swap_remove(at);
            }
        }
    }

    fn returned(&mut self, scene: &Scene<'_>, id: OpId, answer: (Outcome, Failure), out: &mut Findings) {
        let Some(at) = self.at(id) else { return };
        let mut doing = self.open.remove(at);
        doing.is_late = answer.1 == Failure::TimedOut;
        let evidence = Evidence { scene, doing: &doing, znodes: &self.znodes };
        match answer {
            (Outcome::Done, _) => {
                self.costly.judge(scene, &doing, &mut self.later, out);
                if scene.view.is_sim() {
                    done::judge(&evidence, out);
                }
                self.znodes.done(&doing);
            }
            (Outcome::Refused, failure) => {
                failed::judge(&evidence, failure, &mut self.later, out);
                let has_left = scene.view.is_sim() && nothing::judge(&evidence, out);
                if !has_left && scene.view.op(id).in_flight > 0 {
                    self.refused.retain(|doing| scene.view.op(doing.id).in_flight > 0);
                    self.refused.push(doing);
                }
            }
            (Outcome::Unknown, failure) => failed::judge(&evidence, failure, &mut self.later, out),
            // The next call settles the effects of the dropped one.
            (Outcome::Cancelled, _) => self.costly.disturbed(doing.client),
        }
    }
}

impl Rule for Answers {
    const JUDGES: &'static [Property] = {
        use Property::*;
        &[DoneIsDone, ReasonOfFailure, NothingDone, CostOfACall]
    };
    const HEARS: Kinds = hears![
        Call, Given, Mistaken, Observed, Unbelieve, Return, Reply, Notice, Lost, State, Created, Written,
        Deleted, Data, Crash,
    ];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        match event.what {
            What::Call { object, verb, .. } => {
                if let Who::Client(client) = event.who {
                    let mut doing = Doing::new(event.op, client, object, verb, scene);
                    if matches!(verb, Verb::Release | Verb::Leave | Verb::Unregister) {
                        doing.gives_up = self.znodes.take_own(client, object);
                    }
                    self.open.push(doing);
                }
            }
            What::Given { text, number } => {
                if let Some(at) = self.at(event.op) {
                    let doing = &mut self.open[at];
                    doing.given.push(text);
                    doing.number = number;
                    if let (Verb::Begin, [payload, sites]) = (doing.verb, &doing.given[..]) {
                        self.znodes.begins(doing.object, (*payload, *sites));
                    }
                    if doing.verb == Verb::Confirm && is_path(scene, text) {
                        self.znodes.belongs(text, Place { object: doing.object, part: Part::Along });
                    }
                }
            }
            What::Unbelieve { why: Why::Lost } => self.znodes.note_loss(event.op),
            What::Mistaken => {
                if let Some(doing) = self.doing(event.op) {
                    doing.is_mistaken = true;
                }
            }
            What::Observed { seen, text, number, .. } => {
                if seen == Seen::State && scene.text(text).starts_with("lost") {
                    self.znodes.note_loss(event.op);
                }
                if let Some(at) = self.at(event.op) {
                    let evidence = Evidence { scene, doing: &self.open[at], znodes: &self.znodes };
                    if scene.view.is_sim() && seen == Seen::Ending {
                        ending::judge(&evidence, scene.text(text), out);
                    } else if scene.view.is_sim() && self.heard.contains(&evidence.client) {
                        seen::judge(&evidence, (seen, text, number), out);
                    }
                    self.open[at].hands_out(seen, text);
                }
            }
            What::Return { outcome, failure } => self.returned(scene, event.op, (outcome, failure), out),
            What::Reply { req, code, .. } => {
                if let Who::Client(client) = event.who {
                    self.heard.insert(client);
                    if code.tells_nothing() {
                        self.costly.disturbed(client);
                    }
                }
                if let Some(doing) = self.doing(event.op) {
                    doing.note_reply(code);
                    doing.has_synced |= matches!(doing.verb, Verb::Resolve | Verb::Get)
                        && code == Code::Ok
                        && scene.view.request(req).is_some_and(|req| req.kind == Request::Sync);
                }
            }
            What::Notice { .. } => {
                if let Some(doing) = self.doing(event.op) {
                    doing.note_notification();
                }
            }
            What::Lost { .. } => {
                if let Who::Client(client) = event.who {
                    self.costly.disturbed(client);
                }
                if let Some(doing) = self.doing(event.op) {
                    doing.is_disturbed = true;
                }
            }
            What::State { state, .. } if state != SessionState::Connected => {
                if let Who::Client(client) = event.who {
                    self.disturbed(client);
                }
            }
            What::Created { path, owner, zxid } => {
                let client = scene.view.op(event.op).client;
                self.znodes.created(scene, path, owner, zxid, (event.op, client));
                if let Some(doing) = self.doing(event.op)
                    && is_above(scene.text(path), scene.text(scene.object(doing.object).path))
                {
                    doing.directory = Some((path, scene.now()));
                }
                self.acts(scene, event.op, (Act::Creates, path, zxid), out);
            }
            What::Written { path, zxid } => {
                self.znodes.written(scene, path, zxid, event.op);
                self.acts(scene, event.op, (Act::Writes, path, zxid), out);
            }
            What::Deleted { path, by, zxid } => {
                self.znodes.deleted(scene, path, by, event.op);
                self.acts(scene, event.op, (Act::Deletes, path, zxid), out);
            }
            What::Data { digest, .. } => {
                self.znodes.data(scene, digest);
                if let Some((op, number)) = self.written.take()
                    && let Some(doing) = self.doing(op)
                {
                    doing.effects[number].data = Some(digest);
                }
            }
            What::Crash { client } => {
                self.open.retain(|doing| doing.client != client);
                self.refused.retain(|doing| doing.client != client);
            }
            _ => {}
        }
    }

    fn finish(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        self.later.tell(scene, out);
    }
}
