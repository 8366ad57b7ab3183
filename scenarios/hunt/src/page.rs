//! The page of what was found, and of what was tried and held.

use crate::findings::Finding;
use crate::program::{Program, Scenario};
use crate::troubles::Endured;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The results of the drawn plans of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// The program.
    pub program: String,
    /// Its version.
    pub version: String,
    /// The scenario.
    pub scenario: String,
    /// The number of tries, each with another plan.
    pub tries: u32,
    /// The number of steps that were carried out.
    pub faults: u32,
    /// The tries that broke each rule.
    pub broken: BTreeMap<String, u32>,
    /// The tries in which a client did not come to rest.
    pub restless: u32,
}

/// The page, in Markdown.
pub fn page(programs: &[Program], findings: &[Finding], endured: &[Endured], tried: &[Tried]) -> String {
    let mut text = String::from(HEAD);
    let _ = writeln!(
        text,
        "\n| program | finding | rule | fails | ours, same plan | upstream |\n|---|---|---|---|---|---|"
    );
    let version = |name: &str| programs.iter().find(|of| of.name == name).map_or("", |of| &of.version);
    for finding in findings {
        let about = &finding.about;
        let rate = about.rate.map_or("not measured".to_owned(), |rate| rate.to_string());
        let ours =
            about.ours.map_or("no such recipe".to_owned(), |rate| match (rate.hits, about.ours_struck) {
                (0, Some(struck)) if struck.hits < struck.tries => {
                    format!("holds in {}; all faults struck in {}", rate.tries, struck.hits)
                }
                (0, _) => format!("holds in {}", rate.tries),
                _ => rate.to_string(),
            });
        let _ = writeln!(
            text,
            "| {} {} | [{}](#{}) | {} | {rate} | {ours} | {} |",
            finding.program,
            version(&finding.program),
            about.title,
            anchor(finding),
            about.rule.as_deref().unwrap_or(""),
            about.upstream.as_deref().unwrap_or("not known there"),
        );
    }
    for finding in findings {
        section(&mut text, finding, version(&finding.program));
    }
    troubles(&mut text, programs, endured);
    let _ = writeln!(
        text,
        "\n{TRIED}\n\n| program | scenario | tries | faults | rules broken | clients that did not finish |\n|---|---|---|---|---|---|"
    );
    for one in tried {
        let broken: Vec<String> =
            one.broken.iter().map(|(rule, count)| format!("{rule} in {count}")).collect();
        let broken = if broken.is_empty() { "held".to_owned() } else { broken.join(", ") };
        let _ = writeln!(
            text,
            "| {} {} | {} | {} | {} | {broken} | {} |",
            one.program, one.version, one.scenario, one.tries, one.faults, one.restless
        );
    }
    text
}

/// What was held over many sessions, under each trouble: a table for each kind of object.
fn troubles(text: &mut String, programs: &[Program], endured: &[Endured]) {
    if endured.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{TROUBLES}");
    let all = programs.iter().flat_map(|program| program.scenarios.iter().map(move |of| (program, of)));
    let is_of = |one: &Endured, program: &Program, scenario: &Scenario| {
        one.program == program.name && one.scenario == scenario.name
    };
    let tried: Vec<_> =
        all.filter(|(program, of)| endured.iter().any(|one| is_of(one, program, of))).collect();
    let kinds: BTreeSet<&str> = tried.iter().map(|(_, of)| of.kind.as_str()).collect();
    let troubles: BTreeSet<&str> = endured.iter().map(|one| one.trouble.as_str()).collect();
    for kind in kinds {
        let columns: Vec<_> = tried.iter().filter(|(_, of)| of.kind == kind).collect();
        let heads: Vec<String> =
            columns.iter().map(|(program, of)| format!("{} {}", program.name, of.name)).collect();
        let _ = writeln!(text, "\n| trouble | {} |\n|---|{}", heads.join(" | "), "---|".repeat(heads.len()));
        for trouble in &troubles {
            let cell = |(program, of): &&(&Program, &Scenario)| {
                let one = endured.iter().find(|one| one.trouble == *trouble && is_of(one, program, of));
                one.map_or("not measured".to_owned(), Endured::summary)
            };
            let cells: Vec<String> = columns.iter().map(cell).collect();
            let _ = writeln!(text, "| {trouble} | {} |", cells.join(" | "));
        }
    }
    text.push('\n');
    for (program, of) in &tried {
        let _ = writeln!(text, "- {} {}, {}: {}.", program.name, program.version, of.name, of.hold);
    }
}

