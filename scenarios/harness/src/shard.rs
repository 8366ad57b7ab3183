//! The results of one shard of a sweep as a line of JSON, and the merge of all shards.
//!
//! In a sweep over n machines, each machine makes every n-th run and sends back only these lines: a tally does not
//! depend on the machines or on the order of the runs.

use crate::exercised::Exercised;
use crate::fingerprint::Fingerprint;
use crate::plan::Plan;
use crate::run::Draw;
use crate::strategy::{Search, Strategy, Variations};
use crate::sweep::Sweep;
use crate::tally::{Failures, Tally};
use crate::workload::Lookup;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use zk_checker::history::FaultKind;
use zk_checker::{Probe, RuleId, Verdict};

/// One shard's results for one workload: the request and the tally.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    kind: Kind,
    /// The workload.
    pub workload: String,
    /// The request.
    pub asked: SweepTerms,
    /// The number of the shard, from 0, and the number of shards.
    pub shard: (u64, u64),
    tally: Written,
}

/// The kind of the line: distinguishes it from other JSON lines.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Part,
}

/// The request: the same for all shards of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepTerms {
    /// The program's version.
    pub version: String,
    /// The hash of the first seed's run without faults: a different hash means different code.
    pub code: String,
    /// The strategy.
    pub strategy: String,
    /// The variations that each run drew in addition. Older files call the field `besides`.
    #[serde(alias = "besides")]
    pub variations: Variations,
    /// The plan of all runs, if one was given.
    pub plan: Option<Plan>,
    /// The first seed.
    pub from: u64,
    /// The number of seeds in all shards together.
    pub seeds: u64,
    /// Whether all probes were required.
    pub require_probes: bool,
}

/// A tally in which everything has its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    runs: u64,
    verdicts: BTreeMap<String, u64>,
    rules: BTreeMap<String, (u64, String)>,
    faults: BTreeMap<FaultKind, u64>,
    probes: BTreeMap<String, u64>,
    sometimes: BTreeMap<String, u64>,
    #[serde(default)]
    exercised: BTreeMap<String, BTreeMap<String, u64>>,
    failures: Failures,
    shapes: Vec<Shaped>,
    events: u64,
    steps: u64,
    sim_us: u64,
    longest_lull_us: u64,
}

/// The failures with one rule and fingerprint: the smallest seed, and the count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shaped {
    rule: String,
    shape: Fingerprint,
    seed: u64,
    count: u64,
}

/// Why shards do not add up.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ShardError {
    /// A shard names something that does not exist here.
    #[error("{0} has {1} {2:?}, which does not exist here")]
    Foreign(String, &'static str, String),
    /// Two shards have different requests.
    #[error("{0} and {1} are not shards of one sweep: they differ in {2}")]
    Mismatch(String, String, &'static str),
    /// The same shard occurs twice.
    #[error("{0} and {1} are both shard {2}/{3}")]
    Duplicate(String, String, u64, u64),
    /// A shard is missing.
    #[error("shard {0}/{1} is missing")]
    Missing(u64, u64),
    /// A shard stopped before its end.
    #[error("{file} is incomplete: it has {runs} of {of} runs of {workload}")]
    Stopped {
        /// Its file.
        file: String,
        /// Its workload.
        workload: String,
        /// The number of runs that it made.
        runs: u64,
        /// The number of runs that it had to make.
        of: u64,
    },
}

/// The shards of a sweep: the name of each file, with a sheet for each workload.
pub type Shards = Vec<(String, Vec<Sheet>)>;

impl Sheet {
    /// The sheet of a shard.
    pub fn of(sweep: &Sweep, tally: &Tally) -> Sheet {
        let search = &sweep.search;
        // A run that all shards of a sweep make alike, as a hash of the code.
        let plan = search.plan.clone().unwrap_or_else(|| search.workload.plan(sweep.seeds.start));
        let plan = Plan { faults: 0, ..plan };
        let first = Draw::seeded(search.workload, plan, sweep.seeds.start).run_caught();
        Sheet {
            kind: Kind::Part,
            workload: search.workload.name.to_owned(),
            asked: SweepTerms {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                code: first.map_or_else(|_| "panic".to_owned(), |run| format!("{:032x}", run.hash)),
                strategy: search.strategy.name().to_owned(),
                variations: search.variations,
                plan: search.plan.clone(),
                from: sweep.seeds.start,
                seeds: sweep.seeds.end - sweep.seeds.start,
                require_probes: sweep.require_probes,
            },
            shard: sweep.shard,
            tally: Written::of(tally),
        }
    }

    /// The request and the tally, in this program's types.
    ///
    /// # Errors
    ///
    /// If the sheet names something that does not exist here.
    pub fn read(&self, file: &str, lookup: Lookup) -> Result<(Sweep, Tally), ShardError> {
        let foreign = |what, name: &str| ShardError::Foreign(file.to_owned(), what, name.to_owned());
        let workload = lookup(&self.workload).ok_or_else(|| foreign("a workload", &self.workload))?;
        let SweepTerms { strategy, variations, plan, from, seeds, require_probes, .. } = &self.asked;
        let known = Strategy::from_name(strategy).ok_or_else(|| foreign("a strategy", strategy))?;
        let search = Search::new(workload, known, plan.clone()).drawing(*variations);
        let seeds = *from..from.saturating_add(*seeds);
        let sweep = Sweep { shard: self.shard, require_probes: *require_probes, ..Sweep::new(search, seeds) };
        let tally = self.tally.read().map_err(|(what, name)| foreign(what, &name))?;
        Ok((sweep, tally))
    }
}

impl SweepTerms {
    /// In what two requests differ, if they do.
    fn differs(&self, other: &SweepTerms) -> Option<&'static str> {
        let SweepTerms { version, code, strategy, variations, plan, from, seeds, require_probes } = other;
        let same = [
            (self.plan == *plan, "the plan"),
            (self.strategy == *strategy && self.variations == *variations, "the strategy"),
            (self.from == *from && self.seeds == *seeds, "the seeds"),
            (self.require_probes == *require_probes, "the required probes"),
            (self.version == *version && self.code == *code, "the program that made them"),
        ];
        same.into_iter().find(|(same, _)| !same).map(|(_, what)| what)
    }
}

