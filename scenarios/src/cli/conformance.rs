//! `conformance`: recorded cases of a real server, against the simulation or against a server.

use super::differences::{self, visible};
use super::{Output, progress, scenarios};
use clap::Args;
use indicatif::ProgressBar;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use zk_fidelity::conformance::case::{self, Content, Placed};
use zk_fidelity::conformance::run::{self, Left, RunError, Verdict};
use zk_fidelity::conformance::supply::{InSimulation, OfOthers, OurOwn, configurations};

#[derive(Args)]
pub(super) struct Conformance {
    /// Files of recorded cases, one a line, as JSON; or of scenarios of an ensemble
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Against Apache ZooKeeper servers that are started for it, one for each configuration, instead of simulated ones
    #[arg(long, conflicts_with = "connect")]
    real: bool,
    /// Against a server that runs already and is empty, instead of simulated ones
    #[arg(long, value_name = "HOST:PORT")]
    connect: Option<String>,
    /// Only the cases that ask for this configuration of the server
    #[arg(long, value_name = "NAME")]
    config: Option<String>,
    /// Only this case, by its id; can be given several times
    #[arg(long = "case", value_name = "ID")]
    ids: Vec<String>,
    /// How many seeds each scenario of an ensemble is played with
    #[arg(long, value_name = "N", default_value_t = 1000)]
    seeds: u64,
    #[command(flatten)]
    output: Output,
}

/// How many cases came to what.
#[derive(Default)]
struct Tally {
    pass: u32,
    race: u32,
    differ: u32,
    skip: u32,
}

