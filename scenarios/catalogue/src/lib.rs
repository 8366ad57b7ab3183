//! A workload, stories and mutants for each recipe of the library.
//!
//! # How to add a recipe
//!
//! One folder, and one line in [`RECIPES`]: this makes it known to sweeps, the mutation score, lists, exploration and
//! the tests. The folder holds
//!
//! 1. `workload.rs`: n clients, r rounds. `pub static WORKLOAD` is the description: `plan` is
//!    [`Plan::drawn`](zk_harness::plan::Plan::drawn), or that with other figures; `required` names the rules that a
//!    sweep must exercise; `stated` is what its runs must fulfil besides: their time limit, and the events that must
//!    occur in some runs. `REAL` is the same on real servers. `objects` declares the objects to the checker;
//!    [`ObjectId`](zk_checker::history::ObjectId)s count in that order. `client` does one client's
//!    [`Task`](zk_harness::workload::Task), generic over [`Client`](zk_harness::client::Client), and over the methods
//!    of the recipe if it has mutants. It consists of
//!    - [`rounds`](zk_harness::rounds::rounds): one round after the other, in a session that is reopened when it is
//!      over. A process that dies starts again as a new one, with the round that it did not end; so no code may depend
//!      on a client that goes through all rounds in one life, and on a real server each round is a call of its own.
//!    - [`operation`](zk_harness::operation::operation): journal the call, run it unless it is to be dropped, journal
//!      how it ended. Its `work` must call the recipe *inside* the closure, since the call sends the requests.
//!    - [`Belief`](zk_harness::holding::Belief): from the grant of something [`Held`](zk_harness::holding::Held) to the
//!      moment at which its holder stops.
//!
//!    Every random choice is drawn by `client.choose(n)`, where 0 is the plain way. A recorded run depends on the order
//!    of its draws: a workload with recorded runs in `regressions/` keeps that order.
//! 2. `words.rs`: the vocabulary of its stories, as methods on [`Actor`](stage::Actor).
//! 3. `stories/`: a script per file, played on a fault-free network. It opens with a sentence about the events, and
//!    holds `STORY` and its `script`: steps that read aloud. `point` names the events without which the story has
//!    missed its purpose, and `verdicts` the expected verdicts; no rule may fail in any case. A test plays every story
//!    and keeps its trace as a snapshot of fewer than 80 lines:
//!    `INSTA_UPDATE=always cargo test -p zk-scenarios stories` writes it; review it like code.
//! 4. `mutants/`: the recipe with one wrong step. A mutant is a value: either `copy.rs` is a copy of the recipe that
//!    reads a `Mutation`, a plain struct with a field for each step that can be wrong (`Mutation::RIGHT` has none); or
//!    the right recipe runs over a session with an interceptor, a fault proxy. So a copy, and the workload around it,
//!    is compiled once for all its mutants. The workload's `client` takes the constructor ([`Make`](recipe::Make)) of
//!    the right recipe or of a mutant. A mutant's doc comment names the wrong step, its harm, and where it was seen in
//!    the field. `faults` and `plan` draw only the triggers, so that nothing else hides the mutant. `caught_by` says
//!    how it must be killed ([`Caught`](zk_harness::caught::Caught)): by which rule as the first finding, within how
//!    many seeds, with what harm, while the right recipe is silent on the same seeds. `cargo sim mutants NAME` shows
//!    whether it is, and `cargo sim mutants --write-readme` rewrites the table.
//!
//!    Why copies, and not edits of the recipe's source: a trial compiled 22 of the 23 mutants over the lock's copy as rows of
//!    a text to find and its replacement, with a switch that the session carries. It added 541 lines for 566 that it removed,
//!    and the last mutant, whose limit starts anew at each wake-up, needs a value that the recipe does not have. The private
//!    parts of `zk_recipes::zk` that the recipes use had to become public, the kind of an error among them. Of the rows, seven
//!    replaced one expression. No tool formats or checks a row before the build, and each change of a line that a row quotes
//!    breaks it. `cargo check` of this crate cost the same processor time, a release build a tenth more (229 s for 209 s). The
//!    trial ended there, before its mutants were swept.
//! 5. `promises.txt`: a row for every public method of the recipe and every sentence of its docs that promises something,
//!    with the rules and tests that judge it, the workloads that call it and the mutants that break it; see [`promises`].
//!    A test lists the gaps, and `UPDATE_PROMISES=1` adds rows for what is new.
//! 6. `exercised.txt`: how the calls of its operations end, and who sets its options; see [`exercised`].
//!
//!    Besides, every operation of a recipe has mutants that [lie](lies).
//!
//! All of them import the module `prelude`, which has the names of the harness and the ids of the rules.

pub mod barrier;
mod claims;
pub mod config;
mod copies;
pub mod counter;
pub mod double_barrier;
pub mod election;
pub mod exercised;
mod former;
pub mod group;
pub mod lies;
pub mod lock;
pub mod names;
mod prelude;
pub mod priority_lock;
pub mod priority_queue;
pub mod promises;
pub mod published;
pub mod queue;
pub mod recipe;
pub mod revocable_lock;
pub mod semaphore;
mod session;
pub mod shared_lock;
pub mod stage;
mod told;
pub mod two_phase_commit;
pub mod variations;
pub mod wrong_worlds;

