//! Several runs in sequence on the same servers: all workloads for their share of the time, or one for long.
//!
//! A run is judged when it is over, from its history, which stays in memory until then. So a long course consists of
//! legs, each of which is a run of its own: healed, checked for leaks, judged and discarded.

use crate::figures::Figures;
use crate::leak_check::{Left, Memory, resident_kib};
use crate::run::Outcome;
use crate::workload::RealWorkload;
use std::time::Duration;
use zk_checker::Verdict;

/// The longest run.
const LONGEST: Duration = Duration::from_secs(60);

/// The longest run of a workload with few events.
const LONGEST_OF_LONG: Duration = Duration::from_secs(600);

/// The shortest useful run of such a workload.
const LEAST_OF_LONG: Duration = Duration::from_secs(60);

/// The workloads that show something within their share of the time.
pub fn worth_it(workloads: &[&'static RealWorkload], length: Duration) -> Vec<&'static RealWorkload> {
    let share = length / u32::try_from(workloads.len().max(1)).unwrap_or(u32::MAX);
    workloads.iter().copied().filter(|workload| !workload.is_long || share >= LEAST_OF_LONG).collect()
}

/// One run of a course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The workload.
    pub workload: &'static RealWorkload,
    /// Its length.
    pub length: Duration,
    /// The seed of its clients and of the nemesis. The seeds of legs are consecutive.
    pub seed: u64,
}

/// The legs of a course: every workload in turn, until each has had its share of the time.
pub fn legs(workloads: &[&'static RealWorkload], length: Duration, seed: u64) -> Vec<Leg> {
    let share = length / u32::try_from(workloads.len().max(1)).unwrap_or(u32::MAX);
    let turns_of = |workload: &RealWorkload| {
        let longest = if workload.is_long { LONGEST_OF_LONG } else { LONGEST };
        u32::try_from(share.as_millis().div_ceil(longest.as_millis()).max(1)).unwrap_or(u32::MAX)
    };
    let turns = workloads.iter().map(|workload| turns_of(workload)).max().unwrap_or(0);
    let turn = |turn| workloads.iter().copied().filter(move |workload| turn < turns_of(workload));
    let leg = |(number, workload)| Leg {
        workload,
        length: share / turns_of(workload),
        seed: seed.wrapping_add(number),
    };
    (0..).zip((0..turns).flat_map(turn)).map(leg).collect()
}

/// The combined results of the legs of a course.
#[derive(Debug)]
pub struct Total {
    /// The worst verdict.
    pub verdict: Verdict,
    /// The number of legs.
    pub runs: u32,
    /// The number of legs that broke a promise.
    pub failed: u32,
    /// The number of vacuous legs.
    pub vacuous: u32,
    /// The number of completed rounds.
    pub rounds: u64,
    /// How long the clients worked.
    pub worked: Duration,
    /// The figures of all legs.
    pub figures: Figures,
    /// The largest remains of any leg.
    pub left: Left,
    /// The memory in use.
    pub memory: Memory,
    /// The number of znodes on all servers that did not exist at the beginning.
    pub znodes: Option<u64>,
}

impl Default for Total {
    fn default() -> Total {
        Total {
            verdict: Verdict::Vacuous,
            runs: 0,
            failed: 0,
            vacuous: 0,
            rounds: 0,
            worked: Duration::ZERO,
            figures: Figures::default(),
            left: Left::default(),
            memory: Memory::default(),
            znodes: None,
        }
    }
}

impl Total {
    /// Records the final figures of the leak check.
    pub fn see(&mut self, tenth_kib: Option<u64>, znodes: Option<u64>, znodes_at_first: Option<u64>) {
        self.memory.tenth_kib = tenth_kib;
        self.memory.end_kib = resident_kib();
        self.znodes = znodes.zip(znodes_at_first).map(|(now, then)| now.saturating_sub(then));
    }

    /// The leak of the course itself, if any.
    pub fn leak(&self) -> Option<String> {
        let znodes = self.znodes.filter(|&znodes| znodes > 0)?;
        Some(format!("{znodes} znodes, on all servers together, remain after the clean-up"))
    }

    /// Adds a leg with its verdict.
    pub fn add(&mut self, outcome: &Outcome, verdict: Verdict) {
        self.verdict = self.verdict.join(verdict);
        self.runs += 1;
        self.failed += u32::from(verdict == Verdict::Fail);
        let proves_nothing = verdict == Verdict::Unknown || !outcome.report.unproved.is_empty();
        self.vacuous += u32::from(proves_nothing && verdict != Verdict::Fail);
        self.rounds += outcome.rounds;
        self.worked += outcome.worked;
        self.figures = self.figures.plus(&Figures::of(&outcome.history));
        self.left = self.left.or_more(outcome.left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::future::ready;
    use zk_harness::workload::{Stated, Workload};

    const SECOND: Duration = Duration::from_secs(1);

    static STATED: Stated = Stated { finishes_within: SECOND, rules: None, sometimes: &[] };

    const fn workload(name: &'static str) -> Workload {
        Workload::own(name, |_, _| Vec::new(), |_| ready(()).boxed(), &STATED)
    }

    const fn real(workload: &'static Workload, is_long: bool) -> RealWorkload {
        RealWorkload { workload, part: |_| ready(()).boxed(), required: &[], is_long }
    }

    static WORKLOADS: [Workload; 3] = [workload("lock"), workload("queue"), workload("long-holds")];
    static REAL: [RealWorkload; 3] =
        [real(&WORKLOADS[0], false), real(&WORKLOADS[1], false), real(&WORKLOADS[2], true)];

    fn of(names: &[&str], seconds: u32, seed: u64) -> Vec<(&'static str, u64, Duration)> {
        let named = |name: &&str| REAL.iter().find(|real| real.name() == *name).expect("it is one of them");
        let workloads: Vec<_> = names.iter().map(named).collect();
        let legs = legs(&workloads, SECOND * seconds, seed);
        legs.into_iter().map(|leg| (leg.workload.name(), leg.seed, leg.length)).collect()
    }

    #[test]
    fn what_is_short_is_one_run_and_what_is_long_is_several() {
        assert_eq!(of(&["lock"], 60, 7), [("lock", 7, SECOND * 60)]);
        assert_eq!(of(&["lock"], 90, 7), [("lock", 7, SECOND * 45), ("lock", 8, SECOND * 45)]);
    }

    #[test]
    fn long_holds_have_longer_runs_and_are_left_out_where_they_would_show_nothing() {
        let both = of(&["lock", "long-holds"], 20 * 60, 1);
        assert_eq!(both[..2], [("lock", 1, SECOND * 60), ("long-holds", 2, SECOND * 600)]);
        assert_eq!((both.len(), both[10]), (11, ("lock", 11, SECOND * 60)));
        let all: Vec<_> = REAL.iter().collect();
        let has = |length| worth_it(&all, length).contains(&&REAL[2]);
        assert_eq!([has(SECOND * 20), has(SECOND * 3600)], [false, true]);
    }

    #[test]
    fn every_workload_has_its_share_in_turn() {
        assert_eq!(of(&["lock", "queue"], 20, 1), [("lock", 1, SECOND * 10), ("queue", 2, SECOND * 10)]);
        let soak = of(&["lock", "queue"], 30 * 60, 1);
        assert_eq!(soak.len(), 30);
        assert_eq!(soak[2], ("lock", 3, SECOND * 60));
        assert_eq!(soak.iter().map(|(.., length)| *length).sum::<Duration>(), SECOND * 30 * 60);
    }
}
