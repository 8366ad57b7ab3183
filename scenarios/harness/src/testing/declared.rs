//! Checks the declarations of user code before the first run: each rule that it names must have an object to judge.

use crate::workload::{Setting, Workload};
use zk_checker::history::{Kind, Names, Object};
use zk_checker::{Layer, RuleId};

/// Checks that a workload can be judged as it is declared.
///
/// # Errors
///
/// The reason, in a sentence.
pub(super) fn check(workload: &Workload, seed: u64) -> Result<(), String> {
    let mut names = Names::default();
    let objects = (workload.objects)(&mut names, &Setting::simulated(&workload.plan(seed)));
    for object in &objects {
        let path = names.text(object.path);
        if object.kind.has_leases() && object.size == 0 {
            let kind = object.kind.words();
            return Err(format!("the {kind} {path} has no leases: declare how many, as its `size`"));
        }
        if is_foreign(object.kind) {
            let kind = object.kind.name();
            return Err(format!(
                "{path} is a {kind}: only reports of foreign programs are judged for it, and no simulation"
            ));
        }
    }
    let Some(rules) = workload.stated.rules else { return has_a_recipe(&objects) };
    rules.iter().try_for_each(|rule| judges(*rule, &objects))
}

/// Whether objects of that kind are judged by reports alone.
fn is_foreign(kind: Kind) -> bool {
    RuleId::ALL.iter().filter(|rule| rule.is_about(kind)).all(|rule| rule.is_about_claims())
}

/// All rules together are judged only for the protocols of recipes.
fn has_a_recipe(objects: &[Object]) -> Result<(), String> {
    let Some(object) = objects.iter().find(|object| !RuleId::An1.is_about(object.kind)) else {
        return Ok(());
    };
    let judges: Vec<&str> =
        RuleId::ALL.iter().filter(|rule| rule.judges(object)).map(|rule| rule.name()).collect();
    let (kind, judges) = (object.kind.words(), judges.join(", "));
    Err(format!("a {kind} has no recipe, so name the rule that judges it: {judges}"))
}

/// Whether a rule has an object to judge. ZooKeeper's own promises apply to every run.
fn judges(rule: RuleId, objects: &[Object]) -> Result<(), String> {
    if rule.layer() <= Layer::ZooKeeper || objects.iter().any(|object| rule.judges(object)) {
        return Ok(());
    }
    let (name, title) = (rule.name(), rule.title());
    if rule.is_about_claims() {
        return Err(format!("{name} ({title}) judges reports of foreign programs, and no simulation"));
    }
    let mut kinds: Vec<&str> = objects.iter().map(|object| object.kind.name()).collect();
    kinds.dedup();
    let kinds =
        if kinds.is_empty() { "there are none".to_owned() } else { format!("only: {}", kinds.join(", ")) };
    Err(format!("{name} ({title}) judges none of the objects ({kinds})"))
}
