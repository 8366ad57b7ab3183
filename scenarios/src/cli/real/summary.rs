//! The output of `real`: details of a single run, or a row for each of several; then totals of faults, losses and survivors.

use super::RunFiles;
use crate::cli::Output;
use crate::cli::interrupt::Interrupt;
use crate::cli::lines::of_finding;
use crate::text_table::text_table;
use serde_json::{Value, json};
use zk_checker::history::Verb;
use zk_checker::{Report, RuleId, Verdict};
use zk_real::figures::{Calls, Figures};
use zk_real::leak_check::resident_kib;
use zk_real::run::{Outcome, RunRequest};
use zk_real::schedule::Total;

/// How one run ended.
pub(super) struct Ended<'a> {
    pub(super) order: &'a RunRequest,
    pub(super) outcome: &'a Outcome,
    pub(super) verdict: Verdict,
    pub(super) status: u8,
    pub(super) kept: Option<&'a RunFiles>,
}

/// Prints a single run.
pub(super) fn alone(output: Output, ended: &Ended<'_>, total: &Total, interrupt: &Interrupt) {
    if output.is_json() {
        print_rules(ended);
        let mut line = json_of_run(ended);
        add(&mut line, json_of_vitals(total));
        println!("{}", interrupt.mark(line));
        return;
    }
    print_run(ended);
    print_damage(total);
    println!("  {}", ended.verdict.name());
    print_trouble(ended);
    if ended.verdict > Verdict::Pass {
        println!();
        print!("{}", ended.outcome.report);
    }
    print_kept(ended);
}

/// Prints the header of several runs.
pub(super) fn heading(output: Output) {
    if !output.is_json() {
        row([
            "workload", "verdict", "seed", "rounds", "done", "refused", "unknown", "dropped", "faults",
            "breaks", "expired", "MiB",
        ]);
    }
}

/// Prints one of several runs.
pub(super) fn one(output: Output, ended: &Ended<'_>) {
    if output.is_json() {
        print_rules(ended);
        println!("{}", json_of_run(ended));
        return;
    }
    let f = Figures::of(&ended.outcome.history);
    let calls = f.calls();
    row([
        ended.order.workload.name(),
        ended.verdict.name(),
        &ended.order.seed.to_string(),
        &ended.outcome.rounds.to_string(),
        &calls.done.to_string(),
        &calls.refused.to_string(),
        &calls.unknown.to_string(),
        &calls.cancelled.to_string(),
        &f.faults.values().sum::<u32>().to_string(),
        &f.disconnects.to_string(),
        &f.expired.to_string(),
        &mib(resident_kib()),
    ]);
    print_trouble(ended);
    // With many rows, excused findings are left out.
    if ended.verdict > Verdict::Unavoidable {
        print!("{}", ended.outcome.report);
    }
    print_kept(ended);
}

fn row(cells: [&str; 12]) {
    let [name, verdict, others @ ..] = cells;
    let others: String = others.iter().map(|cell| format!(" {cell:>8}")).collect();
    println!("{name:<17} {verdict:<11}{others}");
}

/// Prints the totals of several runs.
pub(super) fn end(output: Output, total: &Total, interrupt: &Interrupt) {
    if !output.is_json() {
        println!();
        print_damage(total);
        println!("  {}: {}", zk_report::count(total.runs.into(), "run"), total.verdict.name());
        return;
    }
    let seconds = total.worked.as_secs_f64();
    let mut line = json!({
        "kind": "summary", "verdict": total.verdict.name(), "runs": total.runs, "failed": total.failed,
        "vacuous": total.vacuous, "seconds": seconds, "per_second": f64::from(total.figures.done()) / seconds,
        "rounds": total.rounds,
    });
    add(&mut line, json_of_figures(&total.figures));
    add(&mut line, json_of_vitals(total));
    println!("{}", interrupt.mark(line));
}

