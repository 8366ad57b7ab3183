//! Reports: a run as one HTML page for a browser, and its causal slice as a chart for the terminal.
//!
//! [`whole_file`] is how every part of this project writes a file, [`place`] how it writes a table into a page.
//!
//! This crate computes everything from the typed history and the report; the page only draws it. The same run gives the
//! same page to the byte.

mod beside;
mod causes;
mod chart;
mod columns;
mod cost;
mod dropped;
mod hang;
mod lives;
mod messages;
mod model;
mod page;
pub mod place;
mod requests;
mod slice;
pub mod trace;
pub mod whole_file;
mod words;

#[cfg(test)]
mod tests;

pub use beside::Other;
pub use chart::{Paint, chart};
pub use hang::waits;
pub use page::page;

use serde::Serialize;
use zk_checker::history::History;
use zk_checker::{Report, Verdict};

/// A count with its noun: `1 round`, `2 rounds`.
pub fn count(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// A run to show.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// Its history.
    pub history: &'a History,
    /// The checker's report.
    pub report: &'a Report,
    /// The verdict of the whole run, which is worse than the report's if the run did not end.
    pub verdict: Verdict,
    /// Its origin.
    pub source: &'a Source,
    /// Another run to compare with.
    pub beside: Option<&'a Other>,
}

/// The origin of a run, and the commands that reproduce it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Source {
    /// Its title: a workload and its seed, or a file.
    pub title: String,
    /// A description of one line.
    pub about: String,
    /// The command that shows this run again.
    pub command: String,
    /// The command that replays its choices, even if the seed draws a different run by then.
    pub exactly: Option<String>,
    /// Its plan.
    pub plan: Option<String>,
    /// Its seed.
    pub seed: Option<u64>,
    /// Its choices.
    pub choices: Vec<u16>,
    /// The hash of the run, in hex.
    pub hash: Option<String>,
    /// How it ended, if not normally.
    pub end: Option<String>,
    /// For a run that hangs: the waiting clients and what they wait for, from [`waits`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<String>,
}

impl Source {
    /// The same with printable texts: a file name may contain any characters.
    fn visible(&self) -> Source {
        let text = |text: &String| words::visible(text);
        Source {
            title: text(&self.title),
            about: text(&self.about),
            command: text(&self.command),
            exactly: self.exactly.as_ref().map(text),
            plan: self.plan.as_ref().map(text),
            end: self.end.as_ref().map(text),
            hash: self.hash.as_ref().map(text),
            waits: self.waits.iter().map(text).collect(),
            ..self.clone()
        }
    }
}
