//! The names that the list uses: rules, tests, workloads and mutants.

use std::path::{Path, PathBuf};
use zk_catalogue::promises::{Entry, Judgement};
use zk_checker::RuleId;
use zk_suite::CASES;

/// Where judges and mutants stand, and those.
fn of(entry: &Entry) -> impl Iterator<Item = (String, &[String], &[String])> {
    let subjects = entry.subjects.join(", ");
    let whole = entry.judgement.iter().map(|judgement| (String::new(), judgement));
    let rows = entry.promises.iter().map(|promise| (format!(", `{}`", promise.key), &promise.judgement));
    whole.chain(rows).filter_map(move |(row, judgement)| match judgement {
        Judgement::By { judges, mutants } => Some((format!("{subjects}{row}"), &judges[..], &mutants[..])),
        _ => None,
    })
}

/// The mutants that an entry names.
pub(crate) fn mutants(entry: &Entry) -> impl Iterator<Item = &str> {
    of(entry).flat_map(|(_, _, mutants)| mutants.iter().map(String::as_str))
}

/// What the list names and nothing has.
pub(crate) fn wrong_names(entry: &Entry) -> Vec<String> {
    let mut wrong = Vec::new();
    for workload in &entry.called_by {
        let at = entry.subjects.join(", ");
        if !zk_catalogue::workloads().any(|known| known.name == workload) {
            wrong.push(format!("{at} is called by {workload}, which is no workload."));
        }
    }
    for (at, judges, mutants) in of(entry) {
        for judge in judges.iter().filter(|judge| !is_judge(judge)) {
            wrong.push(match judge.as_str() {
                "?" => {
                    format!("{at} has no judge yet: put a rule or a test in the place of `?`.")
                }
                _ => format!("{at} is judged by {judge}, which is neither a rule nor a test."),
            });
        }
        for mutant in mutants.iter().filter(|name| !is_mutant(name)) {
            wrong.push(format!("{at} is shown by {mutant}, which is no mutant."));
        }
    }
    wrong
}

fn is_mutant(name: &str) -> bool {
    zk_catalogue::mutants().any(|mutant| mutant.name == name)
}

fn is_judge(judge: &str) -> bool {
    let is_test = || judge.rsplit_once("::").is_some_and(|(module, name)| is_test(module, name));
    RuleId::from_name(judge).is_some() || is_test()
}

/// A function with the attribute `#[test]`, or a rule of the suite that every implementation of the trait must keep.
fn is_test(module: &str, name: &str) -> bool {
    if let Some(module) = module.strip_prefix("suite::") {
        return is_in_suite(module, name);
    }
    let path = format!("recipes/tests/all/{}", module.replace("::", "/"));
    let files = [module.to_owned(), format!("{path}.rs"), format!("{path}/mod.rs")];
    files.iter().any(|file| text_of(file).is_ok_and(|text| has_test(&text, name)))
}

fn has_test(text: &str, name: &str) -> bool {
    let at = text.find(&format!("fn {name}("));
    at.is_some_and(|at| text[..at].trim_end().ends_with("#[test]"))
}

fn is_in_suite(module: &str, name: &str) -> bool {
    let defines = |text: String| text.contains(&format!("async fn {name}<"));
    CASES.iter().any(|(case, _)| *case == name)
        && text_of(&format!("recipes/suite/src/{module}.rs")).is_ok_and(defines)
}

/// A file of the workspace.
fn text_of(file: &str) -> std::io::Result<String> {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file))
}

/// Mutants that are killed by a rule of which the promise knows nothing.
pub(crate) fn unrelated_mutants(entry: &Entry) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, judges, mutants) in of(entry) {
        for mutant in mutants {
            let rule = zk_catalogue::find(mutant).and_then(|mutant| mutant.caught_by).map(|caught| caught.by);
            if let Some(rule) = rule.filter(|rule| !judges.iter().any(|judge| judge == rule.name())) {
                wrong.push(format!(
                    "{at} is shown by {mutant}, and not judged by {rule}, which kills that mutant."
                ));
            }
        }
    }
    wrong
}

/// Workloads whose sources do not call a method of that name.
pub(crate) fn uncalled(entry: &Entry) -> Vec<String> {
    let mut wrong = Vec::new();
    for workload in &entry.called_by {
        let sources = sources(workload);
        let is_called = |subject: &String| {
            let (kind, method) = subject.rsplit_once("::").unwrap_or(("", subject));
            let is_named = [format!(".{method}("), format!("{kind}::{method}")]
                .iter()
                .any(|call| sources.contains(call.as_str()));
            // A guard is held by its methods of these names.
            let held = sources.lines().find(|line| line.starts_with(&format!("held!({kind}, ")));
            is_named || held.is_some_and(|line| line.contains(&format!(", {method}")))
        };
        // Several subjects share an entry, and each workload calls the method of its own guard.
        if !entry.subjects.iter().any(is_called) {
            let at = entry.subjects.join(", ");
            wrong.push(format!("The workload {workload} does not call {at}."));
        }
    }
    wrong
}

/// What a workload runs: its own files, those of the workloads whose parts it uses, and how guards are held.
fn sources(workload: &str) -> String {
    let own = run_by(workload);
    let is_used = |other: &&str| {
        let module = other.replace('-', "_");
        ["crate::", "crate::variations::"]
            .iter()
            .any(|of| [":", ";"].iter().any(|end| own.contains(&format!("{of}{module}{end}"))))
    };
    let used: Vec<String> =
        zk_catalogue::workloads().map(|other| other.name).filter(is_used).map(run_by).collect();
    let held = ["holding.rs", "holding/guards.rs"].map(|name| format!("scenarios/harness/src/{name}"));
    let held = held.iter().map(|file| text_of(file).expect("the harness has that file"));
    [own].into_iter().chain(used).chain(held).collect::<Vec<_>>().join("\n")
}

/// The files of a workload but its words, stories and mutants.
fn run_by(workload: &str) -> String {
    let place = crate::place_of(workload);
    let files = std::fs::read_dir(&place).into_iter().flatten();
    let files = files.filter_map(|entry| Some(entry.ok()?.path()));
    let is_run =
        |path: &PathBuf| path.extension().is_some_and(|kind| kind == "rs") && !path.ends_with("words.rs");
    let paths = files.filter(is_run).chain([place.with_extension("rs")]);
    paths.filter_map(|path| std::fs::read_to_string(path).ok()).collect::<Vec<_>>().join("\n")
}
