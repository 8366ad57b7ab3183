//! The measurement of rows: the peers of a row take turns, so that noise on the machine strikes all alike.
//!
//! 1. Rates: the peers connect to the server itself. Each is warm before the first turn.
//! 2. Counts: the same through the counting proxy.
//! 3. Round trips: once, through the delaying proxy; a latency divided by the time of a read counts those in turn. The reads
//!    pass the same proxy while the peer runs, so that noise slows both.

use crate::clock::pause;
use crate::figures::{Cost, Entry, Memory, in_round_trips, medians, rate};
use crate::interrupt::Interrupt;
use crate::library::Programs;
use crate::peer::{Answer, Peer};
use crate::proxy::Counts;
use crate::rows::{Contestant, Row};
use crate::stage::Stage;
use clap::ValueEnum;
use std::time::Duration;

/// What is measured of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Figure {
    /// Operations a second, and latencies.
    Rates,
    /// Requests, notifications and bytes of an operation.
    Counts,
    /// Round trips in turn.
    RoundTrips,
}

impl Figure {
    /// All of them.
    pub const ALL: [Figure; 3] = [Figure::Rates, Figure::Counts, Figure::RoundTrips];
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Alternations for rates and counts.
    pub runs: usize,
    /// The least that shows that everything runs.
    pub is_quick: bool,
}

/// How long the requests behind an answer, such as clean-ups in the background, are waited for.
const TRAIL: Duration = Duration::from_millis(50);

/// Round trips after which nothing of an operation is in flight any more.
const SETTLED_ROUND_TRIPS: u32 = 6;

/// One measurement of one row.
pub struct Measurement<'a> {
    pub stage: &'a Stage,
    pub programs: &'a Programs,
    pub interrupt: &'a Interrupt,
    pub extent: Extent,
}

/// A peer that takes part, until it fails.
struct Turn<'a> {
    entry: &'a mut Entry,
    peer: Option<Peer>,
    answers: Vec<Answer>,
    counted: Vec<(usize, Counts)>,
    /// The time of a read through the delaying proxy while the peer ran, in microseconds.
    read_micros: Option<f64>,
}

