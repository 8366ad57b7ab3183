//! The findings that are kept: each has the history of a try, in which the judge finds the broken rule again, and the page is
//! theirs.

use std::path::{Path, PathBuf};
use zk_checker::Verdict;
use zk_hunt::findings::Finding;
use zk_hunt::page::{Tried, page};
use zk_hunt::program::Program;
use zk_hunt::troubles::Endured;
use zk_serve::Judged;

fn of_the_project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn the_history_of_each_finding_breaks_its_rule() {
    let findings = Finding::all(&of_the_project("findings")).unwrap();
    assert!(findings.len() >= 19);
    for finding in findings {
        let name = format!("{} {}", finding.program, finding.id);
        let stored = finding.history().unwrap().unwrap_or_else(|| panic!("{name} has no history"));
        let judged = Judged::stored(&stored);
        let failed = judged.report().findings.iter().filter(|one| one.verdict == Verdict::Fail);
        let broken: Vec<&str> = failed.map(|one| one.rule.name()).collect();
        let rule = finding.about.rule.as_deref().unwrap();
        assert!(broken.contains(&rule), "{name}: {rule} is not among {broken:?}");
        if let Some(quoted) = &finding.about.said {
            let wire = judged.wire().findings.iter().map(|one| one.text.as_str());
            let mut said = judged.report().findings.iter().map(|one| one.text.as_str()).chain(wire);
            assert!(
                said.any(|text| text.trim_end() == quoted.trim_end()),
                "{name}: the page quotes\n{quoted}\nand the judge says\n{}",
                judged.report()
            );
        }
    }
}

#[test]
fn the_page_is_that_of_the_findings() {
    let programs = Program::all(&of_the_project("hunt/programs")).unwrap();
    let findings = Finding::all(&of_the_project("findings")).unwrap();
    let text = |file| std::fs::read_to_string(of_the_project(file)).unwrap();
    let (endured, tried) = (text("findings/troubles.jsonl"), text("findings/tried.jsonl"));
    let endured: Vec<Endured> = endured.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tried: Vec<Tried> = tried.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let written = std::fs::read_to_string(of_the_project("../FINDINGS.md")).unwrap();
    assert_eq!(
        written,
        page(&programs, &findings, &endured, &tried),
        "`cargo sim hunt --kept --write-page` writes it"
    );
}
