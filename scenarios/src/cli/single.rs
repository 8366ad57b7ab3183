//! `run` and `replay`: one run.

use super::interrupt::Interrupt;
use super::lines::of_finding;
use super::searching::{Drawn, again, parse_strategy};
use super::{Output, failure, nearest, reporting, shrinking, status};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use zk_checker::Verdict;
use zk_harness::panics::{Panic, caught};
use zk_harness::plan::Plan;
use zk_harness::recording::Recording;
use zk_harness::run::{self, Run};
use zk_harness::stage;
use zk_harness::strategy::{Search, Strategy};
use zk_harness::workload::Workload;
use zk_report::{Shown, Source, count, trace};

#[derive(Args)]
pub(super) struct RunOne {
    /// Name of a workload, mutant or story, as `list` prints it
    name: String,
    /// Seed of the run
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    view: reporting::View,
    /// Strategy of the search that the seed belongs to: uniform, swarm, systematic or portfolio
    #[arg(long, value_parser = parse_strategy, default_value = "swarm")]
    strategy: Strategy,
    #[command(flatten)]
    variations: Drawn,
    /// Plan of the run, a JSON file, instead of the one that the seed draws
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Budget, in runs, for shrinking the run if it fails; 0 disables shrinking
    #[arg(long, value_name = "RUNS", default_value_t = zk_harness::shrink::RUNS)]
    shrink: u32,
    #[command(flatten)]
    output: Output,
}

/// Reads a plan from a file.
pub(super) fn read_plan(path: &std::path::Path) -> anyhow::Result<Plan> {
    let text =
        std::fs::read_to_string(path).map_err(|e| anyhow!("cannot read the plan {}: {e}", path.display()))?;
    let plan: Plan =
        serde_json::from_str(&text).map_err(|e| anyhow!("{} is not a plan: {e}", path.display()))?;
    plan.check().with_context(|| format!("the plan {}", path.display()))?;
    Ok(plan)
}

/// The workload of a name, or an error with the nearest name. `others` are further names that the verb accepts.
pub(super) fn workload(name: &str, others: &[&str]) -> anyhow::Result<&'static Workload> {
    zk_catalogue::find(name).ok_or_else(|| {
        if zk_catalogue::story(name).is_some() {
            return anyhow!("{name} is a story, not a workload or mutant: `cargo sim run {name}` runs it");
        }
        let names = zk_catalogue::all().map(|t| t.name).chain(others.iter().copied());
        match nearest(name, names) {
            Some(near) => {
                anyhow!("there is no workload, mutant or story called {name:?}; did you mean {near:?}?")
            }
            None => anyhow!(
                "there is no workload, mutant or story called {name:?}; `cargo sim list` lists all of them"
            ),
        }
    })
}

impl RunOne {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        self.view.check()?;
        if let Some(story) = zk_catalogue::story(&self.name) {
            return tell_story(story, &self.view, self.output);
        }
        let names: Vec<&str> = zk_catalogue::stories().map(|story| story.name).collect();
        let workload = workload(&self.name, &names)?;
        let plan = self.plan.as_deref().map(read_plan).transpose()?;
        let search = Search::new(workload, self.strategy, plan).drawing(self.variations.variations());
        let Some(draw) = search.draw(self.seed) else {
            bail!("the systematic search of {:?} ends before number {}", workload.name, self.seed);
        };
        let plan = draw.plan.clone();
        let interrupt = Interrupt::listen()?;
        let (name, output) = (&self.name, self.output);
        let run = interrupt.or_nothing(&format!("the run of {name}"), output, || draw.run_caught());
        let run = match run {
            Ok(run) => run,
            Err(panic) => return Ok(self.panicked(&plan, &panic)),
        };
        let seed = Seed { number: self.seed, is_plain: search.is_plain() };
        let status = show(Some(seed), &run, &self.view, self.shrink, output, &interrupt)?;
        if !seed.is_plain && run.verdict() >= Verdict::Unknown && !self.output.is_json() {
            println!("  again     {}", again(&search, self.seed));
        }
        Ok(status)
    }
}

impl RunOne {
    /// Reports a run that left only its panic.
    fn panicked(&self, plan: &Plan, panic: &Panic) -> ExitCode {
        let (name, seed) = (&self.name, self.seed);
        if self.output.is_json() {
            println!("{}", panic_line(name, seed, panic));
            println!("{}", summary_line(Verdict::Fail));
        } else {
            print!("{}", failure::panicked(&format!("{name}, seed {seed}"), panic));
            println!("  drawn     {plan}");
        }
        status(Verdict::Fail)
    }
}

/// A run that left only its panic, as one JSON object.
pub(super) fn panic_line(workload: &str, seed: u64, panic: &Panic) -> serde_json::Value {
    json!({"kind": "run", "workload": workload, "seed": seed, "verdict": "fail", "rule": run::PANIC,
        "said": panic.to_string()})
}

fn tell_story(story: &stage::Story, view: &reporting::View, output: Output) -> anyhow::Result<ExitCode> {
    let (told, wrong) = stage::tell(story);
    let verdict = if wrong.is_empty() { Verdict::Pass } else { Verdict::Fail };
    let source = Source {
        title: story.name.to_owned(),
        about: story.title.to_owned(),
        command: format!("cargo sim run {}", story.name),
        end: (!wrong.is_empty()).then(|| wrong.join("; ")),
        hash: Some(format!("{:032x}", told.hash)),
        ..Source::default()
    };
    let report = zk_checker::judge(&told.history, &zk_checker::RuleSet::default());
    view.write_history(&told.history)?;
    let page = view.page.write(Shown {
        history: &told.history,
        report: &report,
        verdict,
        source: &source,
        beside: None,
    })?;
    if output.is_json() {
        let hash = format!("{:032x}", told.hash);
        println!(
            "{}",
            json!({"kind": "run", "workload": story.name, "verdict": verdict.name(), "hash": hash,
                "events": told.history.events.len(), "wrong": wrong})
        );
        println!("{}", summary_line(verdict));
        return Ok(status(verdict));
    }
    println!("{}: {}\n\n{}\n", story.name, story.title, story.about);
    print!("{}", trace::print(&told.history, &told.steps));
    println!();
    for line in &wrong {
        println!("✗ {line}");
    }
    if wrong.is_empty() {
        println!("✓ story completed, all rules hold");
    }
    reporting::say(page);
    Ok(status(verdict))
}