impl Measurement<'_> {
    /// Measures one figure of a row, for all entries of it.
    ///
    /// # Errors
    ///
    /// The user interrupts. A peer that fails is noted in its entry.
    pub fn measure(&self, row: &'static Row, figure: Figure, entries: &mut [Entry]) -> anyhow::Result<()> {
        if row.is_idle() {
            return if figure == Figure::Counts { self.idle(row, entries) } else { Ok(()) };
        }
        let mut turns = Vec::new();
        for entry in entries {
            let started = self.start(row, figure, entry);
            self.interrupt.check()?;
            let peer = note(started, entry, figure);
            turns.push(Turn { entry, peer, answers: Vec::new(), counted: Vec::new(), read_micros: None });
        }
        let (operations, runs) = self.operations(row, figure);
        for _ in 0..runs {
            for turn in &mut turns {
                self.run(turn, operations, figure);
                self.interrupt.check()?;
            }
        }
        for Turn { entry, answers, counted, read_micros, .. } in turns {
            entry.violations += answers.iter().map(|answer| answer.violations).sum::<usize>();
            match figure {
                Figure::Rates => {
                    entry.rates = answers.iter().map(rate).collect();
                    entry.micros = medians(&answers);
                }
                Figure::Counts => entry.cost = Cost::of(&counted),
                Figure::RoundTrips => {
                    entry.round_trips =
                        read_micros.map(|read| in_round_trips(&answers, read)).unwrap_or_default();
                }
            }
        }
        Ok(())
    }

    fn operations(&self, row: &Row, figure: Figure) -> (usize, usize) {
        let operations = match figure {
            _ if self.extent.is_quick => row.operations.quick,
            Figure::Rates => row.operations.rates,
            Figure::Counts => row.operations.counts,
            Figure::RoundTrips => row.operations.round_trips,
        };
        (operations, if figure == Figure::RoundTrips { 1 } else { self.extent.runs })
    }

    /// Starts a peer, and waits until it is warm.
    fn start(&self, row: &Row, figure: Figure, entry: &Entry) -> anyhow::Result<Peer> {
        let warm_up = match figure {
            // Every object was used once.
            _ if self.extent.is_quick => row.operations.quick,
            Figure::Counts | Figure::RoundTrips => row.operations.quick,
            Figure::Rates if entry.library.is_on_a_jvm() => row.warm_up,
            Figure::Rates => row.warm_up.div_ceil(10),
        };
        let connect = match figure {
            Figure::Rates => self.stage.address(),
            Figure::Counts => self.stage.counting.address(),
            Figure::RoundTrips => self.stage.delaying.address(),
        };
        let settle = self.trail(figure);
        let mut words = vec![
            format!("connect={connect}"),
            format!("direct={}", self.stage.address()),
            format!("workload={}", row.workload),
            format!("recipe={}", entry.recipe),
            format!("root=/peers/{}", directory(row, figure, entry)),
            format!("warm={warm_up}"),
            format!("settle_ms={}", settle.as_millis()),
        ];
        words.extend(row.parameters.iter().map(|(key, value)| format!("{key}={value}")));
        let mut peer = Peer::start(self.programs.command(entry.library)?, &words, self.interrupt)?;
        peer.ready()?;
        Ok(peer)
    }

    /// How long requests behind an answer may take.
    fn trail(&self, figure: Figure) -> Duration {
        match figure {
            Figure::RoundTrips => TRAIL + 2 * self.stage.delay * SETTLED_ROUND_TRIPS,
            Figure::Rates | Figure::Counts => TRAIL,
        }
    }

    fn run(&self, turn: &mut Turn<'_>, operations: usize, figure: Figure) {
        let Some(peer) = &mut turn.peer else { return };
        pause(self.trail(figure));
        self.stage.counting.take();
        let answered = if figure == Figure::RoundTrips {
            let (answered, read) = self.stage.beside_reads(|| peer.go(operations));
            answered.and_then(|answer| {
                turn.read_micros = Some(read?);
                Ok(answer)
            })
        } else {
            peer.go(operations)
        };
        pause(self.trail(figure));
        let counts = self.stage.counting.take();
        let answered = answered.and_then(|answer| peer.counted().map(|()| answer));
        match note(answered, turn.entry, figure) {
            Some(answer) => {
                turn.counted.push((answer.ops, counts));
                turn.answers.push(answer);
            }
            None => turn.peer = None,
        }
    }

    /// Idle waiters: one process after the other, since their memory and their threads count.
    fn idle(&self, row: &'static Row, entries: &mut [Entry]) -> anyhow::Result<()> {
        let (waiters, _) = self.operations(row, Figure::Counts);
        for entry in entries {
            let measured = self.idle_one(row, entry, waiters);
            self.interrupt.check()?;
            if let Some((join, take_over, memory)) = note(measured, entry, Figure::Counts) {
                (entry.cost, entry.hand_over, entry.memory) = (join, take_over, memory);
                entry.waiters = waiters;
            }
        }
        Ok(())
    }

    fn idle_one(
        &self,
        row: &'static Row,
        entry: &Entry,
        waiters: usize,
    ) -> anyhow::Result<(Option<Cost>, Option<Cost>, Option<Memory>)> {
        let mut peer = self.start(row, Figure::Counts, entry)?;
        self.rest()?;
        let before = peer.footprint();
        let joined = peer.go(waiters)?;
        let join = Cost::of(&[(joined.ops, self.rest()?)]);
        let waiting = peer.footprint();
        peer.counted()?;
        let released = peer.go(waiters)?;
        let take_over = Cost::of(&[(released.ops, self.rest()?)]);
        let memory = before.zip(waiting).map(|(before, waiting)| Memory::of(before, waiting));
        Ok((join, take_over, memory))
    }
}

impl Measurement<'_> {
    /// Waits until nothing passes any more: a waiter whose znode stands there may not have asked yet who is ahead. Returns what
    /// passed.
    fn rest(&self) -> anyhow::Result<Counts> {
        const REST: Duration = Duration::from_secs(1);
        let mut all = self.stage.counting.take();
        loop {
            pause(if self.extent.is_quick { TRAIL } else { REST });
            self.interrupt.check()?;
            let more = self.stage.counting.take();
            if more.total() == 0 {
                return Ok(all);
            }
            all.add(&more);
        }
    }
}

/// The entries of a row, for the libraries that take part.
pub fn entries(row: &'static Row, takes_part: impl Fn(&Contestant) -> bool) -> Vec<Entry> {
    let contestants = row.contestants.iter().filter(|contestant| takes_part(contestant));
    contestants
        .map(|Contestant { library, recipe, remark }| Entry::new(row.name, *library, recipe, remark))
        .collect()
}

/// A directory of its own for each process.
fn directory(row: &Row, figure: Figure, entry: &Entry) -> String {
    let words = format!("{}-{figure:?}-{}-{}", row.name, entry.library.name(), entry.recipe);
    words.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

/// Notes a failure in the entry.
fn note<T>(outcome: anyhow::Result<T>, entry: &mut Entry, figure: Figure) -> Option<T> {
    match outcome {
        Ok(done) => Some(done),
        Err(error) => {
            let what = match figure {
                Figure::Rates => "rate",
                Figure::Counts => "counts",
                Figure::RoundTrips => "round trips",
            };
            entry.failures.push(format!("{what}: {error:#}"));
            None
        }
    }
}
