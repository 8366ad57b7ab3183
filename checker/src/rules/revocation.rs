//! Requests to release: RV-1 to RV-4.
//!
//! A client asks a contender to release by writing a word into its znode. The owner learns of it from a notification,
//! or from the read that arms the watch. The owner tells its caller (`Observed`), and a waiter leaves.

use crate::digest::{self, Digest, Stat};
use crate::rule::prelude::*;
use crate::view::{Contender, Hold, Moment, NOBODY, Op, Phase, View, WORDS};

/// RV-1: a request to release reaches its owner. RV-3: a waiter that was asked leaves.
#[derive(Clone, Default)]
pub(crate) struct RequestHeard {
    asked: Vec<ReleaseRequest>,
    /// Reads whose replies contain the word.
    carrying: Vec<ReqId>,
    /// The read that a server is answering.
    served: ReqId,
}

/// A contender that was asked to release, and what its owner has learned.
#[derive(Clone, Copy)]
struct ReleaseRequest {
    op: OpId,
    /// The operation that asked it.
    by: OpId,
    contender: u32,
    since: Moment,
    /// The time at which a read showed the word to the owner.
    given: Moment,
    /// The time at which the owner was notified of the change.
    noticed: Moment,
    /// The time at which its caller was told.
    told: Moment,
}

fn is_revocable(scene: &Scene<'_>, object: ObjectId) -> bool {
    scene.view.protocol(object).is_revocable()
}

/// Whether the reply to a read contains the word.
fn is_word(found: Digest) -> bool {
    let of = |word: &str| Digest::of_data(digest::data(Some(word.as_bytes())), &Stat::default()).content;
    WORDS.iter().any(|word| of(word) == found.content)
}

impl RequestHeard {
    fn ask(&mut self, scene: &Scene<'_>, contender: u32, by: OpId, out: &mut Findings) {
        let view = scene.view;
        let Some(asked) = view.contender(contender) else { return };
        let op = view.op(asked.op);
        if !is_revocable(scene, asked.object) || self.asked.iter().any(|known| known.contender == contender) {
            return;
        }
        if Self::is_interested(op) {
            out.premise(RuleId::Rv1, asked.object);
            if op.is_waiting() {
                out.premise(RuleId::Rv3, asked.object);
            }
        }
        self.asked.push(ReleaseRequest {
            op: asked.op,
            by,
            contender,
            since: view.now,
            given: Moment::NEVER,
            noticed: Moment::NEVER,
            told: Moment::NEVER,
        });
    }

    /// Whether its owner waits, or holds.
    fn is_interested(op: &Op) -> bool {
        let holds = matches!(op.hold, Hold::Believed | Hold::Suspended);
        // A downgrade deletes the znode with the request to the writer.
        op.is_waiting() || holds && op.downgrade == OpId(0)
    }

    fn of(&mut self, op: OpId) -> Option<&mut ReleaseRequest> {
        self.asked.iter_mut().find(|asked| asked.op == op)
    }

    /// Whether the owner could act at all times since then, for longer than the bound.
    fn could_act(scene: &Scene<'_>, op: &Op, since: Moment, patience: u64) -> bool {
        let view = scene.view;
        let client = view.client(op.client);
        let resumed = client.resumed();
        since.came() && !client.is_paused() && scene.at > since.at.max(resumed).saturating_add(patience)
    }

