//! The results as tables in Markdown, which are also what a terminal gets.

use crate::figures::{Cost, Entry, best_rival, ratio};
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

fn rates(out: &mut String, row: &Row, own: &[&Entry], entries: &[Entry]) {
    let best = best_rival(entries, row.name);
    out.push_str(
        "| | a second | of the best peer | requests | notifications | requests by kind | round trips | |\n",
    );
    out.push_str("|---|---|---|---|---|---|---|---|\n");
    for entry in own {
        let rate = entry.rate().map_or_else(String::new, |rate| {
            format!("{} ({} to {})", short(rate.median), short(rate.least), short(rate.most))
        });
        let of_best = best.and_then(|best| ratio(entry, best)).map_or_else(String::new, short);
        let [requests, notifications, kinds] = entry.cost.as_ref().map(cost).unwrap_or_default();
        let round_trips = match entry.round_trips.len() {
            1 => entry.round_trips.values().map(|trips| format!("{trips:.1}")).collect(),
            _ => steps(entry.round_trips.iter().map(|(step, trips)| format!("{step} {trips:.1}"))),
        };
        let name = format!("{}: {}", entry.library.name(), entry.recipe);
        let remark = remark(entry);
        let _ = writeln!(
            out,
            "| {name} | {rate} | {of_best} | {requests} | {notifications} | {kinds} | {round_trips} | {remark} |"
        );
    }
}

fn idle(out: &mut String, own: &[&Entry]) {
    out.push_str(
        "| | memory before | while waiting | a waiter | threads before | while waiting | requests to join | to take over and release | |\n",
    );
    out.push_str("|---|---|---|---|---|---|---|---|---|\n");
    for entry in own {
        let name = format!("{}: {}", entry.library.name(), entry.recipe);
        let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
        let memory = entry.memory.map_or_else(
            || " | | | | ".to_owned(),
            |memory| {
                let grown = memory.waiting_bytes.saturating_sub(memory.before_bytes);
                let each = grown as f64 / 1e3 / entry.waiters.max(1) as f64;
                format!(
                    "{} | {} | {each:.1} kB | {} | {}",
                    megabytes(memory.before_bytes),
                    megabytes(memory.waiting_bytes),
                    memory.before_threads,
                    memory.waiting_threads
                )
            },
        );
        let costs = |cost: &Option<Cost>| {
            cost.as_ref().map_or_else(String::new, |cost| {
                format!("{}, {} notified", short(cost.requests), short(cost.notifications))
            })
        };
        let (join, take_over, remark) = (costs(&entry.cost), costs(&entry.hand_over), remark(entry));
        let _ = writeln!(out, "| {name} | {memory} | {join} | {take_over} | {remark} |");
    }
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

/// Requests, notifications, requests by kind.
fn cost(cost: &Cost) -> [String; 3] {
    let (least, most) = cost.requests_range;
    let requests = match most - least < 0.05 * cost.requests {
        true => short(cost.requests),
        false => format!("{} ({} to {})", short(cost.requests), short(least), short(most)),
    };
    let mut kinds: Vec<(&&str, &f64)> = cost.kinds.iter().collect();
    kinds.sort_by(|a, b| b.1.total_cmp(a.1).then(a.0.cmp(b.0)));
    let kinds = steps(
        kinds
            .into_iter()
            .filter(|(_, each)| **each >= 0.005)
            .map(|(kind, each)| format!("{kind} {}", short(*each))),
    );
    [requests, short(cost.notifications), kinds]
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

    #[test]
    fn figures_have_three_digits() {
        let figures = [0.0, 0.3123, 1.0, 2.004, 3.5, 12.34, 99.99, 1234.5, 65_432.1];
        let wanted = ["0", "0.31", "1", "2", "3.50", "12.3", "100", "1,234", "65,432"];
        assert_eq!(figures.map(short), wanted);
    }
}
