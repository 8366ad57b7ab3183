//! What pages quote is what the program prints: every `console` block with output, of every page, is run and compared.
//!
//! 1. A block's lines behind a `$ cargo sim …` are what that prints. A line `...` stands for any lines, `...` at the end of a line
//!    for the rest of it. What stands behind the last quoted line is left out.
//! 2. Commands that do not print the same everywhere are listed in [`ELSEWHERE`], each with what compares it.
//! 3. `ZKSIM_WRITE_QUOTES=1 cargo test -p zk-scenarios --test all quotes` writes the quotes anew; read the diff.

use crate::command::{Running, said};
use crate::quoted::{Quote, of_page, pages, rewritten};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Commands whose quoted output is not compared here: what they begin with, and why.
const ELSEWHERE: [(&str, &str); 2] = [
    ("cargo sim serve ", "it goes on, and its ports differ: compared below"),
    ("cargo run -p zk-client --example", "on a real server: `tests/real/examples.rs`"),
];

/// The arguments of a quoted command of `cargo sim`.
fn arguments(command: &str) -> impl Iterator<Item = &str> {
    let words = command.split_once(" #").map_or(command, |(words, _)| words);
    words
        .strip_prefix("cargo sim ")
        .expect("it is a command of `cargo sim`, or stands in `ELSEWHERE`")
        .split_whitespace()
}

/// What a quoted command prints, in an empty folder.
fn printed(command: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(env!("CARGO_BIN_EXE_zksim"))
        .args(arguments(command))
        .current_dir(folder.path())
        .output()
        .expect("the program runs");
    match output.status.code() {
        Some(0..=2) => Ok(String::from_utf8(output.stdout).expect("it prints text")),
        _ => Err(said(&output)),
    }
}

/// Compares a quote; where it differs, returns the lines as they are to be.
fn differs(quote: &Quote) -> Option<Vec<String>> {
    let printed = printed(&quote.command).unwrap_or_else(|why| panic!("{}: {why}", quote.command));
    let lines: Vec<&str> = printed.lines().collect();
    let now = rewritten(&quote.lines, &lines);
    (now != quote.lines).then_some(now)
}

#[test]
fn every_quoted_output_is_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for page in pages(&root) {
        let mut text = std::fs::read_to_string(&page).expect("the page can be read");
        for quote in of_page(&text).into_iter().rev() {
            if ELSEWHERE.iter().any(|(begin, _)| quote.command.starts_with(begin)) {
                continue;
            }
            compared += 1;
            if let Some(now) = differs(&quote) {
                wrong.push(format!(
                    "{}:{}: {}\n{}",
                    page.display(),
                    quote.first + 1,
                    quote.command,
                    now.join("\n")
                ));
                text = quote.replaced(&text, &now);
            }
        }
        if std::env::var_os("ZKSIM_WRITE_QUOTES").is_some() {
            std::fs::write(&page, text).expect("the page can be written");
        }
    }
    assert!(compared >= 2, "README quotes a story and a failing seed");
    assert!(wrong.is_empty(), "ZKSIM_WRITE_QUOTES=1 writes these quotes anew:\n\n{}", wrong.join("\n\n"));
}

/// A quoted line of a served ensemble without its ports.
fn portless(line: &str) -> String {
    let parts = line.split(',').map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit()));
    parts.collect::<Vec<_>>().join(",")
}

#[test]
fn what_a_served_ensemble_says_first_is_quoted_but_for_its_ports() {
    let readme =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).expect("it is there");
    let quote = of_page(&readme).into_iter().find(|quote| quote.command.starts_with("cargo sim serve "));
    let quote = quote.expect("README serves an ensemble");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_zksim"));
    let mut served = Running::start(command.args(arguments(&quote.command)).current_dir(folder.path()));
    let said = served.first_lines(quote.lines.len());
    assert_eq!(
        said.iter().map(|line| portless(line)).collect::<Vec<_>>(),
        quote.lines.iter().map(|line| portless(line)).collect::<Vec<_>>()
    );
}

/// The sentences of a page that cite an event, without names, numbers and times.
fn sentences(page: &str) -> Vec<(String, String)> {
    let nobody = zk_checker::text::parse("run sim\n").expect("an empty history");
    let cites = |line: &&str| {
        let words = line.split(' ').zip(line.split(' ').skip(1));
        let is_event =
            |word: &str| word.strip_prefix('e').is_some_and(|number| number.parse::<u32>().is_ok());
        words.into_iter().any(|(word, next)| is_event(word) && next.starts_with('('))
    };
    let shape = |line: &str| zk_checker::shape::shape(nobody.tables(), line.trim());
    page.lines().filter(cites).map(|line| (line.to_owned(), shape(line))).collect()
}

/// In real time no two runs have the same events, so what fixtures print is quoted as it was once. The sentences are those of today:
/// those of the quotes of runs that are repeatable.
#[test]
fn sentences_that_fixtures_print_are_those_of_the_judge() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |page: &Path| std::fs::read_to_string(page).expect("the page can be read");
    let of_today =
        ["README.md", "scenarios/docs/your-own-code.md"].map(|page| sentences(&read(&root.join(page))));
    let of_today: Vec<String> = of_today.into_iter().flatten().map(|(_, shape)| shape).collect();
    let is_other = |page: &PathBuf| {
        page.extension().is_some_and(|ending| ending == "md") && !page.ends_with("FINDINGS.md")
    };
    for page in pages(&root).into_iter().filter(is_other) {
        for (line, shape) in sentences(&read(&page)) {
            assert!(
                of_today.contains(&shape),
                "{}: no quote of today has a sentence as {line:?}",
                page.display()
            );
        }
    }
}