    fn judge(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        self.asked.retain(|asked| {
            let op = view.op(asked.op);
            if !Self::is_interested(op) || view.client(op.client).is_dead() {
                return false;
            }
            let own = view.contender(asked.contender);
            let session = view.session(own.map_or(op.session, |own| own.owner));
            if session.is_over() || session.is_suspended {
                return true;
            }
            let connected = session.connected.at_or_start();
            let from = asked.since.at.max(view.calm_since).max(connected);
            let bound = view.bound(op.object);
            let calm = view.healed && Self::could_act(scene, op, Moment { at: from, ..asked.since }, bound);
            if asked.told.came() {
                // A waiter must leave; a holder may stay.
                if op.is_waiting() && calm {
                    Self::stays(scene, *asked, out);
                    return false;
                }
                return true;
            }
            // A waiter of a priority lock whose request for the grant is in flight cannot know whether it still waits.
            let may_be_granted =
                view.protocol(op.object).has_priorities() && op.is_waiting() && op.in_flight > 0;
            let given = !may_be_granted && Self::could_act(scene, op, asked.given, Self::after_reading(view));
            // After a forced release, the owner's read finds no znode, and no word.
            let is_there = own.is_some_and(Contender::is_alive);
            let quiet = view.calm_since < asked.noticed.at
                && connected < asked.noticed.at
                && op.in_flight == 0
                && is_there;
            let noticed = quiet && Self::could_act(scene, op, asked.noticed, Self::after_notice(view));
            if given || noticed || calm {
                Self::lost(scene, *asked, out);
                return false;
            }
            true
        });
    }

    /// The client that asked, as text.
    fn asker(scene: &Scene<'_>, asked: ReleaseRequest) -> String {
        match asked.by {
            OpId(0) => "somebody".to_owned(),
            by => scene.actor(by),
        }
    }

    fn lost(scene: &Scene<'_>, asked: ReleaseRequest, out: &mut Findings) {
        let view = scene.view;
        let op = view.op(asked.op);
        let (who, by) = (scene.client(op.client), Self::asker(scene, asked));
        let doing = if op.is_waiting() { "waits" } else { "holds" };
        let text = explain(format!(
            "{by} asked {who} to release at {}, by a write into {}, and {who} still {doing} at {}, {} later",
            scene.when(asked.since),
            scene.contender(asked.contender),
            scene.when(scene.now()),
            ms(scene.at.saturating_sub(asked.since.at))
        ));
        let (text, layer) = if asked.given.came() {
            let limit = ms(Self::after_reading(view));
            let read = format!(
                "a read gave the request to {who} at {}: it is {who} that should tell its caller, within {limit}",
                scene.when(asked.given)
            );
            (text.because(read), Layer::Safety)
        } else if asked.noticed.came() {
            let limit = ms(Self::after_notice(view));
            let told = format!(
                "{who} was notified at {} that its znode had changed: it is {who} that should read it, and tell its \
                 caller, within {limit}",
                scene.when(asked.noticed)
            );
            (text.because(told), Layer::Liveness)
        } else {
            let limit = ms(view.bound(op.object));
            let none = format!(
                "no notification and no read showed {who} the request; the limit without a fault is {limit}"
            );
            (text.because(none), Layer::Liveness)
        };
        let seen = [asked.since.index, asked.given.index, asked.noticed.index];
        out.fail_in(layer, RuleId::Rv1, scene, op.object, &seen, text);
    }

    /// The time from a read that shows the request to the report: no further request is needed.
    fn after_reading(view: &View) -> u64 {
        view.round_trip / 2 + view.settle
    }

    /// The time from a notification to the report: one more read is needed, on a busy machine in a capture.
    fn after_notice(view: &View) -> u64 {
        4 * view.round_trip + if view.is_sim() { 0 } else { view.settle }
    }

    fn stays(scene: &Scene<'_>, asked: ReleaseRequest, out: &mut Findings) {
        let op = scene.view.op(asked.op);
        let (who, by) = (scene.client(op.client), Self::asker(scene, asked));
        let text = explain(format!(
            "{who} knows since {} that {by} asked it to release, and still waits at {}, {} later",
            scene.when(asked.told),
            scene.when(scene.now()),
            ms(scene.at.saturating_sub(asked.told.at))
        ))
        .because(format!(
            "it is {who} that should delete {}; the limit without a fault is {}",
            scene.contender(asked.contender),
            ms(scene.view.bound(op.object))
        ));
        out.fail(RuleId::Rv3, scene, op.object, &[asked.since.index, asked.told.index], text);
    }

