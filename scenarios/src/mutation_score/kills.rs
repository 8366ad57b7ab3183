//! The kill table: the number of runs that each search strategy needs to kill each mutant.

use super::measure;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use zk_checker::RuleId;
use zk_harness::strategy::{Search, Strategy};
use zk_harness::threads::on_threads;
use zk_harness::workload::Workload;
use zk_report::place::Place;

/// The place of the table in a README.
pub const PLACE: Place = Place {
    begin: "<!-- the kill table: written by `cargo sim mutants --strategies --write-readme` -->",
    end: "<!-- end of the kill table -->",
};

/// The number of runs between two counts of kills.
const BATCH: u64 = 50;

/// The number of kills at which the median is accurate enough.
const ENOUGH: usize = 25;

/// The kills of one mutant.
#[derive(Clone, Copy, Debug)]
pub struct Kills {
    /// The mutant.
    pub workload: &'static Workload,
    /// The median number of runs until a kill; `None` without a kill within the budget. In the order of
    /// [`Strategy::ALL`].
    pub medians: [Option<u64>; Strategy::ALL.len()],
}

impl Kills {
    /// Searches a mutant by every strategy, each within a budget of runs. `None` if `stop` is set meanwhile.
    pub fn of(workload: &'static Workload, budget: u64, jobs: usize, stop: &AtomicBool) -> Option<Kills> {
        let medians = Strategy::ALL.map(|strategy| median(workload, strategy, budget, jobs, stop));
        (!stop.load(Ordering::Relaxed)).then_some(Kills { workload, medians })
    }

    /// Whether some strategy kills the mutant.
    pub fn is_caught(&self) -> bool {
        self.medians.iter().any(Option::is_some)
    }
}

fn median(
    workload: &'static Workload,
    strategy: Strategy,
    budget: u64,
    jobs: usize,
    stop: &AtomicBool,
) -> Option<u64> {
    let search = Search::new(workload, strategy, None);
    let (caught, made) = (Mutex::new(BTreeSet::new()), Mutex::new(BTreeSet::new()));
    let mut end = 0;
    // Batches are whole, so the count does not depend on the number of threads.
    while end < budget && !stop.load(Ordering::Relaxed) {
        let begin = end;
        end = budget.min(end + BATCH);
        on_threads(begin..end, 1, jobs, &|number| {
            let Some(draw) = search.draw(number) else { return false };
            let run = draw.run_caught();
            made.lock().expect("no thread panics while it holds this").insert(number);
            if run.is_ok_and(|run| is_caught(workload, &run.what_failed())) {
                caught.lock().expect("no thread panics while it holds this").insert(number);
            }
            !stop.load(Ordering::Relaxed)
        });
        let is_over = made.lock().expect("all threads are done").len() as u64 != end;
        if is_over || caught.lock().expect("all threads are done").len() >= ENOUGH {
            break;
        }
    }
    let made = made.into_inner().expect("all threads are done").len() as u64;
    let caught = caught.into_inner().expect("all threads are done");
    measure::Length::over(caught.into_iter(), made).map(|search| search.median)
}

fn is_caught(workload: &Workload, first: &str) -> bool {
    let rule = RuleId::from_name(first);
    workload.caught_by.zip(rule).is_some_and(|(caught, rule)| caught.is_caught_by(rule))
}

/// For each strategy the number of kills, and the sum of its medians over the mutants that all strategies kill.
fn sums(all: &[Kills]) -> [(usize, u64); Strategy::ALL.len()] {
    let common: Vec<&Kills> = all.iter().filter(|one| one.medians.iter().all(Option::is_some)).collect();
    std::array::from_fn(|at| {
        let caught = all.iter().filter(|one| one.medians[at].is_some()).count();
        (caught, common.iter().filter_map(|one| one.medians[at]).sum())
    })
}

fn cell(median: Option<u64>) -> String {
    median.map_or("–".to_owned(), |median| median.to_string())
}

/// The table for a terminal.
pub fn text(all: &[Kills], budget: u64) -> String {
    let width = all.iter().map(|one| one.workload.name.len()).max().unwrap_or(0);
    let mut text = format!("{:width$}", "runs until killed");
    for strategy in Strategy::ALL {
        let _ = write!(text, "  {:>10}", strategy.name());
    }
    text.push('\n');
    for one in all {
        let _ = write!(text, "{:width$}", one.workload.name);
        for median in one.medians {
            let _ = write!(text, "  {:>10}", cell(median));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "\nof {} mutants, within {budget} runs", all.len());
    for (strategy, (caught, sum)) in Strategy::ALL.iter().zip(sums(all)) {
        let name = strategy.name();
        let _ =
            writeln!(text, "  {name:<10}  kills {caught}; {sum} runs for those that every strategy kills");
    }
    text
}

/// The table as Markdown.
pub fn markdown(all: &[Kills], budget: u64) -> String {
    let names = Strategy::ALL.map(Strategy::name);
    let mut text = format!(
        "The median number of runs until a mutant is killed by its rule; – where none of {budget} runs kills \
         it.\n\n| mutant | {} |\n|---|{}\n",
        names.join(" | "),
        "--:|".repeat(names.len())
    );
    for one in all {
        let _ = writeln!(text, "| `{}` | {} |", one.workload.name, one.medians.map(cell).join(" | "));
    }
    let sums = sums(all);
    let _ = writeln!(
        text,
        "| **killed, of {}** | {} |",
        all.len(),
        sums.map(|sum| sum.0.to_string()).join(" | ")
    );
    let runs = sums.map(|sum| sum.1.to_string()).join(" | ");
    let _ = writeln!(text, "| **runs for those that every strategy kills** | {runs} |");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, budget: u64, jobs: usize) -> Kills {
        let mutant = zk_catalogue::find(name).expect("the mutant exists");
        Kills::of(mutant, budget, jobs, &AtomicBool::new(false)).expect("nobody stops it")
    }

    #[test]
    fn what_fails_in_every_run_is_caught_by_every_strategy_at_once() {
        assert_eq!(of("lock-watch-all", 30, 2).medians, [Some(1); 4]);
    }

    #[test]
    fn the_table_does_not_depend_on_the_number_of_threads() {
        let table = |jobs| text(&[of("lock-no-guid", 150, jobs), of("lock-holds-on", 150, jobs)], 150);
        assert_eq!(table(1), table(3));
    }
}