impl Conformance {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (mut cases, mut scenarios) = (Vec::new(), Vec::new());
        for file in &self.files {
            match case::content(file)? {
                Content::Cases => cases.extend(case::read(file)?),
                Content::Scenarios => scenarios.push(file),
            }
        }
        let mut tally = Tally::default();
        if !scenarios.is_empty() {
            self.play_scenarios(&scenarios, &mut tally)?;
        }
        if !cases.is_empty() {
            self.look_at_names(&cases)?;
            cases.retain(|placed| self.asks_for(placed));
            if cases.is_empty() {
                anyhow::bail!("there is no case of that configuration and id");
            }
            self.play(&cases, &mut tally)?;
        }
        Ok(tally.sum_up(self.output))
    }

    fn play(&self, cases: &[Placed], tally: &mut Tally) -> anyhow::Result<()> {
        let bar = progress::bar_of(cases.len() as u64, "conformance", "cases");
        let mut differing = Vec::new();
        let result = self.play_on(cases, |placed, verdict| {
            tally.count(verdict);
            bar.inc(1);
            self.tell(&bar, placed, verdict);
            if let Verdict::Differ(difference) = verdict {
                differing.push((placed.case.id.clone(), difference.clone()));
            }
        });
        bar.finish_and_clear();
        for left in result?.iter().filter(|_| self.connect.is_some()) {
            eprintln!(
                "note: {} is left on the server: {} made it so that nobody may delete it",
                left.path, left.by
            );
        }
        if !self.output.is_json() {
            print!("{}", differences::table(&differing));
        }
        Ok(())
    }

    fn play_on(&self, cases: &[Placed], each: impl FnMut(&Placed, &Verdict)) -> Result<Vec<Left>, RunError> {
        match &self.connect {
            _ if self.real => run::run(cases, &mut OurOwn, each),
            Some(address) => run::run(cases, &mut OfOthers::at(address), each),
            None => run::run(cases, &mut InSimulation, each),
        }
    }

    /// Scenarios need an ensemble, and faults.
    fn play_scenarios(&self, files: &[&PathBuf], tally: &mut Tally) -> anyhow::Result<()> {
        if self.real || self.connect.is_some() {
            anyhow::bail!(
                "{} holds scenarios of an ensemble that is hurt, and only a simulated one can be: leave out --real and --connect",
                files[0].display()
            );
        }
        for file in files {
            let wanted = |id: &str| self.ids.is_empty() || self.ids.iter().any(|of| of == id);
            let played = scenarios::play(file, self.seeds, self.output, wanted)?;
            tally.pass += played.pass;
            tally.differ += played.fail;
        }
        Ok(())
    }

    fn asks_for(&self, Placed { case, .. }: &Placed) -> bool {
        self.config.as_ref().is_none_or(|config| *config == case.config)
            && (self.ids.is_empty() || self.ids.contains(&case.id))
    }

    /// A wrong name is better told now than in the middle.
    fn look_at_names(&self, cases: &[Placed]) -> anyhow::Result<()> {
        for id in &self.ids {
            let ids = || cases.iter().map(|placed| placed.case.id.as_str());
            if !ids().any(|known| known == id) {
                let nearest = super::nearest(id, ids())
                    .map_or(String::new(), |near| format!("; did you mean {near:?}?"));
                anyhow::bail!("there is no case called {id:?}{nearest}");
            }
        }
        for Placed { case, file, line } in cases.iter().filter(|placed| self.asks_for(placed)) {
            if self.connect.is_none() && !configurations().any(|known| known == case.config) {
                anyhow::bail!(
                    "line {line} of {} is not a case that can be played: there is no server configuration {:?}, only {}",
                    file.display(),
                    case.config,
                    configurations().collect::<Vec<_>>().join(", ")
                );
            }
        }
        Ok(())
    }

    fn tell(&self, bar: &ProgressBar, placed: &Placed, verdict: &Verdict) {
        let case = &placed.case;
        if self.output.is_json() {
            let mut line =
                json!({"kind": "case", "id": case.id, "verdict": word(verdict), "config": case.config});
            if case.is_race() {
                line["race"] = json!(true);
            }
            match verdict {
                Verdict::Pass => {}
                Verdict::Skip(why) => line["why"] = json!(why),
                Verdict::Race(difference) | Verdict::Differ(difference) => {
                    line["step"] = json!(difference.step);
                    line["field"] = json!(difference.field);
                    line["expected"] = difference.expected.clone();
                    line["observed"] = difference.observed.clone();
                }
            }
            bar.suspend(|| println!("{line}"));
            return;
        }
        if *verdict == Verdict::Pass {
            // What is as it should be needs no line.
            return;
        }
        bar.suspend(|| {
            let title = format!("{:<7} {:<34} {}", word(verdict), visible(&case.id), visible(&case.about));
            println!("{}", title.trim_end());
            match verdict {
                Verdict::Pass => {}
                Verdict::Skip(why) => println!("        {}", visible(why)),
                Verdict::Race(difference) => {
                    println!("        a race of the real server: {}", visible(&difference.to_string()));
                }
                Verdict::Differ(difference) => {
                    println!("        line {} of {}", placed.line, placed.file.display());
                    println!("        {}", visible(&difference.to_string()));
                }
            }
        });
    }
}

/// What a verdict is called. A race that went another way is none the worse for it.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Pass | Verdict::Race(_) => "pass",
        Verdict::Differ(_) => "differ",
        Verdict::Skip(_) => "skip",
    }
}

impl Tally {
    fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Pass => self.pass += 1,
            Verdict::Race(_) => self.race += 1,
            Verdict::Differ(_) => self.differ += 1,
            Verdict::Skip(_) => self.skip += 1,
        }
    }

    fn sum_up(&self, output: Output) -> ExitCode {
        let Tally { pass, race, differ, skip } = self;
        let (verdict, status) = match (differ, pass + race) {
            (0, 0) => ("vacuous", 2),
            (0, _) => ("pass", 0),
            _ => ("fail", 1),
        };
        let runs = pass + race + differ;
        if output.is_json() {
            println!(
                "{}",
                json!({"kind": "summary", "verdict": verdict, "runs": runs, "failed": differ, "skipped": skip})
            );
        } else {
            println!("\n{} of {runs} cases pass, {differ} differ, {skip} were skipped", pass + race);
        }
        ExitCode::from(status)
    }
}