    /// Reports a waiter that was granted after it reported a request to release.
    fn believed(&mut self, scene: &Scene<'_>, id: OpId, out: &mut Findings) {
        let op = scene.view.op(id);
        let Some(asked) = self.of(id).filter(|asked| asked.told.came() && op.granted == op.believed) else {
            return;
        };
        let text = explain(format!(
            "{} was granted the hold at {}, after it had reported to its caller that it is revoked",
            scene.client(op.client),
            scene.when(op.granted)
        ))
        .because(format!("the report was at {}", scene.when(asked.told)));
        out.fail(RuleId::Rv3, scene, op.object, &[asked.since.index, asked.told.index], text);
    }

    /// Notes that a waiter that was asked to release has left.
    fn returned(&mut self, scene: &Scene<'_>, id: OpId) {
        let op = scene.view.op(id);
        if !Self::is_interested(op) {
            self.asked.retain(|asked| asked.op != id);
        }
    }

    /// In a capture, judges the outcome that the asking client reports.
    fn fate(&mut self, scene: &Scene<'_>, asker: OpId, fate: Sym, out: &mut Findings) {
        let view = scene.view;
        if !view.is_sim() && scene.tables.names.get(fate) == Some("asked") {
            let contender = view.contender_of(view.op(asker).given);
            self.ask(scene, contender.unwrap_or(NOBODY), asker, out);
        }
    }
}

impl Rule for RequestHeard {
    const JUDGES: &'static [Property] = &[Property::RequestIsHeard, Property::RevokedWaiterLeaves];
    const HEARS: Kinds = hears![Data, Observed, Notice, Served, Found, Reply, Believe, Return];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if !self.asked.is_empty() {
            self.judge(scene, out);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        match event.what {
            What::Data { .. } if view.asked != NOBODY => self.ask(scene, view.asked, event.op, out),
            What::Observed { seen: Seen::Fate, text, .. } => self.fate(scene, event.op, text, out),
            _ if self.asked.is_empty() => {}
            What::Observed { seen: Seen::Word, .. } => {
                if let Some(asked) = self.of(event.op).filter(|asked| !asked.told.came()) {
                    asked.told = view.now;
                }
            }
            What::Notice { session, kind: Notify::DataChanged, path, .. } => {
                let mine = |asked: &&mut ReleaseRequest| {
                    let own = view.contender(asked.contender);
                    own.is_some_and(|own| own.path == path && own.owner == session)
                };
                if let Some(asked) = self.asked.iter_mut().find(mine).filter(|asked| !asked.noticed.came()) {
                    asked.noticed = view.now;
                }
            }
            What::Served { req, .. } => self.served = req,
            What::Found { read: Request::Get, digest, .. } if is_word(digest) => {
                self.carrying.push(self.served)
            }
            What::Reply { req, .. } if self.carrying.contains(&req) => {
                self.carrying.retain(|carrying| *carrying != req);
                let Some(read) = view.request(req).filter(|read| !read.cleanup) else { return };
                let mine = |asked: &&mut ReleaseRequest| {
                    let own = view.contender(asked.contender);
                    own.is_some_and(|own| own.path == read.path && own.owner == read.session)
                };
                if let Some(asked) = self.asked.iter_mut().find(mine).filter(|asked| !asked.given.came()) {
                    asked.given = view.now;
                }
            }
            What::Believe { .. } => self.believed(scene, event.op, out),
            What::Return { .. } => self.returned(scene, event.op),
            _ => {}
        }
    }
}

/// RV-2: no contender is deleted by force without a request to release, within the grace period, or if force is not
/// allowed.
#[derive(Clone, Default)]
pub(crate) struct Force;

impl Force {
    fn text(scene: &Scene<'_>, gone: &Contender) -> Explanation {
        let object = scene.object(gone.object);
        let text = explain(format!(
            "{} of {} was deleted at {} by {}",
            scene.contender(scene.view.touched),
            scene.actor(gone.op),
            scene.when(gone.deleted),
            scene.actor(gone.by_op)
        ));
        if !object.manner.forced {
            return text.because("this lock does not allow forced revocation");
        }
        if !gone.asked.came() {
            return text.because("no request to release had been written to it");
        }
        let after = gone.deleted.at.saturating_sub(gone.asked.at);
        text.because(format!(
            "the request to release came at {}, {} before, and the grace period is {}",
            scene.when(gone.asked),
            ms(after),
            ms(object.manner.grace)
        ))
    }
}

