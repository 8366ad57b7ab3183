//! Tests of your own coordination code under many seeds: the API for other crates.
//!
//! A test describes its code as a [`Workload`], with [`Workload::own`], and sweeps it with [`holds`]. A failure is a
//! panic with the broken promise, the shrunk run, and its trace. [`tells`] plays a [`Story`].
//!
//! [`prelude`] has the names that such a test uses.

use crate::client::Client;
use crate::holding::{Held, take_turn};
use crate::panics::Panic;
use crate::rounds::rounds;
use crate::run::{self, Draw, PANIC};
use crate::shrink::{self, Shrunk};
use crate::stage::{self, Story};
use crate::strategy::{Search, Strategy};
use crate::sweep::Sweep;
use crate::workload::{Task, Workload};
use std::fmt;
use std::future::Future;
use std::ops::Range;
use zk_checker::history::ObjectId;
use zk_checker::{RuleId, RuleSet, Verdict};
use zk_recipes::zk::{Error, ZooKeeper};
use zk_report::trace;

mod declared;

/// The names that such a test uses.
pub mod prelude {
    pub use crate::client::{Client, SimProcess};
    pub use crate::holding::{Belief, Held};
    pub use crate::operation::{Call, nothing, operation};
    pub use crate::plan::Plan;
    pub use crate::rounds::{Round, rounds};
    pub use crate::stage::{Script, Stage, Story};
    pub use crate::workload::{Done, Setting, Stated, Task, Workload};
    pub use futures_util::FutureExt;
    pub use futures_util::future::BoxFuture;
    pub use sim_zk::fault::Fault;
    pub use zk_checker::history::{Kind, Names, Object, ObjectId, Verb, What};
    pub use zk_checker::{RuleId, RuleSet, Verdict};
}

/// The budget for shrinking, in runs.
const SHRINKING_RUNS: u32 = 500;

/// A failure of your own code, shrunk.
pub struct Failure {
    workload: &'static Workload,
    /// The first seed that fails.
    pub seed: u64,
    /// The rule that failed, or the other kind of failure.
    pub what: String,
    /// The message: its panic, its first finding, and for a hang the waiting clients and what they wait for.
    pub finding: String,
    /// The panic of the code, if that is the failure: runs that panic print nothing themselves.
    pub panic: Option<Panic>,
    /// The smallest run found that fails in the same way; none if the code panics before its clients begin.
    pub shrunk: Option<Shrunk>,
}

impl Failure {
    fn of(workload: &'static Workload, seed: u64) -> Failure {
        let run = match Draw::seeded(workload, workload.plan(seed), seed).run_caught() {
            Ok(run) => run,
            Err(panic) => {
                let (what, finding) = (PANIC.to_owned(), panic.to_string());
                return Failure { workload, seed, what, finding, panic: Some(panic), shrunk: None };
            }
        };
        let shrunk = shrink::shrink(run.again(), SHRINKING_RUNS).ok();
        let first = run.report.findings.first().map(ToString::to_string);
        let hang = run.hang().map(|hang| format!("{}\n{}", hang.about(), run.waits().join("\n")));
        let panicked = run.panic.as_ref().map(ToString::to_string);
        Failure {
            workload,
            seed,
            what: run.what_failed(),
            // A run may break a rule and hang.
            finding: panicked.into_iter().chain(first).chain(hang).collect::<Vec<_>>().join("\n"),
            panic: run.panic.map(|panicked| panicked.panic),
            shrunk,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}, seed {}: {}\n{}",
            self.workload.name,
            self.seed,
            self.what,
            self.finding.trim_end()
        )?;
        if let Some(trace) = self.panic.as_ref().and_then(Panic::trace) {
            writeln!(f, "{trace}")?;
        }
        writeln!(f, "again: ZKSIM_SEEDS={} cargo test", self.seed)?;
        let Some(shrunk) = &self.shrunk else { return Ok(()) };
        let size = shrunk.after();
        let (clients, faults, choices) = (size.clients, size.faults, size.choices);
        writeln!(f, "shrunk: clients {clients}, faults {faults}, choices {choices}")?;
        f.write_str(&trace::print(&shrunk.failure.run.history, &[]))
    }
}

/// The seeds in the variable `ZKSIM_SEEDS`, as `17` or `0..100000`, or else the given ones.
///
/// # Panics
///
/// If the variable has another form.
pub fn seeds(usual: Range<u64>) -> Range<u64> {
    std::env::var("ZKSIM_SEEDS").map_or(usual, |text| {
        read(&text)
            .unwrap_or_else(|| panic!("ZKSIM_SEEDS is {text:?}: it must be a seed or a range, as in 0..1000"))
    })
}

fn read(text: &str) -> Option<Range<u64>> {
    match text.split_once("..") {
        Some((from, to)) => Some(from.parse().ok()?..to.parse().ok()?).filter(|range| !range.is_empty()),
        None => text.parse().ok().and_then(|seed: u64| Some(seed..seed.checked_add(1)?)),
    }
}

/// Runs the seeds on all cores, and returns the shrunk failure of the smallest seed.
///
/// # Panics
///
/// If a rule of the workload cannot judge any of its objects: at once, with the reason. If no run failed and a required
/// rule was never tested (no evidence).
pub fn first_failure(workload: &'static Workload, seeds: Range<u64>) -> Option<Failure> {
    if let Err(why) = declared::check(workload, seeds.start) {
        panic!("{}: {why}", workload.name);
    }
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let search = Search::new(workload, Strategy::Swarm, None);
    let sweep = Sweep { jobs, ..Sweep::new(search, seeds) };
    let tally = sweep.tally();
    let first = tally.failures.values().map(|(seed, _)| *seed).min();
    let untested = sweep.missing(&tally).rules;
    let names: Vec<&str> = untested.iter().map(|rule| rule.name()).collect();
    assert!(
        first.is_some() || untested.is_empty(),
        "no evidence (vacuous): no run tests {}",
        names.join(", ")
    );
    first.map(|seed| Failure::of(workload, seed))
}

