//! The table counts a recipe's files as one, and shows how its mutants were killed.

use crate::common::{mutant, source};
use zk_mutation::judge::Outcome;
use zk_mutation::mutant::Genre;
use zk_mutation::table::{BEGIN, END, Judged, inserted, markdown};

fn judged(file: &str, outcome: Outcome) -> Judged {
    let source = source("fn f() { 1 + 2 }");
    let mut mutant = mutant(&source, Genre::BinaryOperator, "+", "-");
    mutant.file = file.to_owned();
    Judged { mutant, outcome }
}

#[test]
fn files_of_a_recipe_are_one_row() {
    let rule = |name: &str| Outcome::Sweep { workload: "queue".to_owned(), rule: name.to_owned() };
    let all = [
        judged("recipes/src/queue.rs", rule("QU-1")),
        judged("recipes/src/queue/gather.rs", Outcome::Test { name: "a".to_owned(), failed: 1 }),
        judged("recipes/src/parts/claim.rs", Outcome::Survived),
        judged("recipes/src/parts/tenure/state.rs", Outcome::NotReached),
    ];
    let text = markdown(&all, "recipes");
    let rows: Vec<&str> = text.lines().skip(2).take(4).collect();
    assert_eq!(
        rows,
        [
            "| `parts/claim` | 1 | 0 | 0 | 0 | 0 | 1 | 0 % |",
            "| `parts/tenure` | 1 | 0 | 0 | 0 | 0 | 1 | 0 % |",
            "| `queue` | 2 | 1 | 1 | 0 | 0 | 0 | 100 % |",
            "| all | 4 | 1 | 1 | 0 | 0 | 2 | 50 % |",
        ]
    );
}

#[test]
fn results_are_read_as_they_were_written() {
    let one = judged("recipes/src/lock.rs", Outcome::TimeLimit { judge: "sweep lock".to_owned() });
    let text = serde_json::to_string(&one).expect("it is data");
    let read: Judged = serde_json::from_str(&text).expect("it was written as such");
    assert_eq!((read.mutant, read.outcome), (one.mutant, one.outcome));
}

#[test]
fn the_tables_stand_between_two_marks() {
    let readme = |text: &str| format!("# A\n\n{BEGIN}{text}{END}\n\n## B\n");
    assert_eq!(inserted(&readme(""), "| 1 |"), Some(readme("\n| 1 |\n")));
    assert_eq!(inserted(&readme("\n| 1 |\n"), "| 2 |"), Some(readme("\n| 2 |\n")));
    assert_eq!(inserted("# A\n", "| 1 |"), None);
}
