//! Znodes and watches that must not be: MX-9, MX-10, MX-11 and MX-12.

use super::{Kinds, Rule, hears};
use crate::history::{Event, ObjectId, OpId, Outcome, Session, Verb, What, Why};
use crate::sink::{Found, Scene, Sink, Story, ms};
use crate::verdict::{Layer, RuleId, Verdict};
use crate::view::{Contender, Moment, Phase};

/// The contender that the event created or deleted.
fn touched<'a>(scene: &Scene<'a>) -> Option<&'a Contender> {
    scene.view.contender(scene.view.touched)
}

/// MX-9: an acquire has at most one live znode.
#[derive(Default)]
pub(crate) struct OneZnode;

impl Rule for OneZnode {
    const ID: RuleId = RuleId::Mx9;
    const HEARS: Kinds = hears::Created;

    fn event(&mut self, scene: &Scene<'_>, _: &Event, sink: &mut Sink) {
        let Some(new) = touched(scene) else { return };
        sink.premise(Self::ID, new.object);
        let view = scene.view;
        if view.op(new.op).live < 2 {
            return;
        }
        let line = view.line(new.object);
        let mut others = line.contenders.iter().filter_map(|number| {
            let other = view.contender(*number)?;
            (other.op == new.op && other.is_alive() && other.czxid != new.czxid).then_some((*number, other))
        });
        let Some((number, other)) = others.next() else { return };
        let story = Story::new(format!(
            "the acquire of {} made a second znode, {}, at {}",
            scene.party(new.op),
            scene.place(scene.view.touched),
            scene.when(view.now)
        ))
        .because(format!(
            "e{}: it had made {}, which is still there",
            other.created,
            scene.place(number)
        ));
        sink.fail(Self::ID, scene, new.object, &[other.created], story);
    }
}

/// MX-10: a znode in line goes by its own session, with it, or by a fault.
#[derive(Default)]
pub(crate) struct WhoDeletes;

impl Rule for WhoDeletes {
    const ID: RuleId = RuleId::Mx10;
    const HEARS: Kinds = hears::Deleted;

    fn event(&mut self, scene: &Scene<'_>, _: &Event, sink: &mut Sink) {
        let Some(gone) = touched(scene) else { return };
        sink.premise(Self::ID, gone.object);
        if gone.by == gone.owner || gone.by == gone.creator || gone.by_stranger {
            return;
        }
        let by = match scene.view.session(gone.by).client {
            Some(client) => format!("{} ({})", scene.client(client), scene.session(gone.by)),
            None => scene.session(gone.by),
        };
        let story = Story::new(format!(
            "{} of {} was deleted at {} by {by}",
            scene.place(scene.view.touched),
            scene.party(gone.op),
            scene.when(scene.view.now)
        ))
        .because(format!("it belongs to {}, which lives", scene.session(gone.owner)))
        .not_excused("no fault says that a stranger deleted it");
        sink.fail(Self::ID, scene, gone.object, &[gone.created], story);
    }
}

/// MX-11: in the end nothing is left of what is over.
#[derive(Default)]
pub(crate) struct Leaks;

impl Leaks {
    /// Whether the session is the present one of a process that runs: others' znodes go with their sessions.
    fn is_present(scene: &Scene<'_>, session: Session) -> Option<u8> {
        let view = scene.view;
        let number = view.session(session).client?;
        let client = view.client(number);
        let is = !client.is_dead() && client.session == session && !view.session(session).is_over();
        is.then_some(number)
    }

    fn is_leaked(scene: &Scene<'_>, contender: &Contender) -> bool {
        let op = scene.view.op(contender.op);
        let stays = contender.owner == Session(0) || Self::is_present(scene, contender.owner).is_some();
        op.is_done_with() && stays
    }

    fn znode(scene: &Scene<'_>, number: u32, sink: &mut Sink) {
        let Some(left) = scene.view.contender(number) else { return };
        let op = scene.view.op(left.op);
        let over = if op.unbelieved.came() { op.unbelieved } else { op.over };
        let story = Story::new(format!("{} of {} is left", scene.place(number), scene.party(left.op)))
            .because(format!(
                "its acquire (called at {}) is over since {}",
                scene.when(op.called),
                scene.when(over)
            ));
        sink.metrics.leaks += 1;
        sink.fail(RuleId::Mx11, scene, left.object, &[left.created, over.index], story);
    }

