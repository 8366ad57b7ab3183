//! The record of all events of clients and servers.
//!
//! 1. Every event goes into the journal, in the loop's order.
//! 2. Blocks of events go to the [judging](crate::judging) thread, with the names and objects that are new since the
//!    previous block: all events are judged as they happen, without limit.
//! 3. The first events are kept as the available history. Beyond the limit, each block is dropped after it was handed
//!    over, with the names that no later event can mention.
//! 4. Abandoned work is reported at once to the listener, and with every status and verdict.

use crate::judging::{Block, Judging, VerdictTerms};
use crate::verdict::Judged;
use sim_zk::Config;
use sim_zk::observer::{Observer, SimEvent};
use sim_zk::paths::{PathId, Paths};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zk_checker::history::{Header, History, Names, Sym};
use zk_harness::journal::Journal;
use zk_harness::run::header;

/// The maximal number of sessions and of connections of a history, and of clients and objects: events number them with
/// 16 bits.
const MOST_NUMBERED: u32 = 65_000;

/// The number of events per block.
const BLOCK: usize = 8192;

/// The maximal number of events between two passes of forgetting names, each of which takes some milliseconds.
const FORGETS_EVERY: u64 = 1 << 17;

/// A callback for each sentence about abandoned work.
pub(crate) type Listener = Box<dyn FnMut(&str) + Send>;

/// The record of a served ensemble. Clones write to the same one.
#[derive(Clone)]
pub(crate) struct Recorder(Arc<Mutex<Record>>);

struct Record {
    journal: Journal,
    /// The maximal number of kept events.
    most: usize,
    /// The number of the journal's events that were handed over.
    handed: usize,
    names: usize,
    objects: usize,
    clients: Vec<String>,
    /// The number of dropped events.
    dropped: u64,
    /// The time of the latest dropped event, in microseconds.
    dropped_at: u64,
    /// The number of events at which names are forgotten next.
    forgets_at: u64,
    judging: Judging,
    sessions: u32,
    /// The time of the world, in microseconds.
    now: u64,
    /// Why recording has ended.
    full: Option<String>,
    given_up: Vec<String>,
    listener: Listener,
}

/// The kept events, and whether there were more.
pub(crate) struct Kept {
    pub history: History,
    pub is_cut: bool,
}

impl Recorder {
    /// An empty record of an ensemble, which keeps that many events.
    pub fn new(config: &Config, most: usize, source: String) -> Self {
        let header = Header {
            // Clients are processes in real time, and slower.
            round_trip: 100_000,
            settle: 1_000_000,
            // Only the client knows its pings.
            pings_recorded: false,
            foreign_clients: true,
            source,
            ..header(config, Duration::from_micros(20 * config.tick))
        };
        let judging = Judging::begin(header.clone(), most);
        Recorder(Arc::new(Mutex::new(Record {
            journal: Journal::new(header, Names::default(), Vec::new()).without_end(),
            most,
            handed: 0,
            names: 0,
            objects: 0,
            clients: Vec::new(),
            dropped: 0,
            dropped_at: 0,
            forgets_at: 0,
            judging,
            sessions: 0,
            now: 0,
            full: None,
            given_up: Vec::new(),
            listener: Box::new(|_| {}),
        })))
    }

    /// Sets the callback for each sentence about abandoned work.
    pub fn on_given_up(&self, listener: Listener) {
        self.lock().listener = listener;
    }

    /// Writes, unless recording has ended.
    pub fn write<R>(&self, write: impl FnOnce(&mut Journal) -> R) -> Option<R> {
        self.lock().write(write)
    }

    /// Sets the time of the world, in microseconds.
    pub fn pass_time(&self, now: u64) {
        self.lock().now = now;
    }

    /// Counts a new client by its number.
    pub fn begins(&self, client: usize) {
        if client >= MOST_NUMBERED as usize {
            self.lock().end("clients");
        }
    }

    /// Counts a new connection by its number.
    pub fn opens(&self, conn: u32) {
        if conn >= MOST_NUMBERED {
            self.lock().end("connections");
        }
    }

    /// Whether recording continues.
    pub fn goes_on(&self) -> bool {
        self.lock().full.is_none()
    }

    /// The number of events so far.
    pub fn events(&self) -> u64 {
        self.lock().events()
    }

