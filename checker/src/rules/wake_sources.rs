//! Wake sources of idle operations: those without a request or notification in flight.
//!
//! What is the same for all kinds is here: when an operation is idle, and when it certainly has no wake source. Which watches
//! are adequate is said by the rule of each kind: that depends on the contenders ahead, on the incarnation of a barrier, on
//! the participants of a generation or on the unclaimed items, and a description in `kinds` has no state.

use crate::rule::prelude::*;
use crate::view::{Moment, Phase, Watch};

/// The wake source of an operation.
#[derive(Clone)]
pub(super) enum Source {
    /// It is not idle, or not judged.
    Busy,
    /// A watch or notification will wake it.
    Adequate,
    /// The client acts without a wake-up before this time: it registers its watches again, or retries a request.
    Promised(u64),
    /// There is no wake source.
    Nothing,
}

/// An idle operation, and the time by which its client acts without a wake-up.
#[derive(Clone)]
pub(super) struct Idle {
    /// The latest time at which the client may act without a wake-up.
    promised: u64,
}

impl Idle {
    /// An open operation of a session, unless it has a request or notification in flight, or its process or its
    /// session is paused.
    pub(super) fn of(scene: &Scene<'_>, id: OpId, session: Session) -> Option<Idle> {
        let view = scene.view;
        let op = view.op(id);
        let client = view.client(op.client);
        let of = view.session(session);
        if op.phase != Phase::Open || !client.is_awake_in(of) || op.in_flight > 0 || of.undelivered > 0 {
            return None;
        }
        Some(Idle { promised: op.pauses_until })
    }

    /// Notes a watch that is not armed, but that the client registers again after a reconnect.
    pub(super) fn registers(&mut self, scene: &Scene<'_>, watch: &Watch) {
        if !watch.registered {
            return;
        }
        let of = scene.view.session(watch.session);
        let lost = if watch.lost_at == u64::MAX { 0 } else { watch.lost_at };
        let connected = of.connected.at_or_start();
        self.promised = self.promised.max(lost.max(connected) + 2 * scene.view.timeout_of(watch.session));
    }

    /// The source of an operation without an armed watch.
    pub(super) fn unwatched(self, scene: &Scene<'_>) -> Source {
        if self.promised > scene.at { Source::Promised(self.promised) } else { Source::Nothing }
    }
}

/// The source of an operation for which only adequate watches count.
pub(super) fn source(
    scene: &Scene<'_>,
    id: OpId,
    session: Session,
    is_adequate: impl Fn(&Watch) -> bool,
) -> Source {
    let Some(mut idle) = Idle::of(scene, id, session) else { return Source::Busy };
    for watch in scene.view.watches.of(session).iter().filter(|watch| is_adequate(watch)) {
        if watch.armed {
            return Source::Adequate;
        }
        idle.registers(scene, watch);
    }
    idle.unwatched(scene)
}

/// Judges the number of requests of a waiting operation, and reports the first one over the budget.
pub(super) fn keeps_budget(rule: RuleId, scene: &Scene<'_>, id: OpId, out: &mut Findings) {
    let op = scene.view.op(id);
    let call = scene.kind(op.object).recipe().call(op.verb);
    let Some((requests, per_wake_up)) = call.and_then(|call| call.waiting) else { return };
    let allowed = requests + per_wake_up * op.wakes;
    if op.sends == allowed + 1 {
        let (who, called) = (scene.client(op.client), scene.when(op.called));
        let text = explain(format!(
            "{who} (called at {called}) sent {} requests, after {} wake-ups, and still waits",
            op.sends, op.wakes
        ))
        .because(format!("its budget is {allowed}: a waiter reads only after an event"));
        out.fail(rule, scene, op.object, &[op.called.index], text);
    }
}

