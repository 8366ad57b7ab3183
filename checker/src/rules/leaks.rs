//! Leaks at the end: MX-11.
//!
//! Barriers, double barriers and queues judge their own leaks (BA-4, DB-10, QU-9), since the client that still needs a znode
//! or watch follows from the state of those rules: participations, claims and the items in hand. One rule for all, by the
//! open operations and the holds of each client, was tried: over the kept histories it missed one finding of QU-9, and
//! reported MX-11 twice more.

use crate::rule::prelude::*;

/// MX-11: an operation that is over leaves no znode and no watch.
#[derive(Clone, Default)]
pub(crate) struct Leaks;

impl Leaks {
    fn znode(scene: &Scene<'_>, number: u32, out: &mut Findings) {
        let Some(left) = scene.view.contender(number) else { return };
        let op = scene.view.op(left.op);
        let over = if op.unbelieved.came() { op.unbelieved } else { op.over };
        let text =
            explain(format!("{} of {} still exists", scene.contender(number), scene.actor(left.op))).because(
                format!("its acquire (called at {}) ended at {}", scene.when(op.called), scene.when(over)),
            );
        out.leak(RuleId::Mx11, scene, left.object, &[left.created, over.index], text);
    }

    fn watches(scene: &Scene<'_>, object: ObjectId, out: &mut Findings) {
        let view = scene.view;
        let here = |path| view.is_place(scene.tables, object, path);
        for (watch, number) in view.watches_left().filter(|(watch, _)| here(watch.path)) {
            let client = view.client(number);
            let waits = client.open.iter().any(|op| view.op(*op).object == object);
            let on_own =
                |op: &OpId| view.contender(view.op(*op).own).is_some_and(|own| own.path == watch.path);
            if waits || client.holds.iter().any(on_own) {
                continue;
            }
            let table = watch.table.name();
            let text = explain(format!(
                "a {table} watch of {} on {} is still armed",
                scene.client(number),
                scene.path(watch.path)
            ))
            .because(format!(
                "it was armed at e{}, and no operation of {} waits",
                watch.armed_index,
                scene.client(number)
            ));
            out.leak(RuleId::Mx11, scene, object, &[watch.armed_index], text);
        }
    }
}

impl Rule for Leaks {
    const JUDGES: &'static [Property] = &[Property::NothingLeft];
    const HEARS: Kinds = hears![Quiesce, Left];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let view = scene.view;
        match event.what {
            What::Quiesce if view.is_sim() => {
                for (at, contest) in
                    view.contests.iter().enumerate().filter(|(_, contest)| !contest.contenders.is_empty())
                {
                    let object = ObjectId(at as u16);
                    out.premise(RuleId::Mx11, object);
                    for number in contest.standing() {
                        let alive = view.contender(number).filter(|contender| contender.is_alive());
                        if alive.is_some_and(|contender| scene.view.is_leaked(contender)) {
                            Self::znode(scene, number, out);
                        }
                    }
                    Self::watches(scene, object, out);
                }
            }
            // The last listing has been made.
            What::Quiesce => {
                for (at, contest) in view.contests.iter().enumerate() {
                    if !contest.contenders.is_empty() {
                        out.premise(RuleId::Mx11, ObjectId(at as u16));
                    }
                }
            }
            What::Left { object, path, owner }
                if !view.is_sim() && RuleId::Mx11.is_about(scene.kind(object)) =>
            {
                out.premise(RuleId::Mx11, object);
                if let Some(number) = view.contender_of(path) {
                    if view.contender(number).is_some_and(|contender| scene.view.is_leaked(contender)) {
                        Self::znode(scene, number, out);
                    }
                } else if let Some(number) = scene.view.present_client(owner) {
                    let client = view.client(number);
                    let mut ops = client.open.iter().chain(&client.holds);
                    if !ops.any(|op| view.op(*op).object == object) {
                        let who = scene.client(number);
                        let text = explain(format!("{} of {who} still exists", scene.znode(path)))
                            .because(format!("{who} neither waits nor holds"));
                        out.leak(RuleId::Mx11, scene, object, &[], text);
                    }
                }
            }
            _ => {}
        }
    }
}
