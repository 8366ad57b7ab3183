//! An operation in progress: its arguments, its replies, and its changes.

use crate::history::{Code, ObjectId, OpId, Seen, Session, Sym, Verb};
use crate::scene::{Place, Scene};
use crate::view::Moment;

/// A change of a znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Creates,
    Writes,
    Deletes,
}

/// A committed change that a request of the operation made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    pub(crate) act: Act,
    pub(crate) path: Sym,
    pub(crate) place: Place,
    pub(crate) at: Moment,
    /// The transaction.
    pub(crate) zxid: u64,
    /// The digest of the data; for a deleted znode, of its last data.
    pub(crate) data: Option<u64>,
}

/// An operation.
#[derive(Clone, Debug)]
pub(crate) struct Doing {
    pub(crate) id: OpId,
    pub(crate) client: u16,
    /// The session in which it was called.
    pub(crate) session: Session,
    pub(crate) object: ObjectId,
    pub(crate) verb: Verb,
    pub(crate) called: Moment,
    /// The arguments, in order, and the last number given with one.
    pub(crate) given: Vec<Sym>,
    pub(crate) number: u64,
    /// Whether its input is bad.
    pub(crate) is_mistaken: bool,
    /// For a release: the znodes that represented the client when it was called.
    pub(crate) gives_up: Vec<Sym>,
    /// The last value that it handed to its caller.
    pub(crate) seen: Option<(Seen, Sym)>,
    /// The values that it handed out about the transaction or barrier that it begins, opens, enters or decides.
    pub(crate) about: Vec<(Seen, Sym)>,
    /// The number of items that it handed out.
    pub(crate) items: u64,
    /// Whether a sync of it was answered.
    pub(crate) has_synced: bool,
    /// The codes of its replies, as bits.
    codes: u32,
    /// The codes of its replies since it last handed out a value.
    read: u32,
    /// Whether it was notified of a change since then.
    is_notified: bool,
    /// Whether a reply was lost, or the client was not connected for a while.
    pub(crate) is_disturbed: bool,
    /// Whether it has deleted the last site of a transaction.
    pub(crate) is_last: bool,
    /// Whether it returned that its time limit is over.
    pub(crate) is_late: bool,
    pub(crate) effects: Vec<Effect>,
    /// A directory that it has created above its object.
    pub(crate) directory: Option<(Sym, Moment)>,
}

impl Doing {
    pub(crate) fn new(id: OpId, client: u16, object: ObjectId, verb: Verb, scene: &Scene<'_>) -> Doing {
        let session = scene.view.client(client).session;
        Doing {
            id,
            client,
            session,
            object,
            verb,
            called: scene.now(),
            given: Vec::new(),
            number: 0,
            is_mistaken: false,
            gives_up: Vec::new(),
            seen: None,
            about: Vec::new(),
            items: 0,
            has_synced: false,
            codes: 0,
            read: 0,
            is_notified: false,
            is_disturbed: scene.view.session(session).is_suspended,
            is_last: false,
            is_late: false,
            effects: Vec::new(),
            directory: None,
        }
    }

    /// Notes a reply.
    pub(crate) fn note_reply(&mut self, code: Code) {
        self.codes |= 1 << code as u32;
        self.read |= 1 << code as u32;
    }

    /// Whether it got a reply with one of these codes.
    pub(crate) fn heard(&self, codes: &[Code]) -> bool {
        codes.iter().any(|code| self.codes & (1 << *code as u32) != 0)
    }

    /// Notes a notification, which counts as a read.
    pub(crate) fn note_notification(&mut self) {
        self.is_notified = true;
    }

    /// Whether it was notified, or got a reply, since it handed out a value; a reply with that code if one is named.
    pub(crate) fn has_read(&self, code: Option<Code>) -> bool {
        self.is_notified || code.map_or(self.read != 0, |code| self.read & (1 << code as u32) != 0)
    }

    /// Hands out a value.
    pub(crate) fn hands_out(&mut self, seen: Seen, text: Sym) {
        self.seen = Some((seen, text));
        self.items += u64::from(seen == Seen::Item);
        if matches!(self.verb, Verb::Begin | Verb::Open | Verb::Enter | Verb::Decide) {
            self.about.push((seen, text));
        }
        (self.read, self.is_notified) = (0, false);
    }

    /// Whether a server refused one of its requests without a look at the tree.
    pub(crate) fn is_refused(&self) -> bool {
        self.heard(&[Code::NoAuth, Code::Other, Code::Throttled])
    }

    /// Whether it got any reply.
    pub(crate) fn heard_any(&self) -> bool {
        self.codes != 0
    }

    /// Its name in the text of a finding: `the lower of "a"`.
    pub(crate) fn text(&self, scene: &Scene<'_>) -> String {
        format!("the {} of {}", self.verb.words(), scene.client(self.client))
    }
}
