//! Groups: GM-9.

use super::{Call, Context, Step};
use crate::explanation::explain;
use crate::findings::Findings;
use crate::history::{Outcome, Sym, Verb};
use crate::rule_id::RuleId;
use crate::view::Moment;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Default)]
pub(super) struct Group {
    /// By process.
    members: BTreeMap<String, ClaimedMember>,
    changed: u64,
}

#[derive(Clone)]
struct ClaimedMember {
    client: u16,
    name: Sym,
    /// Absent while its membership is unknown.
    joined: Option<Moment>,
}

impl Group {
    pub(super) fn step(&mut self, at: &Context<'_, '_>, call: &Call, step: Step) {
        let now = at.scene.now();
        let Some(name) = call.argument else { return };
        match (call.verb, step) {
            (Verb::Join, Step::Begins) => {
                let member = ClaimedMember { client: call.client, name, joined: None };
                self.members.insert(call.process.clone(), member);
            }
            (Verb::Join, Step::Returns(Outcome::Done)) => {
                let member = ClaimedMember { client: call.client, name, joined: Some(now) };
                self.members.insert(call.process.clone(), member);
            }
            (Verb::Join, Step::Returns(Outcome::Refused)) | (Verb::Yield, Step::Begins) => {
                self.members.remove(&call.process);
            }
            _ => return,
        }
        self.changed = now.at;
    }

    /// A client reports the members that it sees.
    pub(super) fn sees(&mut self, at: &Context<'_, '_>, call: &Call, names: Sym, out: &mut Findings) {
        if !at.is_still(self.changed) {
            return;
        }
        out.premise(RuleId::Gm9, at.object);
        let seen: BTreeSet<&str> =
            at.scene.text(names).split(',').filter(|name| !name.is_empty() && *name != "-").collect();
        let alive = || self.members.values().filter(|member| at.world.lives(member.client));
        let missing =
            alive().find(|member| member.joined.is_some() && !seen.contains(at.scene.text(member.name)));
        let says = format!(
            "{} sees the members {} at {}",
            call.process,
            at.text(names),
            at.scene.when(at.scene.now())
        );
        if let Some(member) = missing {
            let since = member.joined.unwrap_or(Moment::NEVER);
            let text = explain(says).because(format!(
                "{} is a member since {}, and is not among them",
                at.text(member.name),
                at.scene.when(since)
            ));
            return out.fail(RuleId::Gm9, at.scene, at.object, &[since.index], text);
        }
        let known: BTreeSet<&str> = alive().map(|member| at.scene.text(member.name)).collect();
        if let Some(extra) = seen.difference(&known).next() {
            let text = explain(says).because(format!(
                "{extra} is no member, and for {} nothing has changed",
                at.for_long(self.changed)
            ));
            out.fail(RuleId::Gm9, at.scene, at.object, &[call.at.index], text);
        }
    }

    /// Each client whose join succeeded has a znode of one of its sessions.
    pub(super) fn stopped(&mut self, at: &Context<'_, '_>, out: &mut Findings) {
        if !at.is_still(self.changed) {
            return;
        }
        let owners: BTreeSet<_> =
            at.world.tree.of(at.scene, at.object).map(|(_, znode)| znode.owner).collect();
        for (process, member) in &self.members {
            let Some(since) = member.joined.filter(|_| at.world.lives(member.client)) else { continue };
            out.premise(RuleId::Gm9, at.object);
            let of_process = at
                .world
                .sessions
                .iter()
                .filter(|(client, _)| super::process_of(&at.scene.client(**client)) == process);
            if of_process.map(|(_, session)| session).any(|session| owners.contains(session)) {
                continue;
            }
            let text = explain(format!(
                "{} is a member, told so at {}, and has no znode at {}",
                at.text(member.name),
                at.scene.when(since),
                at.scene.when(at.scene.now())
            ))
            .because(format!(
                "it lives, has not left, and for {} nothing has changed",
                at.for_long(self.changed)
            ));
            out.fail(RuleId::Gm9, at.scene, at.object, &[since.index], text);
        }
    }
}
