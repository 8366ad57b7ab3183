//! The rules: small state machines over the view. No rule depends on another one.

mod announced;
mod answers;
mod barrier;
mod belief;
mod config;
mod cost;
mod double_barrier;
mod election;
mod fenced;
mod followers;
mod grant;
mod group;
mod in_time;
mod interest;
mod leaks;
mod leases;
mod loss;
mod members_data;
mod name_service;
mod own_znode;
mod preemption;
mod progress;
mod queue;
mod resource;
mod revocation;
mod told_state;
mod two_phase_commit;
mod wake;
mod wake_sources;
mod zookeeper;

use crate::findings::Findings;
use crate::history::{Event, Kind, Object};
use crate::rule::{Kinds, Rule, bit};
use crate::rule_id::Layer;
use crate::rule_set::RuleSet;
use crate::scene::Scene;

macro_rules! all_rules {
    ($($field:ident: $rule:ty),+ $(,)?) => {
        #[derive(Clone, Default)]
        pub(crate) struct Rules {
            tally: cost::Tally,
            probes: zookeeper::probes::Probes,
            heard: Heard,
            $($field: $rule),+
        }

        /// The events that each rule receives: none if it is off, or if no object is of its kind.
        #[derive(Clone, Default)]
        struct Heard {
            /// The number of objects for which this was computed.
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
            /// Computes the events of each rule again if objects were declared since.
            fn listen(&mut self, on: &RuleSet, scene: &Scene<'_>) {
                if !self.heard.is_known || self.heard.objects != scene.tables.objects.len() {
                    self.heard = Heard::new(on, scene.tables.objects);
                }
            }

            pub(crate) fn pass_time(&mut self, on: &RuleSet, scene: &Scene<'_>, out: &mut Findings) {
                self.listen(on, scene);
                $(if self.heard.$field != 0 { self.$field.pass_time(scene, out); })+
            }

            pub(crate) fn event(&mut self, on: &RuleSet, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
                self.listen(on, scene);
                self.tally.event(scene, event, out);
                let kind = bit(&event.what);
                if zookeeper::probes::Probes::HEARS & kind != 0 && on.has_layer(Layer::ZooKeeper) {
                    self.probes.event(scene, event, out);
                }
                $(if self.heard.$field & kind != 0 { self.$field.event(scene, event, out); })+
            }

            pub(crate) fn finish(&mut self, on: &RuleSet, scene: &Scene<'_>, out: &mut Findings) {
                self.listen(on, scene);
                $(if self.heard.$field != 0 { self.$field.finish(scene, out); })+
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
    mx5: grant::FencingToken,
    mx6: grant::GrantOrder,
    mx7: wake::Wake,
    mx8: progress::Progress,
    mx9: own_znode::OneZnode,
    mx10: own_znode::WhoDeletes,
    mx11: leaks::Leaks,
    mx12: interest::EndOfInterest,
    mx13: cost::Cost,
    mx14: in_time::InTime,
    mx16: loss::FalseLoss,
    mx17: fenced::Fenced,
    told: told_state::ToldState,
    sm1: leases::Leases,
    rv1: revocation::Heard,
    rv2: revocation::Force,
    rv4: revocation::NoGrant,
    rv5: preemption::Preemption,
    le4: election::Acknowledged,
    le6: election::OneCandidate,
    ba: barrier::Barriers,
    db: double_barrier::DoubleBarriers,
    qu1: queue::items::Items,
    qu6: queue::consumers::IdleConsumers,
    tc: two_phase_commit::TwoPhaseCommit,
    ns: name_service::NameService,
    cf: config::Config,
    gm: group::Group,
    data: members_data::MembersData,
    an: answers::Answers,
}
