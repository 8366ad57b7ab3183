//! The sentences under the headings of a doc comment.

/// The headings whose sentences are promises.
const HEADINGS: [&str; 9] = [
    "Promises",
    "Errors",
    "Cancellation",
    "Cost",
    "With a limit",
    "When the connection is lost",
    "When the session is over",
    "When a server refuses a request",
    "Other watches on the same path",
];

/// Every sentence below a heading that promises something, with its heading. Under "Errors" each error counts as one.
pub(crate) fn of(doc: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (mut heading, mut paragraph) = (None, String::new());
    for line in doc.lines().map(str::trim).chain([""]) {
        if let Some(next) = line.strip_prefix("# ") {
            close(&mut found, heading.as_deref(), &mut paragraph);
            heading = next.split(", ").any(|part| HEADINGS.contains(&part)).then(|| next.to_owned());
        } else {
            let bullet = line.strip_prefix("* ");
            if line.is_empty() || bullet.is_some() {
                close(&mut found, heading.as_deref(), &mut paragraph);
            }
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(bullet.unwrap_or(line));
        }
    }
    found
}

fn close(found: &mut Vec<(String, String)>, heading: Option<&str>, paragraph: &mut String) {
    let text = std::mem::take(paragraph);
    let Some(heading) = heading else { return };
    let at_semicolons = heading.contains("Errors");
    found.extend(split(&text, at_semicolons).into_iter().map(|says| (heading.to_owned(), says)));
}

/// Splits a paragraph where a sentence ends: a point, a space, and what begins a sentence.
fn split(text: &str, at_semicolons: bool) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices(' ') {
        let (before, after) = (&text[..at], &text[at + 1..]);
        let begins = after.starts_with(|next: char| next.is_uppercase() || "[`*\"".contains(next));
        let ends = before.ends_with('.') || before.ends_with(".)");
        if (ends && begins) || (at_semicolons && before.ends_with(';')) {
            sentences.push(text[from..at].to_owned());
            from = at + 1;
        }
    }
    if from < text.len() {
        sentences.push(text[from..].to_owned());
    }
    sentences
}

#[test]
fn sentences_are_split_and_other_headings_are_passed_over() {
    let doc = " Waits.\n # Promises\n\n * One, as\n   [`a.b`] says. Two (of 3.5).\n * Three.\n\n # Examples\n x\n # Errors\n\n A; b. C.";
    let said = |heading: &str, says: &str| (heading.to_owned(), says.to_owned());
    assert_eq!(
        of(doc),
        [
            said("Promises", "One, as [`a.b`] says."),
            said("Promises", "Two (of 3.5)."),
            said("Promises", "Three."),
            said("Errors", "A;"),
            said("Errors", "b."),
            said("Errors", "C."),
        ]
    );
}
