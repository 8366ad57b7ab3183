//! The command line.
//!
//! Results go to stdout, progress to stderr. Exit status: 0 all rules held, 1 a rule failed, 2 no evidence, 3 the
//! arguments are wrong or the program failed; 130, 143 or 129 after a signal if nothing had failed by then; 141 if the
//! reader of the results has closed the pipe.

mod conformance;
mod control;
mod determinism;
mod differences;
mod exercised;
mod explore;
mod failure;
mod fingerprints;
mod hunt;
mod interrupt;
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
mod results;
mod scenarios;
mod searching;
mod serve;
mod shrinking;
mod single;
mod sweeping;
mod swept;

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::io::Write;
use std::process::ExitCode;
use zk_checker::Verdict;

/// Seeded fault runs for ZooKeeper's coordination recipes.
///
/// Each run is drawn from a seed, happens in a simulated ensemble with injected faults (lost replies, expired sessions,
/// paused processes), and is judged by the rules of the recipe.
#[derive(Parser)]
#[command(name = "zksim", bin_name = "cargo sim", version, disable_help_subcommand = true, after_help = STATUSES)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// The text about exit statuses below the help.
const STATUSES: &str = "\
Exit status:
  0    all rules held
  1    a rule failed
  2    no evidence: the verdict is vacuous or unknown
  3    wrong arguments, or an error of the program or of its environment
  130  interrupted by SIGINT (143 SIGTERM, 129 SIGHUP) before any rule failed
  141  the reader of the results has closed the pipe

The first signal stops a verb: it reports what it has found so far and keeps its files. A second signal ends it at once.
`serve` runs until a signal; its exit status is that of its verdict.";

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
    /// Control a served ensemble: inject a fault, show the sessions, judge the history
    Control(control::Control),
    /// Run other people's programs as processes under drawn faults, and judge what they report and send
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

/// The exit status of a verdict, as a number.
fn number(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Pass | Verdict::Unavoidable => 0,
        Verdict::Fail => 1,
        Verdict::Vacuous | Verdict::Unknown => 2,
    }
}

/// The exit status of a verdict.
fn status(verdict: Verdict) -> ExitCode {
    ExitCode::from(number(verdict))
}

/// Runs the program.
pub fn main() -> ExitCode {
    end_when_output_fails();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors; other errors are in the caller's arguments.
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
        eprintln!("error: {}", in_one_sentence(&error));
        ExitCode::from(3)
    })
}

/// An error with its causes. A cause that the text already contains is not repeated.
fn in_one_sentence(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| match said.is_empty() {
        true => cause,
        false if said.contains(&cause) => said,
        false => format!("{said}: {cause}"),
    })
}

/// Ends the program when its results cannot be written, which makes `println!` panic: silently if the reader has closed
/// the pipe (`| head`), otherwise, as with a full disk, with one sentence.
fn end_when_output_fails() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let said = panic.payload_as_str().unwrap_or_default();
        if let Some(why) = said.strip_prefix("failed printing to stdout: ") {
            if why.contains("Broken pipe") {
                std::process::exit(141);
            }
            let _ = writeln!(std::io::stderr(), "error: cannot write the results: {why}");
            std::process::exit(3);
        }
        if said.starts_with("failed printing to stderr: ") {
            std::process::exit(3);
        }
        usual(panic);
    }));
}

/// The error about an unknown name: suggests the nearest name, or lists all.
fn no_such<'a>(what: &str, wrong: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(wrong, names.clone()) {
        Some(near) => format!("there is no {what} {wrong:?}; did you mean {near:?}?"),
        None => format!("there is no {what} {wrong:?}; there are {}", names.collect::<Vec<_>>().join(", ")),
    }
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

    #[test]
    fn a_cause_is_told_once() {
        use anyhow::Context;
        let busy = || std::io::Error::other("in use");
        let told = |error: anyhow::Error| in_one_sentence(&error);
        assert_eq!(told(busy().into()), "in use");
        assert_eq!(told(Err::<(), _>(busy()).context("no port").unwrap_err()), "no port: in use");
        assert_eq!(told(Err::<(), _>(busy()).context("no port: in use").unwrap_err()), "no port: in use");
    }
}
