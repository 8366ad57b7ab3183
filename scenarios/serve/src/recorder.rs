//! The history of everything that clients and servers do, within limits.

use sim_zk::Config;
use sim_zk::observer::{Observer, SimEvent};
use sim_zk::paths::{PathId, Paths};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zk_checker::history::{Header, History, Names};
use zk_harness::journal::Journal;
use zk_harness::run::header;

/// The most sessions and the most connections of a history: events number them with 16 bits.
const MOST_NUMBERED: u32 = 65_000;

/// The history of a served ensemble. Clones write the same one.
#[derive(Clone)]
pub(crate) struct Recorder(Arc<Mutex<Record>>);

struct Record {
    journal: Journal,
    most: usize,
    sessions: u32,
    /// Why nothing is written any more.
    full: Option<String>,
}

/// A history, and the reason why its end is missing, if it is.
pub(crate) struct Recorded {
    pub history: History,
    pub full: Option<String>,
}

impl Recorder {
    /// An empty history of an ensemble, which ends after that many events.
    pub fn new(config: &Config, most: usize, source: String) -> Self {
        let header = Header {
            // Clients are processes in real time: they take their time.
            round_trip: 100_000,
            settle: 1_000_000,
            // What pings a client sends, and when, only the client knows.
            pings_recorded: false,
            foreign_clients: true,
            source,
            ..header(config, Duration::from_micros(20 * config.tick))
        };
        let journal = Journal::new(header, Names::default(), Vec::new());
        Recorder(Arc::new(Mutex::new(Record { journal, most, sessions: 0, full: None })))
    }

    /// Writes, unless the history is full.
    pub fn write<R>(&self, write: impl FnOnce(&mut Journal) -> R) -> Option<R> {
        let mut record = self.lock();
        record.has_room().then(|| write(&mut record.journal))
    }

    /// Notes that a client of that number has begun.
    pub fn begins(&self, client: usize) {
        if client >= MOST_NUMBERED as usize {
            self.lock().end(format!("there were more than {MOST_NUMBERED} clients"));
        }
    }

    /// Notes that a connection of that number was opened.
    pub fn opens(&self, conn: u32) {
        if conn >= MOST_NUMBERED {
            self.lock().end(format!("there were more than {MOST_NUMBERED} connections"));
        }
    }

    /// Whether the history goes on.
    pub fn goes_on(&self) -> bool {
        self.lock().full.is_none()
    }

    /// The number of events so far.
    pub fn events(&self) -> usize {
        self.lock().journal.history().events.len()
    }

    /// The history so far.
    pub fn so_far(&self) -> Recorded {
        let record = self.lock();
        Recorded { history: record.journal.history().clone(), full: record.full.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        // A journal is whole between any two events.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    fn has_room(&mut self) -> bool {
        if self.full.is_none() && self.journal.history().events.len() >= self.most {
            self.end(format!("the history has {} events, which is its limit", self.most));
        }
        self.full.is_none()
    }

    fn end(&mut self, why: String) {
        self.full.get_or_insert(why);
    }
}

impl Observer for Recorder {
    fn on_event(&mut self, at: u64, event: &SimEvent<'_>, paths: &Paths) {
        let mut record = self.lock();
        if let SimEvent::Opened { .. } = event {
            record.sessions += 1;
            if record.sessions >= MOST_NUMBERED {
                record.end(format!("there were more than {MOST_NUMBERED} sessions"));
            }
        }
        if record.has_room() {
            record.journal.on_event(at, event, paths);
        }
    }

    fn on_forgotten(&mut self, paths: &[PathId]) {
        self.lock().journal.on_forgotten(paths);
    }
}
