//! `conformance`: recorded cases of a real server, against the simulation or another server.

use super::differences::{self, visible};
use super::interrupt::Interrupt;
use super::{Output, progress, scenarios};
use clap::Args;
use indicatif::ProgressBar;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use zk_fidelity::conformance::case::{self, Content, Placed};
use zk_fidelity::conformance::configuration::configurations;
use zk_fidelity::conformance::run::{self, CaseVerdict, Left};
use zk_fidelity::conformance::supply::{InSimulation, OfOthers, OurOwn};

#[derive(Args)]
pub(super) struct Conformance {
    /// Files of recorded cases as JSON lines, or of fault scenarios of an ensemble
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Start Apache ZooKeeper servers, one for each configuration, and play the cases against them
    #[arg(long, conflicts_with = "connect")]
    real: bool,
    /// Play the cases against this running, empty server; or scenarios on this served ensemble, with `--control`
    #[arg(long, value_name = "HOST:PORT,...")]
    connect: Option<String>,
    /// The control API of the served ensemble on which scenarios are played, such as http://127.0.0.1:40004; with it, cases
    /// that restart their server are played on a served one, too
    #[arg(long, value_name = "URL", requires = "connect")]
    control: Option<String>,
    /// Play scenarios over sockets, in real time, each on a served ensemble of its own
    #[arg(long, conflicts_with_all = ["real", "connect"])]
    served: bool,
    /// Only the cases of this server configuration
    #[arg(long, value_name = "NAME")]
    config: Option<String>,
    /// Only the case of this id; can be repeated
    #[arg(long = "case", value_name = "ID")]
    ids: Vec<String>,
    /// Number of seeds of each scenario: 1000, unless an ensemble that is served plays them, then 1
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    #[command(flatten)]
    output: Output,
}

