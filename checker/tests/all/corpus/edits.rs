//! Edits of a history, and how they are written: `late@40:8 word@52:3=/app/b captured`.

use std::fmt;
use std::str::FromStr;
use zk_checker::history::{Conn, Event, History, Mode, What, Who};
use zk_checker::text;

/// One edit. Events are counted from zero; their times stay in place, so that time does not go back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The event is missing.
    Missing(usize),
    /// The event is there twice.
    Twice(usize),
    /// The event comes earlier by this number of events.
    Early(usize, usize),
    /// The event comes later by this number of events.
    Late(usize, usize),
    /// Everything from the event on is delayed by this number of nanoseconds.
    Delayed(usize, u64),
    /// The first event happens once more, before the second one.
    Copy(usize, usize),
    /// The history ends before the event.
    Cut(usize),
    /// In a line of the text form, this word replaces one; line and word are counted from zero.
    Word(usize, usize, String),
    /// Only the events of clients and of their harness.
    Captured,
    /// No change, but only the rules about calls and returns judge.
    Outside,
}

impl Edit {
    /// Applies the edit, if the history has that place and stays readable.
    pub fn apply(&self, mut history: History) -> Option<History> {
        let count = history.events.len();
        let events = &mut history.events;
        let is_there = |at: usize| (at < count).then_some(at);
        match *self {
            Edit::Missing(at) => _ = events.remove(is_there(at)?),
            Edit::Twice(at) => events.insert(at, events[is_there(at)?]),
            Edit::Early(at, by) => {
                let begin = is_there(at)?.saturating_sub(by);
                change_places(&mut events[begin..=at], |some| some.rotate_right(1));
            }
            Edit::Late(at, by) => {
                let end = count.min(is_there(at)? + 1 + by);
                change_places(&mut events[at..end], |some| some.rotate_left(1));
            }
            Edit::Delayed(at, by) => events[is_there(at)?..].iter_mut().for_each(|event| event.at += by),
            Edit::Copy(at, to) => {
                let at_that_time = Event { at: events[is_there(to)?].at, ..events[is_there(at)?] };
                events.insert(to, at_that_time);
            }
            Edit::Cut(at) => events.truncate(is_there(at)?),
            Edit::Word(line, which, ref word) => history = with_word(&history, line, which, word)?,
            Edit::Captured => history = captured(history),
            Edit::Outside => {}
        }
        Some(history)
    }
}

/// The history with one word of its text form replaced.
fn with_word(history: &History, line: usize, which: usize, word: &str) -> Option<History> {
    let written = text::write(history);
    let mut lines: Vec<&str> = written.lines().collect();
    let mut words: Vec<&str> = lines.get(line)?.split(' ').collect();
    *words.get_mut(which)? = word;
    let other = words.join(" ");
    lines[line] = &other;
    text::parse(&lines.join("\n")).ok()
}

fn change_places(events: &mut [Event], change: impl FnOnce(&mut [Event])) {
    let times: Vec<u64> = events.iter().map(|event| event.at).collect();
    change(events);
    events.iter_mut().zip(times).for_each(|(event, at)| event.at = at);
}

/// The events of clients and of their harness, without connections.
fn captured(mut history: History) -> History {
    history.header.mode = Mode::Client;
    history.events.retain(|event| !matches!(event.who, Who::Server(_)));
    for event in &mut history.events {
        if let What::Notice { conn, .. } | What::Reply { conn, .. } = &mut event.what {
            *conn = Conn::default();
        }
    }
    history
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edit::Missing(at) => write!(f, "missing@{at}"),
            Edit::Twice(at) => write!(f, "twice@{at}"),
            Edit::Early(at, by) => write!(f, "early@{at}:{by}"),
            Edit::Late(at, by) => write!(f, "late@{at}:{by}"),
            Edit::Delayed(at, by) => write!(f, "delayed@{at}:{by}"),
            Edit::Copy(at, to) => write!(f, "copy@{at}:{to}"),
            Edit::Cut(at) => write!(f, "cut@{at}"),
            Edit::Word(line, which, word) => write!(f, "word@{line}:{which}={word}"),
            Edit::Captured => f.write_str("captured"),
            Edit::Outside => f.write_str("outside"),
        }
    }
}

impl FromStr for Edit {
    type Err = String;

    fn from_str(written: &str) -> Result<Edit, String> {
        let edit = read(written).ok_or_else(|| format!("`{written}` is no edit"))?;
        if edit.to_string() == written { Ok(edit) } else { Err(format!("`{written}` is written `{edit}`")) }
    }
}

fn read(written: &str) -> Option<Edit> {
    match written {
        "captured" => return Some(Edit::Captured),
        "outside" => return Some(Edit::Outside),
        _ => {}
    }
    let (what, place) = written.split_once('@')?;
    let (at, rest) = place.split_once(':').unwrap_or((place, ""));
    let at: usize = at.parse().ok()?;
    Some(match what {
        "missing" => Edit::Missing(at),
        "twice" => Edit::Twice(at),
        "early" => Edit::Early(at, rest.parse().ok()?),
        "late" => Edit::Late(at, rest.parse().ok()?),
        "delayed" => Edit::Delayed(at, rest.parse().ok()?),
        "copy" => Edit::Copy(at, rest.parse().ok()?),
        "cut" => Edit::Cut(at),
        "word" => {
            let (which, word) = rest.split_once('=')?;
            Edit::Word(at, which.parse().ok()?, word.to_owned())
        }
        _ => return None,
    })
}
