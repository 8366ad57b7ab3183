//! `explore`: every run of a small scope.

use super::interrupt::Interrupt;
use super::single::workload;
use super::{Output, failure, no_such, number};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use sim_zk::fault::Fault;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use zk_checker::Verdict;
use zk_harness::explore::{Breach, Certificate, Exploration, Scope};
use zk_harness::recording::Recording;
use zk_harness::run::Draw;
use zk_harness::workload::Workload;
use zk_report::whole_file;
use zk_serve::parse_duration;

/// Explore every run of a small scope: one server, two clients, one round, and every order of events. Only timers of seconds
/// take time; a client makes its default choices; a duration is the shortest or the longest
#[derive(Args)]
pub(super) struct Explore {
    /// Workloads or mutants; all recipes if none is given
    names: Vec<String>,
    /// Number of client processes
    #[arg(long, default_value_t = 2)]
    clients: u8,
    /// Number of rounds of each client
    #[arg(long, default_value_t = 1)]
    rounds: u32,
    /// Maximal number of faults
    #[arg(long, default_value_t = 1)]
    faults: u32,
    /// Kinds of fault, separated by commas; default: all kinds that affect clients
    #[arg(long, value_delimiter = ',', value_name = "KINDS")]
    fault_kinds: Vec<String>,
    /// Delay replies and notifications, too, and not only requests
    #[arg(long)]
    late_answers: bool,
    /// Let a timer run out although a packet is in flight, as one of the faults
    #[arg(long)]
    overtaking: bool,
    /// Number of threads; default: all cores
    #[arg(long)]
    jobs: Option<usize>,
    /// Stop after this time, such as 60s or 5m; the scope is then incomplete
    #[arg(long, value_parser = parse_duration)]
    budget: Option<Duration>,
    /// Continue after the first breach
    #[arg(long)]
    all: bool,
    /// Save the search to this file every minute and at the end, for `--resume`
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Continue the search that this file has, with its scope
    #[arg(long, value_name = "FILE", conflicts_with_all = ["names", "clients", "rounds", "faults", "fault_kinds", "late_answers", "overtaking"])]
    resume: Option<PathBuf>,
    /// Write the complete scopes to scenarios/certificates.jsonl
    #[arg(long)]
    write_certificates: bool,
    #[command(flatten)]
    output: Output,
}

/// The certificates of the repository.
const CERTIFICATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/certificates.jsonl");

/// The time between two checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(60);

/// A search, with its duration.
struct Explored {
    search: Exploration,
    seconds: f64,
}

impl Explore {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let jobs = match self.jobs {
            Some(0) => bail!("--jobs must be at least 1"),
            Some(jobs) => jobs,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let searches = self.searches()?;
        if searches.len() > 1 && self.checkpoint.is_some() {
            bail!("--checkpoint needs exactly one workload");
        }
        let interrupt = Interrupt::listen()?;
        let (started, mut all) = (now(), Vec::new());
        let count = searches.len();
        for search in searches {
            if interrupt.has_come() {
                break;
            }
            let explored = self.explore(search, jobs, &interrupt, started)?;
            self.tell(&explored)?;
            all.push(explored);
        }
        if self.write_certificates {
            write_certificates(&all)?;
        }
        let verdict = all.iter().map(|explored| verdict(&explored.search)).max().unwrap_or(Verdict::Vacuous);
        let complete = all.iter().all(|explored| explored.search.is_complete());
        if self.output.is_json() {
            let runs: u64 = all.iter().map(|explored| explored.search.found().runs).sum();
            let failed = all.iter().filter(|explored| explored.search.found().first.is_some()).count();
            let vacuous = all.iter().filter(|explored| !explored.search.is_complete()).count();
            let seconds = started.elapsed().as_secs_f64();
            let summary = json!({"kind": "summary", "verdict": verdict.name(), "runs": runs, "failed": failed,
                "vacuous": vacuous, "seconds": seconds, "per_second": runs as f64 / seconds});
            println!("{}", interrupt.mark(summary));
        } else {
            interrupt.say(&format!("{} of {count} scopes were begun", all.len()));
        }
        let verdict = if verdict < Verdict::Unknown && !complete { Verdict::Vacuous } else { verdict };
        Ok(interrupt.status(number(verdict)))
    }