/// Merges shards: for each workload the tally of the undivided sweep.
///
/// # Errors
///
/// If they are not all the shards of one sweep, each once and complete.
pub fn merge(shards: &Shards, lookup: Lookup) -> Result<Vec<(Sweep, Tally)>, ShardError> {
    let Some((first_file, first)) = shards.first() else { return Ok(Vec::new()) };
    let names = |sheets: &[Sheet]| sheets.iter().map(|sheet| sheet.workload.clone()).collect::<Vec<_>>();
    for (file, sheets) in shards {
        let mismatch = |what| Err(ShardError::Mismatch(first_file.clone(), file.clone(), what));
        if names(sheets) != names(first) {
            return mismatch("their workloads");
        }
        for (sheet, with) in sheets.iter().zip(first) {
            if let Some(what) = sheet.asked.differs(&with.asked) {
                return mismatch(what);
            }
            if sheet.shard.1 != with.shard.1 {
                return mismatch("the number of shards");
            }
        }
    }
    complete(shards)?;
    let mut merged: Vec<(Sweep, Tally)> = Vec::new();
    for (file, sheets) in shards {
        for (at, sheet) in sheets.iter().enumerate() {
            let (sweep, tally) = sheet.read(file, lookup)?;
            // An enumeration that ends before the seeds do makes fewer runs.
            let to_make = sweep.runs();
            if tally.runs < to_make && sweep.search.counted(u64::MAX, 1).is_none() {
                let (file, workload) = (file.clone(), sheet.workload.clone());
                return Err(ShardError::Stopped { file, workload, runs: tally.runs, of: to_make });
            }
            match merged.get_mut(at) {
                Some((_, sum)) => sum.merge(tally),
                None => merged.push((Sweep { shard: (0, 1), ..sweep }, tally)),
            }
        }
    }
    Ok(merged)
}

/// Checks that every shard is present exactly once.
fn complete(shards: &Shards) -> Result<(), ShardError> {
    let mut seen: BTreeMap<u64, &str> = BTreeMap::new();
    let mut of = 1;
    for (file, sheets) in shards {
        let Some(sheet) = sheets.first() else { continue };
        let (shard, n) = sheet.shard;
        of = n;
        if let Some(before) = seen.insert(shard, file) {
            return Err(ShardError::Duplicate(before.to_owned(), file.clone(), shard, n));
        }
    }
    match (0..of).find(|shard| !seen.contains_key(shard)) {
        Some(missing) => Err(ShardError::Missing(missing, of)),
        None => Ok(()),
    }
}

impl Written {
    fn of(tally: &Tally) -> Written {
        // Coverage is left out: a search that stops by coverage is not split into shards.
        let Tally { runs, events, steps, sim_us, longest_lull_us, .. } = *tally;
        Written {
            runs,
            verdicts: tally.verdicts.iter().map(|(verdict, count)| (verdict.to_string(), *count)).collect(),
            rules: (tally.rules.iter())
                .map(|(rule, (premises, verdict))| (rule.name().to_owned(), (*premises, verdict.to_string())))
                .collect(),
            faults: tally.faults.clone(),
            probes: tally.probes.iter().map(|(probe, count)| (probe.name().to_owned(), *count)).collect(),
            sometimes: tally.sometimes.clone(),
            exercised: tally.exercised.0.clone(),
            failures: tally.failures.clone(),
            shapes: (tally.shapes.iter())
                .map(|((rule, shape), (seed, count))| Shaped {
                    rule: rule.clone(),
                    shape: shape.clone(),
                    seed: *seed,
                    count: *count,
                })
                .collect(),
            events,
            steps,
            sim_us,
            longest_lull_us,
        }
    }