use lies::Lies;
use recipe::Recipe;
use std::borrow::Cow;
use zk_harness::stage::Story;
use zk_harness::workload::Workload;
use zk_real::RealWorkload;

/// Every recipe.
pub static RECIPES: &[&Recipe] = &[
    &names::RECIPE,
    &config::RECIPE,
    &group::RECIPE,
    &barrier::RECIPE,
    &double_barrier::RECIPE,
    &queue::RECIPE,
    &priority_queue::RECIPE,
    &lock::RECIPE,
    &shared_lock::RECIPE,
    &revocable_lock::RECIPE,
    &priority_lock::RECIPE,
    &two_phase_commit::RECIPE,
    &election::RECIPE,
    &counter::RECIPE,
    &semaphore::RECIPE,
];

/// Every recipe, and then the workloads without one.
pub fn recipes() -> impl Iterator<Item = &'static Recipe> {
    RECIPES.iter().chain(variations::ALL).copied()
}

/// The workloads of right recipes.
pub fn workloads() -> impl Iterator<Item = &'static Workload> {
    recipes().map(|recipe| recipe.workload)
}

/// The recipes with one wrong step, and right ones in wrong worlds.
pub fn mutants() -> impl Iterator<Item = &'static Workload> {
    let of_a_recipe = |recipe: &'static Recipe| {
        let lies = recipe.lies.into_iter().flat_map(Lies::mutants).map(|mutant| &mutant.workload);
        recipe.mutants.iter().copied().chain(lies)
    };
    recipes().flat_map(of_a_recipe).chain(wrong_worlds::caught())
}

/// The mutants that lie.
pub fn lying() -> impl Iterator<Item = &'static Workload> {
    lies::all().iter().map(|mutant| &mutant.workload)
}

/// Workloads whose simulation is more lenient than ZooKeeper.
pub fn too_kind() -> impl Iterator<Item = &'static Workload> {
    wrong_worlds::too_kind()
}

/// Everything that runs by name: workloads first.
pub fn all() -> impl Iterator<Item = &'static Workload> {
    workloads().chain(mutants()).chain(too_kind())
}

/// The workload of that name, or of that former name.
pub fn find(name: &str) -> Option<&'static Workload> {
    let name = present_name(name);
    all().find(|workload| workload.name == name)
}

/// The name that a workload, or the mutants of one, have now instead of a former one; any other name as it is.
pub fn present_name(name: &str) -> Cow<'_, str> {
    let renamed = |&(former, now): &(&str, &str)| {
        let rest = name.strip_prefix(former).filter(|rest| rest.is_empty() || rest.starts_with('-'))?;
        Some(format!("{now}{rest}"))
    };
    variations::FORMER_NAMES.iter().find_map(renamed).map_or(name.into(), Cow::from)
}

/// The workloads that run on real servers, then the mutants that do.
pub fn real_workloads() -> impl Iterator<Item = &'static RealWorkload> {
    let mutants = recipes().flat_map(|recipe| recipe.real_mutants.iter().copied());
    recipes().filter_map(|recipe| recipe.real).chain(mutants)
}

/// The workload on real servers, if it runs there.
pub fn on_real_servers(workload: &Workload) -> Option<&'static RealWorkload> {
    real_workloads().find(|real| real.workload == workload)
}

/// Every story.
pub fn stories() -> impl Iterator<Item = &'static Story> {
    recipes().flat_map(|recipe| recipe.stories.iter().copied())
}

/// The story of that name.
pub fn story(name: &str) -> Option<&'static Story> {
    stories().find(|story| story.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_is_given_once() {
        let names = || workloads().map(|workload| workload.name).chain(stories().map(|story| story.name));
        assert_eq!(names().collect::<BTreeSet<_>>().len(), names().count());
    }

    #[test]
    fn former_names_find_the_same_workloads() {
        for (former, now) in variations::FORMER_NAMES {
            assert!(all().all(|workload| !workload.name.starts_with(former)), "{former} is taken");
            let family = all().filter(|workload| workload.name.starts_with(now));
            let found = family.map(|workload| (find(&workload.name.replacen(now, former, 1)), workload));
            let found: Vec<_> = found.collect();
            assert!(found.len() > 1, "{now} has mutants");
            assert!(found.iter().all(|(found, workload)| *found == Some(*workload)), "{former}");
        }
        assert!(find("guardsmen").is_none());
    }

    #[test]
    fn what_is_broken_stands_among_the_broken_and_nothing_else_does() {
        assert!(workloads().all(|workload| !workload.is_mutant()));
        assert!(mutants().all(Workload::is_mutant));
    }

    #[test]
    fn a_target_draws_no_other_faults_than_it_names_and_its_plans_make_sense() {
        for workload in workloads() {
            for seed in 0..50 {
                let plan = workload.plan(seed);
                assert_eq!(plan.check(), Ok(()), "{workload:?} seed {seed}");
                let named = |name: &String| workload.faults.iter().any(|fault| fault.name() == name);
                assert!(plan.rates.keys().all(named), "{workload:?} seed {seed}: {plan}");
            }
        }
    }
}
