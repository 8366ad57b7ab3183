//! Work that lasts longer than the holds under which it is done: SV-1 and SV-2.

use crate::rule::prelude::*;
use crate::view::Phase;

/// SV-1: the work of a client for an object is one piece at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct OneAtATime;

impl Rule for OneAtATime {
    const JUDGES: &'static [Property] = &[Property::OneAtATime];
    const HEARS: Kinds = hears![Call];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::Call { object, verb: Verb::Work, .. } = event.what else { return };
        out.premise(RuleId::Sv1, object);
        let client = scene.view.op(event.op).client;
        let is_other = |op: &&OpId| {
            let other = scene.view.op(**op);
            **op != event.op && (other.verb, other.object) == (Verb::Work, object)
        };
        let Some(other) = scene.view.client(client).open.iter().find(is_other) else { return };
        let begun = scene.view.op(*other).called;
        let text = explain(format!("{} begins to work at {}", scene.client(client), scene.when(scene.now())))
            .because(format!("its work that began at {} has not ended", scene.when(begun)));
        out.fail(RuleId::Sv1, scene, object, &[begun.index], text);
    }
}

/// SV-2: a client that is to hold an object, over many holds, holds it or asks for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Again {
    /// Calls that keep an object held, and the time at which their client last did something for it.
    keeps: Vec<(OpId, u64)>,
}

impl Again {
    fn is_busy(scene: &Scene<'_>, keep: OpId) -> bool {
        let view = scene.view;
        let (object, client) = (view.op(keep).object, view.client(view.op(keep).client));
        let asks = |op: &OpId| {
            let op = view.op(*op);
            op.object == object && (op.verb.asks_for().is_some() || op.verb == Verb::Work)
        };
        client.open.iter().any(asks) || client.holds.iter().any(|op| view.op(*op).object == object)
    }
}

impl Rule for Again {
    const JUDGES: &'static [Property] = &[Property::HeldAgain];
    const HEARS: Kinds = hears![Call, Return, Unbelieve];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        for (keep, since) in &mut self.keeps {
            if Self::is_busy(scene, *keep) {
                *since = scene.at;
            } else if *since != u64::MAX && scene.had_time(*keep, *since) {
                let op = scene.view.op(*keep);
                let text = explain(format!(
                    "{} neither holds {} nor asks for it at {}",
                    scene.client(op.client),
                    scene.path(scene.object(op.object).path),
                    scene.when(scene.now())
                ))
                .because(format!("it is to hold it since {}", scene.when(op.called)))
                .because(format!("it has done nothing for it for {}", ms(scene.at - *since)));
                *since = u64::MAX;
                out.fail(RuleId::Sv2, scene, op.object, &[op.called.index], text);
            }
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let op = scene.view.op(event.op);
        match event.what {
            What::Call { object, verb: Verb::Keep, .. } if RuleId::Sv2.is_about(scene.kind(object)) => {
                self.keeps.push((event.op, scene.at))
            }
            What::Return { .. } if op.verb == Verb::Keep => {
                self.keeps.retain(|(keep, _)| !matches!(scene.view.op(*keep).phase, Phase::Over(_)));
            }
            What::Unbelieve { why: Why::Lost | Why::Suspect }
                if self.keeps.iter().any(|(keep, _)| scene.view.op(*keep).object == op.object) =>
            {
                out.premise(RuleId::Sv2, op.object);
            }
            _ => {}
        }
    }
}
