//! Histories of foreign clients, and the findings in them.

use zk_checker::wire::{self, WireReport};

/// Four clients, each with a session.
pub const HEAD: &str = "
run sim timeout 4 clients a b c d
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 server:0 opened s4 timeout 4000 0x4
0.001 a state s1 connected conn 1
0.001 b state s2 connected conn 2
0.001 c state s3 connected conn 3
0.001 d state s4 connected conn 4
";

/// The report of a history.
pub fn report(text: &str) -> WireReport {
    let history = zk_checker::text::parse(text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    wire::report(&history)
}

/// The guid of an attempt, in the notations of Curator, of go-zookeeper, and of Kazoo and zk-recipes.
pub const GUIDS: [&str; 3] = [
    "_c_01234567-89ab-cdef-0123-456789abcdef",
    "_c_0123456789abcdef0123456789abcdef",
    "0123456789abcdef0123456789abcdef",
];

/// The explanation of the first finding in the pieces of a history.
pub fn explained(pieces: &[&str]) -> String {
    let text = [&[HEAD], pieces].concat().concat().replace("GUID", GUIDS[2]);
    report(&text).findings[0].to_string()
}

/// Checks the broken rules in the pieces of a history, with each notation of guids in place of `GUID`.
#[track_caller]
pub fn finds(pieces: &[&str], expected: &str) {
    for guid in GUIDS {
        let text = [&[HEAD], pieces].concat().concat().replace("GUID", guid);
        let report = report(&text);
        let found: Vec<String> = report.findings.iter().map(|finding| finding.rule.to_string()).collect();
        assert_eq!(found.join(" "), expected, "{report}\n{text}");
        assert!(report.findings.iter().all(|finding| finding.witnesses.contains(&finding.position)));
    }
}

/// A text without the lines that contain a word.
pub fn without(text: &str, word: &str) -> String {
    text.lines().filter(|line| !line.contains(word)).map(|line| format!("{line}\n")).collect()
}
