//! The thread that judges events as they happen.
//!
//! It has its own copy of the tables that events refer to, and keeps no event: its memory grows with live objects. An
//! intermediate verdict compares a copy of the judge with a second copy for which a moment more has passed. Promises on
//! which the two differ are undecided.

use crate::verdict::Judged;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use zk_checker::history::{Event, Header, Names, Object, Tables};
use zk_checker::wire::{Wire, WireReport};
use zk_checker::{Ongoing, RuleSet};
use zk_harness::journal::Forgotten;

/// The maximal number of blocks that wait for the judge. Beyond it the loop waits.
const WAITING: usize = 64;

/// The maximal number of operations of reported objects that are kept for monitors, which judge all of them at once.
const MOST_SEEN: usize = 1 << 20;

/// A block of events, with the new entries of the tables that they refer to.
#[derive(Default)]
pub(crate) struct Block {
    pub names: Vec<Arc<str>>,
    pub objects: Vec<Object>,
    /// The names of the clients, if they have changed.
    pub clients: Option<Vec<String>>,
    pub events: Vec<Event>,
    /// Whether the names so far are kept for ever.
    pub keeps_names: bool,
    /// Names that no later block mentions.
    pub forgotten: Forgotten,
}

enum ToJudge {
    Take(Block),
    Judge(VerdictTerms, Sender<Judged>),
}

/// The known facts about a verdict before judging.
pub(crate) struct VerdictTerms {
    /// Why events are missing, if they are.
    pub full: Option<String>,
    /// Sentences about abandoned work.
    pub given_up: Vec<String>,
    /// Whether the verdict is final, with nothing undecided.
    pub is_final: bool,
}

/// The judging thread. It ends when this is dropped.
pub(crate) struct Judging(SyncSender<ToJudge>);

/// A pending verdict.
pub(crate) struct PendingVerdict(Receiver<Judged>);

impl PendingVerdict {
    pub fn wait(self) -> Judged {
        self.0.recv().unwrap_or_else(|_| Judged::none("the judge has stopped: it has a bug"))
    }
}

impl Judging {
    /// Starts the thread. The report of the traffic covers only that many events, since it keeps data for every path.
    pub fn begin(header: Header, most_of_traffic: usize) -> Judging {
        let (orders, inbox) = mpsc::sync_channel(WAITING);
        let judge = move || {
            let mut judge = Judge::new(header, most_of_traffic);
            inbox.iter().for_each(|order| judge.obey(order));
        };
        // If the thread cannot be started, every verdict says that the judge has stopped.
        let _ = std::thread::Builder::new().name("zk-serve-judge".to_owned()).spawn(judge);
        Judging(orders)
    }

    pub fn take(&self, block: Block) {
        // If the judge has stopped, the next verdict says so.
        let _ = self.0.send(ToJudge::Take(block));
    }

    pub fn ask(&self, asked: VerdictTerms) -> PendingVerdict {
        let (answer, answers) = mpsc::channel();
        let _ = self.0.send(ToJudge::Judge(asked, answer));
        PendingVerdict(answers)
    }
}

struct Judge {
    header: Header,
    names: Names,
    objects: Vec<Object>,
    ongoing: Ongoing,
    traffic: Traffic,
    most_of_traffic: usize,
}

/// The report of the traffic; for a long run, of its beginning.
enum Traffic {
    Goes(Box<Wire>),
    Ended(Box<WireReport>),
}

impl Judge {
    fn new(header: Header, most_of_traffic: usize) -> Judge {
        let (names, objects) = (Names::default(), Vec::new());
        let tables = Tables { header: &header, objects: &objects, names: &names };
        let ongoing = Ongoing::new(tables, &RuleSet::all()).with_most_seen(MOST_SEEN);
        let traffic = Traffic::Goes(Box::default());
        Judge { header, names, objects, ongoing, traffic, most_of_traffic }
    }

    fn obey(&mut self, order: ToJudge) {
        match order {
            ToJudge::Take(block) => self.take(block),
            ToJudge::Judge(asked, answer) => {
                // The caller may have gone.
                let _ = answer.send(self.judged(asked));
            }
        }
    }

    fn take(&mut self, block: Block) {
        block.names.into_iter().for_each(|text| _ = self.names.add(text));
        if block.keeps_names {
            self.names.keep_all();
        }
        self.objects.extend(block.objects);
        self.header.clients = block.clients.unwrap_or_else(|| std::mem::take(&mut self.header.clients));
        let tables = Tables { header: &self.header, objects: &self.objects, names: &self.names };
        for event in &block.events {
            self.ongoing.push(tables, event);
            if let Traffic::Goes(wire) = &mut self.traffic {
                wire.push(tables, event);
            }
        }
        let ends = self.ongoing.events() as usize > self.most_of_traffic;
        if ends && let Traffic::Goes(wire) = &self.traffic {
            self.traffic = Traffic::Ended(Box::new(wire.report(tables)));
        }
        block.forgotten.forget(&mut self.names);
    }

    fn judged(&self, asked: VerdictTerms) -> Judged {
        let tables = Tables { header: &self.header, objects: &self.objects, names: &self.names };
        let (mut now, mut later) = (self.ongoing.clone(), self.ongoing.clone());
        if let Some(why) = asked.full {
            now.cut(format!("the end is missing: {why}"));
        }
        later.wait_for_programs(tables, self.header.settle + self.header.round_trip + 1);
        let wire = match &self.traffic {
            Traffic::Goes(wire) => wire.report(tables),
            Traffic::Ended(report) => report.as_ref().clone(),
        };
        let judged = Judged::new(now.finish(tables), wire, asked.given_up);
        if asked.is_final { judged } else { judged.beside(&later.finish(tables)) }
    }
}
