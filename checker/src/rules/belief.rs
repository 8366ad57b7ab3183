//! Who believes to hold: MX-2, MX-3 and MX-14.

use super::{Kinds, Rule, hears};
use crate::history::{Event, ObjectId, OpId, Outcome, Verb, What};
use crate::sink::{Found, Scene, Sink, Story, ms};
use crate::verdict::{RuleId, Verdict};
use crate::view::{Hold, Moment, Phase, StopWhy};

/// Why a holder had to stop, as one says it.
fn had_to_stop(why: StopWhy) -> &'static str {
    match why {
        StopWhy::SessionOver => "its session was over, and it knew",
        StopWhy::ZnodeGone => "it was told that its znode was gone",
        StopWhy::Disconnected => "it was disconnected, and is declared to stop then",
        StopWhy::Deadline => "its deadline passed while it was disconnected",
        StopWhy::OwnDelete => "it had sent the delete of its own znode",
        StopWhy::EndOfPause => "its pause was over, and so was its time",
    }
}

/// MX-2: two beliefs at once are excused by a named cause only, and for its window only.
#[derive(Default)]
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

enum Cause {
    /// The first holder's process stood still.
    Pause(Moment),
    /// A third party deleted its znode.
    Stranger(Moment),
    /// It was answered after the leader had last heard of it.
    Unheard(Moment),
    /// What it sent may not have reached the leader: a server on the way was cut off, stood still, or died.
    CutOff(Moment),
    /// Its clock runs fast or slow.
    Clock(Moment),
}

impl Guarded {
    /// What may excuse the first holder for believing at the begin of the overlap.
    fn cause(scene: &Scene<'_>, pair: Overlap) -> Option<Cause> {
        let view = scene.view;
        let op = view.op(pair.first);
        let client = view.client(op.client);
        if client.is_paused() {
            return Some(Cause::Pause(client.paused));
        }
        let (begin, end) = client.last_pause;
        let covers = begin.came() && begin.at <= pair.since.at && pair.since.at <= end.at + view.settle;
        // It had to stop when the pause was over.
        if covers && scene.at <= end.at + view.settle {
            return Some(Cause::Pause(begin));
        }
        if let Some(own) = view.contender(op.own).filter(|own| own.by_stranger) {
            return Some(Cause::Stranger(own.deleted));
        }
        if !view.is_sim() && view.foreign_due > 0 {
            return Some(Cause::Stranger(pair.since));
        }
        let session = view.session(op.session);
        let unheard = session.marked.came() && session.answered_sent > session.heard;
        if unheard {
            return Some(Cause::Unheard(session.marked));
        }
        if session.marked.came() && view.may_be_unheard(op.session) {
            return Some(Cause::CutOff(session.marked));
        }
        client.drifts.came().then_some(Cause::Clock(client.drifts))
    }

    /// Somebody believes, and now somebody else does too.
    fn judge(&mut self, scene: &Scene<'_>, before: OpId, now: OpId, sink: &mut Sink) {
        let view = scene.view;
        let since = Moment { at: scene.at, index: scene.index };
        // A grant may reach its client late, when the next in line has long been granted.
        let czxid = |op| view.contender(view.op(op).own).map(|own| own.czxid);
        let late = czxid(now).is_some() && czxid(now) < czxid(before);
        let (first, second) = if late { (now, before) } else { (before, now) };
        let pair = Overlap { first, second, since };
        let new = view.op(now);
        if new.granted == new.believed && view.justify(new).is_err() {
            let story = Self::story(scene, pair)
                .not_excused(format!("{} had no right to be granted it", scene.client(new.client)));
            return Self::fail(scene, pair, sink, story);
        }
        if scene.at > view.last_belief(pair.first) && !view.client(view.op(pair.first).client).is_paused() {
            return Self::kept(scene, pair, sink);
        }
        match Self::cause(scene, pair) {
            Some(_) => self.open.push(pair),
            None => Self::unexplained(scene, pair, sink),
        }
    }

    fn story(scene: &Scene<'_>, pair: Overlap) -> Story {
        let (first, second) = (scene.view.op(pair.first), scene.view.op(pair.second));
        let story = Story::new(format!(
            "{} held it (token {:#x}) since {}, {} (token {:#x}) since {}: both at once",
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
                let how = match own.by_stranger {
                    true => "a stranger deleted it".to_owned(),
                    false if marked.came() => {
                        format!("the leader expired its session at {}", scene.when(marked))
                    }
                    false => format!("{} ended it", scene.session(own.by)),
                };
                story.because(format!(
                    "{} went at {}: {how}",
                    scene.place(first.own),
                    scene.when(own.deleted)
                ))
            }
            Some(_) => story.because(format!("{} was still there", scene.place(first.own))),
            None => story,
        }
    }

