//! Recipes that lie: right recipes, one operation of which occasionally returns a false result.
//!
//! A [`Lie`] names the operation and how it lies: in about half of the calls, drawn by its client, so that a run
//! continues. All other calls are those of the right recipe. `mutants/lies.rs` of a recipe is a table, [`Lies`]: a row
//! for each lie with the rule that must report it, a comment with its harm, and the workload over the right recipe
//! behind a liar. Each row is a [`LyingMutant`], named after the workload, the operation and the lie:
//! `barrier-lower-pretends`.
//!
//! They show that the rules about results cover every operation: AN-1 an effect that is reported and did not happen,
//! AN-2 an error that never occurred, AN-3 an effect that happened and is denied, AN-4 an effect that happens twice.
//! Where another rule reports the wrong step as well, the row says so. A new operation gets its own rows; a test finds
//! operations without rows.

mod liar;

pub(crate) use liar::{FEIGNED, Hold, Liar, Lying, LyingStream};

use futures_util::future::BoxFuture;
use sim_zk::fault::Fault;
use std::sync::LazyLock;
use zk_checker::RuleId;
use zk_checker::history::{Failure, Verb};
use zk_harness::caught::{Caught, Promise};
use zk_harness::client::SimProcess;
use zk_harness::plan::Plan;
use zk_harness::workload::{Task, Workload};

/// An operation, and how it lies.
#[derive(Clone, Copy, Debug)]
pub struct Lie {
    /// The operation.
    pub verb: Verb,
    /// How it lies.
    pub how: How,
}

