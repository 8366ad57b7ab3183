//! What a rule looks at, and the names of things in the texts of findings.

use crate::history::{Kind, ObjectId, OpId, Session, Sym, Tables};
use crate::rule_id::RuleId;
use crate::view::{Moment, View};

/// What a rule looks at.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) view: &'a View,
    pub(crate) tables: Tables<'a>,
    /// The index of the current event.
    pub(crate) index: u32,
    /// Its time.
    pub(crate) at: u64,
}

/// The names of things, for the texts of findings.
impl Scene<'_> {
    /// The current event and its time, which may be later than the latest event of the view.
    pub(crate) fn now(&self) -> Moment {
        Moment { at: self.at, index: self.index }
    }

    pub(crate) fn client(&self, number: u16) -> String {
        crate::actors::client(self.tables.header, number)
    }

    /// The rule under which this kind of object reports a promise that all contests share.
    pub(crate) fn rule(&self, rule: RuleId, object: ObjectId) -> RuleId {
        rule.of_kind(self.kind(object))
    }

    pub(crate) fn kind(&self, object: ObjectId) -> Kind {
        self.tables.objects[usize::from(object.0)].kind
    }

    /// The client of an operation.
    pub(crate) fn actor(&self, op: OpId) -> String {
        self.client(self.view.op(op).client)
    }

    /// A time and its event: `e12 (0.550)`.
    pub(crate) fn when(&self, moment: Moment) -> String {
        format!("e{} ({})", moment.index, crate::text::seconds(moment.at))
    }

    pub(crate) fn path(&self, sym: Sym) -> String {
        shorten(self.tables.names.get(sym).unwrap_or("?"))
    }

    /// The last part of a path.
    pub(crate) fn znode(&self, sym: Sym) -> String {
        let path = self.tables.names.get(sym).unwrap_or("?");
        shorten(path.rsplit('/').next().unwrap_or(path))
    }

    /// The znode of a contender, with its czxid.
    pub(crate) fn contender(&self, contender: u32) -> String {
        match self.view.contender(contender) {
            Some(c) => format!("{} ({:#x})", self.znode(c.path), c.czxid),
            None => "no znode".to_owned(),
        }
    }

    pub(crate) fn session(&self, session: Session) -> String {
        match session {
            Session(0) => "no session".to_owned(),
            Session(number) => format!("session s{number}"),
        }
    }
}

/// A duration in milliseconds.
pub(crate) fn ms(micros: u64) -> String {
    match (micros / 1000, micros % 1000) {
        (whole, 0) => format!("{whole} ms"),
        (whole, part) => format!("{whole}.{part:03} ms"),
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth_back(39) {
        Some((at, _)) if at > 0 => format!("…{}", &text[at..]),
        _ => text.to_owned(),
    }
}
