//! Progress bars; hidden when stderr is not a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Mutex;
use zk_checker::{Probe, Verdict};
use zk_harness::panics::Panic;
use zk_harness::run::Run;
use zk_harness::sweep::Sweep;

/// A bar over `total` seeds, on stderr if that is a terminal.
pub(super) fn bar(total: u64, what: &str) -> ProgressBar {
    bar_of(total, what, "seeds")
}

/// A bar over `total` items of a kind, on stderr if that is a terminal.
pub(super) fn bar_of(total: u64, what: &str, things: &str) -> ProgressBar {
    let workload = ProgressDrawTarget::stderr_with_hz(10);
    let bar = ProgressBar::with_draw_target(Some(total), workload);
    let rate = |state: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{:.0}", state.per_sec());
    };
    let style = ProgressStyle::with_template(&format!(
        "{{prefix:<16}} {{bar:30}} {{human_pos}}/{{human_len}} {things}, {{rate}}/s, {{eta}} left  {{msg}}",
    ))
    .expect("the template is well formed")
    .with_key("rate", rate)
    .progress_chars("━╸ ");
    bar.set_style(style);
    bar.set_prefix(what.to_owned());
    bar
}

/// The progress bar of a sweep: runs, probes reached, and failures by rule.
pub(super) struct Watched {
    bar: ProgressBar,
    /// The number of probes and `sometimes!` conditions to reach.
    to_reach: usize,
    must_reach: BTreeSet<Probe>,
    seen: Mutex<Reached>,
}

#[derive(Default)]
struct Reached {
    reached: BTreeSet<&'static str>,
    failed: BTreeMap<String, u64>,
}

impl Watched {
    pub(super) fn new(sweep: &Sweep) -> Watched {
        let workload = sweep.search.workload;
        let must_reach: BTreeSet<Probe> = workload.must_reach.iter().copied().collect();
        let to_reach = must_reach.len() + workload.stated.sometimes.len();
        Watched { bar: bar(sweep.runs(), workload.name), to_reach, must_reach, seen: Mutex::default() }
    }

    /// Counts a run.
    pub(super) fn saw(&self, run: Result<&Run, &Panic>) {
        self.bar.inc(1);
        if self.bar.is_hidden() {
            return;
        }
        let mut seen = self.seen.lock().expect("no thread panics while it holds this");
        let before = seen.reached.len();
        if let Ok(run) = run {
            seen.reached.extend(&run.sometimes);
            let reached = |probe: &&Probe| run.report.metrics.reached(**probe) > 0;
            seen.reached.extend(self.must_reach.iter().filter(reached).map(|probe| probe.name()));
        }
        let what = match run {
            Ok(run) => (run.verdict() >= Verdict::Unknown).then(|| run.what_failed()),
            Err(_) => Some(zk_harness::run::PANIC.to_owned()),
        };
        let is_new = seen.reached.len() > before || what.is_some();
        if let Some(what) = what {
            *seen.failed.entry(what).or_default() += 1;
        }
        if is_new {
            self.bar.set_message(seen.message(self.to_reach));
        }
    }

    pub(super) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

impl Reached {
    fn message(&self, to_reach: usize) -> String {
        let mut text = format!("{} of {to_reach} probes hit", self.reached.len());
        for (what, count) in &self.failed {
            let _ = write!(text, ", {what} {count}×");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_was_reached_and_what_failed_how_often() {
        let seen =
            Reached { reached: ["a"].into(), failed: [("MX-1".into(), 3), ("stuck".into(), 1)].into() };
        assert_eq!(seen.message(4), "1 of 4 probes hit, MX-1 3×, stuck 1×");
    }
}
