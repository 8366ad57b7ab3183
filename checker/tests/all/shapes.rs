//! A report prints findings that differ only by names once, with their number; it keeps all of them.

use std::path::Path;
use zk_checker::{Report, RuleSet, jsonl, judge};

fn reports() -> impl Iterator<Item = (String, Report)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let histories = files.into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
    histories.map(|file| {
        let text = std::fs::read_to_string(&file).unwrap();
        let history = jsonl::read(text.as_bytes()).unwrap().history;
        (file.display().to_string(), judge(&history, &RuleSet::all()))
    })
}

#[test]
fn what_differs_only_by_names_is_printed_once() {
    let mut saved = 0;
    for (file, report) in reports() {
        let (text, firsts) = (report.to_string(), report.first_of_each());
        let all: usize = firsts.iter().map(|(_, alike)| alike + 1).sum();
        assert_eq!(all, report.findings.len(), "{file}: none is forgotten");
        for (finding, alike) in &firsts {
            assert!(text.contains(&finding.to_string()), "{file}: {text}");
            let more = format!("{finding}  and {alike} more of {} that differ", finding.rule.name());
            assert_eq!(text.contains(&more), *alike > 0, "{file}: {text}");
        }
        for finding in &report.findings {
            let same = firsts
                .iter()
                .filter(|(first, _)| (first.rule, &first.shape) == (finding.rule, &finding.shape));
            assert!(same.count() >= 1, "{file}: {finding}");
        }
        saved += report.findings.len() - firsts.len();
    }
    assert!(saved >= 5, "the corpus has findings that are alike: {saved}");
}
