//! The report: a run as one page that a person opens in a browser, and its causal slice as a chart for the terminal.
//!
//! 1. `asked`, `causes`: which request became which transaction, which event follows from which.
//! 2. `lives`, `messages`: what lasts (znodes, watches, sessions, beliefs, faults), and what travelled.
//! 3. `slice`: what led to a breach. `cost`, `beside`: what it cost, and how it differs from another run. `hang`: what the clients
//!    of a run that does not end wait for. `dropped`: guards that no release gave back.
//! 4. `model`: all of it as plain data, with texts of `words`; `page` writes it into one file, `chart` draws a slice with
//!    letters.
//!
//! `whole_file` is how every part of this project writes a file, `place` how it writes a table into a page.
//!
//! Everything is found here from the typed history and the report; the page only draws what it is given. The same run gives
//! the same page to the byte.

mod asked;
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

/// So many things, in words: `1 round`, `2 rounds`.
pub fn count(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// A run to be shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// What happened.
    pub history: &'a History,
    /// What the checker says of it.
    pub report: &'a Report,
    /// The verdict of the whole; of a run that did not end it is worse than the report's.
    pub verdict: Verdict,
    /// Where it comes from.
    pub source: &'a Source,
    /// Another run to hold beside it.
    pub beside: Option<&'a Other>,
}

/// Where a run comes from, and how to see it again.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Source {
    /// What to call it: a workload and its seed, or a file.
    pub title: String,
    /// What was run, in one line.
    pub about: String,
    /// The command that shows this run again.
    pub command: String,
    /// The command that repeats it choice by choice, whatever a seed draws by then.
    pub exactly: Option<String>,
    /// What was drawn before it.
    pub plan: Option<String>,
    /// Its seed.
    pub seed: Option<u64>,
    /// What was decided.
    pub choices: Vec<u16>,
    /// The hash over all that happened, in hex.
    pub hash: Option<String>,
    /// How it ended, if not as it should.
    pub end: Option<String>,
    /// If it hangs: who waits for what, by [`waits`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<String>,
}

impl Source {
    /// The same with texts that can be shown: a name of a file may hold anything.
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