    /// Converts it to a tally; the error is the kind and the name of something that does not exist here.
    fn read(&self) -> Result<Tally, (&'static str, String)> {
        let Written { runs, events, steps, sim_us, longest_lull_us, .. } = *self;
        let mut tally = Tally { runs, events, steps, sim_us, longest_lull_us, ..Tally::default() };
        for (name, count) in &self.verdicts {
            let verdict = Verdict::from_name(name).ok_or_else(|| ("a verdict", name.clone()))?;
            tally.verdicts.insert(verdict, *count);
        }
        for (name, (premises, word)) in &self.rules {
            let rule = RuleId::from_name(name).ok_or_else(|| ("a rule", name.clone()))?;
            let verdict = Verdict::from_name(word).ok_or_else(|| ("a verdict", word.clone()))?;
            tally.rules.insert(rule, (*premises, verdict));
        }
        for (name, count) in &self.probes {
            let probe = Probe::from_name(name).ok_or_else(|| ("a probe", name.clone()))?;
            tally.probes.insert(probe, *count);
        }
        tally.faults = self.faults.clone();
        tally.sometimes = self.sometimes.clone();
        tally.exercised = Exercised(self.exercised.clone());
        tally.failures = self.failures.clone();
        for Shaped { rule, shape, seed, count } in &self.shapes {
            tally.shapes.insert((rule.clone(), shape.clone()), (*seed, *count));
        }
        Ok(tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{OTHER, SAMPLE, find};
    use crate::workload::Workload;

    fn shard(workload: &'static Workload, seeds: u64, shard: (u64, u64)) -> Sheet {
        let search = Search::new(workload, Strategy::Swarm, None);
        let sweep = Sweep { shard, ..Sweep::new(search, 0..seeds) };
        Sheet::of(&sweep, &sweep.tally())
    }

    fn named(sheets: &[Sheet]) -> Shards {
        sheets.iter().zip('a'..).map(|(sheet, file)| (file.to_string(), vec![sheet.clone()])).collect()
    }

    fn refused(sheets: &[Sheet]) -> String {
        merge(&named(sheets), find).err().map_or("they add up".to_owned(), |error| error.to_string())
    }

    #[test]
    fn shards_in_any_order_add_up_to_the_sweep() {
        let whole = shard(&SAMPLE, 31, (0, 1));
        let mut shards: Vec<Sheet> = (0..4).map(|i| shard(&SAMPLE, 31, (i, 4))).collect();
        shards.reverse();
        let merged = merge(&named(&shards), find).expect("they are of one sweep");
        let [(sweep, tally)] = &merged[..] else { panic!("one workload") };
        assert_eq!(Sheet::of(sweep, tally), whole);
        let text = serde_json::to_string(&whole).expect("it is plain data");
        assert_eq!(serde_json::from_str::<Sheet>(&text).expect("its own text"), whole);
    }

    #[test]
    fn shards_that_are_not_of_one_sweep_do_not_add_up() {
        let [a, b] = [0, 1].map(|i| shard(&SAMPLE, 10, (i, 2)));
        assert_eq!(refused(&[a.clone(), b.clone()]), "they add up");
        assert_eq!(refused(std::slice::from_ref(&b)), "shard 0/2 is missing");
        assert_eq!(refused(&[a.clone(), b.clone(), a.clone()]), "a and c are both shard 0/2");
        let differ = |other: Sheet| refused(&[a.clone(), other]);
        let not_one = |what: &str| format!("a and b are not shards of one sweep: they differ in {what}");
        assert_eq!(differ(shard(&OTHER, 10, (1, 2))), not_one("their workloads"));
        assert_eq!(differ(shard(&SAMPLE, 11, (1, 2))), not_one("the seeds"));
        assert_eq!(differ(shard(&SAMPLE, 10, (1, 3))), not_one("the number of shards"));
        let asked = |change: fn(&mut SweepTerms)| {
            let mut other = b.clone();
            change(&mut other.asked);
            differ(other)
        };
        assert_eq!(asked(|asked| asked.version = "9".into()), not_one("the program that made them"));
        assert_eq!(asked(|asked| asked.code = "0".into()), not_one("the program that made them"));
        assert_eq!(asked(|asked| asked.plan = Some(Plan::calm())), not_one("the plan"));
        assert_eq!(asked(|asked| asked.strategy = "uniform".into()), not_one("the strategy"));
        let mut stopped = b.clone();
        stopped.tally.runs = 3;
        assert_eq!(differ(stopped), "b is incomplete: it has 3 of 5 runs of sample");
        let mut foreign = b.clone();
        foreign.tally.rules.insert("XX-1".into(), (1, "pass".into()));
        assert_eq!(differ(foreign), r#"b has a rule "XX-1", which does not exist here"#);
    }
}
