//! Notifications, counted for each session: TC-12.
//!
//! A change notifies each session at most once, so the bound follows from its part in the transaction: a site may be
//! notified of the decision, and of the other votes if it is declared to follow them; a coordinator of the decision, of
//! each vote, and of the sites' ephemerals if there are any. No session needs a notification of the record's deletion.
//!
//! Not counted are watches that the client has asked to remove, notifications for a session that is over or whose
//! process is dead, and watches that an operation armed after the decision, before its next reply could show it. It may
//! lose its connection and arm again before that reply. Each request that a server refused allows this once more.

use super::{COORDINATOR, SiteOp, size};
use crate::rule::prelude::*;
use crate::view::{Moment, Part, Watch, fires};
use std::collections::{BTreeMap, BTreeSet};

/// The notifications of each session.
#[derive(Clone, Default)]
pub(super) struct Cost {
    /// The sites for which a client process acts.
    sites: BTreeMap<u16, BTreeSet<u64>>,
    /// Each change once: a session that registers a watch again at a lagging server may be notified twice.
    notified: BTreeMap<Session, BTreeSet<(u32, Sym)>>,
    /// The number of times that an ephemeral of a site was created or deleted.
    lives: u32,
    /// Operations that were notified of a finish, and the next reply to each.
    late: BTreeMap<OpId, Option<u32>>,
    /// The number of refused requests of an operation, each of which lets it arm again.
    refused: BTreeMap<OpId, u32>,
}

impl Cost {
    pub(super) fn speaks(&mut self, scene: &Scene<'_>, op: OpId, part: &SiteOp) {
        // An operation that begins a transaction watches nothing.
        if part.verb == Verb::Begin {
            return;
        }
        self.sites.entry(scene.view.op(op).client).or_default().insert(part.site);
    }

    /// Notes the reply to an operation.
    pub(super) fn answered(&mut self, scene: &Scene<'_>, op: OpId, code: Code) {
        if code.tells_nothing() {
            *self.refused.entry(op).or_default() += 1;
        } else if let Some(answered) = self.late.get_mut(&op) {
            answered.get_or_insert(scene.index);
        }
    }

    /// Whether a watch was armed after the decision by an operation that could not know it; uses up the refusal that excuses it.
    fn take_late_watch(&mut self, watch: &Watch, decided: Option<Moment>) -> bool {
        if decided.is_none_or(|decided| decided.index > watch.armed_index) {
            return false;
        }
        let answered = self.late.entry(watch.op).or_default();
        if answered.is_none_or(|answered| answered > watch.armed_index) {
            return true;
        }
        let refused = self.refused.get_mut(&watch.op).filter(|refused| **refused > 0);
        refused.map(|refused| *refused -= 1).is_some()
    }

    /// Notes a znode that is created or deleted.
    pub(super) fn changed(&mut self, part: Part) {
        self.lives += u32::from(part == Part::Life);
    }

    pub(super) fn fired(
        &mut self,
        scene: &Scene<'_>,
        object: ObjectId,
        session: Session,
        (kind, path, part): (Notify, Sym, Part),
        (zxid, decided): (u32, Option<Moment>),
        out: &mut Findings,
    ) {
        let is_end = kind == Notify::Deleted && part != Part::Life;
        // Waiting operations may be notified of the transaction's begin in any way.
        if is_end || (part == Part::Itself && kind == Notify::Created) {
            return;
        }
        let mut watches = scene.view.watches.of(session).iter();
        let watch = watches.find(|watch| watch.path == path && fires(watch.table, kind));
        if watch.is_some_and(|watch| !watch.registered || self.take_late_watch(watch, decided)) {
            return;
        }
        let Some(client) = scene.view.present_client(session) else { return };
        let Some(sites) = self.sites.get(&client) else { return };
        out.premise(RuleId::Tc12, object);
        let changes = self.notified.entry(session).or_default();
        if !changes.insert((zxid, path)) {
            return;
        }
        let count = changes.len() as u32;
        let manner = &scene.object(object).manner;
        let number = size(scene, object) as u32;
        let allowance = |site: &u64| match (*site == COORDINATOR, manner.coordinated, manner.textbook) {
            (true, true, _) => 1 + number + self.lives,
            // A site waits until the ephemeral of its former session is deleted.
            (false, true, _) => 1 + self.lives,
            (false, _, true) => number,
            _ => 1,
        };
        // A client that acts for several sites is notified of each change once.
        let allowed = sites.iter().map(allowance).max().unwrap_or_default();
        if count != allowed + 1 {
            return;
        }
        let text = explain(format!(
            "{} was notified {count} times in {}, and the bound is {allowed}; the last time was at {}",
            scene.client(client),
            scene.session(session),
            scene.when(scene.view.now)
        ))
        .because(format!("that was about {}", scene.path(path)));
        out.fail(RuleId::Tc12, scene, object, &[], text);
    }
}
