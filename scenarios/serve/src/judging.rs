//! The thread that judges events as they happen.
//!
//! It has its own copy of what events refer to, and keeps no event: what it keeps grows with what is alive. A verdict in between is that of
//! a copy of the judge, held beside the verdict of another copy for which a moment more has passed. Where the two differ nothing is decided
//! yet.

use crate::verdict::Judged;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use zk_checker::history::{Event, Header, Names, Object, Tables};
use zk_checker::wire::{Wire, WireReport};
use zk_checker::{Ongoing, RuleSet};
use zk_harness::journal::Forgotten;

/// How many blocks may wait for the judge. When there are more, the loop waits.
const WAITING: usize = 64;

/// How many operations of reported objects are kept for monitors, which judge all of them at once.
const MOST_SEEN: usize = 1 << 20;

/// Events, with what is new in the tables that they refer to.
#[derive(Default)]
pub(crate) struct Block {
    pub names: Vec<Arc<str>>,
    pub objects: Vec<Object>,
    /// The names of the clients, if they have changed.
    pub clients: Option<Vec<String>>,
    pub events: Vec<Event>,
    /// Whether the names so far are kept for good.
    pub keeps_names: bool,
    /// Names that no later block mentions.
    pub forgotten: Forgotten,
}

enum Order {
    Take(Block),
    Judge(Asked, Sender<Judged>),
}

/// What is known of a verdict before it is made.
pub(crate) struct Asked {
    /// Why events are missing, if they are.
    pub full: Option<String>,
    /// What was given up.
    pub given_up: Vec<String>,
    /// Whether nothing is left undecided, as at the end.
    pub is_final: bool,
}

/// The thread. It ends when this is dropped.
pub(crate) struct Judging(SyncSender<Order>);

/// A verdict that is being made.
pub(crate) struct Answer(Receiver<Judged>);

impl Answer {
    pub fn wait(self) -> Judged {
        self.0.recv().unwrap_or_else(|_| Judged::none("the judge has stopped, by a bug of its own"))
    }
}

impl Judging {
    /// Begins to judge. The report of the traffic ends after so many events: it keeps something of every path.
    pub fn begin(header: Header, most_of_traffic: usize) -> Judging {
        let (orders, inbox) = mpsc::sync_channel(WAITING);
        let judge = move || {
            let mut judge = Judge::new(header, most_of_traffic);
            inbox.iter().for_each(|order| judge.obey(order));
        };
        // Without a thread nobody takes an order, and every verdict says so.
        let _ = std::thread::Builder::new().name("zk-serve-judge".to_owned()).spawn(judge);
        Judging(orders)
    }

    pub fn take(&self, block: Block) {
        // A judge that has stopped says so when it is asked.
        let _ = self.0.send(Order::Take(block));
    }

    pub fn ask(&self, asked: Asked) -> Answer {
        let (answer, answers) = mpsc::channel();
        let _ = self.0.send(Order::Judge(asked, answer));
        Answer(answers)
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

/// What the traffic shows: of a long run, its begin.
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

    fn obey(&mut self, order: Order) {
        match order {
            Order::Take(block) => self.take(block),
            Order::Judge(asked, answer) => {
                // The one who asked may have gone.
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

    fn judged(&self, asked: Asked) -> Judged {
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
