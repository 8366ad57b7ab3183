//! The causal slice of a breach as a space-time chart for a terminal: time runs downwards, with a column for each
//! actor.
//!
//! An arrow shows a message at its arrival, from its sender's column. A thick line shows a holder.

use crate::causes::{Causes, Tie};
use crate::lives::Lives;
use crate::requests::Requests;
use crate::slice::{Slice, Slicer};
use crate::words::Sentences;
use std::collections::BTreeSet;
use std::fmt::Write;
use zk_checker::history::{History, Victim, What, Who};
use zk_checker::{Finding, Report};

/// Whether a chart may use colour. Colour never carries information alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Letters only.
    Plain,
    /// Escape sequences of a terminal, too.
    Colour,
}

impl Paint {
    /// Colour if stdout is a terminal and `NO_COLOR` is not set.
    pub fn of_stdout() -> Paint {
        use std::io::IsTerminal;
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if std::io::stdout().is_terminal() && !unwanted { Paint::Colour } else { Paint::Plain }
    }

    fn with(self, code: &str, text: &str) -> String {
        match self {
            Paint::Plain => text.to_owned(),
            Paint::Colour => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

const RED: &str = "31;1";
const YELLOW: &str = "33";
const FAINT: &str = "2";

/// Draws the slice of the first finding. For a run without findings, a sentence says so.
pub fn chart(history: &History, report: &Report, paint: Paint) -> String {
    let Some(finding) = report.findings.first() else {
        return "no rule failed, so there is no slice to show; --trace=all shows the whole run\n".to_owned();
    };
    let asked = Requests::of(history);
    let causes = Causes::find(history, &asked);
    let lives = Lives::of(history, &asked, &causes);
    let slice = Slicer::new(history, &asked, &causes, &lives).cut(finding);
    let sentences = Sentences::new(history, &asked);
    let lanes = Lanes::of(history, &slice, &sentences);
    Drawing {
        history,
        causes: &causes,
        lives: &lives,
        sentences: &sentences,
        lanes,
        paint,
        out: String::new(),
    }
    .draw(finding, &slice)
}

/// The columns: every actor with an event in the slice.
struct Lanes {
    parties: Vec<Who>,
    names: Vec<String>,
    width: usize,
}

impl Lanes {
    fn of(history: &History, slice: &Slice, sentences: &Sentences<'_>) -> Lanes {
        let acts: BTreeSet<Who> =
            slice.events.iter().map(|event| history.events[*event as usize].who).collect();
        let parties: Vec<Who> = acts.into_iter().filter(|who| *who != Who::World).collect();
        let names: Vec<String> = parties.iter().map(|who| shorten(&sentences.who(*who))).collect();
        let width = names.iter().map(|name| name.chars().count() + 2).max().unwrap_or(0).max(6);
        Lanes { parties, names, width }
    }

    fn place(&self, who: Who) -> Option<usize> {
        self.parties.iter().position(|party| *party == who)
    }

    /// The middle of a column.
    fn middle(&self, lane: usize) -> usize {
        lane * self.width + self.width / 2
    }

    fn all(&self) -> usize {
        self.parties.len() * self.width
    }
}

/// The longest name that a column's head shows.
const NAME: usize = 12;

fn shorten(name: &str) -> String {
    match name.char_indices().nth(NAME) {
        None => name.to_owned(),
        Some((at, _)) => format!("{}…", &name[..at]),
    }
}

struct Drawing<'a> {
    history: &'a History,
    causes: &'a Causes,
    lives: &'a Lives,
    sentences: &'a Sentences<'a>,
    lanes: Lanes,
    paint: Paint,
    out: String,
}

/// The shortest pause that gets a line, in microseconds.
const PAUSE_US: u64 = 1_000_000;

impl Drawing<'_> {
    fn draw(mut self, finding: &Finding, slice: &Slice) -> String {
        self.head();
        let mut before: Option<u64> = None;
        for event in &slice.events {
            let at = self.history.events[*event as usize].at;
            if let Some(waited) = before.map(|before| at - before).filter(|waited| *waited >= PAUSE_US) {
                let line = self.lines(*event);
                let pause = format!("⋯ {:.3} s pass", waited as f64 / 1e6);
                let _ = writeln!(self.out, "{:>9}  {line}  {}", "", self.paint.with(FAINT, &pause));
            }
            self.row(*event, slice.cited.contains(event));
            before = Some(at);
        }
        let (shown, all) = (slice.events.len(), self.history.events.len());
        let _ = write!(self.out, "\n{shown} of {all} events: the causes of {}", finding.rule);
        match slice.left_out {
            0 => self.out.push_str("; no cause of theirs is left out\n"),
            1 => self.out.push_str("; one more distant cause is left out\n"),
            more => _ = writeln!(self.out, "; {more} more distant causes are left out"),
        }
        self.out.push_str(
            "● does   ─▶ hears from   ✖ cited by the checker   ┃ believes that it holds   ⚡ fault\n",
        );
        self.out
    }

    fn head(&mut self) {
        let mut line = vec![' '; self.lanes.all()];
        for (lane, name) in self.lanes.names.iter().enumerate() {
            let from = self.lanes.middle(lane).saturating_sub(name.chars().count() / 2);
            for (at, c) in name.chars().enumerate() {
                line.get_mut(from + at).into_iter().for_each(|place| *place = c);
            }
        }
        let line: String = line.into_iter().collect();
        let _ = writeln!(self.out, "{:>9}  {line}", "");
    }

    /// The columns' lines at an event: thick while the client acts as holder.
    fn columns(&self, event: u32) -> Vec<char> {
        let mut line = vec![' '; self.lanes.all()];
        for (lane, party) in self.lanes.parties.iter().enumerate() {
            let believes = self.lives.beliefs.iter().any(|belief| {
                *party == Who::Client(belief.client)
                    && belief.from <= event
                    && belief.to.is_none_or(|to| to > event)
            });
            line[self.lanes.middle(lane)] = if believes { '┃' } else { '│' };
        }
        line
    }

    fn lines(&self, event: u32) -> String {
        self.columns(event).into_iter().collect()
    }

    /// The column of the sender of the message that this event received.
    fn sender(&self, event: u32) -> Option<usize> {
        let message = self.causes.of(event).iter().rev().find(|cause| cause.tie == Tie::Message)?;
        self.lanes.place(self.history.events[message.event as usize].who)
    }

    fn row(&mut self, event: u32, cited: bool) {
        let happening = &self.history.events[event as usize];
        let mut line = self.columns(event);
        match self.lanes.place(happening.who) {
            Some(lane) => {
                if let Some(from) = self.sender(event).filter(|from| *from != lane) {
                    self.arrow(&mut line, from, lane);
                }
                line[self.lanes.middle(lane)] = if cited { '✖' } else { '●' };
            }
            None => self.strike(&mut line, happening.what),
        }
        let line: String = line.into_iter().collect();
        let text = self.sentences.tell(event as usize);
        let line = match happening.what {
            What::Fault { .. } | What::Crash { .. } => {
                self.paint.with(YELLOW, &format!("{line}  e{event:<5} {text}"))
            }
            _ if cited => self.paint.with(RED, &format!("{line}  e{event:<5} {text}")),
            _ => format!("{line}  {} {text}", self.paint.with(FAINT, &format!("e{event:<5}"))),
        };
        let _ = writeln!(self.out, "{:>9.3}  {}", happening.at as f64 / 1e6, line.trim_end());
    }

    /// The arrow of an arriving message: `├──┼──▶●`.
    fn arrow(&self, line: &mut [char], from: usize, to: usize) {
        let (begin, end) = (self.lanes.middle(from), self.lanes.middle(to));
        for place in &mut line[begin.min(end) + 1..begin.max(end)] {
            *place = if *place == ' ' { '─' } else { '┼' };
        }
        if begin < end {
            (line[begin], line[end - 1]) = ('├', '▶');
        } else {
            (line[begin], line[end + 1]) = ('┤', '◀');
        }
    }

    /// A fault, in the columns of its victims.
    fn strike(&self, line: &mut [char], what: What) {
        let parties: Vec<Who> = match what {
            What::Fault { victim, .. } | What::Mended { victim, .. } => match victim {
                Victim::Process { client } => vec![Who::Client(client)],
                Victim::Server { server } => vec![Who::Server(server)],
                Victim::Link { from, to } => vec![Who::Server(from), Who::Server(to)],
            },
            What::Crash { client } | What::Start { client } => vec![Who::Client(client)],
            _ => Vec::new(),
        };
        for lane in parties.into_iter().filter_map(|party| self.lanes.place(party)) {
            line[self.lanes.middle(lane)] = match what {
                What::Fault { .. } | What::Crash { .. } => '⚡',
                _ => '○',
            };
        }
    }
}
