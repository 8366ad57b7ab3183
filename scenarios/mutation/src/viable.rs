//! Which mutants type-check: the compiler's errors are mapped to mutants, those are dropped, and so on to a fixed point.

use crate::copy::Copy;
use crate::mutant::{Genre, Mutant};
use crate::schemata::Schemata;
use crate::scope::Scope;
use crate::source::Source;
use anyhow::{Context, bail};
use cargo_metadata::Message;
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel, DiagnosticSpan};
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;
use std::ops::Range;
use std::process::{Command, Stdio};

/// Mutants that are left out, by reason.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct LeftOut {
    /// No switch can be written for them.
    pub without_switch: usize,
    /// They do not type-check.
    pub unviable: usize,
}

/// Drops the mutants that do not type-check from `mutants`, and leaves the copy with the others.
///
/// # Errors
///
/// The compiler finds an error that no mutant explains.
pub fn drop_unviable(
    copy: &Copy,
    scope: Scope,
    sources: &BTreeMap<String, Source>,
    mutants: &mut BTreeMap<u32, Mutant>,
) -> anyhow::Result<LeftOut> {
    let mut left_out = LeftOut::default();
    loop {
        let written = copy.write_mutants(scope, sources, mutants)?;
        let missing: BTreeSet<u32> = written.values().flat_map(|schemata| schemata.missing.clone()).collect();
        if !missing.is_empty() {
            left_out.without_switch += missing.len();
            mutants.retain(|number, _| !missing.contains(number));
            continue;
        }
        let errors = check(copy, scope)?;
        if errors.is_empty() {
            return Ok(left_out);
        }
        let mut blamed: BTreeSet<u32> =
            errors.iter().flat_map(|error| blamed(error, scope, &written)).collect();
        if blamed.is_empty() {
            blamed = errors.iter().flat_map(|error| suspected(error, scope, &written, mutants)).collect();
        }
        if blamed.is_empty() {
            let rendered = errors.iter().filter_map(|error| error.rendered.as_deref());
            bail!("errors that no mutant explains:\n{}", rendered.take(3).collect::<String>());
        }
        eprintln!("    {} errors, by {} mutants", errors.len(), blamed.len());
        left_out.unviable += blamed.len();
        mutants.retain(|number, _| !blamed.contains(number));
    }
}

fn check(copy: &Copy, scope: Scope) -> anyhow::Result<Vec<Diagnostic>> {
    let mut command = Command::new("cargo");
    command.args(["check", "--quiet", "--lib", "--message-format=json", "--package", scope.package()]);
    command.env("CARGO_TARGET_DIR", &copy.target).current_dir(&copy.root);
    let mut run = command.stdout(Stdio::piped()).spawn().context("cargo cannot be started")?;
    let output = BufReader::new(run.stdout.take().expect("the output is piped"));
    let mut errors = Vec::new();
    for message in Message::parse_stream(output) {
        if let Message::CompilerMessage(message) = message?
            && message.message.level == DiagnosticLevel::Error
            // The last one counts the others.
            && !message.message.message.starts_with("aborting due to")
        {
            errors.push(message.message);
        }
    }
    if !run.wait()?.success() && errors.is_empty() {
        bail!("cargo check failed, and the compiler says nothing of it");
    }
    Ok(errors)
}

fn blamed(error: &Diagnostic, scope: Scope, written: &BTreeMap<String, Schemata>) -> BTreeSet<u32> {
    let blamed = |(file, schemata): (&String, &Schemata)| {
        let (primary, others) = spans(error, scope, file);
        schemata.blamed(&primary, &others)
    };
    written.iter().flat_map(blamed).collect()
}

/// The mutants that an error may come from although no span points at them: an early exit that is gone, before which a value is
/// moved and behind which it is used; an arm that no longer counts; a value that sets the return type. Those between the first
/// and the last span, or else the nearest one.
fn suspected(
    error: &Diagnostic,
    scope: Scope,
    written: &BTreeMap<String, Schemata>,
    mutants: &BTreeMap<u32, Mutant>,
) -> BTreeSet<u32> {
    let genre = match error.code.as_ref().map(|code| code.code.as_str()) {
        Some("E0004") => Genre::MatchArm,
        Some("E0381" | "E0382" | "E0505" | "E0499" | "E0502") => Genre::DeleteStatement,
        _ => Genre::FnValue,
    };
    let mut numbers = BTreeSet::new();
    for (file, schemata) in written {
        let (primary, others) = spans(error, scope, file);
        let Some(first) = primary.first() else { continue };
        let start = primary.iter().chain(&others).map(|span| span.start).min().unwrap_or(first.start);
        let end = primary.iter().chain(&others).map(|span| span.end).max().unwrap_or(first.end);
        let is_suspect =
            |mutant: &Mutant| mutant.genre == genre && (genre != Genre::DeleteStatement || is_exit(mutant));
        let marks = schemata.marks.iter().filter(|(_, number)| is_suspect(&mutants[number]));
        let near = |mark: &Range<usize>| mark.start.saturating_sub(end).max(start.saturating_sub(mark.end));
        let Some(least) = marks.clone().map(|(mark, _)| near(mark)).min() else { continue };
        numbers.extend(marks.filter(|(mark, _)| near(mark) == least).map(|(_, number)| *number));
    }
    numbers
}

fn is_exit(mutant: &Mutant) -> bool {
    let exits = ["`return", "`break", "`continue"];
    exits.iter().any(|exit| mutant.description.contains(exit))
}

/// The primary spans of an error in a file, and the others.
fn spans(error: &Diagnostic, scope: Scope, file: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    // The compiler names files relative to the workspace or to the package.
    let short = file.strip_prefix(scope.folder()).map_or(file, |rest| rest.trim_start_matches('/'));
    let (primary, others): (Vec<_>, Vec<_>) = error.spans.iter().partition(|span| span.is_primary);
    let others = others.into_iter().chain(error.children.iter().flat_map(|child| &child.spans));
    let here = |spans: Vec<&DiagnosticSpan>| {
        let spans = spans.into_iter().flat_map(origins).filter(|span| span.file_name.ends_with(short));
        spans.map(|span| span.byte_start as usize..span.byte_end as usize).collect()
    };
    (here(primary), here(others.collect()))
}

/// A span, and the calls of macros that it comes from.
fn origins(span: &DiagnosticSpan) -> Vec<&DiagnosticSpan> {
    let mut spans = vec![span];
    while let Some(expansion) = &spans.last().expect("it starts with one").expansion {
        spans.push(&expansion.span);
    }
    spans
}