/// How an operation lies. Each call draws one of several reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It returns done, and does nothing.
    Pretends,
    /// It does its work, and returns an error that reports that nothing was done.
    Denies(&'static [Failure]),
    /// It does nothing, and fails for a reason that never occurred.
    Refuses(&'static [Failure]),
    /// It does its work twice.
    Repeats,
    /// It returns done after the reply to its first request, and leaves out the others.
    StopsHalfway,
    /// An attempt that does not wait reports that there is nothing to get, without a request.
    FindsNothing,
    /// The released hold is reported as kept until the release, even if it was lost.
    EndsClean,
    /// It does its work, and returns a wrong result: another token, half of a value.
    Distorts,
    /// It does its work, and never returns where it would succeed, or fail with that reason.
    Hangs(Option<Failure>),
}

impl How {
    /// The names of all.
    pub const NAMES: [&'static str; 9] = [
        "pretends",
        "denies",
        "refuses",
        "repeats",
        "stops-halfway",
        "finds-nothing",
        "ends-clean",
        "distorts",
        "hangs",
    ];

    /// Its index in [`NAMES`](How::NAMES).
    pub fn column(self) -> usize {
        match self {
            How::Pretends => 0,
            How::Denies(_) => 1,
            How::Refuses(_) => 2,
            How::Repeats => 3,
            How::StopsHalfway => 4,
            How::FindsNothing => 5,
            How::EndsClean => 6,
            How::Distorts => 7,
            How::Hangs(_) => 8,
        }
    }
}

/// The lies of a recipe.
pub struct Lies {
    pub(crate) workload: &'static Workload,
    /// The faults of its plans, unless a row says otherwise.
    pub(crate) faults: &'static [Fault],
    pub(crate) plan: fn(u64) -> Plan,
    /// One client's part, with a recipe that lies.
    pub(crate) part: Part,
    pub(crate) rows: &'static [Row],
}

impl Lies {
    /// Its mutants.
    pub fn mutants(&'static self) -> impl Iterator<Item = &'static LyingMutant> {
        all().iter().filter(move |mutant| std::ptr::eq(mutant.of, self))
    }
}

type Part = fn(Task<SimProcess>, Liar<SimProcess>) -> BoxFuture<'static, ()>;

/// A lie, and the rules that must kill it.
pub(crate) struct Row {
    lie: Lie,
    about: [&'static str; 2],
    caught: Caught,
    plan: Option<fn(u64) -> Plan>,
}

/// A lie, the rule that must report it, and a line about it.
pub(crate) const fn row(verb: Verb, how: How, by: RuleId, about: &'static str) -> Row {
    Row { lie: Lie { verb, how }, about: [about, ""], caught: Caught::by(by), plan: None }
}

/// A call that fails for a reason that never occurred.
pub(crate) const fn refuses(verb: Verb, reasons: &'static [Failure], call: &'static str) -> Row {
    Row {
        about: [call, " fails for a reason that never occurred"],
        ..row(verb, How::Refuses(reasons), RuleId::An2, "")
    }
}

impl Row {
    /// See [`Caught::or`].
    pub(crate) const fn or(self, rules: &'static [(RuleId, &'static str)]) -> Row {
        Row { caught: self.caught.or(rules), ..self }
    }

    /// See [`Caught::harm`].
    pub(crate) const fn harm(self, rules: &'static [RuleId]) -> Row {
        Row { caught: self.caught.harm(rules), ..self }
    }

    /// See [`Caught::breaks`].
    pub(crate) const fn breaks(self, promise: Promise) -> Row {
        Row { caught: self.caught.breaks(promise), ..self }
    }

    /// Draws these plans instead of the table's.
    pub(crate) const fn plan(self, plan: fn(u64) -> Plan) -> Row {
        Row { plan: Some(plan), ..self }
    }
}

/// Faults that end a session while its client lives: some holds are lost before their release.
pub(crate) const LOSSES: &[Fault] = &[Fault::SessionExpiry, Fault::ClientPartition];

/// A plan with many such faults.
fn lossy(_: u64) -> Plan {
    Plan { clients: 4, rounds: 16, faults: 40, ..Plan::calm().with(LOSSES, 0.1) }
}

/// A mutant that lies.
pub struct LyingMutant {
    /// The mutant.
    pub workload: Workload,
    /// The operation, with the workload's name before it: `barrier-lower`.
    pub operation: String,
    /// Its lie.
    pub lie: Lie,
    of: &'static Lies,
}

impl LyingMutant {
    fn new(of: &'static Lies, row: &Row) -> LyingMutant {
        let operation = format!("{}-{}", of.workload.name, row.lie.verb.name().replace('_', "-"));
        let name = format!("{operation}-{}", How::NAMES[row.lie.how.column()]);
        let (faults, plan) = match row.lie.how {
            // Only a lost hold makes this a lie.
            How::EndsClean => (LOSSES, lossy as fn(u64) -> Plan),
            _ => (of.faults, row.plan.unwrap_or(of.plan)),
        };
        let about = row.about.concat().leak();
        let workload = of.workload.mutant(name.leak(), about, row.caught, faults, plan, play);
        LyingMutant { workload, operation, lie: row.lie, of }
    }
}

/// Every mutant that lies, in the order of the recipes.
pub fn all() -> &'static [LyingMutant] {
    static ALL: LazyLock<Vec<LyingMutant>> = LazyLock::new(|| {
        let tables = crate::recipes().filter_map(|recipe| recipe.lies);
        tables.flat_map(|of| of.rows.iter().map(|row| LyingMutant::new(of, row))).collect()
    });
    &ALL
}

/// One client's part in a run of any lying mutant.
fn play(task: Task<SimProcess>) -> BoxFuture<'static, ()> {
    let mutant = all().iter().find(|mutant| mutant.workload.name == task.workload);
    let mutant = mutant.expect("only these mutants have this part");
    let liar = Liar::new(&task.client, &mutant.lie);
    (mutant.of.part)(task, liar)
}

/// It does its work, and fails with a reason that no rule can refute.
pub(crate) const DENIES: How = How::Denies(&[Failure::Other]);

/// Reasons that deny a granted hold.
pub(crate) const NOT_HELD: &[Failure] =
    &[Failure::TimedOut, Failure::Removed, Failure::Denied, Failure::Other];

/// Reasons for which a call about a hold may fail, none of which has occurred.
pub(crate) const UNMET_OF_HOLDS: &[Failure] =
    &[Failure::TimedOut, Failure::Removed, Failure::Denied, Failure::ConnectionLoss];

/// The same for a read or a follower.
pub(crate) const UNMET_OF_READS: &[Failure] =
    &[Failure::Denied, Failure::NoNode, Failure::ConnectionLoss, Failure::TimedOut];
