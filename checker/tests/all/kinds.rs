//! The descriptions of recipes know every operation that a recorded history calls.

use crate::corpus::{folder, recorded};
use zk_checker::history::What;

#[test]
fn every_call_of_a_recorded_history_is_an_operation_of_its_recipe() {
    for recorded in recorded(&folder()) {
        for event in &recorded.history.events {
            let What::Call { object, verb, .. } = event.what else { continue };
            let kind = recorded.history.objects[usize::from(object.0)].kind;
            assert!(kind.has(verb), "{}: {} {}", recorded.name, kind.name(), verb.name());
        }
    }
}
