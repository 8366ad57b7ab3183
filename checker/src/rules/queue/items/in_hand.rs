//! The items that a consumer has taken and not handed out.

use super::{Item, Items};
use crate::rule::prelude::*;
use crate::rules::queue::is_queue;
use crate::view::NEVER;

impl Items {
    /// QU-2: a consumer that has settled its takes knows the number of its items, and none of them is lost.
    pub(super) fn in_hand(&self, scene: &Scene<'_>, op: OpId, told: u64, out: &mut Findings) {
        let of = scene.view.op(op);
        let object = of.object;
        // A foreign client that deletes a receipt hides the taken items.
        if !scene.view.is_sim()
            || !is_queue(scene.tables, object)
            || scene.object(object).manner.at_least_once
            || scene.is_interfered_with(object)
        {
            return;
        }
        out.premise(RuleId::Qu2, object);
        let session = scene.view.client(of.client).session;
        let is_held = |(at, item): &(usize, &Item)| {
            let taken = item.object == object && item.gone != NEVER && item.by == session;
            taken && !self.came_out(item) && !self.died_with.contains(at)
        };
        let held: Vec<&Item> =
            self.stock.items.iter().enumerate().filter(is_held).map(|(_, item)| item).collect();
        if held.len() as u64 == told {
            return;
        }
        let text = explain(format!(
            "{} was told at {} that it has {told} items in hand",
            scene.client(of.client),
            scene.when(scene.now())
        ));
        let text = text.because(match held.first() {
            None => format!("{} has handed out all that it has taken", scene.session(session)),
            Some(first) => format!(
                "{} has taken {} and not handed them out, the first of them {} at {}",
                scene.session(session),
                held.len(),
                scene.path(first.text),
                scene.when(first.gone_at)
            ),
        });
        out.fail(RuleId::Qu2, scene, object, &[of.called.index], text);
    }
}
