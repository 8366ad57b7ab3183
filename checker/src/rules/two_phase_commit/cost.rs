//! Notifications, counted for each session: TC-12.
//!
//! A change tells each session once at the most, so what a session may be told follows from what it takes part in: a site the
//! decision, and the votes of the others if it is declared to follow them; a coordinator the decision, the tally at each
//! vote, and the ephemerals of the sites if there are any. The end of the record is told to nobody who has need of it. What a
//! watch tells that its client has asked to be taken away is not counted, nor what a server sends to a session that is over or
//! whose process is dead. Nor is what a watch tells that was armed when it was decided already: of somebody who finishes, before
//! the client knows that it need not watch. It knows once its operation is answered; before that it may lose its
//! connection and arm again.

use super::{COORDINATOR, SiteOp, size};
use crate::rules::prelude::*;
use crate::view::{Moment, Watch, is_told};
use std::collections::{BTreeMap, BTreeSet};

/// What was told to whom.
#[derive(Default)]
pub(super) struct Cost {
    /// For which sites a client process has spoken.
    sites: BTreeMap<u16, BTreeSet<u64>>,
    /// Each change once: a session that registers its watch again at a server that lags is told of it a second time.
    notified: BTreeMap<Session, BTreeSet<(u32, Sym)>>,
    /// How often an ephemeral of a site has come or gone.
    lives: u32,
    /// Operations that were told of somebody who finishes, and when they were answered next.
    late: BTreeMap<OpId, Option<u32>>,
}

/// Whether a znode is the ephemeral of a site: below the site's own, or beside it as in the textbook's third form.
fn is_life(name: &str) -> bool {
    name.starts_with("alive_") || name.ends_with("/alive")
}

impl Cost {
    pub(super) fn speaks(&mut self, scene: &Scene<'_>, op: OpId, part: &SiteOp) {
        // Whoever begins a transaction watches nothing.
        if part.verb == Verb::Begin {
            return;
        }
        self.sites.entry(scene.view.op(op).client).or_default().insert(part.site);
    }

    /// An operation is answered.
    pub(super) fn answered(&mut self, scene: &Scene<'_>, op: OpId) {
        if let Some(answered) = self.late.get_mut(&op) {
            answered.get_or_insert(scene.index);
        }
    }

    /// Whether it was decided when a watch was armed, and its operation could not know that.
    fn is_late(&mut self, watch: &Watch, decided: Option<Moment>) -> bool {
        if decided.is_none_or(|decided| decided.index > watch.armed_index) {
            return false;
        }
        let answered = self.late.entry(watch.op).or_default();
        answered.is_none_or(|answered| answered > watch.armed_index)
    }

    /// A znode was created or deleted.
    pub(super) fn changed(&mut self, name: &str) {
        self.lives += u32::from(is_life(name));
    }

    pub(super) fn fired(
        &mut self,
        scene: &Scene<'_>,
        object: ObjectId,
        session: Session,
        (kind, path, name): (Notify, Sym, &str),
        (zxid, decided): (u32, Option<Moment>),
        findings: &mut Findings,
    ) {
        let is_end = kind == Notify::Deleted && !is_life(name);
        // That the transaction has begun is told to those who wait for it, by whatever means.
        if is_end || (name.is_empty() && kind == Notify::Created) {
            return;
        }
        let mut watches = scene.view.watches.of(session).iter();
        let watch = watches.find(|watch| watch.path == path && is_told(watch.table, kind));
        if watch.is_some_and(|watch| !watch.registered || self.is_late(watch, decided)) {
            return;
        }
        let Some(client) = scene.view.present_client(session) else { return };
        let Some(sites) = self.sites.get(&client) else { return };
        findings.premise(RuleId::Tc12, object);
        let changes = self.notified.entry(session).or_default();
        if !changes.insert((zxid, path)) {
            return;
        }
        let count = changes.len() as u32;
        let manner = &scene.tables.objects[usize::from(object.0)].manner;
        let number = size(scene, object) as u32;
        let allowance = |site: &u64| match (*site == COORDINATOR, manner.coordinated, manner.textbook) {
            (true, true, _) => 1 + number + self.lives,
            // A site waits for the ephemeral of its former session to go.
            (false, true, _) => 1 + self.lives,
            (false, _, true) => number,
            _ => 1,
        };
        // Who takes part as several is told of each change once all the same.
        let allowed = sites.iter().map(allowance).max().unwrap_or_default();
        if count != allowed + 1 {
            return;
        }
        let text = explain(format!(
            "the notification at {} is number {count} to {} in {}",
            scene.when(scene.view.now),
            scene.client(client),
            scene.session(session)
        ))
        .because(format!(
            "it is about {}, and what {} takes part in is told {allowed} times at the most",
            scene.path(path),
            scene.client(client)
        ));
        findings.fail(RuleId::Tc12, scene, object, &[], text);
    }
}
