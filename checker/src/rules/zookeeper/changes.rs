//! The effects of transactions on the tree: ZK-8, ZK-9 and ZK-11. (Stats in replies are judged with the reads.)

use crate::rule::prelude::*;
use crate::view::Odd;

/// ZK-8: the suffix of a sequential znode is the number of children that its parent ever had.
#[derive(Clone, Default)]
pub(crate) struct Suffix {
    /// The requested path of the create that was answered.
    asked: Option<Sym>,
}

impl Rule for Suffix {
    const JUDGES: &'static [Property] = &[Property::SequenceNumbers];
    const HEARS: Kinds = hears![Reply, Made];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if !scene.view.is_sim() {
            return;
        }
        match event.what {
            What::Reply { req, .. } => {
                let create = scene.view.request(req).filter(|req| req.kind == Request::Create);
                self.asked = create.map(|req| req.path);
            }
            What::Made { path, czxid } => {
                let Some(asked) = self.asked.take().filter(|asked| *asked != path) else { return };
                let name = |sym| scene.text(sym);
                let number = scene.view.oracle.node_at(path, czxid).and_then(|node| node.number);
                let Some(number) = number.filter(|number| !is_worn(*number)) else { return };
                out.premise_of_all(RuleId::Zk8);
                let wanted = format!("{}{number:010}", name(asked));
                if name(path) != wanted {
                    let text = explain(format!("the create of {} created {}", name(asked), name(path)))
                        .because(format!(
                            "its parent had had {number} children before, which is the number to append"
                        ));
                    out.fail_all(RuleId::Zk8, scene, &[], text);
                }
            }
            _ => {}
        }
    }
}

/// Whether a directory's count of children has reached its maximum and stays there: a server then gives the last number
/// again, or negative ones while creates are pipelined.
pub(super) fn is_worn(number: i32) -> bool {
    number == i32::MAX
}

/// ZK-9: a change finds its precondition. Create: no znode, and a parent that may have children. Write: the znode.
/// Delete: the znode, without children.
#[derive(Clone, Default)]
pub(crate) struct Conditions;

impl Rule for Conditions {
    const JUDGES: &'static [Property] = &[Property::Conditions];
    const HEARS: Kinds = hears![Created, Deleted, Written, Restricted];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if !scene.view.is_sim() {
            return;
        }
        out.premise_of_all(RuleId::Zk9);
        let (Some(odd), Some(path)) = (scene.view.oracle.odd, event.what.path()) else { return };
        let because = match odd {
            Odd::AlreadyThere => "it existed already",
            Odd::NoParent => "its parent did not exist",
            Odd::EphemeralParent => "its parent is an ephemeral",
            Odd::NotThere => "it did not exist",
            Odd::HasChildren => "it had children",
        };
        let text = explain(format!("{} was changed at {}", scene.path(path), scene.when(scene.view.now)))
            .because(because);
        out.fail_all(RuleId::Zk9, scene, &[], text);
    }
}

/// ZK-11: a transaction is applied as a whole, under one zxid, or not at all.
#[derive(Clone, Default)]
pub(crate) struct Whole {
    /// The latest transaction, its request, its outcome, and its event.
    latest: Option<(u64, Request, Code, u32)>,
}

impl Whole {
    /// Judges a complete transaction: a single operation that succeeded had its one effect.
    fn close(&mut self, scene: &Scene<'_>, effects: usize, out: &mut Findings) {
        let Some((zxid, kind, Code::Ok, index)) = self.latest.take() else { return };
        let one = matches!(
            kind,
            Request::Create | Request::Delete | Request::Set | Request::SetAcl | Request::Reap
        );
        if one && effects != 1 {
            let kind = kind.name();
            let text = explain(format!("the {kind} of zxid {zxid:#x} had {effects} effects"))
                .because(format!("e{index}: it had succeeded"));
            out.fail_all(RuleId::Zk11, scene, &[index], text);
        }
    }
}

impl Rule for Whole {
    const JUDGES: &'static [Property] = &[Property::WholeTransactions];
    const HEARS: Kinds = hears![Txn, Created, Deleted, Written, Restricted];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        if !scene.view.is_sim() {
            return;
        }
        let oracle = &scene.view.oracle;
        let zxid = match event.what {
            What::Txn { zxid, kind, code, .. } => {
                // The new transaction has no effects yet: these belong to the previous one.
                let effects = oracle.latest_but_one().map_or(0, |last| oracle.effects_of(last).len());
                self.close(scene, effects, out);
                self.latest = Some((zxid, kind, code, scene.index));
                return out.premise_of_all(RuleId::Zk11);
            }
            What::Created { zxid, .. }
            | What::Deleted { zxid, .. }
            | What::Written { zxid, .. }
            | What::Restricted { zxid, .. } => zxid,
            _ => return,
        };
        let Some((latest, _, code, index)) = self.latest else { return };
        let because = match code {
            _ if latest != zxid => format!("e{index}: the latest transaction is {latest:#x}"),
            Code::Ok => return,
            _ => format!("e{index}: that transaction was refused"),
        };
        let text = explain(format!("an effect of zxid {zxid:#x} at {}", scene.when(scene.view.now)))
            .because(because);
        out.fail_all(RuleId::Zk11, scene, &[index], text);
    }

    fn finish(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        // A history may end in the middle of a transaction, which then lacks effects without a breach.
        if scene.view.oracle.effects_so_far() > 1 {
            self.close(scene, scene.view.oracle.effects_so_far(), out);
        }
    }
}
