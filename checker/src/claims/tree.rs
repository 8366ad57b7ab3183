//! The tree as the servers committed it, and caches of it: CA-1.

use super::{Call, Context, Step};
use crate::digest;
use crate::explanation::explain;
use crate::findings::Findings;
use crate::history::{Event, ObjectId, Outcome, Session, Sym, What};
use crate::rule_id::RuleId;
use crate::scene::{Scene, is_above};
use std::collections::BTreeMap;

/// The znodes, with the owner of each and the digest of its data.
#[derive(Clone, Default)]
pub(super) struct Tree {
    znodes: BTreeMap<Sym, Znode>,
    /// The znode that the next data belong to.
    last: Sym,
}

#[derive(Clone, Copy)]
pub(super) struct Znode {
    pub owner: Session,
    pub data: u64,
    /// The time of its creation or last write.
    pub at: u64,
}

impl Tree {
    pub(super) fn event(&mut self, scene: &Scene<'_>, event: &Event) {
        match event.what {
            What::Created { path, owner, .. } => {
                self.znodes.insert(path, Znode { owner, data: digest::data(None), at: scene.at });
                self.last = path;
            }
            What::Written { path, .. } => {
                if let Some(znode) = self.znodes.get_mut(&path) {
                    znode.at = scene.at;
                }
                self.last = path;
            }
            What::Data { digest, .. } => {
                if let Some(znode) = self.znodes.get_mut(&self.last) {
                    znode.data = digest;
                }
            }
            What::Deleted { path, .. } => {
                self.znodes.remove(&path);
            }
            _ => {}
        }
    }

    /// The znodes below an object.
    pub(super) fn of<'a>(
        &'a self,
        scene: &'a Scene<'_>,
        object: ObjectId,
    ) -> impl Iterator<Item = (&'a str, Znode)> + use<'a> {
        let root = scene.text(scene.object(object).path);
        self.znodes.iter().filter_map(move |(path, znode)| {
            let path = scene.text(*path);
            is_above(root, path).then_some((path, *znode))
        })
    }

    /// The ephemerals below an object, as text.
    pub(super) fn ephemerals<'a>(
        &'a self,
        scene: &'a Scene<'_>,
        object: ObjectId,
    ) -> impl Iterator<Item = String> + use<'a> {
        let ephemerals = self.of(scene, object).filter(|(_, znode)| znode.owner != Session(0));
        ephemerals.map(|(path, znode)| {
            let name = path.rsplit('/').next().unwrap_or_default();
            let seconds = scene.at.saturating_sub(znode.at) / 1_000_000;
            format!("{name} of {} is there since {seconds} s", scene.session(znode.owner))
        })
    }
}

/// The reported contents of clients' caches.
#[derive(Clone, Default)]
pub(super) struct Cache {
    /// By client and path: several clients may report at the same time.
    seen: BTreeMap<(u16, Sym), u64>,
}

impl Cache {
    pub(super) fn sees(&mut self, call: &Call, path: Sym, data: u64) {
        self.seen.insert((call.client, path), data);
    }

    pub(super) fn step(&mut self, at: &Context<'_, '_>, call: &Call, step: Step, out: &mut Findings) {
        match step {
            Step::Begins => self.seen.retain(|(client, _), _| *client != call.client),
            Step::Returns(Outcome::Done) => self.judge(at, call, out),
            _ => {}
        }
    }

    fn judge(&self, at: &Context<'_, '_>, call: &Call, out: &mut Findings) {
        out.premise(RuleId::Ca1, at.object);
        let there: BTreeMap<&str, Znode> = at.world.tree.of(at.scene, at.object).collect();
        let own = self.seen.iter().filter(|((client, _), _)| *client == call.client);
        let seen: BTreeMap<&str, u64> = own.map(|((_, path), data)| (at.scene.text(*path), *data)).collect();
        if there.values().any(|znode| !at.is_still(znode.at)) {
            return;
        }
        let mut wrong = Vec::new();
        for (path, znode) in &there {
            let since = at.for_long(znode.at);
            match seen.get(path) {
                None => wrong.push(format!("{path} is there since {since}, and the cache lacks it")),
                Some(data) if *data != znode.data => {
                    wrong.push(format!("{path} was written {since} ago, and the cache has other data"));
                }
                Some(_) => {}
            }
        }
        let extra = seen.keys().filter(|path| !there.contains_key(*path));
        wrong.extend(extra.map(|path| format!("{path} is not there, and the cache has it")));
        if wrong.is_empty() {
            return;
        }
        let mut text = explain(format!(
            "the cache of {} shows {} znodes at {}, and {} of them wrong or none",
            call.process,
            seen.len(),
            at.scene.when(at.scene.now()),
            wrong.len()
        ));
        for line in wrong.into_iter().take(4) {
            text = text.because(line);
        }
        out.fail(RuleId::Ca1, at.scene, at.object, &[call.at.index], text);
    }
}
