//! The command line.
//!
//! Results go to stdout, progress to stderr. Exit status: 0 all rules held, 1 a rule failed, 2 no evidence, 3 the
//! arguments are wrong or the program failed.

mod conformance;
mod control;
mod determinism;
mod differences;
mod exercised;
mod explore;
mod failure;
mod fingerprints;
mod hunt;
mod judging;
mod junit;
mod lines;
mod list;
mod merging;
mod mutants;
mod progress;
mod promises;
mod real;
mod reporting;
mod scenarios;
mod serve;
mod shrinking;
mod single;
mod sweeping;

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::process::ExitCode;
use zk_checker::Verdict;

/// Seeded fault runs for ZooKeeper's coordination recipes.
///
/// Each run is drawn from a seed, happens in a simulated ensemble with injected faults (lost replies, expired sessions,
/// paused processes), and is judged by the rules of the recipe.
#[derive(Parser)]
#[command(name = "zksim", bin_name = "cargo sim", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List the workloads, stories, mutants and rules
    List(list::ListArgs),
    /// Run many seeds of workloads under faults, in parallel
    Sweep(sweeping::Sweep),
    /// Merge the shards of a sweep into the table, verdict and exit status of the whole sweep
    Merge(merging::Merge),
    /// Measure the mutation score: run each mutant and its correct recipe on many seeds, and show which mutants are killed
    #[command(visible_alias = "zoo")]
    Mutants(mutants::Mutants),
    /// Explore every run of a small scope of a workload: prove that all rules hold there, or show the shortest breach
    Explore(explore::Explore),
    /// Run one seed of a workload, or a story
    Run(single::RunOne),
    /// Replay a recorded run, given as a file or as its code
    Replay(single::Replay),
    /// Shrink a recorded run that fails to the smallest run with the same failure, and find the nearest run that passes
    Shrink(shrinking::Shrink),
    /// Judge a stored history: the file of a failure, or a history from another source
    Judge(judging::Judge),
    /// Run a workload on a real Apache ZooKeeper server, judged by the same rules
    Real(real::Real),
    /// Play recorded cases of a real Apache ZooKeeper server against the simulation or another server, and show the
    /// differences
    Conformance(conformance::Conformance),
    /// Serve a simulated ensemble on loopback sockets, in real time: clients of any language connect to it
    Serve(serve::Serve),
    /// Do something to an ensemble that is served, or ask it something: inject a fault, show the sessions, judge the history
    Control(control::Control),
    /// Hunt programs of other people: their clients as processes, under drawn faults, judged by what they report and send
    Hunt(hunt::Hunt),
}

/// How results are written.
#[derive(Args, Clone, Copy)]
struct Output {
    /// `text` for people, `json` for scripts: one object per line
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl Output {
    fn is_json(self) -> bool {
        self.format == Format::Json
    }
}

/// The exit status of a verdict.
fn status(verdict: Verdict) -> ExitCode {
    ExitCode::from(match verdict {
        Verdict::Pass | Verdict::Unavoidable => 0,
        Verdict::Fail => 1,
        Verdict::Vacuous | Verdict::Unknown => 2,
    })
}

/// Runs the program.
pub fn main() -> ExitCode {
    quiet_when_nobody_reads();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; everything else is the caller's.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 3 } else { 0 });
        }
    };
    let result = match cli.verb {
        Verb::List(args) => list::list(args),
        Verb::Sweep(sweep) => sweep.run(),
        Verb::Merge(merge) => merge.run(),
        Verb::Mutants(mutants) => mutants.run(),
        Verb::Explore(explore) => explore.run(),
        Verb::Run(one) => one.run(),
        Verb::Replay(replay) => replay.run(),
        Verb::Shrink(shrink) => shrink.run(),
        Verb::Judge(judge) => judge.run(),
        Verb::Real(real) => real.run(),
        Verb::Conformance(conformance) => conformance.run(),
        Verb::Serve(serve) => serve.run(),
        Verb::Control(control) => control.run(),
        Verb::Hunt(hunt) => hunt.run(),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(3)
    })
}

/// Ends the program silently when the reader closes the pipe (`| head`).
fn quiet_when_nobody_reads() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let said = panic.payload_as_str().unwrap_or_default();
        if said.starts_with("failed printing to stdout") && said.contains("Broken pipe") {
            std::process::exit(141);
        }
        usual(panic);
    }));
}

/// The name nearest to a wrong one.
fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names
        .map(|name| (distance(wrong, name), name))
        .filter(|(d, name)| *d <= name.len() / 2 + 1)
        .min()
        .map(|(_, n)| n)
}

/// The edit distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_right_name() {
        let names = || ["lock", "lock-no-guid", "calm-hand-over"].into_iter();
        assert_eq!(nearest("lokc", names()), Some("lock"));
        assert_eq!(nearest("calm-handover", names()), Some("calm-hand-over"));
        assert_eq!(nearest("zebra", names()), None);
    }
}
