//! The table of differences.

use crate::text_table::text_table;
use zk_fidelity::conformance::compare::Difference;

/// The maximal width of a column. The line about the case has the full text.
const WIDEST: usize = 36;

/// One row for each differing case, with its id; empty if none differs.
pub(super) fn table(differing: &[(String, Difference)]) -> String {
    if differing.is_empty() {
        return String::new();
    }
    let head = ["case", "step", "field", "should be", "is"].map(str::to_owned);
    let rows = differing.iter().map(|(id, difference)| {
        let Difference { step, op, field, expected, observed } = difference;
        let said = |value: &serde_json::Value| {
            if value.is_null() { "nothing".to_owned() } else { visible(&value.to_string()) }
        };
        [id.clone(), format!("{step} {}", visible(op)), field.clone(), said(expected), said(observed)]
            .map(cut)
    });
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(rows).collect();
    format!("\n{}", text_table(&rows))
}

fn cut(text: String) -> String {
    if text.chars().count() <= WIDEST {
        return text;
    }
    text.chars().take(WIDEST - 1).chain(['…']).collect()
}

/// Escapes control characters: paths of cases may contain any characters.
pub(super) fn visible(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_are_as_wide_as_what_stands_in_them() {
        let difference = |op: &str, field: &str, expected, observed| {
            let (op, field) = (op.to_owned(), field.to_owned());
            Difference { step: 3, op, field, expected, observed }
        };
        let long = json!("0123456789012345678901234567890123456789");
        let rows = [
            ("short".to_owned(), difference("a close", "err", json!("OK"), json!(null))),
            ("longer-name".to_owned(), difference("a sync /\u{1}", "path", long, json!("/"))),
        ];
        let wanted = "
case         step             field  should be                             is
short        3 a close        err    \"OK\"                                  nothing
longer-name  3 a sync /\\u{1}  path   \"0123456789012345678901234567890123…  \"/\"
";
        assert_eq!(table(&rows), wanted);
        assert_eq!(table(&[]), "");
    }
}
