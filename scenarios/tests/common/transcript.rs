//! What the processes of a service have printed and logged, in the order in which they did, and what the test has done to them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The note that the servers lose their data.
pub const EMPTIES: &str = "empties the servers";

/// A line: who says it, and what.
pub struct Line {
    who: String,
    text: String,
}

pub struct Transcript(Vec<Line>);

impl Transcript {
    /// Events lose their time, level, spans, target and the session's id, and paths the part that all have in common.
    pub fn new(text: &str) -> Transcript {
        // The last line may not be complete yet.
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        let line = |line: &str| {
            let (who, rest) = line.split_once(' ').unwrap_or((line, ""));
            let event = [" zk_recipes: ", " zk_client: "].iter().find_map(|target| rest.split_once(target));
            let text =
                event.map_or(rest, |(_, event)| event).replace("/example-service/", "").replace('"', "");
            let words = text.split(' ').filter(|word| !word.starts_with("session=0x"));
            Line { who: who.to_owned(), text: words.collect::<Vec<_>>().join(" ") }
        };
        Transcript(complete.lines().map(line).collect())
    }

    pub fn lines(&self) -> &[Line] {
        &self.0
    }

    /// The token of a line that says that a process leads.
    fn leads(line: &Line) -> Option<i64> {
        let token = line.text.strip_prefix("leads under token 0x")?;
        i64::from_str_radix(token, 16).ok()
    }

    /// Who leads no more after this line.
    fn deposed(line: &Line) -> Option<&str> {
        if line.who == "test" {
            return line.text.strip_prefix("killed ").or_else(|| line.text.strip_prefix("stopped "));
        }
        let ends = ["work stopped call=leader ", "work failed call=leader ", "hold lost call=leader "];
        ends.iter().any(|end| line.text.starts_with(end)).then_some(line.who.as_str())
    }

    /// The process that leads at the end.
    pub fn leader(&self) -> Option<&str> {
        self.0.iter().fold(None, |leader, line| match Self::leads(line) {
            Some(_) => Some(line.who.as_str()),
            None if Self::deposed(line) == leader => None,
            None => leader,
        })
    }

    /// Whether a process leads, and has said or shown so since that line: by a term or a put.
    pub fn leads_after(&self, after: usize) -> bool {
        let Some(leader) = self.leader() else { return false };
        let shows = |line: &Line| Self::leads(line).is_some() || line.text.starts_with("has put ");
        self.0[after..].iter().any(|line| line.who == leader && shows(line))
    }

    /// The jobs of lines that begin so.
    fn jobs<'a>(lines: &'a [Line], begin: &str) -> BTreeSet<&'a str> {
        lines.iter().filter_map(|line| line.text.strip_prefix(begin)).collect()
    }

    /// How many jobs were put after that line and are done.
    pub fn new_jobs_done(&self, after: usize) -> usize {
        let lines = &self.0[after..];
        Self::jobs(lines, "has put ").intersection(&Self::jobs(lines, "has done ")).count()
    }

    /// The lines since the servers lost their data, if they did.
    fn since_emptied(&self) -> &[Line] {
        let emptied = self.0.iter().rposition(|line| line.who == "test" && line.text == EMPTIES);
        &self.0[emptied.unwrap_or(0)..]
    }

    /// The jobs that were put, and that nobody has said to have done.
    pub fn jobs_left(&self) -> Vec<&str> {
        let lines = self.since_emptied();
        let done = Self::jobs(lines, "has done ");
        Self::jobs(lines, "has put ").into_iter().filter(|job| !done.contains(job)).collect()
    }

    /// The first of these parts that a process has not told, in this order, since that line.
    pub fn missing<'a>(&self, name: &str, after: usize, story: &[&'a str]) -> Option<&'a str> {
        let mut parts = story.iter().peekable();
        for line in self.0[after..].iter().filter(|line| line.who == name) {
            parts.next_if(|part| line.text.contains(**part));
        }
        parts.next().copied()
    }

    /// Whether a process had trouble after it had written a job, and before it wrote the next one.
    pub fn had_trouble_after(&self, name: &str, job: &str) -> bool {
        let done = format!("has done {job}");
        let is_done = |line: &Line| line.who == name && line.text == done;
        // A process that was killed may have written and not said so: then it has said nothing afterwards.
        let from = self.0.iter().position(is_done).map_or(0, |at| at + 1);
        let says = |line: &&Line| line.who == name && line.text.starts_with("has done ");
        let own = self.0[from..].iter().take_while(|line| !says(line) || from == 0);
        let stopped = ["work stopped call=jobs", "hold lost call=jobs"];
        own.into_iter().any(|line| match line.who.as_str() {
            "test" => line.text == format!("killed {name}") || line.text == format!("stopped {name}"),
            who => who == name && stopped.iter().any(|begin| line.text.starts_with(begin)),
        })
    }

    /// Whether a job is the first that a process has done after it was stopped.
    pub fn is_first_after_stop(&self, name: &str, job: &str) -> bool {
        let continued = format!("continued {name}");
        let at = self.0.iter().position(|line| line.who == "test" && line.text == continued);
        let lines = at.map_or(&[][..], |at| &self.0[at..]);
        let first = lines.iter().find(|line| line.who == name && line.text.starts_with("has done "));
        first.is_some_and(|line| line.text == format!("has done {job}"))
    }

    /// What is wrong with the terms: two leaders at a time, a token that is not greater than those of other terms, a put by a
    /// process that does not lead, or under another token than its own.
    pub fn wrong(&self) -> Vec<String> {
        let (mut wrong, mut leading, mut last) = (Vec::new(), BTreeMap::<&str, i64>::new(), (0, ""));
        for line in &self.0 {
            let who = line.who.as_str();
            if line.text == EMPTIES {
                last = (0, "");
            }
            if let Some(name) = Self::deposed(line) {
                leading.remove(name);
            }
            if let Some(token) = Self::leads(line) {
                leading.insert(who, token);
                if leading.len() > 1 {
                    wrong.push(format!("several processes lead: {leading:x?}"));
                }
                // Work that begins again has the same term.
                if token < last.0 || token == last.0 && who != last.1 {
                    wrong.push(format!("{who} leads under {token:#x}, after {} under {:#x}", last.1, last.0));
                }
                last = (token, who);
            }
            if let Some((_, token)) =
                line.text.strip_prefix("has put ").and_then(|job| job.split_once(" of term "))
            {
                let own = leading.get(who).map(|token| format!("{token:#x}"));
                if own.as_deref() != Some(token) {
                    wrong.push(format!("{who} puts a job of the term {token}, and leads under {own:?}"));
                }
            }
        }
        wrong
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(f, "{} {}", line.who, line.text))
    }
}
