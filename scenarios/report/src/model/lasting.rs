//! Lifetimes as plain data.

use super::{Belief, Office, OperationRow, Parties, SessionModel, Strike, Watch, Znode};
use crate::columns::Texts;
use crate::lives::{Lives, WatchEnd};
use crate::words::Sentences;
use zk_checker::history::{Outcome, Session, SessionState, Table, WatchMode, Who};

/// Converts lifetimes for the model.
pub(super) struct Lasting<'a> {
    pub lives: &'a Lives,
    pub sentences: &'a Sentences<'a>,
    pub parties: &'a Parties,
}

impl Lasting<'_> {
    pub(super) fn sessions(&self) -> Vec<SessionModel> {
        let state = |(at, state): &(u32, SessionState)| {
            let name = match state {
                SessionState::Connected => "connected",
                SessionState::Suspended => "suspended",
                SessionState::Expired => "expired",
                SessionState::Closed => "closed",
            };
            (*at, name)
        };
        let known = self.lives.sessions.iter().filter(|(session, _)| **session != Session(0));
        let model = known.map(|(session, life)| SessionModel {
            number: session.0,
            client: life.client.map(|client| self.parties.place(Who::Client(client))),
            timeout_ms: life.timeout_ms,
            opened: life.opened,
            marked: life.marked,
            ended: life.ended,
            states: life.states.iter().map(state).collect(),
        });
        model.collect()
    }

    pub(super) fn znodes(&self, texts: &mut Texts) -> Vec<Znode> {
        let model = self.lives.znodes.iter().map(|znode| Znode {
            path: texts.number(&self.sentences.text(znode.path)),
            created: znode.created,
            deleted: znode.deleted,
            owner: znode.owner.0,
            czxid: format!("{:#x}", znode.czxid),
        });
        model.collect()
    }

    pub(super) fn holds(&self) -> Vec<(u32, u32, Option<u32>, Option<String>)> {
        let model = self.lives.holds.iter().map(|holds| {
            let (length, digest) = holds.data.unzip();
            (holds.event, holds.znode, length, digest.map(|digest| format!("{digest:016x}")))
        });
        model.collect()
    }

    pub(super) fn watches(&self, texts: &mut Texts) -> Vec<Watch> {
        let model = self.lives.watches.iter().map(|watch| Watch {
            session: watch.session.0,
            path: texts.number(&self.sentences.text(watch.path)),
            table: match watch.table {
                Table::Data => "data",
                Table::Child => "children",
            },
            mode: match watch.mode {
                WatchMode::OneShot => "once",
                WatchMode::Persistent => "persistent",
                WatchMode::Recursive => "persistent recursive",
            },
            armed: watch.armed,
            ended: watch.ended,
            notice: watch.notice,
            end: match watch.end {
                WatchEnd::Notified => "notified",
                WatchEnd::NoticeLost => "notification lost",
                WatchEnd::ConnectionLost => "lost with its connection",
                WatchEnd::TakenAway => "removed",
                WatchEnd::Stands => "stands",
            },
        });
        model.collect()
    }

    pub(super) fn operations(&self) -> Vec<OperationRow> {
        let outcome = |outcome| match outcome {
            Outcome::Done => "done",
            Outcome::Refused => "refused",
            Outcome::Unknown => "unknown",
            Outcome::Cancelled => "cancelled",
        };
        let model = self.lives.operations.iter().map(|operation| OperationRow {
            client: self.parties.place(Who::Client(operation.client)),
            object: operation.object.0,
            verb: operation.verb.words(),
            from: operation.from,
            to: operation.to,
            outcome: operation.outcome.map(outcome),
        });
        model.collect()
    }

    pub(super) fn beliefs(&self) -> Vec<Belief> {
        let model = self.lives.beliefs.iter().map(|belief| Belief {
            client: self.parties.place(Who::Client(belief.client)),
            object: belief.object.0,
            session: belief.session.0,
            token: format!("{:#x}", belief.token),
            from: belief.from,
            to: belief.to,
        });
        model.collect()
    }

    pub(super) fn strikes(&self, tell: &mut dyn FnMut(u32) -> String) -> Vec<Strike> {
        let model = self.lives.strikes.iter().map(|strike| Strike {
            text: tell(strike.from),
            parties: self.parties.struck(strike.victim),
            from: strike.from,
            to: strike.to,
            lasts_us: strike.lasts,
        });
        model.collect()
    }

    pub(super) fn offices(&self) -> Vec<Office> {
        let model = self.lives.offices.iter().map(|office| Office {
            server: self.parties.place(Who::Server(office.server)),
            leads: office.leads,
            from: office.from,
            to: office.to,
        });
        model.collect()
    }
}
