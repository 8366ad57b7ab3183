//! What rules share: a rule is a state machine over events, and says which kinds of event it receives.

use crate::findings::Findings;
use crate::history::{Event, Kind, Object, What, event_table};
use crate::property::Property;
use crate::rule_id::RuleId;
use crate::rule_set::RuleSet;
use crate::scene::Scene;

/// The common imports of all rules.
pub(crate) mod prelude {
    pub(crate) use super::{Kinds, Rule, hears};
    pub(crate) use crate::explanation::{Explanation, explain};
    pub(crate) use crate::findings::{Findings, Ruling};
    pub(crate) use crate::history::*;
    pub(crate) use crate::property::Property;
    pub(crate) use crate::recent::slot;
    pub(crate) use crate::rule_id::{Layer, RuleId};
    pub(crate) use crate::scene::{NODE_DELETED, Scene, event_name, ms};
    pub(crate) use crate::verdict::Verdict;
}

/// The kinds of event that a rule receives, as bits.
pub(crate) type Kinds = u64;

macro_rules! define {
    ($($(#[$meta:meta])* $kind:ident = $name:literal $({ $($fields:tt)* })?,)+) => {
        /// The numbers of the bits.
        #[derive(Clone, Copy)]
        #[allow(dead_code, reason = "no rule hears some of the kinds")]
        pub(crate) enum Bit { $($kind),+ }

        /// The kind of an event as a bit.
        pub(crate) fn bit(what: &What) -> Kinds {
            match what { $(What::$kind { .. } => 1 << Bit::$kind as u32),+ }
        }
    };
}

event_table!(define);

/// The bits of some kinds of event: `hears![Call, Return]`.
macro_rules! hears {
    ($($kind:ident),+ $(,)?) => { $(1 << $crate::rule::Bit::$kind as u32)|+ };
}

pub(crate) use hears;

/// A promise as a state machine over events.
pub(crate) trait Rule {
    /// The properties that it judges. Without a list: all that are about the kinds of [`ABOUT`](Rule::ABOUT) alone.
    const JUDGES: &'static [Property] = &[];
    /// The kinds of event that it receives.
    const HEARS: Kinds;
    /// The kinds of object that it is about. Without a list: those of the properties that it judges.
    const ABOUT: &'static [Kind] = &[];

    /// Whether a rule is on that names one of its properties, of an object that it is about.
    fn is_on(on: &RuleSet) -> bool {
        const { assert!(!Self::JUDGES.is_empty() || !Self::ABOUT.is_empty(), "a rule judges something") };
        if Self::JUDGES.is_empty() {
            return RuleId::ALL.iter().any(|rule| on.has(*rule) && rule.is_about_only(Self::ABOUT));
        }
        let is_about =
            |rule: &RuleId| Self::ABOUT.is_empty() || Self::ABOUT.iter().any(|kind| rule.is_about(*kind));
        Self::JUDGES.iter().flat_map(|property| property.rules()).filter(is_about).any(|rule| on.has(rule))
    }

    /// Whether a history with these objects has something to judge.
    fn concerns(objects: &[Object]) -> bool {
        let is_about = |kind: Kind| match Self::ABOUT {
            [] => Self::JUDGES.iter().any(|property| property.is_about(kind)),
            about => about.contains(&kind),
        };
        Self::JUDGES.iter().any(|property| property.is_about_runs())
            || objects.iter().any(|object| is_about(object.kind))
    }

    /// Called before time passes: `scene.at` is the new time, and the view still shows the state before.
    fn pass_time(&mut self, _scene: &Scene<'_>, _sink: &mut Findings) {}

    /// Called for each event of those kinds; the view shows the state after the event.
    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings);

    /// Called once, after the last event.
    fn finish(&mut self, _scene: &Scene<'_>, _sink: &mut Findings) {}
}