/// Checks that all runs of the seeds hold.
///
/// # Panics
///
/// If a run fails: with the [`Failure`] as text.
pub fn holds(workload: &'static Workload, seeds: Range<u64>) {
    if let Some(failure) = first_failure(workload, seeds) {
        panic!("{failure}");
    }
}

/// One client's task for a recipe with holders: in each round it acquires the first declared object with `acquire`,
/// holds it and writes to the resource behind it for a while, and releases or drops the guard.
pub async fn turns<C: Client, H: Held, F: Future<Output = Result<H, Error>> + Send>(
    task: Task<C>,
    acquire: impl Fn(C::Zk) -> F + Send + Sync,
) {
    let (client, pace, acquire) = (&task.client, task.setting.pace, &acquire);
    let round = |zk: C::Zk, _| async move {
        take_turn(client, zk.session(), ObjectId(0), pace, || acquire(zk.clone())).await
    };
    rounds(&task, round).await;
}

/// Plays a story, judges it by the rules that its `verdicts` name, and checks its `point`.
///
/// # Panics
///
/// If the story fails, with the reasons and its trace.
pub fn tells(story: &Story) {
    let rules: Vec<RuleId> = story.verdicts.iter().map(|&(rule, _)| rule).collect();
    let (told, wrong) = stage::tell_by(story, &RuleSet::only(&rules));
    assert!(
        wrong.is_empty(),
        "{}: {}\n{}{}",
        story.name,
        wrong.join("\n"),
        trace::print(&told.history, &told.steps),
        told.report
    );
}

/// The trace of a seed's run, one line per event, and its verdict.
pub fn shown(workload: &'static Workload, seed: u64) -> (String, Verdict) {
    let run = run::seed(workload, &workload.plan(seed), seed);
    (format!("{}{}", trace::print(&run.history, &[]), run.report), run.verdict())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::SimProcess;
    use crate::plan::Plan;
    use crate::workload::Stated;
    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;
    use sim_zk::SimClient;
    use sim_zk::fault::Fault;
    use std::time::Duration;
    use zk_recipes::Runtime as _;
    use zk_recipes::zk::Time;

    #[test]
    fn seeds_are_read_as_they_are_written() {
        assert_eq!(read("17"), Some(17..18));
        assert_eq!(read("3..9"), Some(3..9));
        for wrong in ["", "x", "9..3", "3..", "-1"] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }

    /// A client that sends a request in each round, and calls `then` with its session, the round's number, and whether
    /// the request was answered.
    fn asking(task: Task<SimProcess>, then: fn(&SimClient, u32, bool)) -> BoxFuture<'static, ()> {
        async move {
            let round = |zk: SimClient, number| async move {
                let is_answered = zk.exists("/").await.is_ok();
                then(&zk, number, is_answered);
                crate::rounds::Round::Over
            };
            rounds(&task, round).await;
        }
        .boxed()
    }

    /// Panics when a reply is lost.
    fn brittle(task: Task<SimProcess>) -> BoxFuture<'static, ()> {
        asking(task, |_, number, is_answered| {
            assert!(is_answered, "no answer in round {number}");
        })
    }

    static BRITTLE: Workload = Workload {
        faults: &[Fault::ReplyLost, Fault::LinkHeld],
        plan: |_| Plan::calm().with(&[Fault::ReplyLost, Fault::LinkHeld], 0.02),
        ..Workload::own("brittle", |_, _| Vec::new(), brittle, &CALM)
    };
    static CALM: Stated =
        Stated { finishes_within: Duration::from_secs(60), rules: Some(&[]), sometimes: &[] };

    #[test]
    fn a_panic_is_a_failure_like_any_other() {
        let failure = first_failure(&BRITTLE, 0..200).expect("an answer is lost");
        assert_eq!(failure.what, PANIC);
        assert!(failure.finding.contains("panicked: no answer in round"), "{}", failure.finding);
        let shrunk = failure.shrunk.as_ref().expect("its choices are known");
        let size = shrunk.after();
        assert_eq!((size.clients, size.faults), (1, 1), "{failure}");
        let again = shrunk.failure.run.again().run();
        assert_eq!((again.hash, again.verdict()), (shrunk.failure.run.hash, Verdict::Fail));
        assert_eq!(again.panic.expect("it panics again").client, "a");
    }

    /// Reads its clock for ever when a reply is lost.
    fn restless(task: Task<SimProcess>) -> BoxFuture<'static, ()> {
        asking(task, |zk, _, is_answered| while !is_answered && zk.now() < Time::NEVER {})
    }

    static RESTLESS: Workload = Workload {
        faults: BRITTLE.faults,
        plan: BRITTLE.plan,
        ..Workload::own("restless", |_, _| Vec::new(), restless, &CALM)
    };

    #[test]
    fn code_that_never_waits_again_is_a_failure_with_a_name_and_a_seed() {
        let failure = first_failure(&RESTLESS, 0..200).expect("an answer is lost");
        assert_eq!(failure.what, PANIC);
        assert!(failure.finding.contains("without waiting for anything"), "{}", failure.finding);
        let size = failure.shrunk.as_ref().expect("its choices are known").after();
        assert_eq!((size.clients, size.faults), (1, 1), "{failure}");
    }
}
