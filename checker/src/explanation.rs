//! The text of a finding.

/// The explanation of a finding: the breach, its causes, and why it is or is not excused.
#[derive(Clone, Default)]
pub(crate) struct Explanation {
    lines: Vec<(&'static str, String)>,
}

/// Begins the explanation of a finding with the breach.
pub(crate) fn explain(what: impl Into<String>) -> Explanation {
    Explanation { lines: vec![("", what.into())] }
}

impl Explanation {
    pub(crate) fn because(mut self, why: impl Into<String>) -> Explanation {
        let first = self.lines.iter().all(|(head, _)| head.is_empty());
        self.lines.push((if first { "because  " } else { "and      " }, why.into()));
        self
    }

    pub(crate) fn not_excused(mut self, why: impl Into<String>) -> Explanation {
        self.lines.push(("not excused: ", why.into()));
        self
    }

    pub(crate) fn excused(mut self, why: impl Into<String>) -> Explanation {
        self.lines.push(("excused: ", why.into()));
        self
    }

    /// The text in lines of less than 98 columns, so that it may be indented.
    pub(crate) fn text(&self) -> String {
        self.lines.iter().map(|(head, line)| in_lines(head, line)).collect()
    }
}

/// A text behind its head, in lines of less than 98 columns; further lines are indented by nine.
pub(crate) fn in_lines(head: &str, text: &str) -> String {
    let mut out = head.to_owned();
    let mut column = head.chars().count();
    for (at, word) in text.split(' ').enumerate() {
        let width = word.chars().count() + 1;
        if at > 0 && column + width > 96 {
            out.push_str("\n         ");
            column = 9;
        } else if at > 0 {
            out.push(' ');
        }
        out.push_str(word);
        column += width;
    }
    out.push('\n');
    out
}