    /// The numbers of events and of names that are kept.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn sizes(&self) -> (usize, usize) {
        let record = self.lock();
        let History { events, names, .. } = record.journal.history();
        (events.len(), names.iter().count())
    }

    /// The sentences about abandoned work so far.
    pub fn given_up(&self) -> Vec<String> {
        self.lock().given_up.clone()
    }

    /// The kept events so far.
    pub fn kept(&self) -> Kept {
        let mut record = self.lock();
        record.mark_time();
        record.hand_over();
        let is_cut = record.dropped > 0 || record.full.is_some();
        Kept { history: record.journal.history().clone(), is_cut }
    }

    /// The verdict on all events so far. A final verdict leaves nothing undecided.
    pub fn verdict(&self, is_final: bool) -> Judged {
        let answer = {
            let mut record = self.lock();
            record.mark_time();
            record.hand_over();
            let (full, given_up) = (record.full.clone(), record.given_up.clone());
            record.judging.ask(VerdictTerms { full, given_up, is_final })
        };
        // The lock is released, so the loop continues meanwhile.
        answer.wait()
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        // The journal is consistent between events, so a poisoned lock is harmless.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    fn events(&self) -> u64 {
        self.dropped + self.journal.history().events.len() as u64
    }

    fn write<R>(&mut self, write: impl FnOnce(&mut Journal) -> R) -> Option<R> {
        if self.full.is_some() {
            return None;
        }
        let written = write(&mut self.journal);
        if self.journal.history().objects.len() >= MOST_NUMBERED as usize {
            self.end("objects");
        }
        if self.journal.history().events.len() >= self.handed + BLOCK {
            self.hand_over();
        }
        Some(written)
    }

    /// Records that time has passed without an event, since some promises are broken by that alone.
    fn mark_time(&mut self) {
        let (now, last) = (self.now, self.journal.history().events.last());
        if last.is_some_and(|last| now > last.at.max(self.dropped_at)) {
            self.write(|journal| journal.elapsed(now));
        }
    }

    /// Hands the new events to the judge.
    fn hand_over(&mut self) {
        let History { header, objects, names, events } = self.journal.history();
        let new =
            (self.names..names.end()).map(|at| names.shared(Sym(at as u32)).expect("it is new").clone());
        let mut block = Block {
            names: new.collect(),
            objects: objects[self.objects..].to_vec(),
            clients: (self.clients != header.clients).then(|| header.clients.clone()),
            events: events[self.handed..].to_vec(),
            ..Block::default()
        };
        (self.names, self.objects) = (names.end(), objects.len());
        self.clients.clone_from(&header.clients);
        self.handed = events.len();
        if self.events() > self.most as u64 {
            block.keeps_names = self.dropped == 0;
            self.drop_latest();
            if self.events() >= self.forgets_at {
                self.forgets_at = self.events() + FORGETS_EVERY.min(self.most as u64);
                block.forgotten = self.journal.forget_names();
            }
        }
        self.judging.take(block);
    }

    /// Drops the events above the limit.
    fn drop_latest(&mut self) {
        if self.dropped == 0 {
            let most = self.most;
            self.give_up(format!(
                "the history is kept up to event {most}; later events are judged and not kept"
            ));
            self.journal.keep_names();
        }
        let last = self.journal.history().events.last().map_or(0, |last| last.at);
        self.dropped_at = self.dropped_at.max(last);
        let dropped = self.journal.history().events.len().saturating_sub(self.most);
        self.journal.drop_from(self.most);
        self.handed = self.journal.history().events.len();
        self.dropped += dropped as u64;
    }

    fn end(&mut self, of: &str) {
        if self.full.is_none() {
            let why = format!("there were more than {MOST_NUMBERED} {of}");
            self.give_up(format!("recording and judging have stopped: {why}"));
            self.full = Some(why);
        }
    }

    fn give_up(&mut self, what: String) {
        (self.listener)(&what);
        self.given_up.push(what);
    }
}

impl Observer for Recorder {
    fn on_event(&mut self, at: u64, event: &SimEvent<'_>, paths: &Paths) {
        let mut record = self.lock();
        if let SimEvent::Opened { .. } = event {
            record.sessions += 1;
            if record.sessions >= MOST_NUMBERED {
                record.end("sessions");
            }
        }
        record.write(|journal| journal.on_event(at, event, paths));
    }

    fn on_forgotten(&mut self, paths: &[PathId]) {
        self.lock().journal.on_forgotten(paths);
    }
}
