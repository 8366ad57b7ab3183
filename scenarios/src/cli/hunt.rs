//! `hunt`: third-party programs under the faults of a served ensemble.

mod hunting;
mod kept;
mod troubles;

use super::interrupt::Interrupt;
use super::{Output, no_such};
use crate::text_table::text_table;
use anyhow::{Context, anyhow, bail};
use clap::{Args, value_parser};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zk_hunt::findings::Finding;
use zk_hunt::page::{self, Tried};
use zk_hunt::program::{Program, Scenario};
use zk_hunt::troubles::Endured;
use zk_report::whole_file;

/// The page of findings.
const PAGE: &str = "FINDINGS.md";

/// The results of drawn plans, a line for each scenario.
const TRIED: &str = "tried.jsonl";

/// The results of the troubles, a line for each scenario and trouble.
const ENDURED: &str = "troubles.jsonl";

#[derive(Args)]
pub(super) struct Hunt {
    /// Program to hunt; default: all that are installed
    program: Option<String>,
    /// Scenario of the program; with `--kept`, the finding; default: all
    scenario: Option<String>,
    /// Number of tries of each scenario, each with a plan of its own
    #[arg(long, default_value_t = 20, value_parser = value_parser!(u64).range(1..))]
    seeds: u64,
    /// First seed
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Stop at the first try that breaks a rule
    #[arg(long, conflicts_with = "kept")]
    until_found: bool,
    /// Use this plan for every seed, instead of a drawn one
    #[arg(long, value_name = "FILE", requires = "scenario", conflicts_with = "kept")]
    plan: Option<PathBuf>,
    /// Shrink the plan of each broken rule, with as many tries as that needs
    #[arg(long, conflicts_with = "kept")]
    shrink: bool,
    /// Keep the smallest plan as a finding of that name
    #[arg(long, value_name = "ID", requires = "scenario", conflicts_with = "kept")]
    keep: Option<String>,
    /// Repeat the kept findings, and run our recipes under the same plans
    #[arg(long)]
    kept: bool,
    /// Try each trouble on the scenarios whose clients keep what they hold: peers of our supervisor, and ours
    #[arg(long, conflicts_with_all = ["kept", "plan", "until_found", "shrink", "keep"])]
    troubles: bool,
    /// Only the trouble of that name
    #[arg(long, value_name = "NAME", requires = "troubles")]
    trouble: Option<String>,
    /// Write the rates into the findings, the list of drawn tries, and the page FINDINGS.md
    #[arg(long, conflicts_with = "plan")]
    write_page: bool,
    /// List the programs, their scenarios, and what is not installed
    #[arg(long)]
    list: bool,
    /// Number of parallel tries; default: one for each core
    #[arg(long)]
    jobs: Option<usize>,
    /// Folder of the programs
    #[arg(long, value_name = "DIR", default_value = "scenarios/hunt/programs")]
    programs: PathBuf,
    /// Folder of the troubles
    #[arg(long, value_name = "DIR", default_value = "scenarios/hunt/troubles")]
    troubles_in: PathBuf,
    /// Folder of the findings
    #[arg(long, value_name = "DIR", default_value = "scenarios/findings")]
    findings: PathBuf,
    /// Folder for the plans, histories and pages of failed tries, and for built drivers
    #[arg(long, value_name = "DIR", default_value = "target/hunt")]
    out: PathBuf,
    #[command(flatten)]
    output: Output,
}