fn anchor(finding: &Finding) -> String {
    format!("{}-{}", finding.program, finding.id)
}

fn section(text: &mut String, finding: &Finding, version: &str) {
    let about = &finding.about;
    let _ = writeln!(text, "\n## {}\n", anchor(finding));
    let _ = writeln!(text, "**{} {version}, {}: {}.**\n", finding.program, about.scenario, about.title);
    let _ = writeln!(text, "> {}\n\n— {}\n", about.promise.quote.replace('\n', "\n> "), about.promise.source);
    let _ = writeln!(text, "{}\n", about.happens);
    if let Some(upstream) = &about.upstream {
        let note = about.upstream_note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
        let _ = writeln!(text, "Upstream: {upstream}{note}\n");
    }
    let _ = if finding.plan.steps.is_empty() {
        writeln!(text, "The plan is empty: it needs no fault.\n")
    } else {
        writeln!(text, "The plan:\n\n```json\n{}```\n", finding.plan)
    };
    if let Some(said) = &about.said {
        let _ = writeln!(text, "The verdict on one try:\n\n```text\n{}\n```\n", said.trim_end());
    }
    if finding.history_file().is_some() {
        let file = format!("scenarios/findings/{}/{}/history.jsonl.gz", finding.program, finding.id);
        let _ = writeln!(text, "[The history]({file}) of that try, and its page:\n");
        let _ = writeln!(text, "    cargo sim judge {file} --html try.html\n");
    }
    let seconds = about.seconds.map(|most| format!(", at most {most} s a try")).unwrap_or_default();
    let _ = writeln!(
        text,
        "    cargo sim hunt --kept {} {} --seeds 20\n\n{}{seconds}.",
        finding.program,
        finding.id,
        about.rate.map_or("Not measured".to_owned(), |rate| format!("Fails in {rate}")),
    );
}

const HEAD: &str = "# Other people's coordination code under faults

Each finding is a plan of faults under which a library breaks a promise of its own documentation: its clients ran as processes of their own
against a simulated ensemble of three servers on loopback sockets, and the rules of zk-checker judged what they reported and what they sent. Programs
are not deterministic, so a plan counts by how often it fails, with the interval in which the probability lies (Wilson, 95 %).
Our recipe for the same kind of object runs under the same plan. Where the plan loses a request that our recipe does not send, or its reply,
it is [the one that ours sends instead](scenarios/hunt/README.md#programs), if our program names it.

`cargo sim hunt --kept` repeats all of them; with `--write-page` it also writes this page again, from `scenarios/findings`.
`cargo sim hunt PROGRAM SCENARIO --seeds 100` draws new plans; [the README](scenarios/hunt/README.md) explains how to add a program.
";

const TROUBLES: &str = "## Troubles

What lasts longer than a session, under one plan of faults each: a leader, or a znode of each client. The session timeout is 2 s. The time is the
longest one without a leader, or without the znode of a client that works, from the first fault on: an outage counts, and so does the time in which a
znode of a dead session stands in the way. A cell has the median and the maximum of twenty tries; what broke a rule is told with its rate.
`cargo sim hunt --troubles --write-page` measures it; [the plans](scenarios/hunt/troubles), and [what each does](scenarios/hunt/README.md#troubles).";

const TRIED: &str = "## Tried

Drawn plans of one to five faults each, from `cargo sim hunt --seeds N --write-page`. A scenario without a broken rule is a result, too. A broken rule
stands above with its smallest plan, or has the same cause as one that does. Patroni, with three PostgreSQL nodes, ran under faults for an hour:
[the verdict](scenarios/findings/patroni/RESULT.md).";