/// The operations whose wake sources an event may change.
#[derive(Clone)]
pub(super) enum Touched {
    /// The operation that sent a request.
    Op(OpId),
    /// Those of a session.
    Session(Session),
    /// Those of a client process.
    Client(u16),
    /// All: the faults are over.
    All,
    /// None: a request for which no operation waits.
    Nothing,
    /// At most the operation of the event.
    Other,
}

impl Touched {
    pub(super) fn by(scene: &Scene<'_>, event: &Event) -> Touched {
        match event.what {
            What::Reply { req, .. } | What::Lost { req } => {
                let req = scene.view.request(req).filter(|req| req.depth != 0);
                req.map_or(Touched::Nothing, |req| Touched::Op(req.op))
            }
            What::Notice { session, .. }
            | What::State { session, .. }
            | What::Arm { session, .. }
            | What::Fire { session, .. }
            | What::Disarm { session, .. }
            | What::Marked { session, .. }
            | What::Ended { session, .. } => Touched::Session(session),
            What::Fault { victim: Victim::Process { client }, .. }
            | What::Mended { victim: Victim::Process { client }, .. }
            | What::Crash { client } => Touched::Client(client),
            What::Ceased => Touched::All,
            _ => Touched::Other,
        }
    }
}

/// An operation that seems to have no wake source.
#[derive(Clone, Copy)]
pub(super) struct Doubt {
    pub(super) op: OpId,
    /// The event at which the last source disappeared.
    pub(super) since: Moment,
    /// The time from which on it is certain.
    due: u64,
    /// Whether it must be checked again then, since its client may still act without a wake-up.
    pub(super) only_promised: bool,
}

impl Doubt {
    /// Begins the explanation: the client `waits` for something since its call, and has no wake source.
    pub(super) fn explain(&self, scene: &Scene<'_>, waits: &str) -> Explanation {
        let op = scene.view.op(self.op);
        let (who, called, since) = (scene.client(op.client), scene.when(op.called), scene.when(self.since));
        explain(format!("{who} {waits} since {called}, and nothing can wake it from {since} on"))
    }
}

/// The operations that seem to have no wake source.
#[derive(Clone, Default)]
pub(super) struct Doubts {
    doubts: Vec<Doubt>,
    /// The time at which the first of them is due.
    due: u64,
}

impl Doubts {
    /// Checks an operation that an event touches. Returns whether it is idle.
    pub(super) fn look(&mut self, scene: &Scene<'_>, op: OpId, source: &Source) -> bool {
        let at = self.doubts.iter().position(|doubt| doubt.op == op);
        let before = at.map(|at| self.doubts.swap_remove(at));
        let since = scene.now();
        let doubt = match source {
            Source::Busy => return false,
            Source::Adequate => return true,
            Source::Promised(due) => Doubt { op, since, due: *due, only_promised: true },
            Source::Nothing => match before {
                Some(before) if !before.only_promised => before,
                _ => {
                    let due = scene.at.saturating_add(scene.view.settle);
                    Doubt { op, since, due, only_promised: false }
                }
            },
        };
        self.due = if self.doubts.is_empty() { doubt.due } else { self.due.min(doubt.due) };
        self.doubts.push(doubt);
        true
    }

    /// Drops operations that are over.
    pub(super) fn forget(&mut self, is_over: impl Fn(OpId) -> bool) {
        self.doubts.retain(|doubt| !is_over(doubt.op));
    }

    /// The operations that certainly have no wake source now, after another check.
    pub(super) fn certain(&mut self, at: u64, source: impl Fn(OpId) -> Source) -> Vec<Doubt> {
        if self.doubts.is_empty() || at <= self.due {
            return Vec::new();
        }
        let (due, kept) = self.doubts.iter().partition::<Vec<Doubt>, _>(|doubt| at > doubt.due);
        self.doubts = kept;
        self.due = self.doubts.iter().map(|doubt| doubt.due).min().unwrap_or(u64::MAX);
        let is_certain = |doubt: &Doubt| !matches!(source(doubt.op), Source::Busy | Source::Adequate);
        due.into_iter().filter(is_certain).collect()
    }
}
