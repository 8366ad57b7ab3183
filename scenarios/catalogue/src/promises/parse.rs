//! Reads a list.

use super::docs::{Key, are_cases};
use super::entry::{Entry, Judgement, Promise};

/// Judges that stand together in many rows, by the name that stands for them.
const TOGETHER: [(&str, &[&str]); 3] = [
    ("budget", &["cost_table::every_case_keeps_to_its_budget", "cost_table::the_table_is_true"]),
    ("herd", &["cost_table::no_more_are_told_than_the_budget_says", "cost_table::the_table_is_true"]),
    ("refusals", &["refusals::every_refusal_of_every_request_is_survived_and_the_table_is_true"]),
];

/// Reads the list of a recipe. Its sentences are keys alone.
///
/// # Errors
///
/// A sentence that names the line and the mistake.
pub fn parse(recipe: &'static str, text: &str) -> Result<Vec<Entry>, String> {
    let mut entries: Vec<Entry> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let is_comment = entries.is_empty() && line.starts_with("# ");
        let at = |problem: &str| format!("line {}: {problem}", number + 1);
        if let Some(head) = line.strip_prefix("## ") {
            entries.push(entry(recipe, head).map_err(|problem| at(&problem))?);
        } else if !line.is_empty() && !is_comment {
            let entry = entries.last_mut().ok_or_else(|| at("a section begins with `## ` and an item"))?;
            let rows = promises(entry, line).map_err(|problem| at(&problem))?;
            entry.promises.extend(rows);
        }
    }
    Ok(entries)
}

/// `ITEM, ITEM | WORKLOADS | JUDGES | MUTANTS`; of items that are no methods the first cell alone.
fn entry(recipe: &'static str, head: &str) -> Result<Entry, String> {
    let (subjects, rest) = cells(head);
    let mut entry = Entry { recipe, subjects: names(subjects), ..Entry::default() };
    if let Some(rest) = rest {
        let (workloads, judged) = cells(rest);
        entry.called_by = if workloads == "nobody" { Vec::new() } else { names(workloads) };
        entry.judgement = Some(judgement(judged.ok_or("judges follow the workloads that call a method")?)?);
    }
    Ok(entry)
}

/// `HEADING: WORDS HASH | JUDGES | MUTANTS`. Several cases of the page of costs may share a row.
fn promises(entry: &Entry, row: &str) -> Result<Vec<Promise>, String> {
    let (key, judged) = cells(row);
    let are_cases = entry.subjects.iter().any(|subject| are_cases(subject));
    let key = Key::read(key, !are_cases).ok_or("a row begins with a heading, words and a hash")?;
    let judgement = judgement(judged.ok_or("no judge follows the sentence")?)?;
    let of = |words: &str| Promise {
        key: Key { words: words.to_owned(), ..key.clone() },
        says: String::new(),
        judgement: judgement.clone(),
    };
    Ok(if are_cases { key.words.split("; ").map(of).collect() } else { vec![of(&key.words)] })
}

fn judgement(text: &str) -> Result<Judgement, String> {
    let (judges, mutants) = cells(text);
    if mutants.is_none() {
        if let Some(reference) = judges.strip_prefix("as ") {
            return Ok(Judgement::As(reference.to_owned()));
        } else if let Some(reason) = judges.strip_prefix("not judged: ") {
            return Ok(Judgement::Nobody(reason.to_owned()));
        } else if judges == "no promise" {
            return Ok(Judgement::NoPromise);
        }
    }
    let judges = names(judges);
    match judges.iter().find(|judge| judge.contains(' ')) {
        Some(phrase) => Err(format!("`{phrase}` is no judge")),
        None => Ok(Judgement::By {
            judges: judges.iter().flat_map(|judge| together(judge)).collect(),
            mutants: mutants.map(names).unwrap_or_default(),
        }),
    }
}

fn together(judge: &str) -> Vec<String> {
    let known = TOGETHER.iter().find(|(name, _)| *name == judge);
    known.map_or_else(|| vec![judge.to_owned()], |(_, judges)| judges.iter().map(|&one| one.into()).collect())
}

fn cells(text: &str) -> (&str, Option<&str>) {
    text.split_once(" | ").map_or((text, None), |(first, rest)| (first, Some(rest)))
}

fn names(text: &str) -> Vec<String> {
    text.split(", ").map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(judges: &[&str], mutants: &[&str]) -> Judgement {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Judgement::By { judges: names(judges), mutants: names(mutants) }
    }

    #[test]
    fn a_section_is_an_item_and_a_row_for_each_sentence() {
        let text = "# c\n\n## A::b, C::d | lock | MX-4 | m\nE: one two ab12 | MX-5, t::x\nE: three cd34 | no promise\n## COST.md: a\ncost: p; q, r | herd\n";
        let [method, costs] = &parse("lock", text).expect("a list")[..] else { panic!("two entries") };
        assert_eq!(method.subjects, ["A::b", "C::d"]);
        assert_eq!(
            (&method.called_by[..], &method.judgement),
            (&["lock".to_owned()][..], &Some(by(&["MX-4"], &["m"])))
        );
        let rows = |entry: &Entry| -> Vec<(String, Judgement)> {
            entry.promises.iter().map(|row| (row.key.to_string(), row.judgement.clone())).collect()
        };
        assert_eq!(
            rows(method),
            [
                ("E: one two ab12".into(), by(&["MX-5", "t::x"], &[])),
                ("E: three cd34".into(), Judgement::NoPromise)
            ]
        );
        let herd = by(TOGETHER[1].1, &[]);
        assert_eq!(rows(costs), [("cost: p".into(), herd.clone()), ("cost: q, r".into(), herd)]);
    }

    #[test]
    fn a_list_that_cannot_be_read_is_refused_with_its_line() {
        let problem = |text| parse("lock", text).expect_err("it is wrong");
        assert_eq!(problem("E: one ab12 | MX-1\n"), "line 1: a section begins with `## ` and an item");
        assert_eq!(problem("## A::b | lock\n"), "line 1: judges follow the workloads that call a method");
        assert_eq!(problem("## A\nfoo\n"), "line 2: a row begins with a heading, words and a hash");
        assert_eq!(problem("## A\nE: one ab12\n"), "line 2: no judge follows the sentence");
        assert_eq!(problem("## A\nE: one ab12 | not promise\n"), "line 2: `not promise` is no judge");
    }
}