    fn watches(scene: &Scene<'_>, object: ObjectId, sink: &mut Sink) {
        let view = scene.view;
        let dir = scene.tables.objects[usize::from(object.0)].path;
        for watch in view.watches.iter().filter(|watch| watch.armed) {
            let here = watch.path == dir || crate::view::is_child(scene.tables, object, watch.path);
            let Some(number) = Self::is_present(scene, watch.session).filter(|_| here) else { continue };
            let client = view.client(number);
            let waits = client.open.iter().any(|op| view.op(*op).object == object);
            let on_own =
                |op: &OpId| view.contender(view.op(*op).own).is_some_and(|own| own.path == watch.path);
            if waits || client.holds.iter().any(on_own) {
                continue;
            }
            let table = crate::words::Word::word(watch.table);
            let story = Story::new(format!(
                "a {table} watch of {} on {} is left",
                scene.client(number),
                scene.path(watch.path)
            ))
            .because(format!(
                "it was armed at e{}, and {} waits for nothing",
                watch.armed_index,
                scene.client(number)
            ));
            sink.metrics.leaks += 1;
            sink.fail(RuleId::Mx11, scene, object, &[watch.armed_index], story);
        }
    }
}

impl Rule for Leaks {
    const ID: RuleId = RuleId::Mx11;
    const HEARS: Kinds = hears::Quiesce | hears::Left;

    fn event(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        let view = scene.view;
        match event.what {
            What::Quiesce if view.is_sim() => {
                for (at, line) in
                    view.lines.iter().enumerate().filter(|(_, line)| !line.contenders.is_empty())
                {
                    let object = ObjectId(at as u16);
                    sink.premise(Self::ID, object);
                    for number in &line.contenders[line.first..] {
                        let alive = view.contender(*number).filter(|contender| contender.is_alive());
                        if alive.is_some_and(|contender| Self::is_leaked(scene, contender)) {
                            Self::znode(scene, *number, sink);
                        }
                    }
                    Self::watches(scene, object, sink);
                }
            }
            What::Left { object, path, owner } if !view.is_sim() => {
                sink.premise(Self::ID, object);
                if let Some(number) = view.contender_of(path) {
                    if view.contender(number).is_some_and(|contender| Self::is_leaked(scene, contender)) {
                        Self::znode(scene, number, sink);
                    }
                } else if let Some(number) = Self::is_present(scene, owner) {
                    let client = view.client(number);
                    let mut ops = client.open.iter().chain(&client.holds);
                    if !ops.any(|op| view.op(*op).object == object) {
                        let who = scene.client(number);
                        let story = Story::new(format!("{} of {who} is left", scene.znode(path)))
                            .because(format!("{who} neither waits nor holds"));
                        sink.metrics.leaks += 1;
                        sink.fail(Self::ID, scene, object, &[], story);
                    }
                }
            }
            _ => {}
        }
    }
}

/// MX-12: when an operation is over, its znode goes, it is not believed again, and its limit is kept.
#[derive(Default)]
pub(crate) struct EndOfInterest {
    /// Operations whose znodes must go, and since when.
    owed: Vec<(OpId, Moment)>,
    /// Open operations with a limit of their own.
    limited: Vec<OpId>,
}

impl EndOfInterest {
    /// What is over must be gone within the bound.
    fn overdue(&mut self, scene: &Scene<'_>, sink: &mut Sink) {
        let view = scene.view;
        self.owed.retain(|(id, since)| {
            let op = view.op(*id);
            if op.live == 0 {
                return false;
            }
            let died = view.client(op.client).died;
            let died = if died.came() { died.at } else { 0 };
            let from = since.at.max(view.calm_since).max(died);
            if scene.at <= from.saturating_add(view.bound(op.object)) {
                return true;
            }
            let line = view.line(op.object);
            let mut mine = line.contenders.iter().copied();
            let left = mine.find(|n| view.contender(*n).is_some_and(|c| c.op == *id && c.is_alive()));
            let left = left.unwrap_or(op.node);
            let story = Story::new(format!(
                "{} of {} is still there at {}",
                scene.place(left),
                scene.client(op.client),
                scene.when(Moment { at: scene.at, index: scene.index })
            ))
            .because(format!(
                "its acquire (called at {}) is over since {}",
                scene.when(op.called),
                scene.when(*since)
            ))
            .not_excused(format!("{} without faults is more than it may take", ms(scene.at - from)));
            let found =
                Found { rule: Self::ID, verdict: Verdict::Fail, layer: Layer::Liveness, at: scene.index };
            sink.find(found, scene, Some(op.object), &[op.called.index, since.index], story);
            false
        });
    }

