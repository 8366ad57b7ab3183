//! Edits of a history.

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
    /// Everything from the event on is delayed by this number of microseconds.
    Delayed(usize, u64),
    /// In a line of the text form, this word replaces one; line and word are counted from zero.
    Word(usize, usize, String),
    /// Only the events of clients and of their harness.
    Captured,
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
            Edit::Word(line, which, ref word) => history = with_word(&history, line, which, word)?,
            Edit::Captured => history = captured(history),
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