/// The number of a run in its search.
#[derive(Clone, Copy)]
struct Seed {
    number: u64,
    /// Whether the search has default options, so that the number alone reproduces the run.
    is_plain: bool,
}

impl Seed {
    fn plain(self) -> Option<u64> {
        self.is_plain.then_some(self.number)
    }
}

fn show(
    seed: Option<Seed>,
    run: &Run,
    view: &reporting::View,
    shrink: u32,
    output: Output,
    interrupt: &Interrupt,
) -> anyhow::Result<ExitCode> {
    let verdict = run.verdict();
    let failed = verdict >= Verdict::Unknown;
    let (number, plain) = (seed.map(|seed| seed.number), seed.and_then(Seed::plain));
    let kept = if failed { Some(failure::keep(plain, run)?) } else { None };
    let source = reporting::source(plain, run);
    let Run { workload, plan, history, report, .. } = run;
    view.write_history(history)?;
    let page = view.page.write(Shown { history, report, verdict, source: &source, beside: None })?;
    if output.is_json() {
        println!("{}", run_line(number, run));
        if let Some(shrunk) = shrinking::also(run, shrink, interrupt) {
            println!("{}", shrinking::line(&shrunk));
        }
        println!("{}", interrupt.mark(summary_line(verdict)));
        return Ok(interrupt.status(super::number(verdict)));
    }
    view.print_trace(history, report);
    println!(
        "{}{}: {}",
        workload.name,
        number.map_or(String::new(), |seed| format!(", seed {seed}")),
        verdict.name()
    );
    println!("  drawn     {plan}");
    println!(
        "  ran       {} in {}, {:.1} s of simulated time; hash {:032x}",
        count(run.history.events.len() as u64, "event"),
        count(run.steps, "step"),
        run.sim_us as f64 / 1e6,
        run.hash
    );
    for row in &run.report.rows {
        println!(
            "  {:<6} {:<11} {:>5} times  {}",
            row.rule.name(),
            row.verdict.name(),
            row.premises,
            row.rule.promise()
        );
    }
    if let Some(kept) = &kept {
        println!();
        print!("{}", failure::tell(plain, run, kept));
        if let Some(shrunk) = shrinking::also(run, shrink, interrupt) {
            print!("{}", shrinking::below(&shrunk));
        }
    } else if !run.report.findings.is_empty() {
        println!();
        print!("{}", run.report);
    }
    reporting::say(page);
    interrupt.say("the run is complete; its shrinking was cut short");
    Ok(interrupt.status(super::number(verdict)))
}

/// The summary line of a single run.
fn summary_line(verdict: Verdict) -> serde_json::Value {
    let failed = u32::from(verdict >= Verdict::Unknown);
    json!({"kind": "summary", "verdict": verdict.name(), "runs": 1, "failed": failed})
}

/// A run as one JSON object.
pub(super) fn run_line(seed: Option<u64>, run: &Run) -> serde_json::Value {
    let mut line = json!({
        "kind": "run",
        "workload": run.workload.name,
        "seed": seed,
        "verdict": run.verdict().name(),
        "hash": format!("{:032x}", run.hash),
        "events": run.history.events.len(),
        "choices": run.choices.len(),
        "sim_ms": run.sim_us / 1000,
    });
    if run.verdict() >= Verdict::Unknown {
        line["rule"] = json!(run.what_failed());
        line["findings"] = run.report.findings.iter().map(of_finding).collect();
    }
    if run.hang().is_some() {
        line["waits"] = json!(run.waits());
    }
    if let Some(panicked) = &run.panic {
        line["said"] = json!(panicked.to_string());
    }
    line
}

#[derive(Args)]
pub(super) struct Replay {
    /// Recorded run: the file of a failure, or the code of a run
    code_or_file: String,
    #[command(flatten)]
    view: reporting::View,
    /// Print the code of the run
    #[arg(long)]
    code: bool,
    #[command(flatten)]
    output: Output,
}

impl Replay {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        self.view.check()?;
        let (recorded, workload) = Recording::read(&self.code_or_file, zk_catalogue::find)?;
        let interrupt = Interrupt::listen()?;
        let played = interrupt.or_nothing(&format!("the run of {}", workload.name), self.output, || {
            caught(|| run::replay(workload, &recorded.plan, recorded.choices.clone()))
        });
        let run = played.map_err(|panic| anyhow!("the code under test panicked: {panic}"))?;
        if !recorded.hash.is_empty() && recorded.hash != format!("{:032x}", run.hash) {
            eprintln!("note: the code has changed since this run was recorded, and the run differs now");
        }
        if self.code {
            println!("{}", recorded.code());
        }
        if let Some(regression) = &recorded.regression
            && !self.output.is_json()
        {
            let came = regression.check(&run).map_or_else(|other| other, |()| "as expected".to_owned());
            println!("{}\n  expected  {}: {came}\n", regression.about, regression.expected());
        }
        show(None, &run, &self.view, 0, self.output, &interrupt)
    }
}
