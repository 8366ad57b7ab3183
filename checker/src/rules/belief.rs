//! Overlapping beliefs: MX-2 and MX-3 (RW-1 of shared locks, LE-1 of elections).

use super::in_time::had_to_stop;
use crate::rule::prelude::*;
use crate::view::{Hold, Moment, View, conflict};

/// MX-2: only a named cause excuses two simultaneous beliefs, and only within its window.
#[derive(Clone, Default)]
pub(crate) struct Guarded {
    /// Overlaps that may be excused.
    open: Vec<Overlap>,
}

#[derive(Clone, Copy)]
struct Overlap {
    first: OpId,
    second: OpId,
    since: Moment,
}

#[derive(Clone)]
enum Cause {
    /// The first holder's process was paused.
    Pause(Moment),
    /// A foreign client deleted its znode.
    Foreign(Moment),
    /// Another client deleted its znode by force.
    Force(Moment),
    /// A reply reached it after the leader's last touch from it.
    Unheard(Moment),
    /// Its touches may not have reached the leader: a server on the way was cut off, paused, or killed.
    CutOff(Moment),
    /// Its clock runs fast or slow.
    Clock(Moment),
    /// Its session has ended, and it has not learned of that yet.
    Ended(Moment),
}

impl Guarded {
    /// The cause that may excuse the first holder's belief at the begin of the overlap.
    fn cause(scene: &Scene<'_>, pair: Overlap) -> Option<Cause> {
        let view = scene.view;
        let op = view.op(pair.first);
        let client = view.client(op.client);
        if client.is_paused() {
            return Some(Cause::Pause(client.paused));
        }
        let (begin, end) = client.last_pause;
        let covers = begin.came() && begin.at <= pair.since.at && pair.since.at <= end.at + view.settle;
        // It had to stop at the end of the pause.
        if covers && scene.at <= end.at + view.settle {
            return Some(Cause::Pause(begin));
        }
        // If holders watch their znodes, the excuse ends when the notification is delivered.
        let own = view.standing(pair.first).filter(|own| own.by_foreign || own.by_force);
        let owns = scene.view.protocol(op.object).watches_own;
        if let Some(own) =
            own.filter(|_| !owns || op.hold != Hold::Believed || view.is_told_of_loss(pair.first))
        {
            let gone = own.deleted;
            return Some(if own.by_force { Cause::Force(gone) } else { Cause::Foreign(gone) });
        }
        if !view.is_sim() && view.foreign_due > 0 {
            return Some(Cause::Foreign(pair.since));
        }
        let session = view.session(op.session);
        let unheard = session.marked.came() && session.answered_sent > session.heard;
        if unheard {
            return Some(Cause::Unheard(session.marked));
        }
        if session.marked.came() && session.may_be_unheard {
            return Some(Cause::CutOff(session.marked));
        }
        if client.drifts.came() {
            return Some(Cause::Clock(client.drifts));
        }
        // For this project's clients the evidence is more exact: the served lists and the session states.
        let is_reported = scene.object(op.object).manner.reported;
        (is_reported && session.ended.came()).then_some(Cause::Ended(session.ended))
    }

    /// Compares a new belief with those of the other holders.
    fn judge(&mut self, scene: &Scene<'_>, before: OpId, now: OpId, out: &mut Findings) {
        let view = scene.view;
        let since = scene.now();
        // A grant may reach its client late, after the next contender was granted.
        let rank =
            |op| view.contender(view.op(op).own).map(|own| if own.is_held { own.czxid } else { own.stamp });
        let late = rank(now).is_some() && rank(now) < rank(before);
        let (first, second) = if late { (now, before) } else { (before, now) };
        let pair = Overlap { first, second, since };
        let new = view.op(now);
        // The basis of a foreign program's grant is unknown.
        let is_known = !scene.object(new.object).manner.reported;
        if is_known && new.granted == new.believed && scene.justify(now).is_err() {
            if Self::only_counts(scene, pair, out) {
                return;
            }
            let text = Self::text(scene, pair)
                .not_excused(format!("the grant to {} was not justified", scene.client(new.client)));
            return Self::fail(scene, pair, out, text);
        }
        if scene.at > view.last_belief(pair.first) && !view.client(view.op(pair.first).client).is_paused() {
            // A client that waits for the reply to a downgrade does not act.
            if view.is_downgrading(pair.first) {
                return;
            }
            return Self::kept(scene, pair, out);
        }
        match Self::cause(scene, pair) {
            Some(_) => self.open.push(pair),
            None => Self::unexplained(scene, pair, out),
        }
    }

