//! The list of mutants of a scope: those of cargo-mutants, and those of statements.

use crate::mutant::{Genre, Mutant};
use crate::scope::Scope;
use crate::source::Source;
use crate::statements::statements;
use anyhow::{Context, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The sources of a scope, by path, and all mutants of them, in order.
///
/// # Errors
///
/// cargo-mutants is not installed, or a file cannot be read.
pub fn list(workspace: &Path, scope: Scope) -> anyhow::Result<(BTreeMap<String, Source>, Vec<Mutant>)> {
    let listed: Vec<Listed> = cargo_mutants(workspace, scope.package())?;
    let mut sources = BTreeMap::new();
    for file in crate::copy::files(workspace)? {
        if scope.contains(&file) && file.ends_with(".rs") {
            let text = std::fs::read_to_string(workspace.join(&file))?;
            sources.insert(file.clone(), Source::parse(&file, text)?);
        }
    }
    let mut mutants = Vec::new();
    for one in listed {
        if let Some(source) = sources.get(&one.file)
            && let Some(mutant) = one.mutant(source)?
        {
            mutants.push(mutant);
        }
    }
    sources.values().for_each(|source| mutants.extend(statements(source)));
    mutants.sort();
    mutants.dedup();
    Ok((sources, mutants))
}

fn cargo_mutants(workspace: &Path, package: &str) -> anyhow::Result<Vec<Listed>> {
    let run = Command::new("cargo")
        .args(["mutants", "--list", "--json", "--no-config", "--package", package])
        .current_dir(workspace)
        .output()
        .context("cargo cannot be started")?;
    if !run.status.success() {
        let said = String::from_utf8_lossy(&run.stderr);
        bail!(
            "cargo mutants --list failed; it is installed by `cargo install cargo-mutants --locked`\n{said}"
        );
    }
    serde_json::from_slice(&run.stdout).context("the list of cargo-mutants is not as it was")
}

/// A mutant, as cargo-mutants lists it.
#[derive(Deserialize)]
pub struct Listed {
    file: String,
    function: Option<Function>,
    genre: String,
    replacement: String,
    name: String,
    span: Span,
}

#[derive(Deserialize)]
struct Function {
    function_name: String,
}

#[derive(Deserialize)]
struct Span {
    start: Place,
    end: Place,
}

#[derive(Deserialize)]
struct Place {
    line: usize,
    column: usize,
}

impl Listed {
    /// The mutant, unless it edits a text form, or is of a genre that needs more than one span.
    ///
    /// # Errors
    ///
    /// The span lies outside the source.
    pub fn mutant(&self, source: &Source) -> anyhow::Result<Option<Mutant>> {
        let name = self.function.as_ref().map_or("", |function| function.function_name.as_str());
        if name.contains("impl Debug") || name.contains("impl Display") || name.contains("Debug for") {
            return Ok(None);
        }
        let genre = match self.genre.as_str() {
            "FnValue" => Genre::FnValue,
            "BinaryOperator" => Genre::BinaryOperator,
            "UnaryOperator" => Genre::UnaryOperator,
            "MatchArm" => Genre::MatchArm,
            "MatchArmGuard" => Genre::MatchArmGuard,
            _ => return Ok(None),
        };
        let start = source.offset(self.span.start.line, self.span.start.column)?;
        let end = source.offset(self.span.end.line, self.span.end.column)?;
        // The name begins with the place.
        let description = self.name.split_once(": ").map_or(self.name.as_str(), |(_, what)| what);
        Ok(Some(Mutant {
            file: self.file.clone(),
            span: (start..end).into(),
            genre,
            replacement: self.replacement.clone(),
            line: self.span.start.line,
            description: description.to_owned(),
        }))
    }
}
