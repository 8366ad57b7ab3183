//! The operations that the workloads exercise together, each with the ways in which it can end, and the option values that
//! they set.
//!
//! A list stands beside the workload of each recipe, as `exercised.txt`; `shared.txt` has the options of several recipes.
//!
//! ```text
//! # A comment.
//! lock acquire: done, dropped, session_over      how calls of an operation end in some run
//!   rarely: removed                              and how they end in so few that a sweep may miss it
//!   never exhausted: the reason                  and how it may end, but does in no run
//! option Naming::Curator: guard-methods          the workloads that set an option to that value
//! option Naming::Kazoo: never, the reason
//! ```
//!
//! A sweep of all workloads with 10,000 seeds or more is vacuous if it did not exercise an entry of the list; it prints
//! what it exercised beyond the list. A test compares the options with the public enums of `recipes/src`, and the operations
//! with those of the recipe in `checker/src/kinds`, which cannot know which of its endings occur. An ending is to be met if
//! 1,500 seeds of every workload meet it six times; one that is met more rarely may be missing.
//!
//! In no run: `node_exists` and `no_children_for_ephemerals`, which no call of a recipe gives its caller; `bad_version`, which
//! recipes call `conflict` or `removed`; `unreachable`, since a simulated client always finds a server in time (the client for
//! real ensembles has tests).

use zk_harness::exercised::Exercised;

/// An operation, and how its calls end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its name, as a sweep prints it: `lock acquire within a limit`.
    pub name: String,
    /// The endings that occur in some runs.
    pub endings: Vec<String>,
    /// The endings that occur in a few runs.
    pub rarely: Vec<String>,
    /// The endings that occur in no run, each with the reason.
    pub never: Vec<(String, String)>,
}

/// A value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionValue {
    /// The variant: `Naming::Curator`.
    pub value: String,
    /// The workloads that set it, or the reason why no workload does.
    pub set_by: Result<Vec<String>, String>,
}

/// The list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// The operations.
    pub operations: Vec<Operation>,
    /// The options.
    pub options: Vec<OptionValue>,
}

/// The list of all workloads, in the order of names.
///
/// # Panics
///
/// If a list does not parse: a test of this module reads them all.
pub fn list() -> List {
    let own = crate::RECIPES.iter().map(|recipe| recipe.exercised);
    let texts: Vec<&str> = own.chain([include_str!("shared.txt")]).collect();
    let mut list = parse(&texts.concat()).expect("a test reads the lists");
    list.operations.sort_by(|one, other| one.name.cmp(&other.name));
    list.options.sort_by(|one, other| one.value.cmp(&other.value));
    list
}

/// Reads a list.
///
/// # Errors
///
/// A line that does not parse.
pub fn parse(text: &str) -> Result<List, String> {
    let mut list = List::default();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let wrong = || format!("{line:?} is none of the lines that a list of what is exercised has");
        let (head, rest) = line.split_once(": ").ok_or_else(wrong)?;
        let names = || rest.split(", ").map(str::to_owned).collect::<Vec<_>>();
        if head == "  rarely" {
            list.operations.last_mut().ok_or_else(wrong)?.rarely = names();
        } else if let Some(ending) = head.strip_prefix("  never ") {
            let last = list.operations.last_mut().ok_or_else(wrong)?;
            last.never.push((ending.to_owned(), rest.to_owned()));
        } else if let Some(value) = head.strip_prefix("option ") {
            let reason = rest.strip_prefix("never, ").map(str::to_owned);
            let set_by = reason.map_or_else(|| Ok(names()), Err);
            list.options.push(OptionValue { value: value.to_owned(), set_by });
        } else if head.starts_with(' ') {
            return Err(wrong());
        } else {
            list.operations.push(Operation {
                name: head.to_owned(),
                endings: names(),
                rarely: Vec::new(),
                never: Vec::new(),
            });
        }
    }
    Ok(list)
}

/// The entries of the list that were not exercised: `lock acquire: removed`; and the exercised ones that are not on the
/// list.
pub fn differences(list: &List, exercised: &Exercised) -> (Vec<String>, Vec<String>) {
    let met =
        |name: &str, ending: &str| exercised.0.get(name).is_some_and(|endings| endings.contains_key(ending));
    let listed = |name: &str, ending: &str| {
        let operation = list.operations.iter().find(|operation| operation.name == name);
        operation.is_some_and(|one| one.endings.iter().chain(&one.rarely).any(|known| known == ending))
    };
    let of = |name: &str, ending: &str| format!("{name}: {ending}");
    let wanted = list.operations.iter().flat_map(|one| one.endings.iter().map(move |ending| (one, ending)));
    let missing = wanted.filter(|(one, ending)| !met(&one.name, ending));
    let missing = missing.map(|(one, ending)| of(&one.name, ending)).collect();
    let all = exercised.0.iter().flat_map(|(name, endings)| endings.keys().map(move |ending| (name, ending)));
    let new = all.filter(|(name, ending)| !listed(name, ending)).map(|(name, ending)| of(name, ending));
    (missing, new.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_checker::history::{Kind, Verb};

    #[test]
    fn the_list_can_be_read_and_names_each_operation_once() {
        let list = list();
        let mut names: Vec<&str> = list.operations.iter().map(|operation| operation.name.as_str()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for OptionValue { value, set_by } in &list.options {
            for workload in set_by.iter().flatten() {
                assert!(crate::workloads().any(|known| known.name == workload), "{value}: {workload}");
            }
        }
    }

    #[test]
    fn each_operation_is_one_of_its_recipe() {
        for operation in list().operations {
            let mut words = operation.name.split(' ');
            let kind = words.next().and_then(Kind::from_name);
            let verb = words.next().and_then(Verb::from_name);
            let is_described = kind.zip(verb).is_some_and(|(kind, verb)| kind.has(verb));
            assert!(is_described, "`checker/src/kinds` has no {}", operation.name);
        }
    }

    #[test]
    fn what_is_missing_is_told_from_what_is_new() {
        let text = "lock acquire: done, removed\n  rarely: revoked\n  never exhausted: it takes years\n";
        let list = parse(text).expect("good");
        let endings = [("done".to_owned(), 3), ("dropped".to_owned(), 1)].into();
        let exercised = Exercised([("lock acquire".to_owned(), endings)].into());
        let (missing, new) = differences(&list, &exercised);
        assert_eq!(
            (missing, new),
            (vec!["lock acquire: removed".into()], vec!["lock acquire: dropped".into()])
        );
        assert!(parse("  never done: nothing is above it").is_err());
        assert!(parse("lock acquire").is_err());
    }
}