impl Rule for Force {
    const JUDGES: &'static [Property] = &[Property::ForceAsAllowed];
    const HEARS: Kinds = hears![Deleted, Return];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        // A client that asks without force tests the promise, too.
        if let What::Return { outcome: Outcome::Done, .. } = event.what {
            let op = view.op(event.op);
            if matches!(op.verb, Verb::Ask | Verb::Force) && is_revocable(scene, op.object) {
                out.premise(RuleId::Rv2, op.object);
            }
            return;
        }
        let Some(gone) = view.contender(view.touched) else { return };
        let by_owner = gone.by == gone.owner || gone.by == gone.creator || gone.by_foreign;
        if by_owner || !view.is_revoker(gone, gone.by_op) {
            return;
        }
        out.premise(RuleId::Rv2, gone.object);
        if !gone.by_force {
            let text = Self::text(scene, gone);
            out.fail(RuleId::Rv2, scene, gone.object, &[gone.created, gone.asked.index], text);
        }
    }
}

/// RV-4: a request to release does not make another waiter take the hold.
#[derive(Clone, Default)]
pub(crate) struct NoGrant {
    /// Clients that were notified of a change of another contender's data: the contender, and the time.
    woken: Vec<(OpId, Sym, Moment)>,
}

impl NoGrant {
    /// Notes a session's waiting operations when it is notified of another contender's change.
    fn noticed(&mut self, view: &View, session: Session, path: Sym) {
        let Some(number) = view.contender_of(path) else { return };
        let Some(changed) = view.contender(number) else { return };
        let Some(client) = view.session(session).client else { return };
        for id in &view.client(client).open {
            let op = view.op(*id);
            if op.is_waiting() && op.object == changed.object && changed.op != *id {
                self.woken.retain(|(woken, ..)| woken != id);
                self.woken.push((*id, path, view.now));
            }
        }
    }
}

impl Rule for NoGrant {
    const JUDGES: &'static [Property] = &[Property::RequestIsNoGrant];
    const HEARS: Kinds = hears![Data, Notice, Believe];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        match event.what {
            What::Data { .. } => {
                let Some(asked) = view.contender(view.asked) else { return };
                let others = &view.contest(asked.object).waiting;
                if others.iter().any(|id| *id != asked.op) && is_revocable(scene, asked.object) {
                    out.premise(RuleId::Rv4, asked.object);
                }
            }
            What::Notice { session, kind: Notify::DataChanged, path, .. } => {
                self.noticed(view, session, path)
            }
            What::Believe { object, .. } if !self.woken.is_empty() => {
                let op = view.op(event.op);
                let of = self.woken.iter().find(|(woken, ..)| *woken == event.op).copied();
                self.woken
                    .retain(|(woken, ..)| *woken != event.op && matches!(view.op(*woken).phase, Phase::Open));
                let Some((_, path, at)) = of else { return };
                let looked = op.list.is_some_and(|list| list.sent.index > at.index);
                // Or it has listed the contenders, and took a live one for deleted.
                let own = view.contender(op.own);
                let changed = view.contender_of(path).and_then(|number| view.contender(number));
                let passed = own.zip(changed).is_some_and(|(own, changed)| {
                    changed.stands_before(own) && op.list.is_some_and(|list| changed.is_in(list.zxid))
                });
                let is_it = !looked || passed;
                if !is_it || !is_revocable(scene, object) || view.justify(event.op).is_ok() {
                    return;
                }
                let text = explain(format!(
                    "{} was granted the hold at {}, with {}",
                    scene.client(op.client),
                    scene.when(op.granted),
                    scene.contender(op.own)
                ))
                .because(format!(
                    "at {} it was notified that {} has changed",
                    scene.when(at),
                    scene.znode(path)
                ))
                .because("that contender was asked to release, and its znode still exists");
                out.fail(RuleId::Rv4, scene, object, &[at.index], text);
            }
            _ => {}
        }
    }
}