    fn limits(&mut self, scene: &Scene<'_>, sink: &mut Sink) {
        let view = scene.view;
        self.limited.retain(|id| {
            let op = view.op(*id);
            if op.phase != Phase::Open {
                return false;
            }
            let client = view.client(op.client);
            let (pause, end) = client.last_pause;
            let resumed = if pause.came() { end.at } else { 0 };
            let limit = (op.called.at + u64::from(op.limit)).max(resumed) + view.round_trip + view.settle;
            if client.is_paused() || scene.at <= limit {
                return true;
            }
            let story = Story::new(format!(
                "the acquire that {} called at {} is still open at {}",
                scene.client(op.client),
                scene.when(op.called),
                scene.when(Moment { at: scene.at, index: scene.index })
            ))
            .because(format!("its time limit was {}", ms(op.limit.into())));
            sink.fail(Self::ID, scene, op.object, &[op.called.index], story);
            false
        });
    }

    /// A release that says it is done has deleted the znode.
    fn released(scene: &Scene<'_>, release: OpId, hold: OpId, sink: &mut Sink) {
        let view = scene.view;
        let op = view.op(hold);
        let clean =
            op.why == Why::Released && op.stop.instant().0 == u64::MAX && !view.session(op.session).is_over();
        if !view.is_sim() || !clean {
            return;
        }
        sink.premise(Self::ID, op.object);
        if view.contender(op.own).is_some_and(Contender::is_alive) {
            let story = Story::new(format!(
                "{} was told at {} that its release is done, and {} is still there",
                scene.client(op.client),
                scene.when(view.now),
                scene.place(op.own)
            ))
            .because("nobody has deleted it");
            sink.fail(Self::ID, scene, op.object, &[op.granted.index, view.op(release).called.index], story);
        }
    }

    fn believed_again(scene: &Scene<'_>, id: OpId, sink: &mut Sink) {
        let op = scene.view.op(id);
        let again = op.granted != op.believed && op.why != Why::Suspect;
        let over = matches!(op.phase, Phase::Over(outcome) if outcome != Outcome::Done);
        if !again && !over {
            return;
        }
        let since = if again { op.unbelieved } else { op.over };
        let story = Story::new(format!(
            "{} believes at {} to hold by the acquire that it called at {}",
            scene.client(op.client),
            scene.when(op.believed),
            scene.when(op.called)
        ))
        .because(format!("that was over since {}", scene.when(since)));
        sink.fail(Self::ID, scene, op.object, &[op.called.index, since.index], story);
    }
}

impl Rule for EndOfInterest {
    const ID: RuleId = RuleId::Mx12;
    const HEARS: Kinds = hears::Call | hears::Return | hears::Believe | hears::Unbelieve | hears::Created;

    fn pass_time(&mut self, scene: &Scene<'_>, sink: &mut Sink) {
        if !self.limited.is_empty() {
            self.limits(scene, sink);
        }
        if !self.owed.is_empty() && scene.view.healed {
            self.overdue(scene, sink);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        let view = scene.view;
        let op = view.op(event.op);
        match event.what {
            What::Call { object, limit, verb: Verb::Acquire | Verb::TryAcquire } if limit > 0 => {
                sink.premise(Self::ID, object);
                self.limited.push(event.op);
            }
            What::Believe { .. } => Self::believed_again(scene, event.op, sink),
            What::Return { outcome } if op.verb == Verb::Release => {
                if op.partner == OpId(0) {
                    return;
                }
                if outcome == Outcome::Done {
                    Self::released(scene, event.op, op.partner, sink);
                }
                self.owed.push((op.partner, view.now));
            }
            What::Return { outcome } if outcome != Outcome::Done => {
                sink.premise(Self::ID, op.object);
                self.owed.push((event.op, view.now));
            }
            What::Unbelieve { why: Why::Dropped } => {
                sink.premise(Self::ID, op.object);
                self.owed.push((event.op, view.now));
            }
            // A create may be applied after its operation is over.
            What::Created { .. } if touched(scene).is_some() && op.is_done_with() => {
                self.owed.push((event.op, view.now));
            }
            _ => {}
        }
    }
}
