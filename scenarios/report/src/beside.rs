//! Compares two runs: the point where they diverge, and the events of only one of them.
//!
//! Two events are the same if the same actor does the same in the same words; zxids and times are ignored. After the
//! point of divergence, each event of one run is matched with an event of the same words in the other, in any order.

use crate::requests::Requests;
use crate::words::{Sentences, visible};
use serde::Serialize;
use std::collections::BTreeMap;
use zk_checker::Verdict;
use zk_checker::history::History;

/// Another run, compared with the one shown.
#[derive(Debug)]
pub struct Other {
    /// Its title.
    pub title: String,
    /// Its history.
    pub history: History,
    /// Its verdict.
    pub verdict: Verdict,
}

/// How two runs differ.
#[derive(Debug, Serialize)]
pub(super) struct Beside {
    title: String,
    verdict: String,
    /// The number of events of the other run.
    events: usize,
    /// The length of the common prefix, in events.
    same: usize,
    /// The events of this run without a match in the other.
    only_here: Vec<u32>,
    /// The events of the other run without a match in this one.
    only_there: Vec<There>,
}

/// An event of the other run.
#[derive(Debug, Serialize)]
struct There {
    index: u32,
    at_us: u64,
    who: String,
    text: String,
}

type NumberedLine = (String, String);

/// A sentence without zxids. A zxid counts earlier transactions, so all zxids differ after the first difference.
fn numberless(text: &str) -> String {
    let words = text.split(' ').map(|word| if word.starts_with("0x") { "0x…" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn lines(history: &History, sentences: &Sentences<'_>) -> Vec<NumberedLine> {
    let tell = |(index, event): (usize, &zk_checker::history::Event)| {
        (sentences.who(event.who), numberless(&sentences.tell(index)))
    };
    history.events.iter().enumerate().map(tell).collect()
}

/// The positions, from `same` on, of lines without a match in the other list.
fn unmatched(lines: &[NumberedLine], others: &[NumberedLine], same: usize) -> Vec<u32> {
    let mut left: BTreeMap<&NumberedLine, u32> = BTreeMap::new();
    for line in &others[same..] {
        *left.entry(line).or_default() += 1;
    }
    let mut only = Vec::new();
    for (index, line) in lines.iter().enumerate().skip(same) {
        match left.get_mut(line) {
            Some(count) if *count > 0 => *count -= 1,
            _ => only.push(index as u32),
        }
    }
    only
}

fn there_told(history: &History, sentences: &Sentences<'_>, index: u32) -> NumberedLine {
    (sentences.who(history.events[index as usize].who), sentences.tell(index as usize))
}

impl Beside {
    pub(super) fn of(history: &History, sentences: &Sentences<'_>, other: &Other) -> Beside {
        let asked = Requests::of(&other.history);
        let theirs = Sentences::new(&other.history, &asked);
        let there = lines(&other.history, &theirs);
        let here = lines(history, sentences);
        let same = here.iter().zip(&there).take_while(|(here, there)| here == there).count();
        let only_there = unmatched(&there, &here, same).into_iter().map(|index| {
            let (who, text) = there_told(&other.history, &theirs, index);
            There { index, at_us: other.history.events[index as usize].at, who, text }
        });
        Beside {
            title: visible(&other.title),
            verdict: other.verdict.to_string(),
            events: there.len(),
            same,
            only_here: unmatched(&here, &there, same),
            only_there: only_there.collect(),
        }
    }
}
