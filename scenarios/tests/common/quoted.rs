//! Quotes of output in pages: where they stand, and what they would be today.

use std::path::{Path, PathBuf};

/// A line that stands for any lines.
pub const ELLIPSIS: [&str; 2] = ["...", "…"];

/// The marks of comments in which a block may stand.
const MARGINS: [&str; 3] = ["//! ", "/// ", "    /// "];

/// The quoted output of one command.
pub struct Quote {
    pub command: String,
    /// The number of its first line in the page, from zero.
    pub first: usize,
    pub lines: Vec<String>,
    /// What stands before each line: the mark of a comment.
    margin: &'static str,
}

impl Quote {
    /// The page with other lines in the place of this quote.
    pub fn replaced(&self, page: &str, lines: &[String]) -> String {
        let mut all: Vec<&str> = page.lines().collect();
        let lines: Vec<String> = lines.iter().map(|line| format!("{}{line}", self.margin)).collect();
        all.splice(self.first..self.first + self.lines.len(), lines.iter().map(String::as_str));
        all.join("\n") + "\n"
    }
}

/// The pages of a repository: every file of Markdown and of Rust outside of what is built.
pub fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !name.starts_with('.') && name != "target"
    };
    let ours = entries.into_iter().filter(is_ours);
    ours.flat_map(|path| match path.is_dir() {
        true => pages(&path),
        false => vec![path],
    })
    .filter(|path| path.extension().is_some_and(|ending| ending == "md" || ending == "rs"))
    .collect()
}

/// The quotes of a page: what stands behind `$ COMMAND` in a block, up to the next command or the end of the block. A block may
/// stand in a comment.
pub fn of_page(page: &str) -> Vec<Quote> {
    let mut quotes: Vec<Quote> = Vec::new();
    let (mut is_console, mut open) = (false, false);
    for (number, line) in page.lines().enumerate() {
        let margin = MARGINS.into_iter().find(|margin| line.starts_with(margin)).unwrap_or_default();
        let line = &line[margin.len()..];
        if let Some(kind) = line.strip_prefix("```") {
            (is_console, open) = (kind.trim() == "console", false);
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            open = true;
            quotes.push(Quote { command: command.to_owned(), first: number + 1, lines: Vec::new(), margin });
        } else if open && let Some(quote) = quotes.last_mut() {
            quote.lines.push(line.to_owned());
        }
    }
    quotes.retain(|quote| !quote.lines.iter().all(|line| line.trim().is_empty()));
    quotes
}

/// A quote as it would be made of these lines: what it shows of them, what it leaves out, it shows and leaves out again.
pub fn rewritten(quoted: &[String], printed: &[&str]) -> Vec<String> {
    let (mut now, mut at, mut is_free) = (Vec::new(), 0, false);
    for (number, line) in quoted.iter().enumerate() {
        if ELLIPSIS.contains(&line.trim()) {
            is_free = true;
            now.push(line.clone());
            continue;
        }
        if is_free {
            at = at + nearest(&quoted[number..], &printed[at..]);
            is_free = false;
        }
        match printed.get(at) {
            Some(printed) => now.push(shortened(line, printed)),
            // Nothing is printed there any more.
            None => now.push("(nothing)".to_owned()),
        }
        at += 1;
    }
    now
}

/// Where in the printed lines the part of a quote begins that goes up to the next ellipsis: where most of its lines are the same, and
/// then most are of the same shape.
fn nearest(quoted: &[String], printed: &[&str]) -> usize {
    let part: Vec<&String> = quoted.iter().take_while(|line| !ELLIPSIS.contains(&line.trim())).collect();
    let likeness = |at: usize| -> usize {
        let pairs = part.iter().zip(&printed[at..]);
        pairs
            .map(|(line, printed)| match () {
                () if shortened(line, printed) == **line => 3,
                () if shape(line) == shape(&shortened(line, printed)) => 2,
                () => usize::from(line.split_whitespace().next() == printed.split_whitespace().next()),
            })
            .sum()
    };
    let places = 0..printed.len();
    places.max_by_key(|at| (likeness(*at), std::cmp::Reverse(*at))).unwrap_or_default()
}

/// A printed line, cut as the quoted one is.
fn shortened(quoted: &str, printed: &str) -> String {
    let Some(kept) = ELLIPSIS.iter().find_map(|end| quoted.strip_suffix(end)) else {
        return printed.to_owned();
    };
    // A guid in a name is cut with the same sign; such a line is shown in full.
    if quoted == printed || printed.chars().count() <= kept.chars().count() {
        return printed.to_owned();
    }
    let end = &quoted[kept.len()..];
    printed.chars().take(kept.chars().count()).collect::<String>() + end
}

/// A line without its numbers.
fn shape(line: &str) -> String {
    let words =
        line.split(' ').map(|word| if word.contains(|c: char| c.is_ascii_digit()) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_quote_is_found_with_its_command() {
        let page = "text\n```console\n$ cargo sim list   # all\n$ cargo sim run x\none\n...\n```\n```text\n$ no\nthis\n```\n";
        let quotes = of_page(page);
        assert_eq!(quotes.len(), 1);
        assert_eq!((quotes[0].command.as_str(), quotes[0].first), ("cargo sim run x", 4));
        assert_eq!(quotes[0].lines, ["one", "..."]);
        assert!(quotes[0].replaced(page, &["two".to_owned()]).contains("run x\ntwo\n```\n```text"));
    }

    #[test]
    fn a_quote_in_a_comment_stays_in_it() {
        let page = "//! ```console\n//! $ cargo sim run x\n//! one\n//! ```\nfn x() {}\n";
        let quotes = of_page(page);
        assert_eq!(quotes[0].lines, ["one"]);
        assert_eq!(quotes[0].replaced(page, &["two".to_owned()]), page.replace("one", "two"));
    }

    #[test]
    fn what_a_quote_leaves_out_stays_out_and_what_it_shows_is_of_today() {
        let printed = ["head", "a at e1 (0.5)", "left out", "b at e7 (1.25)", "code AQxsb2Nr", "rest"];
        let now = |quote: &str| rewritten(&lines(quote), &printed).join("\n");
        let right = "head\n...\nb at e7 (1.25)\ncode AQx...";
        assert_eq!(now(right), right);
        assert_eq!(now("head\n...\nb at e9 (1.5)\ncode AQy..."), right);
        assert_eq!(now("heed\na at e2 (0.5)"), "head\na at e1 (0.5)");
        assert_eq!(now("...\ncode AQxsb2Nr\nrest\nmore"), "...\ncode AQxsb2Nr\nrest\n(nothing)");
    }
}