    fn searches(&self) -> anyhow::Result<Vec<Exploration>> {
        if let Some(path) = &self.resume {
            return Ok(vec![Exploration::load(path, zk_catalogue::find)?]);
        }
        let workloads: Vec<&'static Workload> = match self.names.as_slice() {
            [] => zk_catalogue::workloads().filter(|workload| is_recipe(workload)).collect(),
            names => names.iter().map(|name| workload(name, &[])).collect::<anyhow::Result<_>>()?,
        };
        let kinds = self.fault_kinds.iter().map(|name| kind(name)).collect::<anyhow::Result<Vec<_>>>()?;
        let scope = |workload| {
            let all = Scope::of(workload, self.faults);
            let kinds = if kinds.is_empty() { all.kinds } else { kinds.clone() };
            let Explore { clients, rounds, late_answers, overtaking, .. } = *self;
            Scope { clients, rounds, kinds, late_answers, overtaking, ..all }
        };
        let scopes: Vec<Scope> = workloads.into_iter().map(scope).collect();
        for scope in &scopes {
            scope.plan().check()?;
        }
        Ok(scopes.into_iter().map(Exploration::new).collect())
    }

    fn explore(
        &self,
        mut search: Exploration,
        jobs: usize,
        interrupt: &Interrupt,
        started: Instant,
    ) -> anyhow::Result<Explored> {
        let bar = spinner(search.scope().workload.name);
        let (begun, mut saved) = (now(), now());
        loop {
            let out_of_time = self.budget.is_some_and(|budget| started.elapsed() >= budget);
            let found = search.found().first.is_some() && !self.all;
            if search.is_complete() || found || out_of_time || interrupt.has_come() {
                break;
            }
            search.advance(jobs);
            let (states, waiting) = (search.states() as u64, search.waiting() as u64);
            bar.set_message(format!("{} states, {} pending", HumanCount(states), HumanCount(waiting)));
            bar.tick();
            if let Some(path) = &self.checkpoint
                && saved.elapsed() >= CHECKPOINT_EVERY
            {
                search.save(path)?;
                saved = now();
            }
        }
        bar.finish_and_clear();
        if let Some(path) = &self.checkpoint {
            search.save(path)?;
        }
        Ok(Explored { search, seconds: begun.elapsed().as_secs_f64() })
    }

    fn tell(&self, explored: &Explored) -> anyhow::Result<()> {
        let Explored { search, seconds } = explored;
        let (scope, found) = (search.scope(), search.found());
        let name = scope.workload.name;
        if self.output.is_json() {
            let mut line = json!({
                "kind": "scope", "workload": name, "clients": scope.clients, "rounds": scope.rounds,
                "faults": scope.faults, "late_answers": scope.late_answers, "overtaking": scope.overtaking,
                "fault_kinds": scope.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
                "states": search.states(), "depth": found.depth, "hash": format!("{:032x}", search.hash()),
                "complete": search.is_complete(), "verdict": verdict(search).name(), "runs": found.runs,
                "choices": found.choices, "seconds": seconds, "per_second": found.choices as f64 / seconds,
            });
            if let Some(breach) = &found.first {
                line["rule"] = json!(breach.what);
                line["length"] = json!(breach.length());
                line["code"] = json!(recorded(scope, breach).code());
            }
            println!("{line}");
            return Ok(());
        }
        println!("{name}: {scope}");
        if let Some(breach) = &found.first {
            self.tell_breach(scope, breach)?;
        }
        for (what, (_, count)) in &found.breaches {
            println!("  {what} in {}", zk_report::count(*count, "run"));
        }
        let state = match (search.is_complete(), &found.first) {
            (true, _) => "complete",
            (false, Some(_)) => "stopped at the first breach",
            (false, None) => "not complete",
        };
        println!(
            "  {state}: {}, depth {}, hash {:032x}, {}, {} in {seconds:.1} s ({:.0} choices/s)",
            zk_report::count(search.states() as u64, "state"),
            found.depth,
            search.hash(),
            zk_report::count(found.runs, "run"),
            zk_report::count(found.choices, "choice"),
            found.choices as f64 / seconds
        );
        if !search.is_complete() && found.first.is_none() {
            println!(
                "  {} with alternatives that were not tried",
                zk_report::count(search.waiting() as u64, "run")
            );
        }
        Ok(())
    }

    /// Replays, stores and prints the breach with the fewest choices that are not the default.
    fn tell_breach(&self, scope: &Scope, breach: &Breach) -> anyhow::Result<()> {
        let workload = scope.workload;
        match Draw::replayed(workload, scope.plan(), breach.choices.clone()).run_caught() {
            Ok(run) => {
                let kept = failure::keep(None, &run)?;
                print!("{}", failure::tell(None, &run, &kept));
            }
            Err(panic) => {
                print!("{}", failure::panicked(workload.name, &panic));
                println!("  exactly   cargo sim replay {}", recorded(scope, breach).code());
            }
        }
        println!("  choices   {} that are not the default\n", breach.length());
        Ok(())
    }
}

/// A breach as a recorded run.
fn recorded(scope: &Scope, breach: &Breach) -> Recording {
    let (workload, choices) = (scope.workload.name.to_owned(), breach.choices.clone());
    Recording { format: 1, regression: None, workload, plan: scope.plan(), choices, hash: String::new() }
}

fn verdict(search: &Exploration) -> Verdict {
    match (&search.found().first, search.is_complete()) {
        (Some(_), _) => Verdict::Fail,
        (None, true) => Verdict::Pass,
        (None, false) => Verdict::Vacuous,
    }
}

/// Whether a workload has a recipe; `raw` has none.
fn is_recipe(workload: &Workload) -> bool {
    *workload != zk_catalogue::variations::raw::WORKLOAD
}

fn kind(name: &str) -> anyhow::Result<Fault> {
    let of_clients = Fault::ALL.iter().filter(|fault| !fault.strikes_servers()).map(|fault| fault.name());
    let fault = Fault::from_name(name).ok_or_else(|| anyhow!(no_such("fault called", name, of_clients)))?;
    if fault.strikes_servers() {
        bail!("{name} affects servers, and an exploration has one server without faults");
    }
    Ok(fault)
}

fn write_certificates(all: &[Explored]) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(CERTIFICATES).unwrap_or_default();
    let mut certificates = Certificate::read_all(&text).context("reading the certificates")?;
    for explored in all {
        if let Some(certificate) = Certificate::of(&explored.search) {
            certificate.put_among(&mut certificates);
        }
    }
    whole_file::write(Path::new(CERTIFICATES), Certificate::write_all(&certificates)?)?;
    Ok(())
}

fn spinner(what: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{prefix:<16} {spinner} {elapsed}  {msg}");
    bar.set_style(style.expect("the template is well formed"));
    bar.set_prefix(what.to_owned());
    bar
}

/// The wall clock; it does not affect any run.
#[expect(clippy::disallowed_methods, reason = "the duration of a search is no part of any run")]
fn now() -> Instant {
    Instant::now()
}