    fn seen(scene: &Scene<'_>, pair: Overlap) -> [u32; 2] {
        [scene.view.op(pair.first).believed.index, pair.since.index]
    }

    fn fail(scene: &Scene<'_>, pair: Overlap, sink: &mut Sink, story: Story) {
        let object = scene.view.op(pair.first).object;
        sink.fail(RuleId::Mx2, scene, object, &Self::seen(scene, pair), story);
    }

    fn kept(scene: &Scene<'_>, pair: Overlap, sink: &mut Sink) {
        let first = scene.view.op(pair.first);
        let (_, why, index) = first.stop.instant();
        let story = Self::story(scene, pair)
            .because(format!(
                "e{index}: {} had to stop, for {}",
                scene.client(first.client),
                had_to_stop(why)
            ))
            .not_excused("its belief lasted longer");
        Self::fail(scene, pair, sink, story);
    }

    fn unexplained(scene: &Scene<'_>, pair: Overlap, sink: &mut Sink) {
        let client = scene.party(pair.first);
        let story = Self::story(scene, pair)
            .not_excused(format!("{client} was not standing still, and no stranger had deleted its znode"));
        Self::fail(scene, pair, sink, story);
    }

    /// The overlap is over (or the history is).
    fn close(scene: &Scene<'_>, pair: Overlap, sink: &mut Sink) {
        let window = scene.at.saturating_sub(pair.since.at);
        let client = scene.party(pair.first);
        let (why, index) = match Self::cause(scene, pair) {
            None => return Self::unexplained(scene, pair, sink),
            Some(Cause::Pause(begin)) => {
                (format!("{client} stood still since {}", scene.when(begin)), begin.index)
            }
            Some(Cause::Stranger(gone)) => {
                (format!("a stranger deleted its znode at {}", scene.when(gone)), gone.index)
            }
            Some(Cause::CutOff(marked)) => {
                let when = scene.when(marked);
                (
                    format!("a server between {client} and the leader was in trouble before {when}"),
                    marked.index,
                )
            }
            Some(Cause::Clock(since)) => {
                (format!("the clock of {client} drifts since {}", scene.when(since)), since.index)
            }
            Some(Cause::Unheard(marked)) => {
                let when = scene.when(marked);
                (
                    format!("{client} was answered after the leader last heard of it, before {when}"),
                    marked.index,
                )
            }
        };
        sink.metrics.zombies += 1;
        sink.metrics.longest_zombie = sink.metrics.longest_zombie.max(window);
        let story = Self::story(scene, pair).excused(format!("{why}; {} together", ms(window)));
        let [a, b] = Self::seen(scene, pair);
        let found = Found {
            rule: RuleId::Mx2,
            verdict: Verdict::Inherent,
            layer: RuleId::Mx2.layer(),
            at: pair.since.index,
        };
        sink.find(found, scene, Some(scene.view.op(pair.first).object), &[a, b, index], story);
    }
}

impl Rule for Guarded {
    const ID: RuleId = RuleId::Mx2;
    const HEARS: Kinds = hears::Believe | hears::Unbelieve | hears::Call | hears::Crash;

    fn pass_time(&mut self, scene: &Scene<'_>, sink: &mut Sink) {
        self.open.retain(|pair| {
            let paused = scene.view.client(scene.view.op(pair.first).client).is_paused();
            let kept = scene.at > scene.view.last_belief(pair.first) && !paused;
            if kept {
                Self::kept(scene, *pair, sink);
            }
            !kept
        });
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        let view = scene.view;
        if let What::Believe { object, .. } = event.what {
            sink.premise(Self::ID, object);
            for first in &view.believers {
                if *first != event.op && view.op(*first).object == object {
                    self.judge(scene, *first, event.op, sink);
                }
            }
        } else {
            self.open.retain(|pair| {
                let both = [pair.first, pair.second].iter().all(|op| view.op(*op).hold == Hold::Believed);
                if !both {
                    Self::close(scene, *pair, sink);
                }
                both
            });
        }
    }

    fn finish(&mut self, scene: &Scene<'_>, sink: &mut Sink) {
        self.open.drain(..).for_each(|pair| Self::close(scene, pair, sink));
    }
}

/// MX-3: in a run where nothing can excuse it, cores do not overlap. A core begins with the belief, or with the return of
/// the acquire if no belief is told, and ends with the end of belief or the call of the release.
#[derive(Default)]
pub(crate) struct Raw {
    cores: Vec<Core>,
}

