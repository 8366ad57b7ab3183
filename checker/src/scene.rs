//! The input of a rule, and the names of things in the texts of findings.

use crate::digest;
use crate::history::{Kind, Notify, Object, ObjectId, OpId, Session, Sym, Tables};
use crate::property::Property;
use crate::rule_id::RuleId;
use crate::text::abbreviated;
use crate::view::{Moment, Part, Unjust, View, is_child};

/// The input of a rule at the current event.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) view: &'a View,
    pub(crate) tables: Tables<'a>,
    /// The index of the current event.
    pub(crate) index: u32,
    /// Its time.
    pub(crate) at: u64,
}

/// The object of a znode, and its role there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) object: ObjectId,
    pub(crate) part: Part,
}

/// Objects and texts by number, path and kind.
impl<'a> Scene<'a> {
    pub(crate) fn object(&self, object: ObjectId) -> &'a Object {
        &self.tables.objects[usize::from(object.0)]
    }

    pub(crate) fn kind(&self, object: ObjectId) -> Kind {
        self.object(object).kind
    }

    /// Whether an object is declared, and of this kind.
    pub(crate) fn is_of(&self, kind: Kind, object: ObjectId) -> bool {
        self.tables.objects.get(usize::from(object.0)).is_some_and(|object| object.kind == kind)
    }

    /// The objects of a kind.
    pub(crate) fn all_of(&self, kind: Kind) -> impl Iterator<Item = ObjectId> + use<'a> {
        let objects = self.tables.objects.iter().enumerate();
        objects.filter(move |(_, object)| object.kind == kind).map(|(at, _)| ObjectId(at as u16))
    }

    /// The object of a kind that has this path.
    pub(crate) fn object_at(&self, kind: Kind, path: Sym) -> Option<ObjectId> {
        self.all_of(kind).find(|object| self.object(*object).path == path)
    }

    /// The object of a kind whose direct child this path is.
    pub(crate) fn object_around(&self, kind: Kind, path: Sym) -> Option<ObjectId> {
        self.all_of(kind).find(|object| is_child(self.tables, *object, path))
    }

    /// The part that a path plays in an object; none if it lies outside.
    pub(crate) fn part(&self, object: ObjectId, path: Sym) -> Option<Part> {
        let root = self.tables.objects.get(usize::from(object.0))?.path;
        let below = self.text(path).strip_prefix(self.text(root))?;
        let below = if below.is_empty() { below } else { below.strip_prefix('/')? };
        Some((self.view.protocol(object).part)(below))
    }

    /// The object with the longest directory at or above a path, and the part that the path plays there.
    pub(crate) fn place_of(&self, path: Sym) -> Option<Place> {
        let all = (0..self.tables.objects.len()).map(|at| ObjectId(at as u16));
        let around = all.filter_map(|object| Some(Place { object, part: self.part(object, path)? }));
        around.max_by_key(|place| self.text(self.object(place.object).path).len())
    }

    /// The text of a symbol; empty if there is none.
    pub(crate) fn text(&self, sym: Sym) -> &'a str {
        self.tables.names.get(sym).unwrap_or_default()
    }

    /// The digest of a znode whose data are this text.
    pub(crate) fn digest(&self, text: Sym) -> u64 {
        digest::data(Some(self.text(text).as_bytes()))
    }

    /// The last part of a path.
    pub(crate) fn name(&self, path: Sym) -> &'a str {
        self.text(path).rsplit('/').next().unwrap_or_default()
    }

    /// Whether the number at the end of a path says nothing about the order of creation: the directory's counter had
    /// run out.
    pub(crate) fn is_worn(&self, path: Sym) -> bool {
        let text = self.text(path);
        let digits = text.len() - text.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (name, number) = text.split_at(digits);
        number == "2147483647" || number.len() == 10 && (name.ends_with("--") || name.ends_with("_-"))
    }

    /// Whether a grant is right. If numbers do not show the order, each contender of the list is compared, and a
    /// contender that is gone by then is not ahead.
    pub(crate) fn justify(&self, op: OpId) -> Result<(), Unjust> {
        let justified = self.view.justify(op);
        let own = self.view.contender(self.view.op(op).own);
        match (&justified, own) {
            (Err(Unjust::Ahead(_)), Some(own))
                if self.is_worn(own.path) && self.view.ahead_now(own).is_none() =>
            {
                Ok(())
            }
            _ => justified,
        }
    }

    /// Whether foreign clients have modified the znode of an object, or one below.
    pub(crate) fn is_interfered_with(&self, object: ObjectId) -> bool {
        self.view.is_interfered_with(self.tables, self.object(object).path)
    }
}

/// The names of things, for the texts of findings.
impl Scene<'_> {
    /// The current event and its time, which may be later than the latest event of the view.
    /// Whether the client of an operation has been able to act for so long, without a fault, that what follows from something at
    /// `since` must have come.
    pub(crate) fn had_time(&self, id: OpId, since: u64) -> bool {
        let view = self.view;
        let op = view.op(id);
        let client = view.client(op.client);
        let session = view.session(client.session);
        let able = session.connected.at_or_start().max(client.resumed()).max(op.called.at);
        let from = since.max(view.calm_since).max(able);
        client.is_awake_in(session) && self.at > from.saturating_add(view.bound(op.object))
    }

    pub(crate) fn now(&self) -> Moment {
        Moment { at: self.at, index: self.index }
    }

    pub(crate) fn client(&self, number: u16) -> String {
        crate::actors::client(self.tables.header, number)
    }

    /// The rule by which this kind of object names a property.
    pub(crate) fn rule(&self, property: Property, object: ObjectId) -> RuleId {
        property.rule(self.kind(object))
    }

    /// The client of an operation.
    pub(crate) fn actor(&self, op: OpId) -> String {
        self.client(self.view.op(op).client)
    }

    /// The path of an object.
    pub(crate) fn place(&self, object: ObjectId) -> String {
        self.path(self.object(object).path)
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

/// ZooKeeper's name of the notification of a deletion.
pub(crate) const NODE_DELETED: &str = "NodeDeleted";

/// ZooKeeper's name of a notification.
pub(crate) fn event_name(kind: Notify) -> &'static str {
    match kind {
        Notify::Deleted => NODE_DELETED,
        Notify::Created => "NodeCreated",
        Notify::DataChanged => "NodeDataChanged",
        Notify::ChildrenChanged => "NodeChildrenChanged",
    }
}

/// A duration in milliseconds.
pub(crate) fn ms(micros: u64) -> String {
    match (micros / 1000, micros % 1000) {
        (whole, 0) => format!("{whole} ms"),
        (whole, part) => format!("{whole}.{part:03} ms"),
    }
}

/// The longest path in the text of a finding, in characters.
const LONGEST: usize = 60;

/// A path with short guids; of a long one only its last parts.
fn shorten(path: &str) -> String {
    let mut short = abbreviated(path);
    while short.chars().count() > LONGEST {
        let parts = short.trim_start_matches("…/").trim_start_matches('/');
        let Some((_, rest)) = parts.split_once('/') else { break };
        short = format!("…/{rest}");
    }
    short
}

/// Whether one path is a proper ancestor of another.
pub(crate) fn is_above(directory: &str, path: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|below| below.starts_with('/'))
}
