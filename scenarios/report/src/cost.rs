//! The cost of the operations of a run: requests, round trips, notifications, watches.

use crate::causes::Causes;
use crate::lives::Lives;
use crate::requests::Requests;
use serde::Serialize;
use std::collections::BTreeMap;
use zk_checker::Metrics;
use zk_checker::history::{History, ObjectId, OpId, Outcome, Verb, What, Who};

/// The cost of the operations of one name on one object.
#[derive(Debug, Default, Serialize)]
pub(super) struct Row {
    /// An index into the objects.
    object: u16,
    verb: String,
    calls: u32,
    done: u32,
    /// Refused, unknown or cancelled; the remaining operations are open.
    other_ends: u32,
    requests: Count,
    cleanup: Count,
    round_trips: Count,
    watches: Count,
    notifications: Count,
    /// From call to return, in microseconds.
    lasted_us: Count,
}

/// The sum over all operations, and the maximum of one operation.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Count {
    sum: u64,
    most: u64,
}

impl Count {
    fn add(&mut self, one: u64) {
        self.sum += one;
        self.most = self.most.max(one);
    }
}

/// A transaction, and the number of watches that it fired.
#[derive(Debug, Serialize)]
pub(super) struct WakeUp {
    /// The transaction.
    event: u32,
    fired: u32,
}

/// All costs of a run.
#[derive(Debug, Serialize)]
pub(super) struct Cost {
    rows: Vec<Row>,
    requests: u32,
    cleanup_requests: u32,
    notifications: u32,
    round_trips: u32,
    waits: u32,
    grants: u32,
    herd_index: u32,
    zombies: u32,
    longest_zombie_us: u64,
    leaks: u32,
    /// The transactions that fired the most watches, in descending order.
    wake_ups: Vec<WakeUp>,
    /// The maximal number of watches armed at the same time.
    watches_at_once: u32,
}

#[derive(Default)]
struct OperationCost {
    called: u64,
    object: ObjectId,
    verb: Option<Verb>,
    requests: u64,
    cleanup: u64,
    /// The number of replies for which it waited one after the other.
    depth: u64,
    watches: u64,
    notifications: u64,
    end: Option<(u64, Outcome)>,
}

/// The number of wake-ups that are listed.
const WAKE_UPS: usize = 5;

impl Cost {
    pub(super) fn of(
        history: &History,
        asked: &Requests,
        causes: &Causes,
        lives: &Lives,
        metrics: &Metrics,
    ) -> Cost {
        let mut rows: BTreeMap<(u16, String), Row> = BTreeMap::new();
        for operation in operations(history, asked, lives).values() {
            let Some(verb) = operation.verb else { continue };
            let row = rows.entry((operation.object.0, verb.words())).or_default();
            row.calls += 1;
            row.requests.add(operation.requests);
            row.cleanup.add(operation.cleanup);
            row.round_trips.add(operation.depth);
            row.watches.add(operation.watches);
            row.notifications.add(operation.notifications);
            if let Some((at, outcome)) = operation.end {
                row.lasted_us.add(at.saturating_sub(operation.called));
                *if outcome == Outcome::Done { &mut row.done } else { &mut row.other_ends } += 1;
            }
        }
        let named = rows.into_iter().map(|((object, verb), row)| Row { object, verb, ..row });
        Cost {
            rows: named.collect(),
            requests: metrics.requests,
            cleanup_requests: metrics.cleanup_requests,
            notifications: metrics.notifications,
            round_trips: metrics.round_trips,
            waits: metrics.waits,
            grants: metrics.grants,
            herd_index: metrics.herd_index,
            zombies: metrics.zombies,
            longest_zombie_us: metrics.longest_zombie,
            leaks: metrics.leaks,
            wake_ups: wake_ups(history, causes),
            watches_at_once: at_once(lives),
        }
    }
}

/// The cost of each operation. A release counts as its own operation, although it has the number of its acquire.
fn operations(
    history: &History,
    asked: &Requests,
    lives: &Lives,
) -> BTreeMap<(Who, OpId, bool), OperationCost> {
    let mut all: BTreeMap<(Who, OpId, bool), OperationCost> = BTreeMap::new();
    let mut releasing: BTreeMap<(Who, OpId), bool> = BTreeMap::new();
    let mut depths: BTreeMap<zk_checker::history::ReqId, u64> = BTreeMap::new();
    for event in history.events.iter().filter(|event| event.op != OpId(0)) {
        let Who::Client(_) = event.who else { continue };
        if let What::Call { object, verb, .. } = event.what {
            let release = verb == Verb::Release;
            releasing.insert((event.who, event.op), release);
            let operation = all.entry((event.who, event.op, release)).or_default();
            (operation.called, operation.object, operation.verb) = (event.at, object, Some(verb));
            continue;
        }
        let release = releasing.get(&(event.who, event.op)).copied().unwrap_or(false);
        let Some(operation) = all.get_mut(&(event.who, event.op, release)) else { continue };
        match event.what {
            What::Send { cleanup: true, .. } => operation.cleanup += 1,
            What::Send { req, .. } => {
                operation.requests += 1;
                depths.insert(req, operation.depth + 1);
            }
            What::Reply { req, .. } => {
                operation.depth = operation.depth.max(depths.get(&req).copied().unwrap_or(0));
            }
            What::Return { outcome, .. } => operation.end = Some((event.at, outcome)),
            _ => {}
        }
    }
    for watch in &lives.watches {
        let Some(client) = asked.client_of(watch.session) else { continue };
        let Some(operation) = all.get_mut(&(Who::Client(client), watch.op, false)) else { continue };
        operation.watches += 1;
        operation.notifications += u64::from(watch.notice.is_some());
    }
    all
}

fn wake_ups(history: &History, causes: &Causes) -> Vec<WakeUp> {
    let mut fired: BTreeMap<u32, u32> = BTreeMap::new();
    for (index, event) in history.events.iter().enumerate() {
        if let What::Fire { .. } = event.what {
            let is_txn = |at: u32| matches!(history.events[at as usize].what, What::Txn { .. });
            let txn = causes.of(index as u32).iter().find(|cause| is_txn(cause.event));
            txn.into_iter().for_each(|txn| *fired.entry(txn.event).or_default() += 1);
        }
    }
    let mut all: Vec<WakeUp> = fired.into_iter().map(|(event, fired)| WakeUp { event, fired }).collect();
    all.sort_by_key(|wake_up| (std::cmp::Reverse(wake_up.fired), wake_up.event));
    all.truncate(WAKE_UPS);
    all
}

fn at_once(lives: &Lives) -> u32 {
    let mut steps: Vec<(u32, i32)> = lives.watches.iter().map(|watch| (watch.armed, 1)).collect();
    steps.extend(lives.watches.iter().filter_map(|watch| watch.ended.map(|ended| (ended, -1))));
    steps.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, step) in steps {
        now += step;
        most = most.max(now);
    }
    most.unsigned_abs()
}