impl Hunt {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let programs = Program::all(&self.programs)?;
        if self.list {
            self.list(&programs);
            return Ok(ExitCode::SUCCESS);
        }
        let chosen = self.chosen(&programs)?;
        let interrupt = Interrupt::listen()?;
        let has_failed = if self.kept {
            self.try_kept(&programs, &chosen, &interrupt)?
        } else if self.troubles {
            self.try_troubles(&chosen, &interrupt)?
        } else {
            self.try_drawn(&chosen, &interrupt)?
        };
        // An incomplete hunt does not replace the page.
        if self.write_page && !interrupt.has_come() {
            let endured = read_lines(&self.findings.join(ENDURED))?;
            let tried = read_lines(&self.findings.join(TRIED))?;
            let text = page::page(&programs, &Finding::all(&self.findings)?, &endured, &tried);
            whole_file::write(Path::new(PAGE), text)?;
        }
        Ok(interrupt.status(u8::from(has_failed)))
    }

    /// The requested programs, all of them installed.
    fn chosen<'a>(&self, programs: &'a [Program]) -> anyhow::Result<Vec<&'a Program>> {
        let Some(name) = &self.program else {
            let (installed, missing): (Vec<_>, Vec<_>) =
                programs.iter().partition(|program| program.is_installed());
            for program in missing {
                eprintln!("{} is skipped, since it is not installed: {}", program.name, program.install);
            }
            return Ok(installed);
        };
        let names = || programs.iter().map(|program| program.name.as_str());
        let program = programs
            .iter()
            .find(|program| program.name == *name)
            .ok_or_else(|| anyhow!(no_such("program", name, names())))?;
        if !program.is_installed() {
            bail!("{name} is not installed: {}", program.install);
        }
        Ok(vec![program])
    }

    /// The requested scenarios of a program.
    fn scenarios<'a>(&self, program: &'a Program) -> anyhow::Result<Vec<&'a Scenario>> {
        let Some(name) = &self.scenario else { return Ok(program.scenarios.iter().collect()) };
        let names = || program.scenarios.iter().map(|scenario| scenario.name.as_str());
        let scenario = program.scenario(name);
        scenario.map(|scenario| vec![scenario]).ok_or_else(|| anyhow!(no_such("scenario", name, names())))
    }

    fn list(&self, programs: &[Program]) {
        let mut rows = Vec::new();
        for program in programs {
            let is_installed = program.is_installed();
            for scenario in &program.scenarios {
                if self.output.is_json() {
                    println!(
                        "{}",
                        json!({"kind": "scenario", "program": program.name, "version": program.version,
                            "scenario": scenario.name, "object": scenario.kind, "installed": is_installed})
                    );
                }
                let missing = if is_installed { "" } else { "not installed" };
                let cells = [&program.name, &program.version, &scenario.name, &scenario.hold];
                let mut row: Vec<String> = cells.map(Clone::clone).to_vec();
                row.push(missing.to_owned());
                rows.push(row);
            }
        }
        if !self.output.is_json() {
            print!("{}", text_table(&rows));
        }
    }

    fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.unwrap_or_else(cores).max(1)
    }
}

/// The lines of a file; none if there is no file.
fn read_lines<T: DeserializeOwned>(file: &Path) -> anyhow::Result<Vec<T>> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(why).with_context(|| format!("cannot read {}", file.display())),
    };
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().with_context(|| format!("{} is malformed", file.display()))
}

/// Replaces the lines of a file that have the key of a new one.
fn write_lines<T, K>(file: &Path, new: &[T], key: impl Fn(&T) -> K) -> anyhow::Result<()>
where
    T: Clone + DeserializeOwned + Serialize,
    K: Ord,
{
    let mut all: Vec<T> = read_lines(file)?;
    all.retain(|one| new.iter().all(|new| key(new) != key(one)));
    all.extend_from_slice(new);
    all.sort_by_key(key);
    let lines = all.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    whole_file::write(file, lines.join("\n") + "\n")?;
    Ok(())
}

fn write_tried(findings: &Path, tried: &[Tried]) -> anyhow::Result<()> {
    write_lines(&findings.join(TRIED), tried, |one| (one.program.clone(), one.scenario.clone()))
}

fn write_endured(findings: &Path, endured: &[Endured]) -> anyhow::Result<()> {
    let key = |one: &Endured| (one.trouble.clone(), one.program.clone(), one.scenario.clone());
    write_lines(&findings.join(ENDURED), endured, key)
}
