//! The results as tables in Markdown, which are also what a terminal gets.

use crate::figures::{Cost, Entry, Memory, best_rival, ratio};
use crate::rows::Row;
use std::fmt::Write;

/// The tables of those rows.
pub fn tables(rows: &[&Row], entries: &[Entry]) -> String {
    let mut out = String::new();
    for row in rows {
        let own: Vec<&Entry> = entries.iter().filter(|entry| entry.row == row.name).collect();
        if own.is_empty() {
            continue;
        }
        // A write to a string does not fail.
        let _ = writeln!(out, "### {}\n\n`{}`: {}.\n", row.title, row.name, row.operation);
        if row.is_idle() {
            idle(&mut out, &own);
        } else {
            rates(&mut out, row, &own, entries);
        }
        failures(&mut out, &own);
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A column: its heading, and a cell for each recipe.
type Column = (&'static str, Vec<String>);

/// Writes the columns that have a figure or a remark: what was not measured has none.
fn columns(out: &mut String, own: &[&Entry], columns: &[Column]) {
    let shown: Vec<&Column> =
        columns.iter().filter(|(_, cells)| cells.iter().any(|cell| !cell.is_empty())).collect();
    let mut line = |first: &str, cells: &mut dyn Iterator<Item = &str>| {
        let _ = write!(out, "| {first} |");
        for cell in cells {
            let _ = write!(out, " {cell} |");
        }
        out.push('\n');
    };
    line("", &mut shown.iter().map(|(heading, _)| *heading));
    line("---", &mut shown.iter().map(|_| "---"));
    for (at, entry) in own.iter().enumerate() {
        let name = format!("{}: {}", entry.library.name(), entry.recipe);
        line(&name, &mut shown.iter().map(|(_, cells)| cells[at].as_str()));
    }
}

fn rates(out: &mut String, row: &Row, own: &[&Entry], entries: &[Entry]) {
    let best = best_rival(entries, row.name);
    let column = |heading, cell: &dyn Fn(&Entry) -> String| -> Column {
        (heading, own.iter().map(|entry| cell(entry)).collect())
    };
    let of_cost = |heading, cell: &dyn Fn(&Cost) -> String| {
        column(heading, &|entry| entry.cost.as_ref().map(cell).unwrap_or_default())
    };
    columns(
        out,
        own,
        &[
            column("a second", &rate),
            column("of the best peer", &|entry| {
                best.and_then(|best| ratio(entry, best)).map_or_else(String::new, short)
            }),
            of_cost("requests", &requests),
            of_cost("notifications", &|cost| short(cost.notifications)),
            of_cost("requests by kind", &kinds),
            of_cost("bytes received", &|cost| bytes(cost.bytes_down)),
            column("round trips", &round_trips),
            column("remarks", &remark),
        ],
    );
}

fn idle(out: &mut String, own: &[&Entry]) {
    let column = |heading, cell: &dyn Fn(&Entry) -> String| -> Column {
        (heading, own.iter().map(|entry| cell(entry)).collect())
    };
    let of_memory = |heading, cell: &dyn Fn(&Entry, Memory) -> String| {
        column(heading, &|entry| entry.memory.map(|memory| cell(entry, memory)).unwrap_or_default())
    };
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let costs = |cost: &Option<Cost>| {
        cost.as_ref().map_or_else(String::new, |cost| {
            let received = bytes(cost.bytes_down);
            format!("{}, {} notified, {received}", short(cost.requests), short(cost.notifications))
        })
    };
    columns(
        out,
        own,
        &[
            of_memory("memory before", &|_, memory| megabytes(memory.before_bytes)),
            of_memory("while waiting", &|_, memory| megabytes(memory.waiting_bytes)),
            of_memory("a waiter", &|entry, memory| {
                let grown = memory.waiting_bytes.saturating_sub(memory.before_bytes);
                format!("{:.1} kB", grown as f64 / 1e3 / entry.waiters.max(1) as f64)
            }),
            of_memory("threads before", &|_, memory| memory.before_threads.to_string()),
            of_memory("while waiting", &|_, memory| memory.waiting_threads.to_string()),
            column("requests to join", &|entry| costs(&entry.cost)),
            column("to leave", &|entry| costs(&entry.hand_over)),
            column("remarks", &remark),
        ],
    );
}

fn failures(out: &mut String, own: &[&Entry]) {
    let lines = own.iter().flat_map(|entry| {
        entry.failures.iter().map(|failure| format!("{}: {}: {failure}", entry.library.name(), entry.recipe))
    });
    for (at, line) in lines.enumerate() {
        let gap = if at == 0 { "\n" } else { "" };
        let _ = writeln!(out, "{gap}* not measured: {line}");
    }
}

fn rate(entry: &Entry) -> String {
    entry.rate().map_or_else(String::new, |rate| {
        format!("{} ({} to {})", short(rate.median), short(rate.least), short(rate.most))
    })
}

fn round_trips(entry: &Entry) -> String {
    match entry.round_trips.len() {
        1 => entry.round_trips.values().map(|trips| format!("{trips:.1}")).collect(),
        _ => steps(entry.round_trips.iter().map(|(step, trips)| format!("{step} {trips:.1}"))),
    }
}

/// The requests, and the range of the alternations if they differ.
fn requests(cost: &Cost) -> String {
    let (least, most) = cost.requests_range;
    match most - least < 0.05 * cost.requests {
        true => short(cost.requests),
        false => format!("{} ({} to {})", short(cost.requests), short(least), short(most)),
    }
}

fn kinds(cost: &Cost) -> String {
    let mut kinds: Vec<(&&str, &f64)> = cost.kinds.iter().collect();
    kinds.sort_by(|a, b| b.1.total_cmp(a.1).then(a.0.cmp(b.0)));
    let kinds = kinds.into_iter().filter(|(_, each)| **each >= 0.005);
    steps(kinds.map(|(kind, each)| format!("{kind} {}", short(*each))))
}

fn remark(entry: &Entry) -> String {
    match entry.violations {
        0 => entry.remark.to_owned(),
        some if entry.remark.is_empty() => format!("**{some} broken promises**"),
        some => format!("**{some} broken promises**; {}", entry.remark),
    }
}

fn steps(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

/// A number of bytes.
fn bytes(count: f64) -> String {
    match count {
        0.0 => String::new(),
        count if count < 1e3 => format!("{count:.0} B"),
        count if count < 1e6 => format!("{:.1} kB", count / 1e3),
        count => format!("{:.1} MB", count / 1e6),
    }
}

/// Three digits that mean something.
fn short(figure: f64) -> String {
    match figure {
        figure if figure >= 99.95 => {
            let whole = format!("{figure:.0}");
            match whole.len() {
                4.. => format!("{},{}", &whole[..whole.len() - 3], &whole[whole.len() - 3..]),
                _ => whole,
            }
        }
        figure if figure >= 9.995 => format!("{figure:.1}"),
        figure if (figure - figure.round()).abs() < 0.005 => format!("{figure:.0}"),
        figure => format!("{figure:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Library;
    use crate::rows::ROWS;
    use std::collections::BTreeMap;

    #[test]
    fn figures_have_three_digits() {
        let figures = [0.0, 0.3123, 1.0, 2.004, 3.5, 12.34, 99.99, 1234.5, 65_432.1];
        let wanted = ["0", "0.31", "1", "2", "3.50", "12.3", "100", "1,234", "65,432"];
        assert_eq!(figures.map(short), wanted);
    }

    #[test]
    fn bytes_have_a_unit() {
        assert_eq!(
            [0.0, 12.3, 1234.0, 490_000.0, 2.4e6].map(bytes),
            ["", "12 B", "1.2 kB", "490.0 kB", "2.4 MB"]
        );
    }

    #[test]
    fn only_what_was_measured_has_a_column() {
        let row = ROWS.iter().find(|row| row.name == "lock-free").unwrap();
        let mut entry = Entry::new(row.name, Library::Curator, "InterProcessMutex", "");
        let headings = |entry: &Entry| {
            let text = tables(&[row], std::slice::from_ref(entry));
            text.lines().find(|line| line.starts_with("| ")).map(str::to_owned)
        };
        assert_eq!(headings(&entry).as_deref(), Some("|  |"));
        entry.rates = vec![100.0];
        assert_eq!(headings(&entry).as_deref(), Some("|  | a second | of the best peer |"));
        entry.cost = Some(Cost { kinds: BTreeMap::from([("create", 1.0)]), ..Cost::default() });
        entry.rates.clear();
        entry.violations = 2;
        let counted = "|  | requests | notifications | requests by kind | remarks |";
        assert_eq!(headings(&entry).as_deref(), Some(counted));
    }
}
