//! Rewrites the lists after a change of the docs.
//!
//! 1. A section follows its item to another name, if the item has its sentences and the same type or the same name.
//! 2. A row follows its sentence: by the hash, by the first words, then by its place below the heading. It keeps its judges.
//! 3. A sentence or a method that is new has `?` for a judge, for which a test fails until a name stands there. A row without a
//!    sentence stays, and a test fails too: its judges may serve another sentence.

use zk_catalogue::promises::docs::{Documented, Key, are_cases};

struct List {
    /// The comment on top.
    comment: String,
    sections: Vec<Section>,
}

struct Section {
    subjects: Vec<String>,
    /// The cells behind the items, with the bar before them.
    cells: String,
    /// Keys, and the cells behind them.
    rows: Vec<(Key, String)>,
}

/// Rewrites the lists, and returns which sentences have changed, with their judges.
pub(crate) fn update(lists: &mut [(&'static str, String)], docs: &[Documented]) -> Vec<String> {
    let mut read: Vec<List> = lists.iter().map(|(_, text)| List::read(text)).collect();
    let is_new = |item: &&Documented| read.iter().all(|list| !list.names(&item.subject));
    let mut new: Vec<&Documented> = docs.iter().filter(is_new).collect();
    let mut changes = Vec::new();
    for section in read.iter_mut().flat_map(|list| &mut list.sections) {
        section.follow_item(docs, &mut new);
        section.follow_sentences(docs, &mut changes);
    }
    for item in new {
        let of_type =
            |list: &&mut List| list.sections.iter().any(|one| kind(&one.subjects[0]) == kind(&item.subject));
        if let Some(list) = read.iter_mut().find(of_type) {
            list.sections.push(Section::new(item));
        }
    }
    for ((_, text), list) in lists.iter_mut().zip(&read) {
        *text = list.text();
    }
    changes
}

impl List {
    fn read(text: &str) -> List {
        let (comment, rest) = text.split_at(text.find("## ").unwrap_or(text.len()));
        let sections = rest.split("## ").filter(|section| !section.is_empty()).map(Section::read).collect();
        List { comment: comment.to_owned(), sections }
    }

    fn names(&self, subject: &String) -> bool {
        self.sections.iter().any(|section| section.subjects.contains(subject))
    }

    fn text(&self) -> String {
        let sections: Vec<String> = self.sections.iter().map(Section::text).collect();
        format!("{}{}", self.comment, sections.join("\n"))
    }
}

impl Section {
    fn read(text: &str) -> Section {
        let mut lines = text.lines().filter(|line| !line.is_empty());
        let (subjects, cells) = cells(lines.next().expect("a section has a head"));
        let row = |line| {
            let (key, cells) = self::cells(line);
            (Key::read(key, !are_cases(subjects)).expect("a list that parses"), cells.to_owned())
        };
        let subjects_of = |names: &str| names.split(", ").map(str::to_owned).collect();
        Section { subjects: subjects_of(subjects), cells: cells.to_owned(), rows: lines.map(row).collect() }
    }

    fn new(item: &Documented) -> Section {
        let name = item.subject.rsplit_once("::").map_or("", |(_, name)| name);
        let cells = if name.starts_with(char::is_lowercase) { " | ? | ?" } else { "" };
        let rows = item.sentences.iter().map(|(key, _)| (key.clone(), " | ?".to_owned())).collect();
        Section { subjects: vec![item.subject.clone()], cells: cells.to_owned(), rows }
    }

    fn text(&self) -> String {
        let head = format!("## {}{}\n", self.subjects.join(", "), self.cells);
        self.rows.iter().fold(head, |text, (key, cells)| text + &format!("{key}{cells}\n"))
    }

    fn follow_item(&mut self, docs: &[Documented], new: &mut Vec<&Documented>) {
        let is_there = |subject: &String| docs.iter().any(|item| item.subject == *subject);
        if self.subjects.iter().any(is_there) {
            self.subjects.retain(is_there);
        } else if let Some(at) = new.iter().position(|item| self.is_renamed_to(item)) {
            self.subjects = vec![new.remove(at).subject.clone()];
        }
    }

    fn is_renamed_to(&self, item: &Documented) -> bool {
        let is_said = |row: &&(Key, String)| item.sentences.iter().any(|(key, _)| key.hash == row.0.hash);
        let said = self.rows.iter().filter(is_said).count();
        let name = |subject: &str| subject.rsplit("::").next().map(str::to_owned);
        let is_akin =
            |subject: &String| kind(subject) == kind(&item.subject) || name(subject) == name(&item.subject);
        said > 0 && 2 * said >= self.rows.len() && self.subjects.iter().any(is_akin)
    }

    fn follow_sentences(&mut self, docs: &[Documented], changes: &mut Vec<String>) {
        let Some(item) = docs.iter().find(|item| self.subjects.contains(&item.subject)) else { return };
        if are_cases(&item.subject) {
            return;
        }
        let mut left = std::mem::take(&mut self.rows);
        let mut found: Vec<Option<(Key, String)>> = vec![None; item.sentences.len()];
        let is_it: [fn(&Key, &Key) -> bool; 3] = [
            |row, key| row.heading == key.heading && row.hash == key.hash,
            |row, key| row.heading == key.heading && row.words == key.words,
            |row, key| row.hash == key.hash,
        ];
        for is_it in is_it {
            for (found, (key, _)) in
                found.iter_mut().zip(&item.sentences).filter(|(found, _)| found.is_none())
            {
                *found = left.iter().position(|(row, _)| is_it(row, key)).map(|at| left.remove(at));
            }
        }
        for at in 0..found.len() {
            let heading = &item.sentences[at].0.heading;
            let is_open =
                |(at, (key, _)): &(usize, &(Key, String))| found[*at].is_none() && key.heading == *heading;
            let open = item.sentences.iter().enumerate().filter(is_open).count();
            let rows = left.iter().filter(|(row, _)| row.heading == *heading).count();
            if found[at].is_none() && open == rows {
                found[at] =
                    left.iter().position(|(row, _)| row.heading == *heading).map(|at| left.remove(at));
            }
        }
        for (found, (key, _)) in found.into_iter().zip(&item.sentences) {
            let cells = found.as_ref().map_or(" | ?", |(_, cells)| cells).to_owned();
            if found.is_some_and(|(row, _)| row.hash != key.hash) {
                changes.push(format!("Read again what judges {}, {key}{cells}", item.subject));
            }
            self.rows.push((key.clone(), cells));
        }
        self.rows.extend(left);
    }
}

/// The type of an item, or the item itself.
fn kind(subject: &str) -> &str {
    subject.split("::").next().unwrap_or(subject)
}

fn cells(line: &str) -> (&str, &str) {
    line.split_at(line.find(" | ").unwrap_or(line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_catalogue::promises;

    const DOCS: &str = "Lock\n\tPromises\t*Order.* First come, first served.\nLock::acquire\n\tErrors\tOne;\n\tErrors\ttwo.\n";
    const LIST: &str = "# On top.\n\n## Lock\nPromises: Order HASH | MX-6\n\n## Lock::acquire | lock | MX-4 | m\nErrors: One HASH | MX-5\nErrors: two HASH | t::x | n\n";

    /// What becomes of the list, without hashes, and how many sentences are to be read again.
    fn updated(docs: &str) -> (String, usize) {
        let mut lists = [("lock", LIST.to_owned())];
        update(&mut lists, &promises::docs::read(DOCS));
        assert_eq!(without_hashes(&lists[0].1), LIST);
        let changes = update(&mut lists, &promises::docs::read(docs)).len();
        (without_hashes(&lists[0].1), changes)
    }

    fn without_hashes(text: &str) -> String {
        let line = |line: &str| match line.starts_with('#') || line.is_empty() {
            true => line.to_owned(),
            false => {
                let (key, cells) = cells(line);
                format!("{} HASH{cells}", key.rsplit_once(' ').expect("a hash").0)
            }
        };
        text.lines().map(line).map(|line| line + "\n").collect()
    }

    #[test]
    fn judges_follow_their_sentence() {
        let moved = DOCS.replace("\tErrors\tOne;\n\tErrors\ttwo.", "\tErrors\ttwo.\n\tErrors\tOne, or none.");
        let rows = LIST.replace(
            "Errors: One HASH | MX-5\nErrors: two HASH | t::x | n\n",
            "Errors: two HASH | t::x | n\nErrors: One, or none HASH | MX-5\n",
        );
        assert_eq!(updated(&moved), (rows, 1));
    }

    #[test]
    fn what_is_new_has_no_judge_and_what_is_gone_stays() {
        let more = DOCS.to_owned() + "\tErrors\tthree.\nLock::release\n\tCost\tOne request.\n";
        let list = LIST.to_owned()
            + "Errors: three HASH | ?\n\n## Lock::release | ? | ?\nCost: One request HASH | ?\n";
        assert_eq!(updated(&more), (list, 0));
        assert_eq!(updated(&DOCS.replace("\tErrors\ttwo.\n", "")), (LIST.to_owned(), 0));
    }

    #[test]
    fn a_section_follows_its_item() {
        let list = |name: &str| (LIST.replace("Lock::acquire", name), 0);
        assert_eq!(updated(&DOCS.replace("Lock::acquire", "Lock::join")), list("Lock::join"));
        assert_eq!(updated(&DOCS.replace("Lock::acquire", "Mutex::acquire")), list("Mutex::acquire"));
    }
}
