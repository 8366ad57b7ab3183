//! Long traces: the memory of a judge grows with live entries, and live entries are not forgotten. The tests have a
//! binary of their own, and run one after the other in one function, because their allocations are counted.

#[path = "../../benches/common/mod.rs"]
mod common;

use common::{Crowd, lock_trace};
use peak_alloc::PeakAlloc;
use zk_checker::history::History;
use zk_checker::{Ongoing, Report, RuleId, RuleSet, Verdict, judge};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The memory of a judge in bytes, after each of so many equal parts of a trace.
fn kept<const PARTS: usize>(history: &History) -> [usize; PARTS] {
    let tables = history.tables();
    let before = ALLOCATOR.current_usage();
    let mut judge = Ongoing::new(tables, &RuleSet::all());
    let mut kept = [0; PARTS];
    let part = history.events.len() / PARTS;
    for (number, event) in history.events.iter().enumerate() {
        judge.push(tables, event);
        if (number + 1) % part == 0 && number / part < PARTS {
            kept[number / part] = ALLOCATOR.current_usage() - before;
        }
    }
    kept
}

fn told(report: &Report, rule: RuleId) -> (Verdict, u32) {
    let rows = report.rows.iter().filter(|row| row.rule == rule);
    rows.fold((Verdict::Vacuous, 0), |(verdict, premises), row| {
        (verdict.join(row.verdict), premises + row.premises)
    })
}

#[test]
fn a_judge_keeps_what_is_alive_and_no_more() {
    let churn = Crowd { locks: 1, clients: 30, events: 400_000, held: 0 };
    let [_, _, third, last] = kept::<4>(&lock_trace(churn, None));
    assert!(
        last < third + third / 20,
        "from the third quarter to the last it grew from {third} to {last} bytes"
    );
    assert!(last < 8 << 20, "{last} bytes for thirty clients");

    // Two locks are held throughout, and the others change hands so often that all tables have forgotten their first
    // entries.
    let crowd = Crowd { locks: 4, clients: 8, events: 400_000, held: 2 };
    let report = judge(&lock_trace(crowd, None), &RuleSet::all());
    let wrong = report.findings.iter().filter(|found| found.verdict == Verdict::Fail).count();
    assert_eq!((wrong, told(&report, RuleId::Mx6).0), (0, Verdict::Pass), "{report}");
    assert!(told(&report, RuleId::Mx6).1 > 10_000, "{report}");

    // An early grant is found, and the finding names the first events of the holder.
    let report = judge(&lock_trace(crowd, Some(1.0)), &RuleSet::all());
    let early: Vec<_> = report.findings.iter().filter(|found| found.rule == RuleId::Mx2).collect();
    assert_eq!(early.len(), 2, "{report}");
    for found in early {
        assert!(found.witnesses.iter().any(|witness| *witness < 2_000), "{found}");
    }
}