    fn text(scene: &Scene<'_>, pair: Overlap) -> Explanation {
        let (first, second) = (scene.view.op(pair.first), scene.view.op(pair.second));
        let text = explain(format!(
            "{} held (token {:#x}) since {}, and {} (token {:#x}) since {}: two holders at once",
            scene.client(first.client),
            first.token,
            scene.when(first.believed),
            scene.client(second.client),
            second.token,
            scene.when(second.believed),
        ));
        match scene.view.contender(first.own) {
            Some(own) if !own.is_alive() => {
                let marked = scene.view.session(first.session).marked;
                let how = if own.by_foreign {
                    "a foreign client deleted it".to_owned()
                } else if marked.came() {
                    format!("the leader expired its session at {}", scene.when(marked))
                } else {
                    format!("{} ended it", scene.session(own.by))
                };
                text.because(format!(
                    "{} was deleted at {}: {how}",
                    scene.contender(first.own),
                    scene.when(own.deleted)
                ))
            }
            // A capture does not show deletions.
            Some(_) if scene.view.is_sim() => {
                text.because(format!("{} still existed", scene.contender(first.own)))
            }
            _ => text,
        }
    }

    fn seen(scene: &Scene<'_>, pair: Overlap) -> [u32; 2] {
        [scene.view.op(pair.first).believed.index, pair.since.index]
    }

    fn only_counts(scene: &Scene<'_>, pair: Overlap, out: &mut Findings) -> bool {
        let object = scene.view.op(pair.first).object;
        out.only_counts(scene.rule(Property::Exclusion, object), object)
    }

    fn fail(scene: &Scene<'_>, pair: Overlap, out: &mut Findings, text: Explanation) {
        let object = scene.view.op(pair.first).object;
        out.fail(scene.rule(Property::Exclusion, object), scene, object, &Self::seen(scene, pair), text);
    }

    fn kept(scene: &Scene<'_>, pair: Overlap, out: &mut Findings) {
        if Self::only_counts(scene, pair, out) {
            return;
        }
        let first = scene.view.op(pair.first);
        let (_, why, index) = first.stop.instant();
        let text = Self::text(scene, pair)
            .because(format!("e{index}: {} had to stop: {}", scene.client(first.client), had_to_stop(why)))
            .not_excused("its belief lasted longer");
        Self::fail(scene, pair, out, text);
    }

    fn unexplained(scene: &Scene<'_>, pair: Overlap, out: &mut Findings) {
        if Self::only_counts(scene, pair, out) {
            return;
        }
        let (client, first) = (scene.actor(pair.first), scene.view.op(pair.first));
        let why = if scene.object(first.object).manner.reported {
            format!("the session of {client} was alive")
        } else {
            format!("{client} was not paused, and no foreign client had deleted its znode")
        };
        let text = Self::text(scene, pair).not_excused(why);
        Self::fail(scene, pair, out, text);
    }

    /// Judges an overlap that is over, or unfinished at the end of the history.
    fn close(scene: &Scene<'_>, pair: Overlap, out: &mut Findings) {
        let window = scene.at.saturating_sub(pair.since.at);
        let client = scene.actor(pair.first);
        let (why, index) = match Self::cause(scene, pair) {
            None => return Self::unexplained(scene, pair, out),
            Some(Cause::Pause(begin)) => {
                (format!("{client} was paused since {}", scene.when(begin)), begin.index)
            }
            Some(Cause::Foreign(gone)) => {
                (format!("a foreign client deleted its znode at {}", scene.when(gone)), gone.index)
            }
            Some(Cause::Force(gone)) => {
                (format!("{client} was forced out at {}", scene.when(gone)), gone.index)
            }
            Some(Cause::CutOff(marked)) => {
                let when = scene.when(marked);
                (
                    format!("before {when}, a fault affected a server between {client} and the leader"),
                    marked.index,
                )
            }
            Some(Cause::Ended(ended)) => (
                format!("its session ended at {}, and {client} was not told yet", scene.when(ended)),
                ended.index,
            ),
            Some(Cause::Clock(since)) => {
                (format!("the clock of {client} drifts since {}", scene.when(since)), since.index)
            }
            Some(Cause::Unheard(marked)) => {
                let when = scene.when(marked);
                (
                    format!(
                        "{client} received a reply after the last contact that the leader knew of, before {when}"
                    ),
                    marked.index,
                )
            }
        };
        out.metrics.zombies += 1;
        out.metrics.longest_zombie = out.metrics.longest_zombie.max(window);
        let text = Self::text(scene, pair).excused(format!("{why}; the holds overlapped for {}", ms(window)));
        let [a, b] = Self::seen(scene, pair);
        let object = scene.view.op(pair.first).object;
        let rule = scene.rule(Property::Exclusion, object);
        out.find(Ruling::unavoidable(rule, pair.since.index), scene, Some(object), &[a, b, index], text);
    }
}

