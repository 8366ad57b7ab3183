//! Liveness after the last fault: MX-8 (LE-5 of elections), and RW-4 for readers among readers.
//!
//! An operation whose time limit ends before the bound is no evidence: no delay of it could break the rule.

use crate::rule::prelude::*;
use crate::view::Contest;

/// MX-8: after the heal, no operation waits longer than the bound for an object that is free.
#[derive(Clone, Default)]
pub(crate) struct Progress {
    /// Reported standstills: the object, and the begin.
    reported: Vec<(ObjectId, u64)>,
    /// Reported readers.
    readers: Vec<OpId>,
    /// By object with permits: the time since which a waiter could be granted.
    grantable: Vec<Option<u64>>,
}

impl Progress {
    /// RW-4: a reader is granted if there is no writer, whatever other readers do.
    fn readers(&mut self, scene: &Scene<'_>, object: ObjectId, out: &mut Findings) {
        let view = scene.view;
        let contest = view.contest(object);
        let holds = |id: &OpId| view.op(*id).object == object && view.op(*id).share == Share::Exclusive;
        let writers = view.clients.iter().flat_map(|client| &client.holds).any(holds);
        if writers || contest.waiting.iter().any(holds) {
            return;
        }
        for id in &contest.waiting {
            let op = view.op(*id);
            let client = view.client(op.client);
            let session = view.session(client.session);
            let connected = session.connected.at_or_start();
            let since = op.called.at.max(contest.last_writer).max(view.calm_since).max(connected);
            let bound = view.bound(object);
            let away = client.is_paused() || session.is_suspended || session.is_over();
            if away || scene.at <= since.saturating_add(bound) || self.readers.contains(id) {
                continue;
            }
            self.readers.push(*id);
            let text = explain(format!(
                "{} called for a read hold at {}, and still waits at {}",
                scene.client(op.client),
                scene.when(op.called),
                scene.when(scene.now())
            ))
            .because(format!(
                "for {} there was no writer that it had to wait for; the limit is {}",
                ms(scene.at - since),
                ms(bound)
            ));
            out.fail_in(Layer::Liveness, RuleId::Rw4, scene, object, &[op.called.index], text);
        }
    }
}

/// The time since which a free object has not been granted although an operation waits.
fn standstill(scene: &Scene<'_>, contest: &Contest, grantable: Option<u64>) -> Option<u64> {
    let stands = scene.view.healed && contest.held == 0 && !contest.waiting.is_empty();
    let since = stands.then_some(contest.unheld_since);
    since.into_iter().chain(grantable).min().map(|since| since.max(scene.view.calm_since))
}

/// Whether somebody waits in line who has nobody ahead, and enough permits are free.
fn is_grantable(scene: &Scene<'_>, contest: &Contest) -> bool {
    contest.protocol.has_permits()
        && contest.waiting.iter().any(|op| {
            let own = scene.view.contender(scene.view.op(*op).node).filter(|own| own.is_alive());
            own.is_some_and(|own| scene.view.ahead_now(own).is_none())
        })
}

impl Rule for Progress {
    const JUDGES: &'static [Property] = &[Property::Progress, Property::ReadersTogether];
    const HEARS: Kinds = hears![Heal, Call];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        let view = scene.view;
        if !view.healed {
            return;
        }
        for (at, contest) in view.contests.iter().enumerate() {
            let object = ObjectId(at as u16);
            if contest.protocol.has_readers() && !contest.waiting.is_empty() {
                self.readers(scene, object, out);
            }
            let grantable = slot(&mut self.grantable, at);
            let last = view.now.at;
            *grantable = is_grantable(scene, contest).then(|| grantable.unwrap_or(last));
            let grantable = *grantable;
            let Some(since) = standstill(scene, contest, grantable) else { continue };
            let bound = view.bound(object);
            if scene.at <= since.saturating_add(bound) || self.reported.contains(&(object, since)) {
                continue;
            }
            self.reported.push((object, since));
            let first = view.op(contest.waiting[0]);
            let now = scene.when(scene.now());
            let roles = &scene.kind(object).recipe().roles;
            let missed = match grantable {
                Some(_) => "enough permits had been free".to_owned(),
                None => format!("there had been no {}", roles.holder),
            };
            let mut text = explain(format!(
                "{} waits to {} since {}; at {now} {missed} for {}, and the limit is {}",
                scene.client(first.client),
                roles.holds,
                scene.when(first.called),
                ms(scene.at - since),
                ms(bound)
            ));
            if let Some(number) = contest.first() {
                let of = view.contender(number).map_or("?".to_owned(), |first| scene.actor(first.op));
                text = text.because(format!(
                    "{} of {of} is the first {}: it is {of} that should {}",
                    scene.contender(number),
                    roles.contender,
                    roles.holds
                ));
            }
            out.fail(scene.rule(Property::Progress, object), scene, object, &[first.called.index], text);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        match event.what {
            What::Heal => {
                for (at, contest) in scene.view.contests.iter().enumerate() {
                    let object = ObjectId(at as u16);
                    let rule = scene.rule(Property::Progress, object);
                    let can_be = contest.waiting.iter().filter(|op| scene.view.can_be_overdue(**op));
                    can_be.for_each(|_| out.premise(rule, object));
                }
            }
            What::Call { object, verb, .. }
                if verb.asks_for().is_some() && scene.view.healed && scene.view.can_be_overdue(event.op) =>
            {
                out.premise(scene.rule(Property::Progress, object), object);
                let shared = scene.view.protocol(object).has_readers();
                if shared && verb.asks_for() == Some(Share::Shared) {
                    out.premise(RuleId::Rw4, object);
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        for (at, contest) in scene.view.contests.iter().enumerate() {
            let settled = scene.view.quiet && contest.held > 0;
            if !contest.waiting.is_empty() && !settled {
                let object = ObjectId(at as u16);
                out.unknown(scene.rule(Property::Progress, object), object);
            }
        }
    }
}