fn print_run(ended: &Ended<'_>) {
    let Ended { order, outcome, .. } = ended;
    let (f, seconds) = (Figures::of(&outcome.history), outcome.worked.as_secs_f64());
    println!(
        "{}: {} of {} in {seconds:.1} s on {}, {:.1} calls/s done; {} events",
        order.workload.name(),
        zk_report::count(outcome.rounds, "round"),
        zk_report::count(order.clients.into(), "client"),
        order.address,
        f64::from(f.done()) / seconds,
        outcome.history.events.len()
    );
    println!("  rule   verdict     premises  promise");
    let required = |rule| order.workload.required.contains(&rule);
    // Most vacuous rules are about other recipes, or need a simulation.
    let is_shown = |rule, verdict| verdict != Verdict::Vacuous || required(rule);
    let rules = of_all_objects(&outcome.report);
    for (rule, verdict, premises) in rules.iter().filter(|(rule, verdict, _)| is_shown(*rule, *verdict)) {
        println!("  {:<6} {:<11} {premises:>8}  {}", rule.name(), verdict.name(), rule.promise());
    }
    let others = rules.iter().filter(|(rule, verdict, _)| !is_shown(*rule, *verdict)).count();
    println!("  {others} other rules do not apply");
    print_figures(&f);
}

/// The verdict and premises of each rule, over all objects: a run may have hundreds of objects of a kind.
fn of_all_objects(report: &Report) -> Vec<(RuleId, Verdict, u32)> {
    let mut rules: Vec<(RuleId, Verdict, u32)> = Vec::new();
    for row in &report.rows {
        match rules.iter_mut().find(|(rule, ..)| *rule == row.rule) {
            Some((_, verdict, premises)) => {
                (*verdict, *premises) = (verdict.join(row.verdict), *premises + row.premises);
            }
            None => rules.push((row.rule, row.verdict, row.premises)),
        }
    }
    rules
}

fn print_figures(f: &Figures) {
    println!(
        "  {:<16} {:>8} {:>8} {:>8} {:>8} {:>8} {:>14} {:>9} {:>14}",
        "counted",
        "calls",
        "done",
        "refused",
        "unknown",
        "dropped",
        "requests/done",
        "fruitless",
        "notifications"
    );
    for (verb, c) in &f.verbs {
        println!(
            "    {:<14} {:>8} {:>8} {:>8} {:>8} {:>8} {:>14.2} {:>9} {:>14}",
            verb.name(),
            c.calls,
            c.done,
            c.refused,
            c.unknown,
            c.cancelled,
            c.requests_each(),
            c.fruitless,
            c.notices
        );
    }
    println!("    {:<14} {:>8} requests, {} notifications", "in between", f.between, f.notices_between);
    println!("    {:<14} {:>8} requests", "clean-up", f.cleanup);
}

/// Prints faults, losses, survivors and memory.
fn print_damage(total: &Total) {
    let f = &total.figures;
    let calls = f.calls();
    let mut rows: Vec<[String; 4]> = Vec::new();
    let mut add = |group: &str, count: String, what: &str| {
        let group = if rows.last().is_some() && group.is_empty() { "" } else { group };
        rows.push([String::new(), group.to_owned(), count, what.to_owned()]);
    };
    let mut group = "injected";
    for (kind, count) in &f.faults {
        add(group, count.to_string(), &kind.name().replace('_', "-"));
        group = "";
    }
    add("observed", f.slow_servers.to_string(), "stalls of servers");
    add("", f.slow_process.to_string(), "stalls of this process");
    add("lost", f.disconnects.to_string(), "connections");
    add("", f.lost.to_string(), "replies");
    add("", f.expired.to_string(), "sessions that expired");
    add("", calls.unknown.to_string(), "operations of unknown outcome");
    add("", calls.cancelled.to_string(), "operations dropped by their callers");
    add("survived", calls.done.to_string(), "operations done");
    add("", calls.refused.to_string(), "operations refused");
    add("", f.sessions.saturating_sub(f.expired).to_string(), "sessions");
    let memory = total.memory;
    add("memory", mib(memory.start_kib), "MiB at the start");
    add("", mib(memory.tenth_kib), "MiB after a tenth of the time");
    add("", mib(memory.end_kib), "MiB at the end");
    if let Some(watches) = total.left.watches {
        add("left behind", watches.to_string(), "watches on all servers");
        add("", total.znodes.map_or("?".to_owned(), |count| count.to_string()), "znodes on all servers");
    }
    add("tasks", total.left.tasks.to_string(), "of all clients at the end");
    print!("{}", text_table(&rows));
    if let Some(leak) = total.leak() {
        println!("  FAIL: {leak}");
    }
}

fn mib(kib: Option<u64>) -> String {
    kib.map_or("?".to_owned(), |kib| format!("{:.1}", kib as f64 / 1024.0))
}

