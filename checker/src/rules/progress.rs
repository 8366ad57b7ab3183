//! Progress when faults are over: MX-8.

use super::{Kinds, Rule, hears};
use crate::history::{Event, ObjectId, Verb, What};
use crate::sink::{Scene, Sink, Story, ms};
use crate::verdict::RuleId;
use crate::view::{Line, Moment};

/// MX-8: after the heal, nobody waits longer than the bound for something that nobody holds.
#[derive(Default)]
pub(crate) struct Progress {
    /// Standstills that were told: the object, and since when.
    told: Vec<(ObjectId, u64)>,
}

/// Since when a free object is not granted although somebody waits and nothing is in the way.
fn standstill(scene: &Scene<'_>, line: &Line) -> Option<u64> {
    let stands = scene.view.healed && line.held == 0 && !line.waiting.is_empty();
    stands.then(|| line.unheld_since.max(scene.view.calm_since))
}

impl Rule for Progress {
    const ID: RuleId = RuleId::Mx8;
    const HEARS: Kinds = hears::Heal | hears::Call;

    fn pass_time(&mut self, scene: &Scene<'_>, sink: &mut Sink) {
        let view = scene.view;
        if !view.healed {
            return;
        }
        for (at, line) in view.lines.iter().enumerate() {
            let Some(since) = standstill(scene, line) else { continue };
            let object = ObjectId(at as u16);
            let bound = view.bound(object);
            if scene.at <= since.saturating_add(bound) || self.told.contains(&(object, since)) {
                continue;
            }
            self.told.push((object, since));
            let first = view.op(line.waiting[0]);
            let now = scene.when(Moment { at: scene.at, index: scene.index });
            let mut story = Story::new(format!(
                "{} waits since {}; at {now} nobody had held it for {}, and {} is the most it may take",
                scene.client(first.client),
                scene.when(first.called),
                ms(scene.at - since),
                ms(bound)
            ));
            if let Some(number) = line.contenders.get(line.first) {
                let of = view.contender(*number).map_or("?".to_owned(), |first| scene.party(first.op));
                story = story.because(format!("{} of {of} stands first in line", scene.place(*number)));
            }
            sink.fail(Self::ID, scene, object, &[first.called.index], story);
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
        match event.what {
            What::Heal => {
                for (at, line) in scene.view.lines.iter().enumerate() {
                    line.waiting.iter().for_each(|_| sink.premise(Self::ID, ObjectId(at as u16)));
                }
            }
            What::Call { object, verb: Verb::Acquire | Verb::TryAcquire, .. } if scene.view.healed => {
                sink.premise(Self::ID, object);
            }
            _ => {}
        }
    }

    fn finish(&mut self, scene: &Scene<'_>, sink: &mut Sink) {
        for (at, line) in scene.view.lines.iter().enumerate() {
            let settled = scene.view.quiet && line.held > 0;
            if !line.waiting.is_empty() && !settled {
                sink.unknown(Self::ID, ObjectId(at as u16));
            }
        }
    }
}
