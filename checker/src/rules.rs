//! The rules: small state machines over the view. No rule depends on another one.

mod announced;
mod answers;
mod barrier;
mod belief;
mod config;
mod cost;
mod counter;
mod double_barrier;
mod election;
mod fenced;
mod followers;
mod grant;
mod group;
mod in_time;
mod interest;
mod kept_alive;
mod leaks;
mod leases;
mod loss;
mod members_data;
mod name_service;
mod own_znode;
mod persistent_node;
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
use crate::history::{Event, Object};
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
            subscriptions: Subscriptions,
            $($field: $rule),+
        }

        /// The events that each rule receives: none if it is off, or if no object is of its kind.
        #[derive(Clone, Default)]
        struct Subscriptions {
            /// The number of objects for which this was computed.
            objects: usize,
            is_known: bool,
            $($field: Kinds),+
        }

        impl Subscriptions {
            fn new(on: &RuleSet, objects: &[Object]) -> Subscriptions {
                Subscriptions {
                    objects: objects.len(),
                    is_known: true,
                    $($field: if <$rule>::is_on(on) && <$rule>::concerns(objects) { <$rule>::HEARS } else { 0 }),+
                }
            }
        }

        impl Rules {
            /// Computes the events of each rule again if objects were declared since.
            fn listen(&mut self, on: &RuleSet, scene: &Scene<'_>) {
                if !self.subscriptions.is_known || self.subscriptions.objects != scene.tables.objects.len() {
                    self.subscriptions = Subscriptions::new(on, scene.tables.objects);
                }
            }

            pub(crate) fn pass_time(&mut self, on: &RuleSet, scene: &Scene<'_>, out: &mut Findings) {
                self.listen(on, scene);
                $(if self.subscriptions.$field != 0 { self.$field.pass_time(scene, out); })+
            }

            pub(crate) fn event(&mut self, on: &RuleSet, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
                self.listen(on, scene);
                self.tally.event(scene, event, out);
                let kind = bit(&event.what);
                if zookeeper::probes::Probes::HEARS & kind != 0 && on.has_layer(Layer::ZooKeeper) {
                    self.probes.event(scene, event, out);
                }
                $(if self.subscriptions.$field & kind != 0 { self.$field.event(scene, event, out); })+
            }

            pub(crate) fn finish(&mut self, on: &RuleSet, scene: &Scene<'_>, out: &mut Findings) {
                self.listen(on, scene);
                $(if self.subscriptions.$field != 0 { self.$field.finish(scene, out); })+
            }
        }
    };
}

all_rules! {
    one_order: zookeeper::order::OneOrder,
    linearizable_writes: zookeeper::order::Linearizable,
    session_order: zookeeper::order::SessionOrder,
    pairing: zookeeper::pairing::Pairing,
    one_image: zookeeper::order::OneImage,
    reads: zookeeper::reads::Shown,
    watches: zookeeper::watches::Watches,
    sessions: zookeeper::sessions::Sessions,
    clients: zookeeper::clients::Clients,
    sequence_numbers: zookeeper::changes::Suffix,
    conditions: zookeeper::changes::Conditions,
    durability: zookeeper::order::Durable,
    whole_transactions: zookeeper::changes::Whole,
    synced_reads: zookeeper::reads::Sync,
    cut_off_server: zookeeper::reads::CutOff,
    fenced_resource: resource::Resource,
    exclusion: belief::Guarded,
    raw_exclusion: belief::Raw,
    justified_grant: grant::Justified,
    fencing_token: grant::FencingToken,
    order_of_grants: grant::GrantOrder,
    wake_up_to_come: wake::Wake,
    progress: progress::Progress,
    one_znode: own_znode::OneZnode,
    own_delete: own_znode::WhoDeletes,
    nothing_left: leaks::Leaks,
    end_of_interest: interest::EndOfInterest,
    cost: cost::Cost,
    stops_in_time: in_time::InTime,
    no_false_loss: loss::FalseLoss,
    fenced_writes: fenced::Fenced,
    told_state: told_state::ToldState,
    leases: leases::Leases,
    request_is_heard: revocation::RequestHeard,
    force_as_allowed: revocation::Force,
    request_is_no_grant: revocation::NoGrant,
    preemption: preemption::Preemption,
    acknowledgement: election::Acknowledged,
    stability: election::OneCandidate,
    barriers: barrier::Barriers,
    double_barriers: double_barrier::DoubleBarriers,
    items: queue::items::Items,
    consumers: queue::consumers::IdleConsumers,
    two_phase_commit: two_phase_commit::TwoPhaseCommit,
    name_service: name_service::NameService,
    one_at_a_time: kept_alive::OneAtATime,
    held_again: kept_alive::Again,
    persistent_nodes: persistent_node::PersistentNodes,
    config: config::Config,
    counters: counter::Counters,
    group: group::Group,
    members_data: members_data::MembersData,
    answers: answers::Answers,
}
