//! `conformance`: recorded cases of a real server, against a server.

use super::{Output, progress};
use crate::conformance::case::{self, Placed};
use crate::conformance::run::{self, Verdict};
use crate::conformance::supply::{OfOthers, OurOwn, configurations};
use clap::Args;
use indicatif::ProgressBar;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct Conformance {
    /// Files of recorded cases: one case a line, as JSON
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Against Apache ZooKeeper servers that are started for it, one for each configuration
    #[arg(long, required_unless_present = "connect", conflicts_with = "connect")]
    real: bool,
    /// Against a server that runs already and is empty
    #[arg(long, value_name = "HOST:PORT")]
    connect: Option<String>,
    /// Only the cases that ask for this configuration of the server
    #[arg(long, value_name = "NAME")]
    config: Option<String>,
    /// Only this case, by its id; can be given several times
    #[arg(long = "case", value_name = "ID")]
    ids: Vec<String>,
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
        let mut cases = Vec::new();
        for file in &self.files {
            cases.extend(case::read(file)?);
        }
        self.look_at_names(&cases)?;
        cases.retain(|placed| self.asks_for(placed));
        if cases.is_empty() {
            anyhow::bail!("there is no case of that configuration and id");
        }
        let bar = progress::bar_of(cases.len() as u64, "conformance", "cases");
        let mut tally = Tally::default();
        let told = |placed: &Placed, verdict: &Verdict| {
            tally.count(verdict);
            bar.inc(1);
            self.tell(&bar, placed, verdict);
        };
        let result = match &self.connect {
            Some(address) if !self.real => run::run(&cases, &mut OfOthers::at(address), told),
            _ => run::run(&cases, &mut OurOwn, told),
        };
        bar.finish_and_clear();
        for left in result?.iter().filter(|_| self.connect.is_some()) {
            eprintln!(
                "note: {} is left on the server: {} made it so that nobody may delete it",
                left.path, left.by
            );
        }
        Ok(tally.sum_up(self.output))
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
        bar.suspend(|| {
            println!("{:<7} {:<34} {}", word(verdict), case.id, visible(&case.about));
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

/// A text without what would do something to a terminal: cases have all kinds of characters in their paths.
fn visible(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
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