#[derive(Clone, Copy)]
struct Core {
    op: OpId,
    object: ObjectId,
    since: Moment,
    believed: bool,
}

impl Raw {
    fn begin(&mut self, scene: &Scene<'_>, op: OpId, object: ObjectId, believed: bool, sink: &mut Sink) {
        let since = Moment { at: scene.at, index: scene.index };
        if !scene.view.excusable {
            sink.premise(RuleId::Mx3, object);
            for held in self.cores.iter().filter(|core| core.object == object) {
                let story = Story::new(format!(
                    "{} held it since {}; {} held it too, since {}",
                    scene.party(held.op),
                    scene.when(held.since),
                    scene.party(op),
                    scene.when(since)
                ))
                .not_excused("no session expired, nobody stood still, no stranger deleted anything");
                sink.fail(RuleId::Mx3, scene, object, &[held.since.index], story);
            }
        }
        self.cores.push(Core { op, object, since, believed });
    }
}

impl Rule for Raw {
    const ID: RuleId = RuleId::Mx3;
    const HEARS: Kinds = hears::Believe | hears::Unbelieve | hears::Call | hears::Return | hears::Crash;

    fn event(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        let view = scene.view;
        match event.what {
            What::Believe { object, .. } => {
                self.cores.retain(|core| core.op != event.op);
                self.begin(scene, event.op, object, true, sink);
            }
            What::Return { outcome: Outcome::Done } => {
                let op = view.op(event.op);
                if op.is_acquire() && op.hold == Hold::None {
                    self.begin(scene, event.op, op.object, false, sink);
                }
            }
            _ => {
                let releases = match event.what {
                    What::Call { object, verb: Verb::Release, .. } => Some((event.who, object)),
                    _ => None,
                };
                self.cores.retain(|core| {
                    let op = view.op(core.op);
                    let who = crate::history::Who::Client(op.client);
                    let alive = !view.client(op.client).is_dead();
                    let on = if core.believed { op.hold == Hold::Believed } else { alive };
                    on && (core.believed || releases != Some((who, core.object)))
                });
            }
        }
    }
}

/// MX-14: a holder stops when it must, also if nobody else came.
#[derive(Default)]
pub(crate) struct InTime {
    /// Beliefs that were found too long, by the event of their begin.
    told: Vec<u32>,
}

impl Rule for InTime {
    const ID: RuleId = RuleId::Mx14;
    const HEARS: Kinds = hears::Unbelieve | hears::Call;

    fn pass_time(&mut self, scene: &Scene<'_>, sink: &mut Sink) {
        let view = scene.view;
        for id in &view.believers {
            let op = view.op(*id);
            if scene.at <= view.last_belief(*id) || view.client(op.client).is_paused() {
                continue;
            }
            if self.told.contains(&op.believed.index) {
                continue;
            }
            self.told.push(op.believed.index);
            let (at, why, index) = op.stop.instant();
            let stop = Moment { at, index };
            let story = Story::new(format!(
                "{} believed to hold it (token {:#x}) since {}, and still did at {}",
                scene.client(op.client),
                op.token,
                scene.when(op.believed),
                scene.when(Moment { at: scene.at, index: scene.index })
            ))
            .because(format!("{} it had to stop: {}", scene.when(stop), had_to_stop(why)))
            .not_excused("it was not standing still");
            sink.fail(Self::ID, scene, op.object, &[op.believed.index, index], story);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        let view = scene.view;
        let id = match event.what {
            What::Call { .. } => view.op(event.op).partner,
            _ => event.op,
        };
        let op = view.op(id);
        if op.phase == Phase::Unborn || op.unbelieved.index != scene.index {
            return;
        }
        if op.stop.instant().0 == u64::MAX {
            return;
        }
        sink.premise(Self::ID, op.object);
        if op.stop.moved && !self.told.contains(&op.believed.index) {
            let (begin, end) = view.client(op.client).last_pause;
            let story = Story::new(format!(
                "{} believed to hold it (token {:#x}) from {} to {}, longer than it may",
                scene.client(op.client),
                op.token,
                scene.when(op.believed),
                scene.when(op.unbelieved)
            ))
            .excused(format!(
                "it stood still from {} to {}",
                scene.when(begin),
                scene.when(end)
            ));
            let found = Found {
                rule: Self::ID,
                verdict: Verdict::Inherent,
                layer: Self::ID.layer(),
                at: scene.index,
            };
            sink.find(found, scene, Some(op.object), &[op.believed.index, begin.index, end.index], story);
        }
    }
}
