//! The rules: small state machines over the view. A rule does not know another one.

mod barrier;
mod belief;
mod config;
mod cost;
mod double_barrier;
mod election;
mod followers;
mod grant;
mod group;
mod idle;
mod in_time;
mod interest;
mod leaks;
mod line;
mod loss;
mod names;
mod progress;
mod queue;
mod resource;
mod revocation;
mod two_phase_commit;
mod wake;
mod zookeeper;

use crate::history::{Event, Kind, Object, What};
use crate::rule_id::{Layer, RuleId};
use crate::rule_set::RuleSet;
use crate::sink::{Scene, Sink};

/// The kinds of event that a rule hears, as bits.
pub(crate) type Kinds = u64;

macro_rules! kinds {
    ($($kind:ident = $bit:literal),+ $(,)?) => {
        /// The kind of an event as a bit.
        fn kind(what: &What) -> Kinds {
            match what { $(What::$kind { .. } => 1 << $bit),+ }
        }

        /// The bits by name.
        #[allow(non_upper_case_globals, reason = "they are named like the variants they stand for")]
        pub(crate) mod hears {
            $(#[allow(dead_code, reason = "one for each kind")] pub(crate) const $kind: super::Kinds = 1 << $bit;)+
        }
    };
}

kinds! {
    Call = 0, Return = 1, Believe = 2, Unbelieve = 3, Resource = 4, Sleep = 5, Send = 6, Reply = 7, Made = 8, Lost = 9,
    Notice = 10, State = 11, Txn = 12, Created = 13, Deleted = 14, Written = 15, Arm = 16, Fire = 17, Disarm = 18,
    Opened = 19, Marked = 20, Ended = 21, Fault = 22, Mended = 23, Crash = 24, Start = 25, Heal = 26, Quiesce = 27,
    Left = 28, Stopped = 29, Restricted = 30, Data = 31, Applied = 32, Served = 33, Found = 34, Barrier = 35,
    Attached = 36, TurnedAway = 37, Moved = 38, Elected = 39, Serving = 40, Ceased = 41, Given = 42, Observed = 43,
    Expects = 44,
}

/// A promise, as a state machine.
pub(crate) trait Rule {
    /// Which one.
    const ID: RuleId;
    /// What it hears.
    const HEARS: Kinds;
    /// Which others it judges on the way.
    const ALSO: &'static [RuleId] = &[];
    /// The kinds of object that it is about; none means whatever there is.
    const ABOUT: &'static [Kind] = &[];

    /// Whether anything that it judges is on.
    fn is_on(on: &RuleSet) -> bool {
        on.has(Self::ID) || Self::ALSO.iter().any(|rule| on.has(*rule))
    }

    /// Time is about to pass: `scene.at` is the new time, the view still shows what was before.
    fn pass_time(&mut self, _scene: &Scene<'_>, _sink: &mut Sink) {}

    /// An event that it hears; the view shows what is after it.
    fn event(&mut self, scene: &Scene<'_>, event: &Event, sink: &mut Sink);

    /// Nothing follows.
    fn finish(&mut self, _scene: &Scene<'_>, _sink: &mut Sink) {}
}

macro_rules! all_rules {
    ($($field:ident: $rule:ty),+ $(,)?) => {
        /// All rules.
        #[derive(Default)]
        pub(crate) struct Rules {
            tally: cost::Tally,
            probes: zookeeper::probes::Probes,
            heard: Heard,
            $($field: $rule),+
        }

        /// What each rule hears: nothing if it is off, or no object is of its kind.
        #[derive(Default)]
        struct Heard {
            /// Of how many objects that is known.
            objects: usize,
            is_known: bool,
            $($field: Kinds),+
        }

        impl Heard {
            fn new(on: &RuleSet, objects: &[Object]) -> Heard {
                let concerns = |about: &[Kind]| {
                    about.is_empty() || objects.iter().any(|object| about.contains(&object.kind))
                };
                Heard {
                    objects: objects.len(),
                    is_known: true,
                    $($field: if <$rule>::is_on(on) && concerns(<$rule>::ABOUT) { <$rule>::HEARS } else { 0 }),+
                }
            }
        }

        impl Rules {
            /// Objects may be declared while a run goes on.
            fn listen(&mut self, on: &RuleSet, scene: &Scene<'_>) {
                if !self.heard.is_known || self.heard.objects != scene.tables.objects.len() {
                    self.heard = Heard::new(on, scene.tables.objects);
                }
            }

            pub(crate) fn pass_time(&mut self, on: &RuleSet, scene: &Scene<'_>, sink: &mut Sink) {
                self.listen(on, scene);
                $(if self.heard.$field != 0 { self.$field.pass_time(scene, sink); })+
            }

            pub(crate) fn event(&mut self, on: &RuleSet, scene: &Scene<'_>, event: &Event, sink: &mut Sink) {
                self.listen(on, scene);
                self.tally.event(scene, event, sink);
                let kind = kind(&event.what);
                if zookeeper::probes::Probes::HEARS & kind != 0 && on.has_layer(Layer::ZooKeeper) {
                    self.probes.event(scene, event, sink);
                }
                $(if self.heard.$field & kind != 0 { self.$field.event(scene, event, sink); })+
            }

            pub(crate) fn finish(&mut self, on: &RuleSet, scene: &Scene<'_>, sink: &mut Sink) {
                self.listen(on, scene);
                $(if self.heard.$field != 0 { self.$field.finish(scene, sink); })+
            }
        }
    };
}

all_rules! {
    zk1: zookeeper::order::OneOrder,
    zk2: zookeeper::order::Linearizable,
    zk3: zookeeper::order::SessionOrder,
    asked: zookeeper::asked::Asked,
    zk4: zookeeper::order::OneImage,
    zk5: zookeeper::reads::Shown,
    zk6: zookeeper::watches::Watches,
    zk7: zookeeper::sessions::Sessions,
    clients: zookeeper::clients::Clients,
    zk8: zookeeper::changes::Suffix,
    zk9: zookeeper::changes::Conditions,
    zk10: zookeeper::order::Durable,
    zk11: zookeeper::changes::Whole,
    zk12: zookeeper::reads::Sync,
    zk13: zookeeper::reads::CutOff,
    mx1: resource::Resource,
    mx2: belief::Guarded,
    mx3: belief::Raw,
    mx4: grant::Justified,
    mx5: grant::Token,
    mx6: grant::Order,
    mx7: wake::Wake,
    mx8: progress::Progress,
    mx9: line::OneZnode,
    mx10: line::WhoDeletes,
    mx11: leaks::Leaks,
    mx12: interest::EndOfInterest,
    mx13: cost::Cost,
    mx14: in_time::InTime,
    mx16: loss::FalseLoss,
    rv1: revocation::Heard,
    rv2: revocation::Force,
    rv4: revocation::NoGrant,
    le4: election::Acknowledged,
    le6: election::OneCandidate,
    ba: barrier::Barriers,
    db: double_barrier::DoubleBarriers,
    qu1: queue::items::Items,
    qu6: queue::idle::Idle,
    tc: two_phase_commit::TwoPhaseCommit,
    ns: names::Names,
    cf: config::Config,
    gm: group::Group,
}
