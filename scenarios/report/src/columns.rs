//! Events in columns, texts in a table.

use crate::causes::Causes;
use crate::words::{Sentences, visible};
use serde::Serialize;
use std::collections::BTreeMap;
use zk_checker::history::{Conn, History, ReqId, Session, What, Who};

/// A table of texts without duplicates; number 0 is the empty text.
#[derive(Debug)]
pub(super) struct Texts {
    numbers: BTreeMap<String, u32>,
    count: u32,
}

impl Default for Texts {
    fn default() -> Texts {
        Texts { numbers: BTreeMap::from([(String::new(), 0)]), count: 1 }
    }
}

impl Texts {
    /// The number of a text.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.numbers.insert(text.to_owned(), self.count);
        self.count += 1;
        self.count - 1
    }

    /// All texts, by number.
    pub(super) fn into_all(self) -> Vec<String> {
        let mut all = vec![String::new(); self.count as usize];
        for (text, number) in self.numbers {
            all[number as usize] = text;
        }
        all
    }
}

/// All events. Zero means absent; texts are numbers in the table of texts.
#[derive(Debug, Default, Serialize)]
pub(super) struct Columns {
    /// Microseconds since the previous event.
    after_us: Vec<u64>,
    /// Indices into the list of actors.
    who: Vec<u32>,
    op: Vec<u32>,
    /// The names of the kinds, and the index of each event's kind.
    kinds: Vec<&'static str>,
    kind: Vec<u32>,
    text: Vec<u32>,
    path: Vec<u32>,
    zxid: Vec<u32>,
    session: Vec<u16>,
    conn: Vec<u16>,
    req: Vec<u32>,
    /// The distance, in events, to each of the causes.
    causes: Vec<Vec<u32>>,
}

impl Columns {
    pub(super) fn of(
        history: &History,
        sentences: &Sentences<'_>,
        causes: &Causes,
        texts: &mut Texts,
        place: impl Fn(Who) -> u32,
    ) -> Columns {
        let mut columns = Columns::default();
        let mut before = 0;
        let mut kinds: BTreeMap<&'static str, u32> = BTreeMap::new();
        for (index, event) in history.events.iter().enumerate() {
            columns.after_us.push(event.at.saturating_sub(before));
            before = event.at;
            columns.who.push(place(event.who));
            columns.op.push(event.op.0);
            let next = kinds.len() as u32;
            let name = event.what.name();
            columns.kind.push(*kinds.entry(name).or_insert_with(|| {
                columns.kinds.push(name);
                next
            }));
            columns.text.push(texts.number(&sentences.tell(index)));
            let path = event.what.path().and_then(|path| history.names.get(path));
            columns.path.push(path.map_or(0, |path| texts.number(&visible(path))));
            let facts = Facts::of(event.what);
            columns.zxid.push(facts.zxid.map_or(0, |zxid| texts.number(&format!("{zxid:#x}"))));
            columns.session.push(facts.session.0);
            columns.conn.push(facts.conn.0);
            columns.req.push(facts.req.0);
            let back = |cause: &super::causes::Cause| index as u32 - cause.event;
            columns.causes.push(causes.of(index as u32).iter().map(back).collect());
        }
        columns
    }
}

/// The numeric fields that many kinds of event have.
#[derive(Default)]
struct Facts {
    zxid: Option<u64>,
    session: Session,
    conn: Conn,
    req: ReqId,
}

impl Facts {
    fn of(what: What) -> Facts {
        let none = Facts::default();
        match what {
            What::Believe { session, .. } | What::Marked { session, .. } => Facts { session, ..none },
            What::Send { req, .. } | What::Lost { req } => Facts { req, ..none },
            What::Reply { req, zxid, conn, .. } => {
                Facts { req, conn, zxid: Some(zxid).filter(|at| *at > 0), ..none }
            }
            What::Made { czxid: zxid, .. } => Facts { zxid: Some(zxid), ..none },
            What::Notice { session, conn, .. }
            | What::State { session, conn, .. }
            | What::Arm { session, conn, .. }
            | What::Disarm { session, conn, .. }
            | What::Attached { session, conn } => Facts { session, conn, ..none },
            What::Fire { session, conn, zxid, .. } => {
                Facts { session, conn, zxid: Some(u64::from(zxid)).filter(|at| *at > 0), ..none }
            }
            What::Txn { zxid, session, .. }
            | What::Opened { zxid, session, .. }
            | What::Ended { zxid, session }
            | What::Moved { zxid, session } => Facts { zxid: Some(zxid), session, ..none },
            What::Created { zxid, owner: session, .. } | What::Deleted { zxid, by: session, .. } => {
                Facts { zxid: Some(zxid), session, ..none }
            }
            What::Written { zxid, .. } | What::Restricted { zxid, .. } | What::Applied { zxid } => {
                Facts { zxid: Some(zxid), ..none }
            }
            What::Served { req, conn, zxid } => Facts { req, conn, zxid: Some(zxid), ..none },
            What::Barrier { session, req, zxid } => Facts { session, req, zxid: Some(zxid), ..none },
            What::Heard { session, .. } => Facts { session, ..none },
            What::TurnedAway { session, seen } => Facts { session, zxid: Some(seen), ..none },
            _ => none,
        }
    }
}