impl Rule for Guarded {
    const JUDGES: &'static [Property] = &[Property::Exclusion];
    const HEARS: Kinds = hears![Believe, Unbelieve, Call, Crash];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        self.open.retain(|pair| {
            let paused = scene.view.client(scene.view.op(pair.first).client).is_paused();
            let kept = scene.at > scene.view.last_belief(pair.first) && !paused;
            if kept && !scene.view.is_downgrading(pair.first) {
                Self::kept(scene, *pair, out);
            }
            !kept
        });
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        if let What::Believe { object, .. } = event.what {
            if !Property::Exclusion.is_about(scene.kind(object)) {
                return;
            }
            out.premise(scene.rule(Property::Exclusion, object), object);
            let share = view.op(event.op).share;
            for first in &view.contest(object).believers {
                let other = view.op(*first);
                if *first != event.op && conflict(share, other.share) {
                    self.judge(scene, *first, event.op, out);
                }
            }
        } else {
            self.open.retain(|pair| {
                let both = [pair.first, pair.second].iter().all(|op| view.op(*op).hold == Hold::Believed);
                if !both {
                    Self::close(scene, *pair, out);
                }
                both
            });
        }
    }

    fn finish(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        self.open.drain(..).for_each(|pair| Self::close(scene, pair, out));
    }
}

/// MX-3: in a run without possible excuses, cores do not overlap. A core begins with the belief, or with the return of
/// the acquire if no belief is recorded, and ends with the end of belief or the call of the release. If one rule covers
/// both forms of exclusion, the other form judges beliefs.
#[derive(Clone, Default)]
pub(crate) struct Raw {
    /// By object. A core that is over is dropped when the next one begins.
    cores: Vec<Vec<Core>>,
    /// Acquires that have just returned: a belief may follow.
    returned: Option<(OpId, Moment)>,
}

#[derive(Clone, Copy)]
struct Core {
    op: OpId,
    since: Moment,
    believed: bool,
}

impl Core {
    fn lasts(&self, view: &View) -> bool {
        let op = view.op(self.op);
        if self.believed { op.hold == Hold::Believed } else { !view.client(op.client).is_dead() }
    }
}

impl Raw {
    fn of(&mut self, object: ObjectId) -> &mut Vec<Core> {
        slot(&mut self.cores, usize::from(object.0))
    }

    fn begin(&mut self, scene: &Scene<'_>, op: OpId, since: Moment, believed: bool, out: &mut Findings) {
        let view = scene.view;
        let (object, share) = (view.op(op).object, view.op(op).share);
        if !Property::RawExclusion.is_about(scene.kind(object)) {
            return;
        }
        let rule = scene.rule(Property::RawExclusion, object);
        let by_belief = rule == scene.rule(Property::Exclusion, object);
        let cores = self.of(object);
        cores.retain(|core| core.op != op && core.lasts(view));
        if !view.excusable {
            out.premise(rule, object);
            for held in &*cores {
                let harmless = !conflict(share, view.op(held.op).share);
                if harmless || by_belief && believed && held.believed || out.only_counts(rule, object) {
                    continue;
                }
                let text = explain(format!(
                    "{} held since {}, and {} since {}: two holders at once",
                    scene.actor(held.op),
                    scene.when(held.since),
                    scene.actor(op),
                    scene.when(since)
                ))
                .not_excused("no session expired, no client was paused, no foreign client deleted a znode");
                out.find(Ruling::fail(rule, since.index), scene, Some(object), &[held.since.index], text);
            }
        }
        cores.push(Core { op, since, believed });
    }

    /// Begins a core with a return that no belief followed.
    fn settle(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if let Some((op, since)) = self.returned.take() {
            self.begin(scene, op, since, false, out);
        }
    }
}

impl Rule for Raw {
    const JUDGES: &'static [Property] = &[Property::RawExclusion];
    const HEARS: Kinds = hears![Believe, Call, Return];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        self.settle(scene, out);
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        let now = scene.now();
        if matches!(event.what, What::Believe { .. }) {
            self.returned = self.returned.filter(|(op, _)| *op != event.op);
        }
        self.settle(scene, out);
        match event.what {
            What::Believe { .. } => self.begin(scene, event.op, now, true, out),
            What::Return { outcome: Outcome::Done, .. } => {
                let op = view.op(event.op);
                if op.is_acquire() && op.hold == Hold::None {
                    self.returned = Some((event.op, now));
                }
            }
            What::Call { object, verb: Verb::Release, .. } => {
                let is_own = |core: &Core| Who::Client(view.op(core.op).client) == event.who;
                self.of(object).retain(|core| core.believed || !is_own(core));
            }
            _ => {}
        }
    }

    fn finish(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        self.settle(scene, out);
    }
}