/// Prints leaks and missing evidence.
fn print_trouble(ended: &Ended<'_>) {
    let Outcome { report, unfinished, lost_by_servers, .. } = ended.outcome;
    if let Some(leak) = ended.outcome.leak() {
        println!("  FAIL: {leak}");
    }
    for why in [lost_by_servers, unfinished].into_iter().flatten() {
        println!("  no evidence (vacuous): {why}");
    }
    if !report.unproved.is_empty() && unfinished.is_none() {
        let rules: Vec<&str> = report.unproved.iter().map(|rule| rule.name()).collect();
        let was = if rules.len() == 1 { "was" } else { "were" };
        println!("  no evidence (vacuous): {} {was} never tested; run longer", rules.join(", "));
    }
}

fn print_kept(ended: &Ended<'_>) {
    if let Some(kept) = ended.kept {
        println!("  history   {}", kept.history.display());
        println!("  trace     {}", kept.trace.display());
    }
}

fn print_rules(ended: &Ended<'_>) {
    for (rule, verdict, premises) in of_all_objects(&ended.outcome.report) {
        println!(
            "{}",
            json!({"kind": "rule", "workload": ended.order.workload.name(), "id": rule.name(),
                "verdict": verdict.name(), "premises": premises})
        );
    }
}

fn json_of_verb((verb, c): &(Verb, Calls)) -> Value {
    json!({
        "verb": verb.name(), "calls": c.calls, "done": c.done, "refused": c.refused, "unknown": c.unknown,
        "cancelled": c.cancelled, "requests": c.requests, "requests_each": c.requests_each(), "fruitless": c.fruitless,
        "notifications": c.notices,
    })
}

fn json_of_run(ended: &Ended<'_>) -> Value {
    let Ended { order, outcome, verdict, status, kept } = *ended;
    let (f, seconds) = (Figures::of(&outcome.history), outcome.worked.as_secs_f64());
    let mut line = json!({
        "kind": "real", "workload": order.workload.name(), "seed": order.seed, "clients": order.clients,
        "servers": order.servers, "verdict": verdict.name(), "status": status, "seconds": seconds,
        "rounds": outcome.rounds, "done_per_second": f64::from(f.done()) / seconds,
        "verbs": f.verbs.iter().map(json_of_verb).collect::<Vec<_>>(), "events": outcome.history.events.len(),
    });
    add(&mut line, json_of_figures(&f));
    if let Some(why) = &outcome.lost_by_servers {
        line["lost_by_servers"] = json!(why);
    } else if let Some(finding) = outcome.report.first() {
        line["rule"] = json!(finding.rule.name());
        line["findings"] = outcome.report.findings.iter().map(of_finding).collect();
    }
    if let Some(leak) = outcome.leak() {
        line["leak"] = json!(leak);
    }
    if let Some(why) = &outcome.unfinished {
        line["unfinished"] = json!(why);
    }
    if let Some(kept) = kept {
        line["history"] = json!(kept.history);
        line["trace"] = json!(kept.trace);
    }
    line
}

fn json_of_figures(f: &Figures) -> Value {
    let calls = f.calls();
    let faults = f.faults.iter().map(|(kind, count)| (kind.name().replace('_', "-"), json!(count)));
    json!({
        "done": calls.done, "refused": calls.refused, "unknown": calls.unknown, "cancelled": calls.cancelled,
        "requests": {"in_between": f.between, "clean_up": f.cleanup}, "notifications": f.notices(),
        "dropped": f.dropped, "sessions": f.sessions, "expired": f.expired, "disconnects": f.disconnects,
        "lost": f.lost, "slow_servers": f.slow_servers,
        "slow_process": f.slow_process, "kills": f.kills(), "faults": faults.collect::<serde_json::Map<_, _>>(),
    })
}

fn json_of_vitals(total: &Total) -> Value {
    let memory = total.memory;
    let mut line = json!({
        "memory_kib": {"start": memory.start_kib, "tenth": memory.tenth_kib, "end": memory.end_kib},
        "left": {"watches": total.left.watches, "znodes": total.znodes, "tasks": total.left.tasks},
    });
    if let Some(leak) = total.leak() {
        line["leak"] = json!(leak);
    }
    line
}

fn add(line: &mut Value, more: Value) {
    if let (Value::Object(line), Value::Object(more)) = (line, more) {
        line.extend(more);
    }
}