/// The numbers of cases by result.
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
        if let (Some(Placed { file, .. }), true) = (cases.first(), self.served) {
            anyhow::bail!("{} has cases of one server without faults: leave out --served", file.display());
        }
        let (mut tally, interrupt) = (Tally::default(), Interrupt::listen()?);
        if !scenarios.is_empty() {
            self.play_scenarios(&scenarios, &mut tally, &interrupt)?;
            let is_nothing = cases.is_empty() && tally.pass + tally.differ == 0 && !interrupt.has_come();
            if let (Some(id), true) = (self.ids.first(), is_nothing) {
                anyhow::bail!("there is no case called {id:?}");
            }
        }
        if !cases.is_empty() {
            self.look_at_names(&cases)?;
            cases.retain(|placed| self.asks_for(placed));
            if cases.is_empty() {
                anyhow::bail!("there is no case of that configuration and id");
            }
            self.play(&cases, &mut tally, &interrupt)?;
        }
        Ok(tally.sum_up(self.output, &interrupt))
    }

    fn play(&self, cases: &[Placed], tally: &mut Tally, interrupt: &Interrupt) -> anyhow::Result<()> {
        let bar = progress::bar_of(cases.len() as u64, "conformance", "cases");
        let mut differing = Vec::new();
        let result = self.play_on(cases, interrupt.stop(), |placed, verdict| {
            tally.count(verdict);
            bar.inc(1);
            self.tell(&bar, placed, verdict);
            if let CaseVerdict::Differ(difference) = verdict {
                differing.push((placed.case.id.clone(), difference.clone()));
            }
        });
        bar.finish_and_clear();
        for left in result?.iter().filter(|_| self.connect.is_some()) {
            eprintln!(
                "note: {} remains on the server: {} created it with an access list that forbids the deletion",
                left.path, left.by
            );
        }
        if !self.output.is_json() {
            print!("{}", differences::table(&differing));
        }
        Ok(())
    }

    fn play_on(
        &self,
        cases: &[Placed],
        stop: &AtomicBool,
        each: impl FnMut(&Placed, &CaseVerdict),
    ) -> anyhow::Result<Vec<Left>> {
        let left = match (&self.connect, &self.control) {
            _ if self.real => run::run(cases, &mut OurOwn, stop, each),
            (Some(address), None) => run::run(cases, &mut OfOthers::at(address), stop, each),
            (Some(address), Some(control)) => {
                let restart = scenarios::restart(address, control)?;
                run::run(cases, &mut OfOthers::at(address).restarted_by(restart), stop, each)
            }
            (None, _) => run::run(cases, &mut InSimulation, stop, each),
        };
        Ok(left?)
    }

    /// Plays scenarios, which need an ensemble with faults.
    fn play_scenarios(
        &self,
        files: &[&PathBuf],
        tally: &mut Tally,
        interrupt: &Interrupt,
    ) -> anyhow::Result<()> {
        let target = match (&self.connect, &self.control) {
            _ if self.real => anyhow::bail!(
                "{} has scenarios with faults, which only a simulated ensemble can play: leave out --real",
                files[0].display()
            ),
            (Some(addresses), Some(control)) => {
                scenarios::Target::Running(scenarios::Running { addresses, control })
            }
            (Some(_), None) => anyhow::bail!(
                "{} has scenarios with faults, which need the control API of the ensemble: add --control with the \
                 address on the second line of `zksim serve`",
                files[0].display()
            ),
            _ if self.served => scenarios::Target::Served,
            _ => scenarios::Target::Simulated,
        };
        for file in files {
            let wanted = |id: &str| self.ids.is_empty() || self.ids.iter().any(|of| of == id);
            let played = scenarios::play(file, &target, self.seeds, self.output, interrupt, wanted)?;
            tally.pass += played.pass;
            tally.differ += played.fail;
        }
        Ok(())
    }

    fn asks_for(&self, Placed { case, .. }: &Placed) -> bool {
        self.config.as_ref().is_none_or(|config| *config == case.config)
            && (self.ids.is_empty() || self.ids.contains(&case.id))
    }

    /// Refuses unknown names before the work.
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

    fn tell(&self, bar: &ProgressBar, placed: &Placed, verdict: &CaseVerdict) {
        let case = &placed.case;
        if self.output.is_json() {
            let mut line =
                json!({"kind": "case", "id": case.id, "verdict": word(verdict), "config": case.config});
            if case.is_race() {
                line["race"] = json!(true);
            }
            match verdict {
                CaseVerdict::Pass => {}
                CaseVerdict::Skip(why) => line["why"] = json!(why),
                CaseVerdict::Race(difference) | CaseVerdict::Differ(difference) => {
                    line["step"] = json!(difference.step);
                    line["field"] = json!(difference.field);
                    line["expected"] = difference.expected.clone();
                    line["observed"] = difference.observed.clone();
                }
            }
            bar.suspend(|| println!("{line}"));
            return;
        }
        if *verdict == CaseVerdict::Pass {
            // A case that passes prints nothing.
            return;
        }
        bar.suspend(|| {
            let title = format!("{:<7} {:<34} {}", word(verdict), visible(&case.id), visible(&case.about));
            println!("{}", title.trim_end());
            match verdict {
                CaseVerdict::Pass => {}
                CaseVerdict::Skip(why) => println!("        {}", visible(why)),
                CaseVerdict::Race(difference) => {
                    println!("        a race of the real server: {}", visible(&difference.to_string()));
                }
                CaseVerdict::Differ(difference) => {
                    println!("        line {} of {}", placed.line, placed.file.display());
                    println!("        {}", visible(&difference.to_string()));
                }
            }
        });
    }
}

/// The name of a verdict. A race with another result passes.
fn word(verdict: &CaseVerdict) -> &'static str {
    match verdict {
        CaseVerdict::Pass | CaseVerdict::Race(_) => "pass",
        CaseVerdict::Differ(_) => "differ",
        CaseVerdict::Skip(_) => "skip",
    }
}

impl Tally {
    fn count(&mut self, verdict: &CaseVerdict) {
        match verdict {
            CaseVerdict::Pass => self.pass += 1,
            CaseVerdict::Race(_) => self.race += 1,
            CaseVerdict::Differ(_) => self.differ += 1,
            CaseVerdict::Skip(_) => self.skip += 1,
        }
    }

    fn sum_up(&self, output: Output, interrupt: &Interrupt) -> ExitCode {
        let Tally { pass, race, differ, skip } = self;
        let (verdict, status) = match (differ, pass + race) {
            (0, 0) => ("vacuous", 2),
            (0, _) => ("pass", 0),
            _ => ("fail", 1),
        };
        let runs = pass + race + differ;
        if output.is_json() {
            let summary = json!({"kind": "summary", "verdict": verdict, "runs": runs, "failed": differ, "skipped": skip});
            println!("{}", interrupt.mark(summary));
        } else {
            println!("\n{} of {runs} cases pass, {differ} differ, {skip} were skipped", pass + race);
            interrupt.say("the cases behind these were not played");
        }
        interrupt.status(status)
    }
}
