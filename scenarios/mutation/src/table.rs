//! The result by file, and by genre, as tables for a README.

use crate::judge::Outcome;
use crate::mutant::{Genre, Mutant};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A mutant, and what became of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Judged {
    /// The mutant.
    #[serde(flatten)]
    pub mutant: Mutant,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Default)]
struct Row {
    sampled: usize,
    sweep: usize,
    tests: usize,
    stories: usize,
    time_limit: usize,
    survived: usize,
}

impl Row {
    fn count(&mut self, outcome: &Outcome) {
        self.sampled += 1;
        *match outcome {
            Outcome::Sweep { .. } => &mut self.sweep,
            Outcome::Test { .. } => &mut self.tests,
            Outcome::Story { .. } => &mut self.stories,
            Outcome::TimeLimit { .. } => &mut self.time_limit,
            Outcome::Survived | Outcome::NotReached => &mut self.survived,
        } += 1;
    }

    fn cells(&self) -> String {
        let Row { sampled, sweep, tests, stories, time_limit, survived } = self;
        let killed = 100.0 * (sampled - survived) as f64 / *sampled as f64;
        format!("{sampled} | {sweep} | {tests} | {stories} | {time_limit} | {survived} | {killed:.0} % |")
    }
}

/// The tables in Markdown: by recipe or part, and by genre.
pub fn markdown(judged: &[Judged], folder: &str) -> String {
    let (mut files, mut genres) = (BTreeMap::<&str, Row>::new(), BTreeMap::<Genre, Row>::new());
    let mut all = Row::default();
    for one in judged {
        files.entry(group(&one.mutant.file, folder)).or_default().count(&one.outcome);
        genres.entry(one.mutant.genre).or_default().count(&one.outcome);
        all.count(&one.outcome);
    }
    let mut text = String::new();
    let head = "sampled | sweep | tests | stories | time limit | survived | killed |";
    let _ = writeln!(text, "| file or folder | {head}\n|---|---|---|---|---|---|---|---|");
    for (name, row) in files {
        let _ = writeln!(text, "| `{name}` | {}", row.cells());
    }
    let _ = writeln!(text, "| all | {}\n", all.cells());
    let _ = writeln!(text, "| edit | {head}\n|---|---|---|---|---|---|---|---|");
    for (genre, row) in genres {
        let _ = writeln!(text, "| {} | {}", genre.words(), row.cells());
    }
    text
}

/// A recipe is a file, or a file and a folder of the same name; a part is a file.
fn group<'a>(file: &'a str, folder: &str) -> &'a str {
    let path = file.strip_prefix(folder).and_then(|rest| rest.strip_prefix("/src/")).unwrap_or(file);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let depth = if path.starts_with("parts/") || path.starts_with("rules/") { 2 } else { 1 };
    path.match_indices('/').nth(depth - 1).map_or(path, |(at, _)| &path[..at])
}

/// Before the tables in a README.
pub const BEGIN: &str = "<!-- mutation testing: written by `cargo run --manifest-path scenarios/mutation/Cargo.toml -- --write-readme` -->\n";

/// After them.
pub const END: &str = "<!-- end of the mutation testing -->";

/// A README with this text between its two marks; `None` if it lacks them.
pub fn inserted(readme: &str, text: &str) -> Option<String> {
    let (before, rest) = readme.split_once(BEGIN)?;
    let (_, behind) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{text}\n{END}{behind}"))
}
